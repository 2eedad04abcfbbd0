//! The maxima of the rows that lines read, place by place.

use std::ops::Range;

use super::runs::{Block, Runs};
use crate::tensor::key::Lane;
use crate::vector::{Load, Loop, prefetch, vector};

/// How many bytes ahead of the rows of a line to prefetch. On an Intel Xeon half of it and twice as
/// much were slower; without prefetching, pools took up to 1.3 times as long.
const AHEAD: usize = 2048;
/// Bytes of rows that are prefetched: shorter rows share cache lines, and processors prefetch longer
/// ones by themselves.
const FETCHED: Range<usize> = 64..1024;

/// The lines of keys of a block. Padding has the lowest keys.
pub(super) struct Fill<'a, L: Load> {
    pub block: &'a Block<'a>,
    pub runs: &'a Runs,
    pub load: L,
    pub source: &'a [L::Item],
    /// The part of the inner axis.
    pub tile: &'a Range<usize>,
    /// The distance from one line's keys to the next line's.
    pub pitch: usize,
    pub keys: &'a mut [L::Lane],
}

impl<L: Load> Loop for Fill<'_, L> {
    type Output = ();
    const VECTORS: bool = L::VECTORS;
    #[inline(always)]
    fn run(self) {
        let Self { block, runs, load, source, tile, pitch, mut keys } = self;
        let (inner, strip) = (block.w.inner as usize, block.strip);
        let (width, places) = (tile.len(), strip.to - strip.from);
        // A tile that is a part of the inner axis has gaps between its places.
        let (count, pieces) = if width == inner { (places * width, 1) } else { (width, places) };
        let whole = count.next_multiple_of(vector::<L::Lane>());
        let before = strip.skipped * width;
        let after = before + places * width;
        for (rows, lines) in runs.iter() {
            let Some(last) = rows.iter().max().filter(|_| places > 0) else {
                keys[..lines * pitch].fill(L::Lane::LOWEST);
                keys = &mut keys[lines * pitch..];
                continue;
            };
            for line in 0..lines {
                let keys = &mut keys[line * pitch..];
                clear(keys, before);
                for piece in 0..pieces {
                    let offset = (strip.from + piece) * inner + tile.start + line * runs.apart;
                    let keys = &mut keys[before + piece * width..];
                    // Vectors may reach beyond the end, into the next line, which is stored later.
                    let space = keys.len().min(source.len() - offset - last);
                    let count = if whole <= space { whole } else { count };
                    merge_rows(load, source, rows, offset, &mut keys[..count]);
                }
                clear(&mut keys[after..], pitch - after);
            }
            keys = &mut keys[lines * pitch..];
        }
    }
}

/// Sets `count` keys to the lowest, and perhaps more, up to a whole vector.
#[inline(always)]
fn clear<L: Lane>(keys: &mut [L], count: usize) {
    if count == 0 {
        return;
    }
    let vector = vector::<L>();
    if count > vector {
        keys[..count].fill(L::LOWEST);
    } else {
        keys[..vector].fill(L::LOWEST);
    }
}

/// The maxima of rows at an offset.
#[inline(always)]
fn merge_rows<L: Load>(
    load: L,
    source: &[L::Item],
    rows: &[usize],
    offset: usize,
    keys: &mut [L::Lane],
) {
    let count = keys.len();
    let row = |i: usize| (&source[rows[i] + offset..][..count], (rows[i] + offset) as u32);
    if FETCHED.contains(&size_of_val(row(0).0)) {
        for i in 0..rows.len() {
            let row = row(i).0;
            for at in (0..size_of_val(row)).step_by(64) {
                prefetch(row, at + AHEAD);
            }
        }
    }
    match rows.len() {
        1 => one(load, row(0), keys),
        2 => two::<L, false>(load, row(0), row(1), keys),
        3 => three(load, row(0), row(1), row(2), keys),
        4 => four(load, row(0), row(1), row(2), row(3), keys),
        count => {
            two::<L, false>(load, row(0), row(1), keys);
            for i in (2..count).step_by(2) {
                // An odd last row is read twice, which changes no maximum.
                two::<L, true>(load, row(i), row((i + 1).min(count - 1)), keys);
            }
        }
    }
}

/// A row's items, and the position of the first.
type Row<'a, L> = (&'a [<L as Load>::Item], u32);

// Flat loops over slices: compilers turn nested loops into gathers.

#[inline(always)]
fn one<L: Load>(load: L, a: Row<L>, keys: &mut [L::Lane]) {
    for ((key, &x), i) in keys.iter_mut().zip(a.0).zip(0u32..) {
        *key = load.load(x, a.1.wrapping_add(i));
    }
}

/// The maximum of two rows and, with `MORE`, of the keys so far.
#[inline(always)]
fn two<L: Load, const MORE: bool>(load: L, a: Row<L>, b: Row<L>, keys: &mut [L::Lane]) {
    for (((key, &x), &y), i) in keys.iter_mut().zip(a.0).zip(b.0).zip(0u32..) {
        let (x, y) = (load.load(x, a.1.wrapping_add(i)), load.load(y, b.1.wrapping_add(i)));
        *key = if MORE { x.max(y).max(*key) } else { x.max(y) };
    }
}

#[inline(always)]
fn three<L: Load>(load: L, a: Row<L>, b: Row<L>, c: Row<L>, keys: &mut [L::Lane]) {
    let rows = keys.iter_mut().zip(a.0).zip(b.0).zip(c.0).zip(0u32..);
    for ((((key, &x), &y), &z), i) in rows {
        let (x, y) = (load.load(x, a.1.wrapping_add(i)), load.load(y, b.1.wrapping_add(i)));
        *key = x.max(y).max(load.load(z, c.1.wrapping_add(i)));
    }
}

#[inline(always)]
fn four<L: Load>(load: L, a: Row<L>, b: Row<L>, c: Row<L>, d: Row<L>, keys: &mut [L::Lane]) {
    let rows = keys.iter_mut().zip(a.0).zip(b.0).zip(c.0).zip(d.0).zip(0u32..);
    for (((((key, &w), &x), &y), &z), i) in rows {
        let (w, x) = (load.load(w, a.1.wrapping_add(i)), load.load(x, b.1.wrapping_add(i)));
        let (y, z) = (load.load(y, c.1.wrapping_add(i)), load.load(z, d.1.wrapping_add(i)));
        *key = w.max(x).max(y.max(z));
    }
}
