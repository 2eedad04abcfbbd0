//! `shaders/software/sliding_window.wgsl`: what a loop over the taps of a window would do, without the
//! loop, in texts that are specialised for a window.

mod text;

use crate::plan::{Attributes, Kernel, Shader, Specialization};
use crate::pool::{self, Numbering, Params};
use crate::wgsl::params;

/// Maxima of windows. `unaligned_source` and `unaligned_result`: lines begin and end with words,
/// but not with blocks. `indices`: where they are, too, of elements of a word. `wide`: indices have two
/// words.
pub(super) static SLIDING_WINDOW: Kernel =
    Kernel::new::<SlidingParams>("pool_sliding_window", "software/sliding_window", pool::run)
        .flags(&["unaligned_source", "unaligned_result", "indices", "wide"])
        .only(|element, flags| match flags & 4 {
            0 => flags < 4,
            _ => element.size() == 4 && flags & 1 == 0,
        })
        .specialized(&Specialization {
            write: |shader| {
                SlidingWindow::of(shader).text(shader.element.size(), shader.is("indices"))
            },
            samples,
        });

fn samples() -> Vec<Attributes> {
    SlidingWindow::SAMPLES.iter().map(SlidingWindow::attributes).collect()
}

params! {
    /// How lines are cut into strips.
    pub(super) struct Strips {
        /// Strips of all lines, and of one.
        pub count: u32,
        pub per_line: u32,
        /// Steps of a strip; the last one of a line may have fewer.
        pub steps: u32,
        /// Strips of an invocation, which follow one another.
        pub per_invocation: u32,
        /// Divisors: `per_line`, and the inner axis in BREADTH blocks.
        pub by_per_line: [u32; 4],
        pub by_inner: [u32; 4],
    }

    pub(super) struct SlidingParams {
        pub pool: Params,
        /// Used with `indices` alone, which are distances from the first plane's first element:
        /// row-major, without a modulus.
        pub numbering: Numbering,
        pub strips: Strips,
    }
}

/// What a text knows of its window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SlidingWindow {
    /// Taps along the two axes before the last.
    pub rows: [u8; 2],
    /// Taps along the last axis.
    pub taps: u8,
    /// From one window to the next along it.
    pub stride: u8,
    /// From one tap to the next along it.
    pub dilation: u8,
    /// From the first tap to the last one, which may be nearer than taps and dilation make it.
    pub reach: u8,
    /// Along what the window slides.
    pub over: Over,
}

/// What lies along the last axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Over {
    /// Elements that follow one another.
    Elements {
        /// The element of a block of 16 bytes that the first window begins at.
        shift: u8,
    },
    /// Whole blocks of an inner axis.
    Blocks {
        /// How many of them an invocation slides along at once.
        breadth: u8,
    },
}

impl SlidingWindow {
    /// Some of all that there may be: with every part of the text that there is.
    const SAMPLES: [Self; 4] = [
        Self::sample([2, 2], 3, [2, 1, 2], Over::Elements { shift: 1 }),
        Self::sample([1, 1], 13, [1, 1, 11], Over::Elements { shift: 0 }),
        Self::sample([1, 3], 3, [2, 1, 2], Over::Blocks { breadth: 2 }),
        Self::sample([1, 1], 6, [1, 2, 9], Over::Blocks { breadth: 1 }),
    ];

    const fn sample(rows: [u8; 2], taps: u8, step: [u8; 3], over: Over) -> Self {
        let [stride, dilation, reach] = step;
        Self { rows, taps, stride, dilation, reach, over }
    }

    /// The window as a shader has it.
    pub(super) fn attributes(&self) -> Attributes {
        let (kind, number) = match self.over {
            Over::Elements { shift } => (0, shift),
            Over::Blocks { breadth } => (1, breadth),
        };
        let &Self { rows: [a, b], taps, stride, dilation, reach, .. } = self;
        [a, b, taps, stride, dilation, reach, kind, number, 0, 0, 0, 0, 0, 0, 0, 0]
    }

    /// The window that a shader is for.
    fn of(shader: &Shader) -> Self {
        let [a, b, taps, stride, dilation, reach, kind, number, ..] = shader.attributes;
        let over = match kind {
            0 => Over::Elements { shift: number },
            _ => Over::Blocks { breadth: number },
        };
        Self { rows: [a, b], taps, stride, dilation, reach, over }
    }

    /// Elements of a position, which are also the windows of a step.
    pub(super) fn per_position(&self, size: usize) -> usize {
        if matches!(self.over, Over::Elements { .. }) { 16 / size } else { 1 }
    }

    fn shift(&self) -> usize {
        match self.over {
            Over::Elements { shift } => shift.into(),
            Over::Blocks { .. } => 0,
        }
    }

    /// Blocks that an invocation slides along at once.
    pub(super) fn breadth(&self) -> usize {
        match self.over {
            Over::Elements { .. } => 1,
            Over::Blocks { breadth } => breadth.into(),
        }
    }

    /// Positions that the windows of a step look at.
    pub(super) fn held(&self, size: usize) -> usize {
        let per_position = self.per_position(size);
        let windows = (per_position - 1) * usize::from(self.stride);
        (self.shift() + windows + usize::from(self.reach)) / per_position + 1
    }

    /// Positions that the next step has too.
    fn kept(&self, size: usize) -> usize {
        self.held(size).saturating_sub(self.stride.into())
    }

    /// Blocks that the text reads.
    pub(super) fn reads(&self, size: usize) -> usize {
        let [first, before] = self.rows.map(usize::from);
        let stride = usize::from(self.stride);
        let positions = self.held(size).min(stride) + self.kept(size).min(stride);
        first * before * self.breadth() * positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::ElementType;

    #[test]
    fn a_shader_knows_its_window() {
        for window in SlidingWindow::SAMPLES {
            let shader = Shader::new(&SLIDING_WINDOW, ElementType::F32, 64);
            let shader = Shader { attributes: window.attributes(), ..shader };
            assert_eq!(SlidingWindow::of(&shader), window);
        }
    }
}
