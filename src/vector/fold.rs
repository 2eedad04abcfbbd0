//! Maxima of many keys: the vector loops that several CPU kernels share.
//!
//! Functions with `#[inline(always)]` must be called from [`Loop::run`], where they are compiled to
//! vector instructions.

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};

use super::{Elements, Load, Loop, Store, dispatch, prefetch};
use crate::fault::{self, Fault};
use crate::tensor::key::{KeyOrder, Lane};

/// Places that a thread reads at once. Processors fetch ahead within a page, and several streams
/// overlap the waits at the ends of pages: on an Intel Xeon four read 1.3 to 2 times as fast as
/// one, where pages are of 4 KiB.
const STREAMS: usize = 4;

/// How many bytes ahead of what is read memory is asked for. On an Intel Xeon half of it and four
/// times as much were slower; without, reductions took 1.2 times as long.
const AHEAD: usize = 512;

/// Bytes of a row from which on it is read in several streams by itself.
const LONG_ROW: usize = 128 << 10;

/// Writes the maxima of `out.len()` rows of `len` items each.
pub(crate) fn rows<O: KeyOrder>(
    elements: Elements<O>,
    items: &[O::Key],
    len: usize,
    out: &mut [O::Key],
) {
    dispatch(Rows(elements, items, len, out));
}

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

/// The 64-bit words of a buffer for the keys of short rows. Several buffers fit the first-level
/// cache.
const BUFFER_WORDS: usize = 256;

/// The number of keys in 64 bytes, the largest vector register.
pub(crate) const fn vector<K>() -> usize {
    64 / size_of::<K>()
}

struct Rows<'a, O: KeyOrder>(Elements<O>, &'a [O::Key], usize, &'a mut [O::Key]);

impl<O: KeyOrder> Loop for Rows<'_, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(elements, items, len, out) = self;
        let lanes = vector::<O::Key>();
        if len == 0 {
            return out.fill(elements.store(O::Key::LOWEST));
        }
        if len >= 4 * lanes {
            return long_rows(elements, items, len, out);
        }
        // Rows are reduced to so many keys, which are then reduced together.
        let width = match len {
            _ if len > lanes => lanes,
            _ if len > lanes / 2 && len < lanes => lanes / 2,
            _ => len,
        };
        let (mut keys, mut next) = ([0u64; BUFFER_WORDS], [0u64; BUFFER_WORDS]);
        let (keys, next) = (cast_slice_mut::<_, O::Key>(&mut keys), cast_slice_mut(&mut next));
        let block = keys.len() / width;
        for (i, out) in out.chunks_mut(block).enumerate() {
            let first = fault::or(Fault::RowsSecondBlock, i * block, 0);
            let items = &items[first * len..][..out.len() * len];
            let found = if width < len {
                by_lanes(elements, items, len, width, keys, next)
            } else {
                // The next block.
                items.chunks(lanes).for_each(|line| prefetch(line, size_of_val(items)));
                short(elements, items, len, keys, next)
            };
            for (out, &key) in out.iter_mut().zip(found) {
                *out = elements.store(key);
            }
        }
    }
}

/// The maxima of rows of at least four vectors of items.
#[inline(always)]
fn long_rows<O: KeyOrder>(elements: Elements<O>, items: &[O::Key], len: usize, out: &mut [O::Key]) {
    let chunk = chunk::<Elements<O>>();
    let seen = fault::or(Fault::LongRowTail, len, len / chunk * chunk);
    let row = |i: usize| &items[i * len..][..seen];
    let mut done = 0;
    if len * size_of::<O::Key>() < LONG_ROW {
        // A row of each stream at once.
        let share = out.len() / STREAMS;
        for i in 0..share {
            let max =
                four(elements, [row(i), row(share + i), row(2 * share + i), row(3 * share + i)]);
            for (stream, max) in max.into_iter().enumerate() {
                out[stream * share + i] = elements.store(max);
            }
        }
        done = STREAMS * share;
    }
    for (i, out) in out.iter_mut().enumerate().skip(done) {
        *out = elements.store(long(elements, row(i)));
    }
}

/// The maximum of a row of at least four vectors of items.
#[inline(always)]
fn long<L: Load>(load: L, row: &[L::Item]) -> L::Lane {
    // Quarters of whole chunks, which may overlap.
    let share = row.len().div_ceil(STREAMS).next_multiple_of(chunk::<L>()).min(row.len());
    let quarter = |stream: usize| &row[(stream * share).min(row.len() - share)..][..share];
    let [a, b, c, d] = four(load, [quarter(0), quarter(1), quarter(2), quarter(3)]);
    a.max(b).max(c.max(d))
}

/// The items of four vectors.
const fn chunk<L: Load>() -> usize {
    4 * vector::<L::Lane>()
}

/// The maxima of four rows of at least four vectors of items each, all of one length.
#[inline(always)]
fn four<L: Load>(load: L, rows: [&[L::Item]; STREAMS]) -> [L::Lane; STREAMS] {
    let (len, chunk) = (rows[0].len(), chunk::<L>());
    let whole = len / chunk * chunk;
    let mut maxima = [L::Lane::LOWEST; STREAMS];
    // Whole chunks, and perhaps a last one that overlaps them. A remainder would be a scalar loop.
    let last = (len > whole).then_some(len - chunk);
    for begin in (0..whole).step_by(chunk).chain(last) {
        for (max, row) in maxima.iter_mut().zip(rows) {
            let items = &row[begin..][..chunk];
            items.chunks_exact(vector::<L::Item>()).for_each(|line| prefetch(line, AHEAD));
            *max = items.iter().fold(*max, |max, &item| load.load(item, 0).max(max));
        }
    }
    maxima
}

/// The maxima of rows of more than `lanes` items. Each row is reduced to `lanes` keys, and then the
/// keys of all rows are halved together. Both buffers are overwritten.
#[inline(always)]
fn by_lanes<'a, L: Load>(
    load: L,
    items: &[L::Item],
    len: usize,
    lanes: usize,
    keys: &'a mut [L::Lane],
    next: &'a mut [L::Lane],
) -> &'a [L::Lane] {
    let rows = items.len() / len;
    let last = fault::or(Fault::MediumRowTail, len, len / lanes * lanes) - lanes;
    let middle = fault::or(Fault::MediumRowMiddle, len - 1, lanes);
    for (keys, row) in keys.chunks_exact_mut(lanes).zip(items.chunks_exact(len)) {
        row.chunks(lanes).for_each(|line| prefetch(line, 2 * AHEAD));
        let (first, last) = (&row[..lanes], &row[last..][..lanes]);
        for ((key, &a), &b) in keys.iter_mut().zip(first).zip(last) {
            *key = load.load(a, 0).max(load.load(b, 0));
        }
        for chunk in row[..middle].chunks_exact(lanes).skip(1) {
            merge(load, keys, chunk);
        }
    }
    halve(keys, next, lanes, rows)
}

/// The maxima of `rows` rows of `len` keys; `len` is a power of two. Both buffers are overwritten.
#[inline(always)]
fn halve<'a, K: Lane>(
    mut keys: &'a mut [K],
    mut next: &'a mut [K],
    len: usize,
    rows: usize,
) -> &'a [K] {
    let mut left = rows * len;
    while left > rows {
        let pairs: &[K::Pair] = cast_slice(&keys[..left]);
        for (next, &pair) in next.iter_mut().zip(pairs) {
            *next = K::pair_max(pair);
        }
        (keys, next) = (next, keys);
        left /= 2;
    }
    &keys[..left]
}

/// The maxima of rows of at most half a vector, or of exactly one. Both buffers are overwritten.
#[inline(always)]
fn short<'a, L: Load>(
    load: L,
    items: &[L::Item],
    len: usize,
    keys: &'a mut [L::Lane],
    next: &'a mut [L::Lane],
) -> &'a [L::Lane] {
    let (count, rows) = (items.len(), items.len() / len);
    for (key, &item) in keys[..count].iter_mut().zip(items) {
        *key = load.load(item, 0);
    }
    if len.is_power_of_two() {
        return halve(keys, next, len, rows);
    }
    // Sliding windows over the whole buffer need no shuffles. Only the window that starts a row
    // is used; the others reach into the next row.
    let taps = fault::or(Fault::ShortRowLast, len, len - 1);
    let found = windows(&mut keys[..count], next, taps, 1).0;
    for row in 0..rows {
        found[row] = found[row * len];
    }
    &found[..rows]
}

/// The maxima of sliding windows over `keys`. The window at a key has `taps` keys at a distance of
/// `apart`. Takes [`steps`] steps, each from one buffer to the other; returns the buffer with the
/// maxima and the other one.
#[inline(always)]
pub(crate) fn windows<'a, K: Lane>(
    mut keys: &'a mut [K],
    mut next: &'a mut [K],
    taps: usize,
    apart: usize,
) -> (&'a mut [K], &'a mut [K]) {
    let mut left = keys.len();
    let mut done = 1;
    while done < taps {
        // Each step triples the taps, or adds as many as are missing: the parts may overlap.
        let last = (2 * done).min(taps - done);
        left -= last * apart;
        let from = &keys[..left + last * apart];
        if last > done {
            let middle = fault::or(Fault::MiddleThird, done, last);
            let rows = from.iter().zip(&from[middle * apart..]).zip(&from[last * apart..]);
            for (next, ((&a, &b), &c)) in next[..left].iter_mut().zip(rows) {
                *next = a.max(b).max(c);
            }
        } else {
            for ((next, &a), &b) in next[..left].iter_mut().zip(from).zip(&from[last * apart..]) {
                *next = a.max(b);
            }
        }
        (keys, next) = (next, keys);
        done += last;
    }
    (&mut keys[..left], next)
}

/// The number of steps in which [`windows`] swaps its buffers.
pub(crate) const fn steps(taps: usize) -> u32 {
    let (mut done, mut steps) = (1usize, 0);
    while done < taps {
        done = done.saturating_mul(3);
        steps += 1;
    }
    steps
}

/// Raises each key to the item at the same index, if that is larger.
#[inline(always)]
pub(crate) fn merge<L: Load>(load: L, keys: &mut [L::Lane], items: &[L::Item]) {
    for (key, &item) in keys.iter_mut().zip(items) {
        *key = load.load(item, 0).max(*key);
    }
}

/// As [`merge`], for so many rows, four at once, so that keys are loaded and stored less often: a row of
/// each stream or, where `together`, neighbours.
#[inline(always)]
pub(crate) fn merge_rows<'a, L: Load>(
    load: L,
    keys: &mut [L::Lane],
    rows: usize,
    together: bool,
    row: impl Fn(usize) -> &'a [L::Item],
) {
    let share = rows / STREAMS;
    let (step, apart) = if together { (STREAMS, 1) } else { (1, share) };
    for i in (0..share).map(|i| i * step) {
        let rows = [row(i), row(i + apart), row(i + 2 * apart), row(i + 3 * apart)];
        for (number, keys) in keys.chunks_mut(chunk::<L>()).enumerate() {
            let [a, b, c, d] = rows.map(|row| &row[number * chunk::<L>()..][..keys.len()]);
            for row in [a, b, c, d] {
                row.chunks_exact(vector::<L::Item>()).for_each(|line| prefetch(line, AHEAD));
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

/// Raises `keys` to the maxima of columns. A row has `keys.len()` items from `begin` of its number
/// on.
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
        let (count, rest) = (keys.len(), rows.len() % STREAMS);
        let lost = fault::or(Fault::ColumnsRemainder, 0, rest.min(1));
        let row = |i: usize| &items[begin(rows.start + i)..][..count];
        merge_rows(load, keys, rows.len() - lost, false, row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::ElementType;
    use crate::tensor::key::{Extremum, KeyOrder, Nan, Ranking, with_order};
    use crate::vector::Elements;

    /// Random words, with NaNs, infinities and zeros of all types among them.
    fn bytes(count: usize) -> Vec<u64> {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let some = [
            u64::MAX,
            0,
            0x7fc0_7e00_ffc0_fe00,
            0xfff8_0000_0000_0000,
            1 << 63,
            0x7c00_fc00_7f80_ff80,
        ];
        (0..count)
            .map(|_| match next() % 16 {
                i @ 0..6 => some[i as usize],
                _ => next(),
            })
            .collect()
    }

    fn check<O: KeyOrder>(order: O) {
        let bytes = bytes(4000);
        let items: &[O::Key] = cast_slice(&bytes);
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
            let mut keys: Vec<u32> = bytes(200).into_iter().map(|x| x as u32).collect();
            let source = keys.clone();
            let (first, mut next) = (keys.as_ptr(), vec![0; keys.len()]);
            let found = windows(&mut keys, &mut next, taps, apart).0;
            assert_eq!(found.len(), 200 - (taps - 1) * apart);
            let swapped = found.as_ptr() != first;
            assert_eq!(swapped, steps(taps) % 2 == 1);
            for (i, &found) in found.iter().enumerate() {
                let expected = (0..taps).map(|tap| source[i + tap * apart]).max();
                assert_eq!(Some(found), expected, "{taps} taps {apart} apart: {i}");
            }
        }
    }
}
