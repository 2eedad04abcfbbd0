//! Load and store adapters: what the loops compare (elements, or positions that an earlier launch
//! found), and what they store.

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
    /// Stores the results that the output still holds.
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
    found: Vec<L>,
    at: usize,
    count: usize,
}

impl<L> Waiting<L> {
    const NONE: Self = Self { found: vec![], at: 0, count: 0 };
}

/// About how many results wait.
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

    /// Stores results whose ranks give their elements, if indices are distances.
    #[inline(always)]
    fn store_alone(&mut self) {
        let (n, order) = (self.n, self.order);
        let Waiting { ref found, at, count } = self.waiting;
        let (found, indices) = (&found[..count], &mut *self.indices);
        for (value, &found) in self.values[at..].iter_mut().zip(found) {
            *value = order.bits(O::Key::unfound(found));
        }
        let index =
            |found| n.offset() + u64::from(O::Key::position(found).wrapping_sub(n.plane_base));
        if n.index_words == 1 {
            for (low, &found) in indices[at..].iter_mut().zip(found) {
                *low = index(found) as u32;
            }
        } else {
            let pairs = indices.as_chunks_mut::<2>().0;
            for ([low, high], &found) in pairs[at..].iter_mut().zip(found) {
                let index = index(found);
                (*low, *high) = (index as u32, (index >> 32) as u32);
            }
        }
    }

    /// Stores results one by one.
    #[inline(always)]
    fn store_each(&mut self) {
        let (n, order, words) = (self.n, self.order, self.n.index_words as usize);
        let Waiting { ref found, at, count } = self.waiting;
        let indices = self.indices[at * words..].chunks_exact_mut(words);
        let results = self.values[at..].iter_mut().zip(indices).zip(&found[..count]);
        for (i, ((value, index), &found)) in results.enumerate() {
            let (key, distance) = match O::Key::position(found) {
                NONE => {
                    let number = (self.first + at + i) as u32;
                    let channel = (number + n.first_channel) % n.channels;
                    (self.empty, number / n.plane_outputs * n.plane_pitch + channel)
                }
                // A plane of which a launch has a part may begin before the binding.
                at => {
                    let key = order.key(self.source[at as usize]);
                    (key, at.wrapping_sub(n.plane_base))
                }
            };
            *value = order.bits(key);
            let found = n.index_of(distance);
            index[0] = found as u32;
            if let Some(high) = index.get_mut(1) {
                *high = (found >> 32) as u32;
            }
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
            all.resize(*waiting + whole.max(WAITING), Self::Lane::LOWEST);
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
        let mut alone = out.n.are_distances();
        for &found in &out.waiting.found[..out.waiting.count] {
            let element = out.order.bits(O::Key::unfound(found));
            alone &= (found != Lane::LOWEST) & out.order.is_alone(element);
        }
        match alone {
            true => out.store_alone(),
            false => out.store_each(),
        }
        out.waiting.count = 0;
    }
}

impl Numbering {
    /// The index of the first plane's first element.
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
