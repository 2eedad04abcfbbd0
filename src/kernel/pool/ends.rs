//! What windows are looked through for, and what becomes of what is found: both ends of the twins.

use crate::cpu::fold::vector;
use crate::cpu::simd::Loop;
use crate::kernel::{Elements, Read, Write};
use crate::tensor::key::{Key, Keyed, Lane};

use super::Params;

/// Reads items as what is compared. (See [`Read`], which knows no positions.)
pub(super) trait Load: Copy + Send + Sync {
    type Item: Copy + Send + Sync;
    type Lane: Lane;
    /// `position` is the item's in the source.
    fn lane(self, item: Self::Item, position: u32) -> Self::Lane;
}

impl<T: Keyed> Load for Elements<T> {
    type Item = T::Bits;
    type Lane = T::Key;
    #[inline(always)]
    fn lane(self, item: T::Bits, _: u32) -> T::Key {
        self.key(item)
    }
}

/// Elements, and where they lie.
#[derive(Clone, Copy)]
pub(super) struct Positions<T: Keyed>(pub Elements<T>);

impl<T: Keyed> Load for Positions<T> {
    type Item = T::Bits;
    type Lane = <T::Key as Key>::Found;
    #[inline(always)]
    fn lane(self, item: T::Bits, position: u32) -> Self::Lane {
        T::rank(self.0.key(item)).found(position)
    }
}

/// Positions that an earlier launch has found, in a source.
#[derive(Clone, Copy)]
pub(super) struct Earlier<'a, T: Keyed>(pub Elements<T>, pub &'a [T::Bits]);

impl<T: Keyed> Load for Earlier<'_, T> {
    type Item = u32;
    type Lane = <T::Key as Key>::Found;
    #[inline(always)]
    fn lane(self, item: u32, _: u32) -> Self::Lane {
        match item {
            NONE => Self::Lane::LOWEST,
            at => T::rank(self.0.key(self.1[at as usize])).found(at),
        }
    }
}

/// The position of nothing.
const NONE: u32 = u32::MAX;

/// Where results of neighbouring windows go.
pub(super) trait Sink: Send + Sized {
    type Lane: Lane;
    /// Results that there is room for.
    fn len(&self) -> usize;
    /// The first so many, and the others.
    fn split(self, at: usize) -> (Self, Self);
    /// Stores some results from one on. As `put` is called from the first one on, more than
    /// `count` may be stored, where there is room: what comes later is put there later.
    fn put(&mut self, at: usize, found: &[Self::Lane], count: usize);
    /// What windows without elements give.
    fn put_empty(&mut self, at: usize, count: usize);
}

/// Maxima.
pub(super) struct Maxima<'a, T: Keyed> {
    pub out: &'a mut [T::Bits],
    pub write: Elements<T>,
    /// The key of a window without elements.
    pub empty: T::Key,
}

impl<T: Keyed> Sink for Maxima<'_, T> {
    type Lane = T::Key;

    fn len(&self) -> usize {
        self.out.len()
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (first, rest) = self.out.split_at_mut(at);
        (Self { out: first, ..self }, Self { out: rest, ..self })
    }

    #[inline(always)]
    fn put(&mut self, at: usize, found: &[T::Key], count: usize) {
        store(self.write, &mut self.out[at..], found, count);
    }

    fn put_empty(&mut self, at: usize, count: usize) {
        self.out[at..at + count].fill(T::bits(self.empty));
    }
}

/// Keys as items, in whole vectors if there is room.
#[inline(always)]
fn store<W: Write>(write: W, out: &mut [W::Item], keys: &[W::Key], count: usize) {
    let whole = count.next_multiple_of(vector::<W::Key>());
    let whole = if whole <= out.len().min(keys.len()) { whole } else { count };
    for (out, &key) in out[..whole].iter_mut().zip(&keys[..whole]) {
        *out = write.item(key);
    }
}

/// Positions, for a later launch. Nothing has a position, too.
pub(super) struct Places<'a, K>(pub &'a mut [u32], pub std::marker::PhantomData<K>);

impl<K: Key> Sink for Places<'_, K> {
    type Lane = K::Found;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (first, rest) = self.0.split_at_mut(at);
        (Self(first, self.1), Self(rest, self.1))
    }

    #[inline(always)]
    fn put(&mut self, at: usize, found: &[K::Found], count: usize) {
        for (out, &found) in self.0[at..at + count].iter_mut().zip(found) {
            *out = K::position(found);
        }
    }

    fn put_empty(&mut self, _: usize, _: usize) {}
}

/// Maxima and their indices, of one or two words each.
pub(super) struct Indices<'a, T: Keyed> {
    pub p: &'a Params,
    pub source: &'a [T::Bits],
    pub nan: T::Key,
    /// The number of the first result.
    pub first: usize,
    pub values: &'a mut [T::Bits],
    pub indices: &'a mut [u32],
}

impl<T: Keyed> Sink for Indices<'_, T> {
    type Lane = <T::Key as Key>::Found;

    fn len(&self) -> usize {
        self.values.len()
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (values, more_values) = self.values.split_at_mut(at);
        let (indices, more) = self.indices.split_at_mut(at * self.p.index_words as usize);
        let first = self.first + at;
        (
            Self { values, indices, ..self },
            Self { values: more_values, indices: more, first, ..self },
        )
    }

    #[inline(always)]
    fn put(&mut self, at: usize, found: &[Self::Lane], count: usize) {
        let (p, words) = (self.p, self.p.index_words as usize);
        let values = &mut self.values[at..at + count];
        let indices = &mut self.indices[at * words..(at + count) * words];
        // Without borders between planes and turns of indices, these are positions and an offset.
        let plain = p.columns == 0 && p.modulus_low | p.modulus_high == 0;
        let offset = u64::from(p.offset_high) << 32 | u64::from(p.offset_low);
        for (i, (value, index)) in
            values.iter_mut().zip(indices.chunks_exact_mut(words)).enumerate()
        {
            let position = T::Key::position(found[i]);
            let (key, distance) = match position {
                NONE => {
                    let number = (self.first + at + i) as u32;
                    let channel = (number + p.first_channel) % p.channels;
                    (p.empty_key(), number / p.plane_outputs * p.plane_pitch + channel)
                }
                // A piece of a plane begins behind the plane's first element.
                at => (T::key(self.source[at as usize], self.nan), at.wrapping_sub(p.plane_base)),
            };
            *value = T::bits(key);
            let found = if plain { offset + u64::from(distance) } else { index_of(p, distance) };
            index[0] = found as u32;
            if let Some(high) = index.get_mut(1) {
                *high = (found >> 32) as u32;
            }
        }
    }

    fn put_empty(&mut self, _: usize, _: usize) {}
}

/// The index of the element at a distance from the first plane's first element.
fn index_of(p: &Params, distance: u32) -> u64 {
    let wide = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    let mut from_offset = distance;
    if p.columns > 0 {
        let mut rest = distance % p.plane_pitch;
        from_offset = distance - rest;
        let mut weight = p.plane_pitch;
        for &size in p.sizes.as_flattened()[..p.columns as usize].iter().rev() {
            weight /= size;
            from_offset += rest % size * weight;
            rest /= size;
        }
    }
    let index = wide(p.offset_low, p.offset_high) + u64::from(from_offset);
    match wide(p.modulus_low, p.modulus_high) {
        0 => index,
        modulus => index % modulus,
    }
}

/// Rows of found lanes that are put side by side, and where.
pub(super) struct Put<'a, S: Sink> {
    pub sink: &'a mut S,
    pub found: &'a [S::Lane],
    /// Lines: where each begins in `found`, and how many results it has.
    pub begins: &'a [usize],
    /// Results of a line that are stored, in runs of `width` that are `inner` apart.
    pub count: usize,
    pub width: usize,
    pub inner: usize,
    /// Where the results of the first line go, and from one line to the next.
    pub at: usize,
    pub line: usize,
}

impl<S: Sink> Loop for Put<'_, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { sink, found, begins, count, width, inner, at, line } = self;
        for (i, &begin) in begins.iter().enumerate() {
            let (at, found) = (at + i * line, &found[begin..]);
            if width == inner {
                // Only where lines end where the next ones begin comes later what is behind them.
                let most = if count == line { found.len() } else { count };
                sink.put(at, &found[..most], count);
            } else {
                for window in 0..count / width {
                    let found = &found[window * width..][..width];
                    sink.put(at + window * inner, found, width);
                }
            }
        }
    }
}
