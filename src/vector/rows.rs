//! Maxima of rows: long ones in several streams, short ones many at once.
//!
//! Functions with `#[inline(always)]` must be called from [`Loop::run`], where they are compiled to
//! vector instructions.

use bytemuck::{cast_slice, cast_slice_mut};

use super::fold::{AHEAD, STREAMS, chunk, windows};
use super::{Elements, Load, Loop, Store, dispatch, prefetch, vector};
use crate::tensor::key::{KeyOrder, Lane};

/// From this many bytes on, a single row is read in several streams.
const LONG_ROW: usize = 128 << 10;

/// The 128-bit words of a buffer for the keys of short rows. Several buffers fit the first-level
/// cache.
const BUFFER_WORDS: usize = 128;

/// Writes the maxima of `out.len()` rows of `len` items each.
pub(crate) fn rows<O: KeyOrder>(
    elements: Elements<O>,
    items: &[O::Key],
    len: usize,
    out: &mut [O::Key],
) {
    dispatch(Rows(elements, items, len, out));
}

pub(super) struct Rows<'a, O: KeyOrder>(
    pub Elements<O>,
    pub &'a [O::Key],
    pub usize,
    pub &'a mut [O::Key],
);

impl<O: KeyOrder> Loop for Rows<'_, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(elements, items, len, out) = self;
        if len == 0 {
            return out.fill(elements.store(O::Key::LOWEST));
        }
        if len >= chunk::<O::Key>() {
            return long_rows(elements, items, len, out);
        }
        blocks(elements, items, len, out, |out, found| {
            for (out, &key) in out.iter_mut().zip(found) {
                *out = elements.store(key);
            }
        });
    }
}

/// The maxima of rows of `len` items, in batches of rows: `store` writes those of a batch to its results.
/// Positions count items from the first one of the batch, and are less than 2^16.
#[inline(always)]
pub(super) fn blocks<L: Load, T>(
    load: L,
    items: &[L::Item],
    len: usize,
    out: &mut [T],
    store: impl Fn(&mut [T], &[L::Lane]),
) {
    let lanes = vector::<L::Lane>();
    // Each row is reduced to `width` keys; then the keys of all rows are reduced together.
    let width = match len {
        _ if len > lanes => lanes,
        _ if len > lanes / 2 && len < lanes => lanes / 2,
        _ => len,
    };
    let (mut keys, mut next) = ([0u128; BUFFER_WORDS], [0u128; BUFFER_WORDS]);
    let (keys, next) = (cast_slice_mut::<_, L::Lane>(&mut keys), cast_slice_mut(&mut next));
    let block = keys.len() / width;
    for (i, out) in out.chunks_mut(block).enumerate() {
        let items = &items[i * block * len..][..out.len() * len];
        let found = if width < len {
            by_lanes(load, items, len, width, keys, next)
        } else {
            // Prefetches the next batch.
            let lines = items.chunks(vector::<L::Item>());
            lines.for_each(|line| prefetch(line, size_of_val(items)));
            short(load, items, len, keys, next)
        };
        store(out, found);
    }
}

/// The maxima of rows of at least four vectors of items.
#[inline(always)]
fn long_rows<O: KeyOrder>(elements: Elements<O>, items: &[O::Key], len: usize, out: &mut [O::Key]) {
    let row = |i: usize| &items[i * len..][..len];
    let mut done = 0;
    if len * size_of::<O::Key>() < LONG_ROW {
        // One row of each stream at a time.
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
    let share = row.len().div_ceil(STREAMS).next_multiple_of(chunk::<L::Lane>()).min(row.len());
    let quarter = |stream: usize| &row[(stream * share).min(row.len() - share)..][..share];
    let [a, b, c, d] = four(load, [quarter(0), quarter(1), quarter(2), quarter(3)]);
    a.max(b).max(c.max(d))
}

/// The maxima of four rows of at least four vectors of items each, all of one length.
#[inline(always)]
fn four<L: Load>(load: L, rows: [&[L::Item]; STREAMS]) -> [L::Lane; STREAMS] {
    let (len, chunk) = (rows[0].len(), chunk::<L::Lane>());
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
    let last = len - lanes;
    let middle = len - 1;
    for (number, row) in items.chunks_exact(len).enumerate() {
        row.chunks(vector::<L::Item>()).for_each(|line| prefetch(line, 2 * AHEAD));
        let (keys, begin) = (&mut keys[number * lanes..][..lanes], (number * len) as u32);
        let ends = row[..lanes].iter().zip(&row[last..][..lanes]);
        for ((i, key), (&a, &b)) in keys.iter_mut().enumerate().zip(ends) {
            let i = begin + i as u32;
            *key = load.load(a, i).max(load.load(b, i + last as u32));
        }
        let chunks = row[..middle].chunks_exact(lanes).enumerate().skip(1);
        for (chunk, items) in chunks {
            let begin = begin + (chunk * lanes) as u32;
            for ((i, key), &item) in keys.iter_mut().enumerate().zip(items) {
                *key = load.load(item, begin + i as u32).max(*key);
            }
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
    for ((i, key), &item) in keys[..count].iter_mut().enumerate().zip(items) {
        *key = load.load(item, i as u32);
    }
    if len.is_power_of_two() {
        return halve(keys, next, len, rows);
    }
    // Sliding windows over the whole buffer need no shuffles. Only the window that starts a row
    // is used; the others reach into the next row.
    let found = windows(keys, next, count, len, 1).0;
    for row in 0..rows {
        found[row] = found[row * len];
    }
    &found[..rows]
}
