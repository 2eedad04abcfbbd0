//! How the work of a launch is cut: into parts for threads, and into blocks of lines that stay in
//! the first cache.

use std::ops::Range;

use super::adapters::{Output, StoreLines};
use super::along::Along;
use super::rows::Fill;
use super::runs::{BLOCK, Block, Runs, Shape, Strip, is_tripled};
use crate::pool::params::Windows;
use crate::tensor::key::Lane;
use crate::threads;
use crate::vector::{Load, PARALLEL_FROM, dispatch, vector};

/// The same where windows down the rows are not made by tripling: processors fetch the next block
/// while they work on one. At least a line of a strip.
/// An AMD EPYC takes 0.7 to 0.8 of the time that it takes for 16 KiB, and a third longer for 1 KiB.
const SMALL_BLOCK: usize = 4 << 10;
/// Bytes of the inner axis that are worked on together, at least.
const TILE: usize = 256;

/// What a thread keeps from one block to the next.
pub(super) struct Work<L> {
    runs: Runs,
    keys: Vec<L>,
    next: Vec<L>,
}

impl<L> Work<L> {
    fn new() -> Self {
        Self { runs: Runs::default(), keys: vec![], next: vec![] }
    }
}

/// One launch.
struct Pool<'a, L: Load> {
    w: &'a Windows,
    load: L,
    source: &'a [L::Item],
    /// Elements of the inner axis that are worked on together.
    tile: usize,
    /// Windows of a line that are.
    strip: usize,
    /// Whether rows are made into windows by tripling.
    tripled: bool,
}

/// Some lines of results, or a part of one.
struct Part<O> {
    /// The first line, and how many there are.
    line: usize,
    lines: usize,
    windows: Range<usize>,
    out: O,
}

/// Pools what `load` makes of `source`; the output takes all results.
pub(super) fn run<L: Load, O: Output<Lane = L::Lane>>(
    w: &Windows,
    load: L,
    source: &[L::Item],
    out: O,
) {
    let (axis, inner) = (&w.axes[2], w.inner as usize);
    let windows = axis.outputs as usize;
    let keys = BLOCK / size_of::<L::Lane>();

    // So few elements of the inner axis that a block has several windows.
    let reach = axis.reach as usize;
    let tile = (keys / (4 * (reach + 1))).max(TILE / size_of::<L::Lane>()).min(inner);
    // So many windows that little is done twice, where their strips overlap.
    let places = keys.max(4 * (reach + 1) * tile) / tile;
    let strip = ((places - reach - 1) / axis.stride as usize + 1).min(windows);
    let pool = Pool { w, load, source, tile, strip, tripled: is_tripled(w, size_of::<L::Lane>()) };

    if w.work() < PARALLEL_FROM {
        let (lines, windows) = (w.outputs as usize / w.line(), 0..windows);
        return pool.part(&mut Work::new(), Part { line: 0, lines, windows, out });
    }
    threads::each_with(pool.parts(out), Work::new, |work, part| pool.part(work, part));
}

impl<L: Load> Pool<'_, L> {
    /// Parts for all threads: some lines each or, of few lines, some windows of one.
    fn parts<O: Output>(&self, out: O) -> Vec<Part<O>> {
        let (w, line) = (self.w, self.w.line());
        let (outputs, windows) = (w.outputs as usize, w.axes[2].outputs as usize);
        let (lines, threads) = (outputs / line, threads::count());
        let (some_lines, some_windows) = match lines >= threads * 4 {
            true => (self.lines_of_a_part(), windows),
            false => (1, self.strip.min(windows.div_ceil(threads * 4))),
        };
        let mut parts = Vec::new();
        let mut rest = out;
        for first in (0..lines).step_by(some_lines) {
            for begin in (0..windows).step_by(some_windows) {
                let windows = begin..windows.min(begin + some_windows);
                let (line, lines) = (first, some_lines.min(lines - first));
                let (out, others) = rest.split(lines * windows.len() * w.inner as usize);
                rest = others;
                parts.push(Part { line, lines, windows, out });
            }
        }
        parts
    }

    fn lines_of_a_part(&self) -> usize {
        let some = (PARALLEL_FROM / 4 / self.w.line()).max(1);
        if !self.tripled {
            return some;
        }
        // What is above and below of the lines of a part is looked at twice, unless they are whole
        // planes.
        let axis = &self.w.axes[1];
        let plane = axis.outputs as usize;
        let some = some.max(4 * (axis.reach as usize + 1)).next_multiple_of(plane.min(some));
        if some > plane { some / plane * plane } else { plane.div_ceil(plane.div_ceil(some)) }
    }

    fn part<O: Output<Lane = L::Lane>>(&self, work: &mut Work<L::Lane>, part: Part<O>) {
        let Part { line: first, lines, windows, mut out } = part;
        let (axis, inner) = (&self.w.axes[2], self.w.inner as usize);
        let line = windows.len() * inner;
        let keys = if self.tripled { BLOCK } else { SMALL_BLOCK } / size_of::<L::Lane>();
        for begin in windows.clone().step_by(self.strip) {
            let strip = Strip::new(axis, begin, self.strip.min(windows.end - begin));
            let at = (begin - windows.start) * inner;
            let capacity = keys / (strip.span * inner.min(self.tile));
            let mut done = 0;
            while done < lines {
                let (first, left) = (first + done, lines - done);
                let shape = match self.tripled {
                    true => Shape::all_rows(self.w, first, left, capacity),
                    false => Shape::row_each(left.min(capacity.max(1))),
                };
                let (strip, at) = (&strip, at + done * line);
                let block = Block { w: self.w, first, shape, strip, at, line };
                self.block(work, &block, &mut out);
                done += shape.lines;
            }
        }
    }

    /// A block of lines.
    fn block<O: Output<Lane = L::Lane>>(
        &self,
        work: &mut Work<L::Lane>,
        block: &Block,
        out: &mut O,
    ) {
        let (axis, inner) = (&self.w.axes[2], self.w.inner as usize);
        // Far longer than the axis: mostly padding.
        let bounded = axis.reach as usize <= 4 * axis.size as usize + 64;
        match self.tripled && bounded {
            true => work.runs.of_rows(block),
            false => work.runs.of_lines(block),
        }
        for from in (0..inner).step_by(self.tile) {
            let tile = from..inner.min(from + self.tile);
            match bounded {
                true => self.tile(work, block, tile, out),
                false => self.tap_by_tap(work, block, tile, out),
            }
        }
        self.store_empty(&work.runs.empty, block, out);
    }

    /// Stores what the windows of a block give that are without elements: some of each line, and
    /// all of the lines that have no rows.
    fn store_empty<O: Output>(&self, lines: &[usize], block: &Block, out: &mut O) {
        let (axis, strip, inner) = (&self.w.axes[2], block.strip, self.w.inner as usize);
        let &Block { at, line, .. } = block;
        let begin = axis.first(strip.first);
        let behind = strip.behind;
        for window in (0..strip.within).chain(behind..strip.windows) {
            let first = begin + window as i64 * i64::from(axis.stride);
            if axis.places(first).next().is_none() {
                for i in 0..block.shape.lines {
                    out.store_empty(at + i * line + window * inner, inner);
                }
            }
        }
        for &i in lines {
            out.store_empty(at + i * line, strip.windows * inner);
        }
    }

    /// Some elements of the inner axis of a block.
    fn tile<O: Output<Lane = L::Lane>>(
        &self,
        work: &mut Work<L::Lane>,
        block: &Block,
        tile: Range<usize>,
        out: &mut O,
    ) {
        let (axis, width) = (&self.w.axes[2], tile.len());
        let (shape, windows) = (block.shape, block.strip.windows);
        // An even number, for pairs.
        let pitch = (block.strip.span * width).next_multiple_of(2);
        // Vectors may reach beyond the end.
        let needed = shape.rows() * pitch + 2 * vector::<L::Lane>();
        let Work { runs, keys, next } = work;
        if keys.len() < needed {
            keys.resize(needed, L::Lane::LOWEST);
            next.resize(needed, L::Lane::LOWEST);
        }
        let (load, source) = (self.load, self.source);
        dispatch(Fill { block, runs, load, source, tile: &tile, pitch, keys });
        let down = self.tripled.then_some(&self.w.axes[1]);
        let count = shape.rows();
        let (found, pitch) =
            dispatch(Along { down, axis, windows, width, pitch, count, keys, next });
        dispatch(StoreLines { out, found, pitch, block, tile: &tile });
    }

    /// The same, each window by itself.
    fn tap_by_tap<O: Output<Lane = L::Lane>>(
        &self,
        work: &Work<L::Lane>,
        block: &Block,
        tile: Range<usize>,
        out: &mut O,
    ) {
        let (axis, inner, width) = (&self.w.axes[2], self.w.inner as usize, tile.len());
        let mut keys = vec![L::Lane::LOWEST; width];
        let lines = work.runs.iter().flat_map(|(rows, lines)| (0..lines).map(move |i| (rows, i)));
        for (i, (rows, line_of_run)) in lines.enumerate() {
            for window in 0..block.strip.windows {
                keys.fill(L::Lane::LOWEST);
                for place in axis.places(axis.first(block.strip.first + window)) {
                    for row in rows {
                        let row = row + line_of_run * work.runs.apart;
                        let begin = row + place * inner + tile.start;
                        let found = &self.source[begin..begin + width];
                        for (j, (key, &item)) in keys.iter_mut().zip(found).enumerate() {
                            *key = self.load.load(item, (begin + j) as u32).max(*key);
                        }
                    }
                }
                let at = block.at + i * block.line + window * inner + tile.start;
                out.store(at, &keys, width);
            }
        }
    }
}
