//! `shaders/software/sliding_window.wgsl`: pools without a loop over the taps of a window. The
//! texts are specialised for a window.

mod text;

use bytemuck::{Pod, Zeroable, bytes_of, from_bytes};

use crate::plan::{Attributes, Kernel, Shader, Specialization};
use crate::pool::{self, Numbering, Params};
use crate::wgsl::params;

/// Maxima of windows. `unaligned_source` and `unaligned_result`: lines begin and end with words,
/// but not with blocks. `indices`: their positions, too, if an element is a word. `wide`: indices
/// have two words.
pub(super) static SLIDING_WINDOW: Kernel =
    Kernel::new::<SlidingParams>("pool_sliding_window", "software/sliding_window", pool::run)
        .flags(&["unaligned_source", "unaligned_result", "indices", "wide"])
        .only(|element, flags| match flags & 4 {
            0 => flags < 4,
            _ => element.size() == 4 && flags & 1 == 0,
        })
        .specialized(&Specialization {
            write: |of| SlidingWindow::of(of).text(of.element.size(), of.is("indices")),
            samples: || SlidingWindow::SAMPLES.iter().map(SlidingWindow::attributes).collect(),
        });

params! {
    /// How lines are divided into strips.
    pub(super) struct Strips {
        /// Strips of all lines, and of one.
        pub count: u32,
        pub per_line: u32,
        /// Steps of a strip; the last one of a line may have fewer.
        pub steps: u32,
        /// Strips of an invocation, which are contiguous.
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

/// The window that a text is specialised for.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct SlidingWindow {
    /// Taps along the two axes before the last.
    pub rows: [u8; 2],
    /// Taps along the last axis.
    pub taps: u8,
    /// The distance of windows along the last axis.
    pub stride: u8,
    /// The distance of taps along the last axis.
    pub dilation: u8,
    /// The distance from the first tap to the last one. The last tap may be nearer than taps and
    /// dilation say.
    pub reach: u8,
    /// For a window that slides along contiguous elements: where in a block of 16 bytes the first
    /// window begins, in elements.
    pub shift: u8,
    /// For a window that slides along whole blocks of an inner axis: how many neighbouring blocks
    /// an invocation slides along at once; 0 along elements.
    pub breadth: u8,
}

impl SlidingWindow {
    /// Samples of the unbounded number of windows. Together they have every part of the text.
    const SAMPLES: [Self; 4] = [
        Self { rows: [2, 2], taps: 3, stride: 2, dilation: 1, reach: 2, shift: 1, breadth: 0 },
        Self { rows: [1, 1], taps: 13, stride: 1, dilation: 1, reach: 11, shift: 0, breadth: 0 },
        Self { rows: [1, 3], taps: 3, stride: 2, dilation: 1, reach: 2, shift: 0, breadth: 2 },
        Self { rows: [1, 1], taps: 6, stride: 1, dilation: 2, reach: 9, shift: 0, breadth: 1 },
    ];

    /// The window as a shader has it.
    pub(super) fn attributes(&self) -> Attributes {
        let mut all = Attributes::default();
        all[..size_of::<Self>()].copy_from_slice(bytes_of(self));
        all
    }

    /// The window that a shader is for.
    fn of(shader: &Shader) -> &Self {
        from_bytes(&shader.attributes[..size_of::<Self>()])
    }

    /// Elements of a position, which are also the windows of a step.
    pub(super) fn per_position(&self, size: usize) -> usize {
        if self.breadth == 0 { 16 / size } else { 1 }
    }

    /// Blocks that an invocation slides along at once.
    pub(super) fn beside(&self) -> usize {
        self.breadth.max(1).into()
    }

    /// Positions that the windows of a step read.
    pub(super) fn held(&self, size: usize) -> usize {
        let per_position = self.per_position(size);
        let windows = (per_position - 1) * usize::from(self.stride);
        (usize::from(self.shift) + windows + usize::from(self.reach)) / per_position + 1
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
        first * before * self.beside() * positions
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
            assert_eq!(SlidingWindow::of(&shader), &window);
        }
    }
}
