//! The parameters of the kernels that store at positions.

use std::ops::Range;

use crate::wgsl::params;

/// Maximum axes of a launch: 2^32 elements cannot have more.
pub(super) const MAX_AXES: usize = 32;

params! {
    /// The parameters of scattering and claiming.
    pub(super) struct Params {
        /// Items, and the number of the first one.
        pub items: u32,
        pub first: u32,
        /// The offsets of the first value and the first position, in items, and words of a position.
        pub value_base: u32,
        pub index_base: u32,
        pub index_words: u32,
        /// The first position, 0 or -1, and how many there are. Any other number names no element.
        pub lowest: u32,
        pub positions: u32,
        /// The elements of the launch: the number of the first one, and their number.
        pub origin: u32,
        pub elements: u32,
        /// Their offsets in the result, and in the list of winners.
        pub result_base: u32,
        pub winner_base: u32,
        /// Axes of items, and all axes.
        pub item_axes: u32,
        pub axes: u32,
        pub padding: [u32; 3],
        /// Axes of items, and then those that positions count, each from the innermost one on: the
        /// divisor of its size, whose last word is replaced by its pitch.
        pub axis: [[u32; 4]; MAX_AXES],
        /// How many places along each axis may name an element, four axes a row.
        pub bounds: [[u32; 4]; MAX_AXES / 4],
    }
}

impl Params {
    /// Parts of a launch that do not share elements: how many, and the items and elements of one.
    pub(super) fn parts(&self) -> (usize, usize, usize) {
        let (items, positions) = self.axis[..self.axes as usize].split_at(self.item_axes as usize);
        let pitch = |axes: &[[u32; 4]]| axes.last().map_or(0, |axis| axis[3]);
        let (elements, all) = (pitch(items), self.elements);
        let is_bounded = items.last().is_some_and(|axis| self.bound(items.len() - 1) < axis[0]);
        if self.first > 0 || self.origin > 0 || elements <= pitch(positions) || is_bounded {
            return (1, self.items as usize, all as usize);
        }
        let parts = (all / elements).max(1);
        (parts as usize, (self.items / parts) as usize, (all / parts) as usize)
    }

    fn bound(&self, axis: usize) -> u32 {
        self.bounds[axis / 4][axis % 4]
    }

    /// The element of an item, counted from the launch's first: as `element_of` of
    /// `shaders/gradient/places.wgsl`.
    pub(super) fn element(&self, item: usize, indices: &[u32]) -> Option<usize> {
        let words = self.index_words as usize;
        let index = &indices[(self.index_base as usize + item) * words..][..words];
        // The high word of all positions.
        let high = if self.lowest == 0 { 0 } else { u32::MAX };
        let position = index[0].wrapping_sub(self.lowest);
        if position >= self.positions || index[1..].iter().any(|&word| word != high) {
            return None;
        }
        let offset = |number: u32, axes: Range<u32>| {
            let (mut rest, mut offset) = (number, 0u32);
            for axis in axes.start as usize..axes.end as usize {
                let [size, _, _, pitch] = self.axis[axis];
                let at = rest % size;
                if at >= self.bound(axis) {
                    return None;
                }
                offset = offset.wrapping_add(at.wrapping_mul(pitch));
                rest /= size;
            }
            Some(offset)
        };
        let element = offset(self.first + item as u32, 0..self.item_axes)?
            .wrapping_add(offset(position, self.item_axes..self.axes)?)
            .wrapping_sub(self.origin);
        (element < self.elements).then_some(element as usize)
    }
}
