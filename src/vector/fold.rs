//! Maxima of columns and of windows of many keys.
//!
//! Functions with `#[inline(always)]` must be called from [`Loop::run`], where they are compiled to
//! vector instructions.

use std::ops::Range;

use super::{Load, Loop, Store, dispatch, prefetch};
use crate::tensor::key::Lane;

/// Addresses that a thread reads from at once. Processors prefetch only within a page, and several
/// streams overlap the waits at the ends of pages: on an Intel Xeon with pages of 4 KiB, four read 1.3
/// to 2 times as fast as one.
pub(super) const STREAMS: usize = 4;

/// How many bytes ahead of the reads memory is prefetched. On an Intel Xeon half of it and four times
/// as much were slower; without prefetching, reductions took 1.2 times as long.
pub(super) const AHEAD: usize = 512;

/// Converts keys to items.
pub(crate) fn store<S: Store>(store: S, keys: &[S::Lane], out: &mut [S::Item]) {
    dispatch(StoreKeys(store, keys, out));
}

struct StoreKeys<'a, S: Store>(S, &'a [S::Lane], &'a mut [S::Item]);

impl<S: Store> Loop for StoreKeys<'_, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (out, &key) in self.2.iter_mut().zip(self.1) {
            *out = self.0.store(key);
        }
    }
}

/// The number of keys in 64 bytes, the largest vector register.
pub(crate) const fn vector<K>() -> usize {
    64 / size_of::<K>()
}

/// `count`, rounded up to an even number of vectors: loops take two at a time, and compilers leave a remainder
/// without vectors.
pub(crate) const fn whole<K>(count: usize) -> usize {
    count.next_multiple_of(2 * vector::<K>())
}

/// The items of four vectors.
pub(super) const fn chunk<K>() -> usize {
    4 * vector::<K>()
}

/// Keys whose maximum is taken: one, and those at some distances after it.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    One,
    Two(usize),
    Three(usize, usize),
}

impl Step {
    /// Whether the keys are those of a pair of neighbours, and the one after them. Compilers vectorise
    /// pairs, but not every other key.
    pub(crate) fn is_in_pairs(self) -> bool {
        matches!(self, Self::One | Self::Two(1) | Self::Three(1, 2))
    }

    /// The distance of the last key from the first one.
    pub(crate) fn reach(self) -> usize {
        match self {
            Self::One => 0,
            Self::Two(last) | Self::Three(_, last) => last,
        }
    }

    /// Writes the maxima for the first keys, as many as `next` has space for.
    #[inline(always)]
    pub(crate) fn run<K: Lane>(self, keys: &[K], next: &mut [K]) {
        match self {
            Self::One => next.copy_from_slice(&keys[..next.len()]),
            Self::Two(last) => {
                for ((next, &a), &b) in next.iter_mut().zip(keys).zip(&keys[last..]) {
                    *next = a.max(b);
                }
            }
            Self::Three(middle, last) => {
                let rows = keys.iter().zip(&keys[middle..]).zip(&keys[last..]);
                for (next, ((&a, &b), &c)) in next.iter_mut().zip(rows) {
                    *next = a.max(b).max(c);
                }
            }
        }
    }
}

/// The maxima of sliding windows over the first `len` keys. The window at a key has `taps` keys at a
/// distance of `apart`. Each step goes from one buffer to the other. Returns the buffer that begins
/// with the `len - (taps - 1) * apart` maxima, and the other one.
#[inline(always)]
pub(crate) fn windows<'a, K: Lane>(
    keys: &'a mut [K],
    next: &'a mut [K],
    len: usize,
    taps: usize,
    apart: usize,
) -> (&'a mut [K], &'a mut [K]) {
    let (keys, next, last) = windows_but_last(keys, next, len, taps, apart);
    if let Step::One = last {
        return (keys, next);
    }
    last.run(keys, &mut next[..len - (taps - 1) * apart]);
    (next, keys)
}

/// As [`windows`], but the last step, which is returned, remains to be done.
#[inline(always)]
pub(crate) fn windows_but_last<'a, K: Lane>(
    mut keys: &'a mut [K],
    mut next: &'a mut [K],
    len: usize,
    taps: usize,
    apart: usize,
) -> (&'a mut [K], &'a mut [K], Step) {
    let mut left = len;
    let mut done = 1;
    loop {
        // Each step triples the taps, or adds as many as are missing: the parts may overlap.
        let last = (2 * done).min(taps - done);
        let step = match last {
            0 => Step::One,
            _ if last > done => Step::Three(done * apart, last * apart),
            _ => Step::Two(last * apart),
        };
        done += last;
        if done == taps {
            return (keys, next, step);
        }
        left -= last * apart;
        step.run(keys, &mut next[..left]);
        (keys, next) = (next, keys);
    }
}

/// Raises each key to the item at the same index, if that is larger.
#[inline(always)]
pub(crate) fn merge<L: Load>(load: L, keys: &mut [L::Lane], items: &[L::Item]) {
    for (key, &item) in keys.iter_mut().zip(items) {
        *key = load.load(item, 0).max(*key);
    }
}

/// The order in which [`merge_rows`] takes rows. It prefetches the memory after them, except for `Anywhere`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum RowOrder {
    /// One row of each stream at a time.
    Streams,
    /// Neighbours.
    Neighbours,
    /// Rows at any addresses. The caller has prefetched their memory.
    Anywhere,
}

/// As [`merge`], for several rows. Takes four at once, so that keys are loaded and stored less often.
#[inline(always)]
pub(crate) fn merge_rows<'a, L: Load>(
    load: L,
    keys: &mut [L::Lane],
    rows: usize,
    order: RowOrder,
    row: impl Fn(usize) -> &'a [L::Item],
) {
    let share = rows / STREAMS;
    let (step, apart) = if order == RowOrder::Streams { (1, share) } else { (STREAMS, 1) };
    for i in (0..share).map(|i| i * step) {
        let rows = [row(i), row(i + apart), row(i + 2 * apart), row(i + 3 * apart)];
        for (number, keys) in keys.chunks_mut(chunk::<L::Lane>()).enumerate() {
            let [a, b, c, d] = rows.map(|row| &row[number * chunk::<L::Lane>()..][..keys.len()]);
            if order != RowOrder::Anywhere {
                for row in [a, b, c, d] {
                    row.chunks_exact(vector::<L::Item>()).for_each(|line| prefetch(line, AHEAD));
                }
            }
            for ((((key, &a), &b), &c), &d) in keys.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                let ab = load.load(a, 0).max(load.load(b, 0));
                let cd = load.load(c, 0).max(load.load(d, 0));
                *key = ab.max(cd).max(*key);
            }
        }
    }
    (STREAMS * share..rows).for_each(|i| merge(load, keys, row(i)));
}

/// Raises `keys` to the maxima of columns. Row r has `keys.len()` items, from item `begin(r)` on.
pub(crate) fn columns<L: Load>(
    load: L,
    items: &[L::Item],
    rows: Range<usize>,
    begin: impl Fn(usize) -> usize,
    keys: &mut [L::Lane],
) {
    dispatch(Columns(load, items, rows, begin, keys));
}

struct Columns<'a, L: Load, B>(L, &'a [L::Item], Range<usize>, B, &'a mut [L::Lane]);

impl<L: Load, B: Fn(usize) -> usize> Loop for Columns<'_, L, B> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(load, items, rows, begin, keys) = self;
        let count = keys.len();
        let row = |i: usize| &items[begin(rows.start + i)..][..count];
        merge_rows(load, keys, rows.len(), RowOrder::Streams, row);
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use bytemuck::cast_slice;

    use super::*;
    use crate::tensor::ElementType;
    use crate::tensor::key::{Extremum, KeyOrder, Nan, Ranking, with_order};
    use crate::vector::{Elements, random_words, rows};

    fn check<O: KeyOrder>(order: O) {
        let words: Vec<u64> = iter::repeat_with(random_words()).take(4000).collect();
        let items: &[O::Key] = cast_slice(&words);
        let load = Elements(order);
        let maximum = |items: &mut dyn Iterator<Item = O::Key>| {
            items.fold(O::Key::LOWEST, |a, item| a.max(load.load(item, 0)))
        };
        for len in (1..300).chain([511, 512, 700, 1000]) {
            // Unaligned items, and enough rows for several buffers.
            let items = &items[len % 7..];
            let count = (items.len() / len).min(1 + 1500 / len);
            let mut found = vec![O::Key::LOWEST; count];
            rows(load, items, len, &mut found);
            for (i, &found) in found.iter().enumerate() {
                let expected = maximum(&mut items[i * len..][..len].iter().copied());
                assert!(found == order.bits(expected), "row {i} of {len}");
            }
            for height in [1, 3, 4, 9] {
                let begin = |row: usize| row * (items.len() - len) / 9;
                let mut found = vec![O::Key::LOWEST; len];
                columns(load, items, 0..height, begin, &mut found);
                for (i, &found) in found.iter().enumerate() {
                    let mut column = (0..height).map(|row| items[begin(row) + i]);
                    assert!(found == maximum(&mut column), "column {i} of {len} in {height} rows");
                }
            }
        }
        rows(load, &[], 0, &mut [O::Key::LOWEST; 3]);
    }

    #[test]
    fn folds_are_maxima_for_all_types_and_lengths() {
        for element in ElementType::ALL {
            for nan in [Nan::Ignore, Nan::Propagate] {
                for extremum in [Extremum::Maximum, Extremum::Minimum] {
                    let ranking = Ranking::new(element, nan, extremum);
                    with_order!(element, ranking, order => check(order));
                }
            }
        }
    }

    #[test]
    fn windows_are_maxima() {
        for (taps, apart) in [(1, 1), (2, 1), (3, 1), (4, 1), (7, 2), (13, 1), (5, 20)] {
            let words = iter::repeat_with(random_words()).take(200);
            let mut keys: Vec<u32> = words.map(|word| word as u32).collect();
            let source = keys.clone();
            let (mut next, left) = (vec![0; keys.len()], 200 - (taps - 1) * apart);
            let found = &windows(&mut keys, &mut next, 200, taps, apart).0[..left];
            for (i, &found) in found.iter().enumerate() {
                let expected = (0..taps).map(|tap| source[i + tap * apart]).max();
                assert_eq!(Some(found), expected, "{taps} taps {apart} apart: {i}");
            }
        }
    }
}
