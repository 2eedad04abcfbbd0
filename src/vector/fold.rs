//! Maxima of many keys: the vector loops that several CPU kernels share.
//!
//! Functions with `#[inline(always)]` must be called from [`Loop::run`], where they are compiled to
//! vector instructions.

use bytemuck::{cast_slice, cast_slice_mut};

use super::{Load, Loop, Store, dispatch};
use crate::fault::{self, Fault};
use crate::tensor::key::Lane;

/// Writes the maxima of `out.len()` rows of `len` items each.
pub(crate) fn rows<L: Load>(load: L, items: &[L::Item], len: usize, out: &mut [L::Lane]) {
    dispatch(Rows(load, items, len, out));
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
const BUFFER_WORDS: usize = 512;

/// The number of keys in 64 bytes, the largest vector register.
pub(crate) const fn vector<K>() -> usize {
    64 / size_of::<K>()
}

struct Rows<'a, L: Load>(L, &'a [L::Item], usize, &'a mut [L::Lane]);

impl<L: Load> Loop for Rows<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(load, items, len, out) = self;
        let lanes = vector::<L::Lane>();
        if len >= 4 * lanes {
            let seen = fault::or(Fault::LongRowTail, len, len / (4 * lanes) * (4 * lanes));
            for (out, row) in out.iter_mut().zip(items.chunks_exact(len)) {
                *out = long(load, &row[..seen]);
            }
        } else if len > lanes {
            by_lanes(load, items, len, lanes, out);
        } else if len > lanes / 2 && len < lanes {
            by_lanes(load, items, len, lanes / 2, out);
        } else {
            short(load, items, len, out);
        }
    }
}

/// The maximum of a row of at least four vectors of items.
#[inline(always)]
fn long<L: Load>(load: L, row: &[L::Item]) -> L::Lane {
    let chunk = 4 * vector::<L::Lane>();
    let mut max = L::Lane::LOWEST;
    for &item in &row[..row.len() / chunk * chunk] {
        max = load.load(item, 0).max(max);
    }
    // The last chunk overlaps the previous one. A remainder would be a scalar loop.
    for &item in &row[row.len() - chunk..][..chunk] {
        max = load.load(item, 0).max(max);
    }
    max
}

/// The maxima of rows of at least `lanes` items. Each row is reduced to `lanes` keys, and then the
/// keys of many rows are halved together.
#[inline(always)]
fn by_lanes<L: Load>(load: L, items: &[L::Item], len: usize, lanes: usize, out: &mut [L::Lane]) {
    let (mut keys, mut next) = ([0u64; BUFFER_WORDS], [0u64; BUFFER_WORDS]);
    let (keys, next) = (cast_slice_mut::<_, L::Lane>(&mut keys), cast_slice_mut(&mut next));
    let rows = keys.len() / lanes;
    let last = fault::or(Fault::MediumRowTail, len, len / lanes * lanes) - lanes;
    let middle = fault::or(Fault::MediumRowMiddle, len - 1, lanes);
    for (items, out) in items.chunks(len * rows).zip(out.chunks_mut(rows)) {
        for (keys, row) in keys.chunks_exact_mut(lanes).zip(items.chunks_exact(len)) {
            let (first, last) = (&row[..lanes], &row[last..][..lanes]);
            for ((key, &a), &b) in keys.iter_mut().zip(first).zip(last) {
                *key = load.load(a, 0).max(load.load(b, 0));
            }
            for chunk in row[..middle].chunks_exact(lanes).skip(1) {
                merge(load, keys, chunk);
            }
        }
        halve(keys, next, lanes, out);
    }
}

/// The maxima of rows of `len` keys; `len` is a power of two. Both buffers are overwritten.
#[inline(always)]
fn halve<'a, K: Lane>(mut keys: &'a mut [K], mut next: &'a mut [K], len: usize, out: &mut [K]) {
    let mut left = out.len() * len;
    while left > out.len() {
        let pairs: &[K::Pair] = cast_slice(&keys[..left]);
        for (next, &pair) in next.iter_mut().zip(pairs) {
            *next = K::pair_max(pair);
        }
        (keys, next) = (next, keys);
        left /= 2;
    }
    out.copy_from_slice(&keys[..left]);
}

/// The maxima of rows of at most half a vector, or of exactly one. Many rows are reduced together.
#[inline(always)]
fn short<L: Load>(load: L, items: &[L::Item], len: usize, out: &mut [L::Lane]) {
    if len == 0 {
        return out.fill(L::Lane::LOWEST);
    }
    let (mut keys, mut next) = ([0u64; BUFFER_WORDS], [0u64; BUFFER_WORDS]);
    let (keys, next) = (cast_slice_mut::<_, L::Lane>(&mut keys), cast_slice_mut(&mut next));
    let rows = keys.len() / len;
    let taps = fault::or(Fault::ShortRowLast, len, len - 1);
    for (items, out) in items.chunks(len * rows).zip(out.chunks_mut(rows)) {
        let count = out.len() * len;
        for (key, &item) in keys[..count].iter_mut().zip(items) {
            *key = load.load(item, 0);
        }
        if len.is_power_of_two() {
            halve(keys, next, len, out);
            continue;
        }
        // Sliding windows over the whole buffer need no shuffles. Only the window that starts a row
        // is used; the others reach into the next row.
        let found = windows(&mut keys[..count], next, taps, 1).0;
        for (out, row) in out.iter_mut().zip(found.chunks(len)) {
            *out = row[0];
        }
    }
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

/// Raises `keys` to the maxima of columns. Each row has `keys.len()` items and starts at one of
/// `begins`, in items.
pub(crate) fn columns<L: Load>(
    load: L,
    items: &[L::Item],
    begins: impl Iterator<Item = usize>,
    keys: &mut [L::Lane],
) {
    dispatch(Columns(load, items, begins, keys));
}

struct Columns<'a, L: Load, B>(L, &'a [L::Item], B, &'a mut [L::Lane]);

impl<L: Load, B: Iterator<Item = usize>> Loop for Columns<'_, L, B> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(load, items, begins, keys) = self;
        merge_rows(load, items, begins, keys);
    }
}

/// Rows that [`merge_rows`] combines in registers, so that keys are loaded and stored less often.
const ROWS_PER_PASS: usize = 4;

/// As [`merge`], for rows that start at `begins`, in items.
#[inline(always)]
pub(crate) fn merge_rows<L: Load>(
    load: L,
    items: &[L::Item],
    mut begins: impl Iterator<Item = usize>,
    keys: &mut [L::Lane],
) {
    let count = keys.len();
    let mut rows = [&items[..0]; ROWS_PER_PASS];
    loop {
        let mut found = 0;
        while found < ROWS_PER_PASS {
            let Some(begin) = begins.next() else { break };
            rows[found] = &items[begin..][..count];
            found += 1;
        }
        if found < ROWS_PER_PASS {
            let left = fault::or(Fault::ColumnsRemainder, found, found.saturating_sub(1));
            for row in &rows[..left] {
                merge(load, keys, row);
            }
            return;
        }
        let [a, b, c, d] = rows;
        for ((((key, &a), &b), &c), &d) in keys.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let ab = load.load(a, 0).max(load.load(b, 0));
            let cd = load.load(c, 0).max(load.load(d, 0));
            *key = ab.max(cd).max(*key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::ElementType;
    use crate::tensor::key::{Order, with_order};
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

    fn check<O: Order>(order: O) {
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
                assert!(found == expected, "row {i} of {len}");
            }
            for height in [1, 3, 4, 9] {
                let begin = |row: usize| row * (items.len() - len) / 9;
                let mut found = vec![O::Key::LOWEST; len];
                columns(load, items, (0..height).map(begin), &mut found);
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
            for nan in [0, u32::MAX] {
                with_order!(element, nan, order => check(order));
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
