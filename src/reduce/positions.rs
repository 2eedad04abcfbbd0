//! Positions of maxima: how they count, and what the CPU kernels that find them share.
//!
//! Most kernels first reduce some elements without positions, and then search them for the position
//! of the maximum: they are few, or still in a cache.

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use crate::base::threads;
use crate::plan::{Call, Lines};
use crate::tensor::key::KeyOrder;
use crate::vector::PARALLEL_FROM;
use crate::wgsl::params;

params! {
    /// How positions count.
    pub(crate) struct Counting {
        /// Places are XORed with this, and among equal elements the smallest result wins: 0 if
        /// the first element is to win, 0x7fffffff if the last one is.
        pub tie_mask: u32,
        /// The position of the axis's first element, and the step to that of the next one.
        pub first: u32,
        pub weight: u32,
        /// In `from_positions`: the offset of the first position of an element in its binding.
        pub source_base: u32,
        /// The offset of the first position of a result, and the words of one.
        pub result_base: u32,
        pub words: u32,
        pub padding: [u32; 2],
    }
}

impl Counting {
    /// The tie mask if the last of equal elements counts. No place is as large.
    pub const TIE_MASK: u32 = u32::MAX >> 1;

    /// Whether the last of equal elements counts.
    pub(super) fn last(&self) -> bool {
        self.tie_mask != 0
    }

    /// The position of an element at a place of its axis.
    fn of(&self, earlier: Option<&[u32]>, element: usize, place: usize) -> u32 {
        let before = earlier.map_or(0, |earlier| earlier[self.source_base as usize + element]);
        let after = (place as u32).wrapping_mul(self.weight);
        before.wrapping_add(self.first).wrapping_add(after)
    }
}

/// A launch.
pub(super) struct Launch<'a, O: KeyOrder> {
    pub order: O,
    pub positions: &'a Counting,
    pub source: &'a [O::Key],
    /// The rows of all matrices.
    pub lines: Lines<'a>,
    /// The positions that an earlier launch found.
    pub earlier: Option<&'a [u32]>,
}

/// Some of the results: elements, and words of positions.
pub(super) struct Out<'a, K> {
    pub values: &'a mut [K],
    pub positions: &'a mut [u32],
}

impl<'a, O: KeyOrder> Launch<'a, O> {
    /// The launch, and all its results.
    pub(super) fn new<'b>(
        order: O,
        positions: &'a Counting,
        (lines, outputs): (Lines<'a>, usize),
        call: &'b mut Call<'a, '_>,
    ) -> (Self, &'b mut [O::Key], &'b mut [u32]) {
        let source: &[O::Key] = cast_slice(call.sources[0]);
        let earlier = call.sources.get(1).map(|bytes| cast_slice(bytes));
        let [values, indices] = &mut *call.results else {
            unreachable!("planners bind what a kernel declares")
        };
        let (values, indices): (&mut [O::Key], &mut [u32]) =
            (cast_slice_mut(values), cast_slice_mut(indices));
        let words = positions.words as usize;
        let first = positions.result_base as usize * words;
        let launch = Self { order, positions, source, lines, earlier };
        (launch, values, &mut indices[first..first + outputs * words])
    }

    /// The rank of an element.
    #[inline(always)]
    pub(super) fn rank(&self, element: O::Key) -> O::Key {
        self.order.rank(self.order.key(element))
    }

    /// Stores a result: the element of the source, at a place of its axis.
    pub(super) fn store(&self, out: &mut Out<'_, O::Key>, at: usize, element: usize, place: usize) {
        // A NaN becomes canonical.
        out.values[at] = self.order.bits(self.order.key(self.source[element]));
        // Elements that have positions are contiguous.
        let position =
            self.positions.of(self.earlier, element.wrapping_sub(self.lines.base), place);
        match self.positions.words {
            1 => out.positions[at] = position,
            _ => out.positions[2 * at..][..2].copy_from_slice(&[position, 0]),
        }
    }
}

/// Cuts results into parts of `count`, which threads share if there are enough elements.
pub(super) fn each_part<K: Pod + Send>(
    elements: usize,
    count: usize,
    values: &mut [K],
    positions: &mut [u32],
    part: impl Fn(usize, Out<'_, K>) + Sync,
) {
    if values.is_empty() {
        return;
    }
    let words = positions.len() / values.len();
    let parts = values.chunks_mut(count).zip(positions.chunks_mut(count * words));
    let parts = parts.enumerate().map(|(i, (values, positions))| (i, Out { values, positions }));
    if elements < PARALLEL_FROM {
        parts.for_each(|(i, out)| part(i * count, out));
    } else {
        threads::each(parts.collect(), |(i, out)| part(i * count, out));
    }
}
