//! The last step of windows along lines, and the stores of the results: in one loop, so that memory is
//! written while it is read. Of keys that are neither neighbours nor pairs, `Along` does the last step.

use std::ops::Range;

use super::adapters::Output;
use super::runs::{Block, Shape};
use crate::tensor::key::Lane;
use crate::vector::{Loop, Step};

/// Windows along lines, before the last step of their computation.
pub(super) struct Found<'a, L> {
    pub keys: &'a [L],
    /// The distance from one row to the next, and the places from one window to the next.
    pub pitch: usize,
    pub stride: usize,
    pub last: Step,
}

/// Stores the results of the lines of a block, with the last step of their windows.
pub(super) struct StoreLines<'a, O: Output> {
    pub out: &'a mut O,
    pub found: Found<'a, O::Lane>,
    pub block: &'a Block<'a>,
    /// The part of the inner axis.
    pub tile: &'a Range<usize>,
}

impl<O: Output> Loop for StoreLines<'_, O> {
    type Output = ();
    const VECTORS: bool = O::Lane::VECTORS;
    #[inline(always)]
    fn run(self) {
        let Self { out, found, block, tile } = self;
        let Found { keys, pitch, last, .. } = found;
        let &Block { w, shape, strip, at, line, .. } = block;
        let (inner, width) = (w.inner as usize, tile.len());
        let strip_results = strip.windows * width;
        // A later call overwrites what follows a strip only if the next line begins there.
        let overruns = width == inner && strip_results == line;
        // A line at once, or each window.
        let (windows, count, stride) = match width == inner && (width == 1 || found.stride == 1) {
            true => (1, strip_results, found.stride),
            false => (strip.windows, width, 1),
        };
        let apart = found.stride * width;
        let at = at + tile.start;
        let space = match (overruns, width == inner) {
            (true, _) => usize::MAX,
            (false, true) => strip_results,
            (false, false) => count,
        };
        let apart = Apart { line, window: inner, key: apart };
        store_last(
            out,
            Places { keys, pitch, shape, windows, at, apart, count, space },
            stride,
            last,
        );
        out.flush();
    }
}

/// Where the results of a block go, and the keys of the first one's window.
pub(super) struct Places<'a, L> {
    pub keys: &'a [L],
    /// The distance from one row of keys to the next.
    pub pitch: usize,
    pub shape: Shape,
    /// For each line, how many times results are stored, and how many results.
    pub windows: usize,
    pub count: usize,
    /// The destination of the first result.
    pub at: usize,
    pub apart: Apart,
    /// Results of a line that there is space for; at least `count` at each place.
    pub space: usize,
}

/// The distances of results of neighbouring lines and windows, and of the keys of neighbouring windows.
pub(super) struct Apart {
    pub line: usize,
    pub window: usize,
    pub key: usize,
}

/// Stores results whose keys are `stride` apart, with the last step of their windows.
#[inline(always)]
pub(super) fn store_last<O: Output>(
    out: &mut O,
    places: Places<'_, O::Lane>,
    stride: usize,
    last: Step,
) {
    let Places { keys: all, pitch, shape, windows, count, at, apart, space } = places;
    // A macro: closures would not be compiled for the processor.
    macro_rules! each {
        ($keys:ident, $pairs:ident => $found:expr) => {
            for i in 0..shape.lines {
                let (at, line) = (at + i * apart.line, &all[shape.row(i) * pitch..]);
                for window in 0..windows {
                    let space = count.max(space.saturating_sub(window * count));
                    let $keys = &line[window * apart.key..];
                    let $pairs = $keys.as_chunks::<2>().0;
                    // Of three keys, the last one is in the next pair.
                    let needed = space.saturating_add(last.reach() / 2);
                    let $pairs = &$pairs[..$pairs.len().min(needed)];
                    let end = (space - 1).saturating_mul(stride).saturating_add(last.reach() + 1);
                    let $keys = &$keys[..$keys.len().min(end)];
                    out.store(at + window * apart.window, $found, count);
                }
            }
        };
    }
    macro_rules! first {
        ($pair:expr) => {
            <O::Lane as Lane>::first(bytemuck::cast($pair))
        };
    }
    macro_rules! larger {
        ($pair:expr) => {
            <O::Lane as Lane>::pair_max(bytemuck::cast($pair))
        };
    }
    match (stride, last) {
        (1, Step::One) => each!(keys, _pairs => keys.iter().copied()),
        (1, Step::Two(b)) => {
            each!(keys, _pairs => keys.iter().zip(&keys[b..]).map(|(&a, &b)| a.max(b)));
        }
        (1, Step::Three(b, c)) => each!(keys, _pairs => {
            keys.iter().zip(&keys[b..]).zip(&keys[c..]).map(|((&a, &b), &c)| a.max(b).max(c))
        }),
        // Pairs of neighbours need no shuffles.
        (2, Step::One) => each!(_keys, pairs => pairs.iter().map(|&a| first!(a))),
        (2, Step::Two(1)) => each!(_keys, pairs => pairs.iter().map(|&a| larger!(a))),
        (2, Step::Three(1, 2)) => each!(_keys, pairs => {
            pairs.iter().zip(&pairs[1..]).map(|(&a, &b)| larger!(a).max(first!(b)))
        }),
        (_, Step::One) => each!(keys, _pairs => keys.iter().copied().step_by(stride)),
        _ => unreachable!("Along does the last step of other keys"),
    }
}
