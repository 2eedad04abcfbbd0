//! `shaders/pool/sliding_window.wgsl`: pools without a loop over the taps of a window. The texts are
//! specialised for a window.

use bytemuck::{Pod, Zeroable, bytes_of, from_bytes};

use crate::plan::{Attributes, Kernel, Shader, Specialization};
use crate::pool::cpu;
use crate::pool::params::{Numbering, Params};
use crate::wgsl::params;

/// Maxima of windows. `unaligned_source` and `unaligned_result`: lines begin and end with words,
/// but not with blocks. `indices`: their positions, too, if an element is a word. `wide`: indices
/// have two words.
pub(in crate::pool) static SLIDING_WINDOW: Kernel =
    Kernel::new::<SlidingParams>("pool_sliding_window", "pool/sliding_window", cpu::run)
        .flags(&["unaligned_source", "unaligned_result", "indices", "wide"])
        .only(|element, flags| match flags & 4 {
            0 => flags < 4,
            _ => element.size() == 4 && flags & 1 == 0,
        })
        .specialized(&Specialization {
            write: |of| SlidingWindow::of(of).text(of.element.size(), of.is("indices")),
            samples: || SlidingWindow::SAMPLES.iter().map(SlidingWindow::attributes).collect(),
        })
        .reads_views(cpu::reads_in_place);

params! {
    /// How lines are divided into strips.
    pub(in crate::pool) struct Strips {
        /// Strips of all bands.
        pub count: u32,
        /// Steps of a strip; the last one of a line may have fewer.
        pub steps: u32,
        /// Strips of an invocation, which are contiguous.
        pub per_invocation: u32,
        pub padding: u32,
        /// Divisors: the strips of a band, the bands of a plane, and the inner axis in BREADTH blocks.
        pub by_per_line: [u32; 4],
        pub by_bands: [u32; 4],
        pub by_inner: [u32; 4],
    }

    pub(in crate::pool) struct SlidingParams {
        pub pool: Params,
        /// Used only with `indices`, which are distances from the first plane's first element:
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
    /// The distance from the first tap to the last one, at most `(taps - 1) * dilation`.
    pub reach: u8,
    /// For a window that slides along contiguous elements: where in a block of 16 bytes the first
    /// window begins, in elements.
    pub shift: u8,
    /// For a window that slides along whole blocks of an inner axis: how many neighbouring blocks
    /// an invocation slides along at once; 0 along elements.
    pub breadth: u8,
    /// How many neighbouring lines of windows an invocation slides along at once.
    pub height: u8,
    /// Along the axis before the last one: the distances of windows, of taps, and of the first tap and
    /// the last one.
    pub row_stride: u8,
    pub row_dilation: u8,
    pub row_reach: u8,
}

impl SlidingWindow {
    /// Samples of the unbounded number of windows. Together they have every part of the text.
    const SAMPLES: [Self; 5] = [
        Self { rows: [2, 2], taps: 3, stride: 2, reach: 2, shift: 1, row_reach: 1, ..Self::LINE },
        Self { taps: 13, reach: 11, ..Self::LINE },
        Self {
            rows: [1, 3],
            taps: 3,
            stride: 2,
            reach: 2,
            breadth: 2,
            height: 2,
            row_reach: 2,
            ..Self::LINE
        },
        Self { taps: 6, dilation: 2, reach: 9, breadth: 1, ..Self::LINE },
        Self { rows: [1, 3], taps: 3, reach: 2, height: 2, row_reach: 2, ..Self::LINE },
    ];
    /// Windows of one element, of one line.
    const LINE: Self = Self {
        rows: [1, 1],
        taps: 1,
        stride: 1,
        dilation: 1,
        reach: 0,
        shift: 0,
        breadth: 0,
        height: 1,
        row_stride: 1,
        row_dilation: 1,
        row_reach: 0,
    };

    /// The window as the attributes of a shader.
    pub(super) fn attributes(&self) -> Attributes {
        let mut all = Attributes::default();
        all[..size_of::<Self>()].copy_from_slice(bytes_of(self));
        all
    }

    /// The window that a shader is for.
    fn of(shader: &Shader) -> &Self {
        from_bytes(&shader.attributes[..size_of::<Self>()])
    }

    /// Elements of a slice, which are also the windows of a step.
    pub(super) fn per_slice(&self, size: usize) -> usize {
        if self.breadth == 0 { 16 / size } else { 1 }
    }

    /// Blocks that an invocation slides along at once.
    pub(super) fn beside(&self) -> usize {
        self.breadth.max(1).into()
    }

    /// Slices that the windows of a step read.
    pub(super) fn held(&self, size: usize) -> usize {
        let per_slice = self.per_slice(size);
        let windows = (per_slice - 1) * usize::from(self.stride);
        (usize::from(self.shift) + windows + usize::from(self.reach)) / per_slice + 1
    }

    /// Slices that the next step has too.
    pub(super) fn kept(&self, size: usize) -> usize {
        self.held(size).saturating_sub(self.stride.into())
    }

    /// How far a tap along the axis before the last one is from the first tap of the first line.
    pub(super) fn row_distance(&self, line: usize, tap: usize) -> usize {
        line * usize::from(self.row_stride)
            + (tap * usize::from(self.row_dilation)).min(self.row_reach.into())
    }

    /// All these distances in ascending order, each once.
    pub(super) fn row_distances(&self) -> Vec<usize> {
        let [lines, taps] = [self.height, self.rows[1]].map(usize::from);
        let all = (0..lines * taps).map(|i| self.row_distance(i / taps, i % taps));
        let mut all: Vec<usize> = all.collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Blocks that a step reads of a slice.
    fn blocks(&self) -> usize {
        usize::from(self.rows[0]) * self.row_distances().len() * self.beside()
    }

    /// Blocks that the text reads.
    pub(super) fn reads(&self, size: usize) -> usize {
        let stride = usize::from(self.stride);
        self.blocks() * (self.held(size).min(stride) + self.kept(size).min(stride))
    }

    /// Blocks that the first step of a strip reads.
    pub(super) fn first_reads(&self, size: usize) -> usize {
        self.blocks() * self.held(size)
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
