//! Load and store adapters: what the loops compare (elements, or positions that an earlier launch
//! found), and what they store.

use std::mem;

use crate::pool::params::Numbering;
use crate::tensor::key::{Key, KeyOrder, Lane};
use crate::vector::{Load, Loop, dispatch, vector};

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
    /// Stores what [`store`](Self::store) has kept. Callers do so after the last of a block's results.
    fn flush(&mut self) {}
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
    n: &'a Numbering,
    /// The key of a window without elements.
    empty: O::Key,
    order: O,
    source: &'a [O::Key],
    /// The number of the first result.
    first: usize,
    values: &'a mut [O::Key],
    indices: &'a mut [u32],
    waiting: Waiting<<O::Key as Key>::Found>,
}

/// Neighbouring results that are stored together: lines may be too short for vectors.
struct Waiting<L> {
    /// The first `count` are results.
    found: Vec<L>,
    count: usize,
    /// The destination of the first one.
    at: usize,
}

impl<L> Waiting<L> {
    const NONE: Self = Self { found: vec![], count: 0, at: 0 };
}

/// Results are stored before more than so many wait, unless one call stores more.
const WAITING: usize = 256;

impl<'a, O: KeyOrder> Indices<'a, O> {
    /// All results of a launch, of which those of windows without elements have the key `empty`.
    pub fn new(
        order: O,
        n: &'a Numbering,
        empty: O::Key,
        source: &'a [O::Key],
        (values, indices): (&'a mut [O::Key], &'a mut [u32]),
    ) -> Self {
        Self { n, empty, order, source, first: 0, values, indices, waiting: Waiting::NONE }
    }

    /// Stores the element and the index of a result.
    #[inline(always)]
    fn store_one(&mut self, at: usize, position: u32) {
        let (n, words) = (self.n, self.n.index_words as usize);
        let (key, distance) = match position {
            NONE => {
                let number = (self.first + at) as u32;
                let channel = (number + n.first_channel) % n.channels;
                (self.empty, number / n.plane_outputs * n.plane_pitch + channel)
            }
            // A plane of which a launch has a part may begin before the binding.
            found => {
                (self.order.key(self.source[found as usize]), found.wrapping_sub(n.plane_base))
            }
        };
        self.values[at] = self.order.bits(key);
        let index = n.index_of(distance);
        let out = &mut self.indices[at * words..][..words];
        out[0] = index as u32;
        if let Some(high) = out.get_mut(1) {
            *high = (index >> 32) as u32;
        }
    }
}

impl<O: KeyOrder> Output for Indices<'_, O> {
    type Lane = <O::Key as Key>::Found;

    fn split(self, at: usize) -> (Self, Self) {
        let (values, more_values) = self.values.split_at_mut(at);
        let (indices, more) = self.indices.split_at_mut(at * self.n.index_words as usize);
        let (first, waiting) = (self.first + at, Waiting::NONE);
        (
            Self { values, indices, ..self },
            Self { values: more_values, indices: more, first, waiting, ..self },
        )
    }

    #[inline(always)]
    fn store(&mut self, at: usize, found: impl ExactSizeIterator<Item = Self::Lane>, count: usize) {
        let Waiting { at: begin, count: waiting, .. } = self.waiting;
        if waiting + count > WAITING || begin + waiting != at {
            self.flush();
            self.waiting.at = at;
        }
        let Waiting { found: all, count: waiting, .. } = &mut self.waiting;
        // Whole vectors, if there are so many.
        let whole = count.next_multiple_of(vector::<Self::Lane>()).min(found.len());
        if all.len() < *waiting + whole {
            let space = WAITING + vector::<Self::Lane>();
            all.resize((*waiting + whole).max(space), Self::Lane::LOWEST);
        }
        for (slot, found) in all[*waiting..*waiting + whole].iter_mut().zip(found) {
            *slot = found;
        }
        *waiting += count;
    }

    fn flush(&mut self) {
        dispatch(StoreWaiting(self));
    }
}

/// Stores the results that wait.
struct StoreWaiting<'a, 'b, O: KeyOrder>(&'a mut Indices<'b, O>);

impl<O: KeyOrder> Loop for StoreWaiting<'_, '_, O> {
    type Output = ();
    const VECTORS: bool = <O::Key as Key>::Found::VECTORS;
    #[inline(always)]
    fn run(self) {
        let Self(out) = self;
        let (n, order) = (out.n, out.order);
        let (offset, plane_base, distances) = (n.offset(), n.plane_base, n.are_distances());
        let Waiting { found, count, at } = mem::replace(&mut out.waiting, Waiting::NONE);
        // A rank gives its element, unless that is a zero, of either sign, or the window has none. Elements that
        // are not alone are zeros and NaNs; to store a NaN again costs only time.
        let mut alone = true;
        for (value, &found) in out.values[at..].iter_mut().zip(&found[..count]) {
            *value = order.bits(O::Key::without_position(found));
            alone &= (found != Lane::LOWEST) & order.is_alone(*value);
        }
        if distances && n.index_words == 1 {
            for (index, &found) in out.indices[at..].iter_mut().zip(&found[..count]) {
                let distance = O::Key::position(found).wrapping_sub(plane_base);
                *index = (offset + u64::from(distance)) as u32;
            }
        } else if distances {
            let indices = &mut out.indices.as_chunks_mut::<2>().0[at..];
            for ([low, high], &found) in indices.iter_mut().zip(&found[..count]) {
                let distance = O::Key::position(found).wrapping_sub(plane_base);
                let index = offset + u64::from(distance);
                (*low, *high) = (index as u32, (index >> 32) as u32);
            }
        }
        if !(distances && alone) {
            for (i, &found) in found[..count].iter().enumerate() {
                let alone = found != Lane::LOWEST && order.is_alone(out.values[at + i]);
                if !(distances && alone) {
                    out.store_one(at + i, O::Key::position(found));
                }
            }
        }
        out.waiting.found = found;
    }
}

impl Numbering {
    /// The index of the first plane's first element.
    #[inline(always)]
    fn offset(&self) -> u64 {
        u64::from(self.offset_high) << 32 | u64::from(self.offset_low)
    }

    /// The index of the element at a distance from the first plane's first element.
    fn index_of(&self, distance: u32) -> u64 {
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
        let index = self.offset() + u64::from(from_offset);
        match u64::from(self.modulus_high) << 32 | u64::from(self.modulus_low) {
            0 => index,
            modulus => index % modulus,
        }
    }
}
