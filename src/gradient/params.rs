//! The parameters of the kernels that store at positions.

use crate::wgsl::params;

/// Maximum axes of a launch: 2^32 elements cannot have more.
pub(super) const MAX_AXES: usize = 32;

params! {
    /// The parameters of scattering and claiming.
    pub(super) struct Params {
        /// Items, and the number of the first one.
        pub items: u32,
        pub first: u32,
        /// Where values and positions begin, in items, and words of a position.
        pub value_base: u32,
        pub index_base: u32,
        pub index_words: u32,
        /// How many positions there are. Any other number names no element.
        pub positions: u32,
        /// The elements of the launch: the number of the first one, and their number.
        pub origin: u32,
        pub elements: u32,
        /// Where these begin in the result, and in the list of winners.
        pub result_base: u32,
        pub winner_base: u32,
        /// Axes of items, and all axes.
        pub item_axes: u32,
        pub axes: u32,
        /// Axes of items, and then those that positions count, each from the innermost one on: the
        /// divisor of its size, whose last word is replaced by its pitch.
        pub axis: [[u32; 4]; MAX_AXES],
    }
}

impl Params {
    /// Parts of a launch that do not share elements: how many, and the items and elements of one.
    pub(super) fn parts(&self) -> (usize, usize, usize) {
        let (items, positions) = self.axis[..self.axes as usize].split_at(self.item_axes as usize);
        let pitch = |axes: &[[u32; 4]]| axes.last().map_or(0, |axis| axis[3]);
        let (elements, all) = (pitch(items), self.elements);
        if self.first > 0 || self.origin > 0 || elements <= pitch(positions) {
            return (1, self.items as usize, all as usize);
        }
        let parts = (all / elements).max(1);
        (parts as usize, (self.items / parts) as usize, (all / parts) as usize)
    }

    /// The element of an item, counted from the launch's first: as `element_of` of
    /// `shaders/gradient/places.wgsl`.
    pub(super) fn element(&self, item: usize, indices: &[u32]) -> Option<usize> {
        let words = self.index_words as usize;
        let index = &indices[(self.index_base as usize + item) * words..][..words];
        if index[0] >= self.positions || index[1..].iter().any(|&high| high != 0) {
            return None;
        }
        let offset = |number: u32, axes: &[[u32; 4]]| {
            let (mut rest, mut offset) = (number, 0u32);
            for &[size, _, _, pitch] in axes {
                offset = offset.wrapping_add((rest % size).wrapping_mul(pitch));
                rest /= size;
            }
            offset
        };
        let (items, positions) = self.axis[..self.axes as usize].split_at(self.item_axes as usize);
        let element = offset(self.first + item as u32, items)
            .wrapping_add(offset(index[0], positions))
            .wrapping_sub(self.origin);
        (element < self.elements).then_some(element as usize)
    }
}
