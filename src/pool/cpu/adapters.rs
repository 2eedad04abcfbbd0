//! Load and store adapters: what the loops compare (elements, or positions that an earlier launch
//! found), and what they store.

use crate::pool::params::Numbering;
use crate::tensor::key::{Key, KeyOrder, Lane};
use crate::vector::{Load, vector};

/// Elements, and their positions in the source.
#[derive(Clone, Copy)]
pub(super) struct Located<O>(pub O);

impl<O: KeyOrder> Load for Located<O> {
    type Item = O::Key;
    type Lane = <O::Key as Key>::Found;
    #[inline(always)]
    fn load(self, item: O::Key, position: u32) -> Self::Lane {
        self.0.rank(self.0.key(item)).found(position)
    }
}

/// Positions that an earlier launch has found, in a source.
#[derive(Clone, Copy)]
pub(super) struct Candidates<'a, O: KeyOrder>(pub O, pub &'a [O::Key]);

impl<O: KeyOrder> Load for Candidates<'_, O> {
    type Item = u32;
    type Lane = <O::Key as Key>::Found;
    // Each position is looked up in the source.
    const VECTORS: bool = false;
    #[inline(always)]
    fn load(self, item: u32, _: u32) -> Self::Lane {
        match item {
            NONE => Self::Lane::LOWEST,
            at => self.0.rank(self.0.key(self.1[at as usize])).found(at),
        }
    }
}

/// The position in a window without elements.
const NONE: u32 = u32::MAX;

/// The destination of the results of neighbouring windows.
pub(super) trait Output: Send + Sized {
    /// What is found: a key, or a key with its position.
    type Lane: Lane;
    /// The results before `at`, and the others.
    fn split(self, at: usize) -> (Self, Self);
    /// Stores `count` results from `at` on, and may store as many more as `found` and the output have: callers
    /// give more only if a later call overwrites them.
    fn store(&mut self, at: usize, found: impl ExactSizeIterator<Item = Self::Lane>, count: usize);
    /// Stores the results of windows without elements, unless their lanes hold them already.
    fn store_empty(&mut self, _at: usize, _count: usize) {}
}

/// Maxima.
pub(super) struct Maxima<'a, O: KeyOrder> {
    pub out: &'a mut [O::Key],
    pub order: O,
    /// The key of a window without elements.
    pub empty: O::Key,
}

impl<O: KeyOrder> Output for Maxima<'_, O> {
    type Lane = O::Key;

    fn split(self, at: usize) -> (Self, Self) {
        let (first, rest) = self.out.split_at_mut(at);
        (Self { out: first, ..self }, Self { out: rest, ..self })
    }

    /// Whole vectors if there is space.
    #[inline(always)]
    fn store(&mut self, at: usize, found: impl ExactSizeIterator<Item = O::Key>, count: usize) {
        let (order, out) = (self.order, &mut self.out[at..]);
        let whole = count.next_multiple_of(vector::<O::Key>());
        let whole = if whole <= out.len().min(found.len()) { whole } else { count };
        for (out, key) in out[..whole].iter_mut().zip(found) {
            *out = order.bits(key);
        }
    }

    fn store_empty(&mut self, at: usize, count: usize) {
        self.out[at..at + count].fill(self.order.bits(self.empty));
    }
}

/// The keys or keys with positions themselves.
pub(super) struct Keys<'a, L>(pub &'a mut [L]);

impl<L: Lane> Output for Keys<'_, L> {
    type Lane = L;

    fn split(self, at: usize) -> (Self, Self) {
        let (first, rest) = self.0.split_at_mut(at);
        (Self(first), Self(rest))
    }

    #[inline(always)]
    fn store(&mut self, at: usize, found: impl ExactSizeIterator<Item = L>, count: usize) {
        for (out, found) in self.0[at..at + count].iter_mut().zip(found) {
            *out = found;
        }
    }
}

/// Positions, for a later launch. Windows without elements have a position, too.
pub(super) struct Positions<'a, O> {
    pub out: &'a mut [u32],
    #[expect(dead_code, reason = "says of which keys positions are")]
    pub order: O,
}

impl<O: KeyOrder> Output for Positions<'_, O> {
    type Lane = <O::Key as Key>::Found;

    fn split(self, at: usize) -> (Self, Self) {
        let (first, rest) = self.out.split_at_mut(at);
        (Self { out: first, ..self }, Self { out: rest, ..self })
    }

    #[inline(always)]
    fn store(&mut self, at: usize, found: impl ExactSizeIterator<Item = Self::Lane>, count: usize) {
        for (out, found) in self.out[at..at + count].iter_mut().zip(found) {
            *out = O::Key::position(found);
        }
    }
}

/// Maxima and their indices, of one or two words each.
pub(super) struct Indices<'a, O: KeyOrder> {
    pub n: &'a Numbering,
    /// The key of a window without elements.
    pub empty: O::Key,
    pub order: O,
    pub source: &'a [O::Key],
    /// The number of the first result.
    pub first: usize,
    pub values: &'a mut [O::Key],
    pub indices: &'a mut [u32],
}

impl<O: KeyOrder> Output for Indices<'_, O> {
    type Lane = <O::Key as Key>::Found;

    fn split(self, at: usize) -> (Self, Self) {
        let (values, more_values) = self.values.split_at_mut(at);
        let (indices, more) = self.indices.split_at_mut(at * self.n.index_words as usize);
        let first = self.first + at;
        (
            Self { values, indices, ..self },
            Self { values: more_values, indices: more, first, ..self },
        )
    }

    #[inline(always)]
    fn store(&mut self, at: usize, found: impl ExactSizeIterator<Item = Self::Lane>, count: usize) {
        let (n, words) = (self.n, self.n.index_words as usize);
        let values = &mut self.values[at..at + count];
        let indices = &mut self.indices[at * words..(at + count) * words];
        let are_distances = n.are_distances();
        let offset = u64::from(n.offset_high) << 32 | u64::from(n.offset_low);
        let results = values.iter_mut().zip(indices.chunks_exact_mut(words));
        for (i, ((value, index), found)) in results.zip(found).enumerate() {
            let position = O::Key::position(found);
            let (key, distance) = match position {
                NONE => {
                    let number = (self.first + at + i) as u32;
                    let channel = (number + n.first_channel) % n.channels;
                    (self.empty, number / n.plane_outputs * n.plane_pitch + channel)
                }
                // A plane of which a launch has a part may begin before the binding.
                at => {
                    let key = self.order.key(self.source[at as usize]);
                    (key, at.wrapping_sub(n.plane_base))
                }
            };
            *value = self.order.bits(key);
            let found =
                if are_distances { offset + u64::from(distance) } else { n.index_of(distance) };
            index[0] = found as u32;
            if let Some(high) = index.get_mut(1) {
                *high = (found >> 32) as u32;
            }
        }
    }
}

impl Numbering {
    /// The index of the element at a distance from the first plane's first element.
    fn index_of(&self, distance: u32) -> u64 {
        let wide = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        let mut from_offset = distance;
        if self.columns > 0 {
            let mut rest = distance % self.plane_pitch;
            from_offset = distance - rest;
            let mut weight = self.plane_pitch;
            for &size in self.sizes.as_flattened()[..self.columns as usize].iter().rev() {
                weight /= size;
                from_offset += rest % size * weight;
                rest /= size;
            }
        }
        let index = wide(self.offset_low, self.offset_high) + u64::from(from_offset);
        match wide(self.modulus_low, self.modulus_high) {
            0 => index,
            modulus => index % modulus,
        }
    }
}
