//! How the work of a launch is divided: into parts for threads, and into blocks of lines that stay
//! in the first cache.

use std::ops::Range;

use super::adapters::Output;
use super::along::{Along, Down};
use super::rows::Fill;
use super::runs::{BLOCK, Block, Runs, Shape, Strip, is_tripled, results_of_a_part};
use super::store::StoreLines;
use crate::base::threads;
use crate::pool::params::Windows;
use crate::tensor::key::Lane;
use crate::vector::{Load, PARALLEL_FROM, dispatch, vector};

/// As [`BLOCK`], for several lines, if windows down the rows are not computed by tripling. An AMD EPYC takes
/// up to 1.3 times as long with twice or half as much.
const SMALL_BLOCK: usize = 4 << 10;
/// The same for a strip of one line.
const STRIP: usize = 8 << 10;
/// Minimum bytes of the inner axis that are processed together.
const TILE: usize = 256;

/// Buffers that a thread reuses for all blocks.
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
    /// Elements of the inner axis that are processed together.
    tile: usize,
    /// Windows of a line that are processed together.
    strip: usize,
    /// Whether windows down the rows are computed by tripling.
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

/// Pools the elements that `load` reads from `source`. The output takes all results.
pub(super) fn run<L: Load, O: Output<Lane = L::Lane>>(
    w: &Windows,
    load: L,
    source: &[L::Item],
    out: O,
) {
    let (axis, inner) = (&w.axes[2], w.inner as usize);
    let windows = axis.outputs as usize;
    let keys = BLOCK / size_of::<L::Lane>();

    // So few elements of the inner axis that a block has several windows. Windows that split the
    // axis evenly may differ in size; the largest counts.
    let shared = usize::from(axis.is_shared_out());
    let (reach, stride) = (axis.reach as usize + shared, axis.stride as usize + shared);
    let tile = (keys / (4 * (reach + 1))).max(TILE / size_of::<L::Lane>()).min(inner);
    // So many windows that strips overlap little.
    let tripled = is_tripled(w, size_of::<L::Lane>());
    let few = STRIP / size_of::<L::Lane>();
    let keys =
        if tripled { keys } else { few.max((reach + 1).saturating_mul(32 * tile)).min(keys) };
    let places = keys.max(4 * (reach + 1) * tile) / tile;
    let strip = (places - reach - 1) / stride + 1;
    // Whole vectors of results.
    let whole = if tile == 1 { strip / vector::<L::Lane>() * vector::<L::Lane>() } else { strip };
    let strip = if strip < windows && whole > 0 { whole } else { strip.min(windows) };
    let pool = Pool { w, load, source, tile, strip, tripled };

    if w.work() < PARALLEL_FROM {
        let (lines, windows) = (w.outputs as usize / w.line(), 0..windows);
        return Part { line: 0, lines, windows, out }.run(&pool, &mut Work::new());
    }
    threads::each_with(pool.parts(out), Work::new, |work, part| part.run(&pool, work));
}

impl<L: Load> Pool<'_, L> {
    /// Parts for all threads: some lines each; if there are few lines, some windows of one.
    fn parts<O: Output>(&self, out: O) -> Vec<Part<O>> {
        let (w, line) = (self.w, self.w.line());
        let (outputs, windows) = (w.outputs as usize, w.axes[2].outputs as usize);
        let (lines, threads) = (outputs / line, threads::count());
        let (some_lines, some_windows) = match lines >= threads * 4 {
            true => (self.lines_of_a_part(), windows),
            false => {
                let share = windows.div_ceil((threads * 4).div_ceil(lines.max(1)));
                let enough = results_of_a_part(w) / w.inner as usize;
                (1, self.strip.min(share.max(enough)))
            }
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
        let some = (results_of_a_part(self.w) / self.w.line()).max(1);
        if !self.tripled {
            return some;
        }
        // Rows above and below the lines of a part are read by its neighbours too, unless parts are
        // whole planes.
        let axis = &self.w.axes[1];
        let plane = axis.outputs as usize;
        let some = some.max(4 * (axis.reach as usize + 1)).next_multiple_of(plane.min(some));
        if some > plane { some / plane * plane } else { plane.div_ceil(plane.div_ceil(some)) }
    }
}

impl<O: Output> Part<O> {
    /// Pools block by block.
    fn run<L: Load<Lane = O::Lane>>(mut self, pool: &Pool<'_, L>, work: &mut Work<O::Lane>) {
        let w = pool.w;
        let (axis, inner) = (&w.axes[2], w.inner as usize);
        let line = self.windows.len() * inner;
        let keys = if pool.tripled { BLOCK } else { SMALL_BLOCK } / size_of::<O::Lane>();
        let strips = self.windows.clone().step_by(pool.strip);
        let strips =
            strips.map(|begin| Strip::new(axis, begin, pool.strip.min(self.windows.end - begin)));
        let span = strips.clone().map(|strip| strip.span).max().unwrap_or(1);
        let capacity = keys / (span * inner.min(pool.tile));
        let mut done = 0;
        while done < self.lines {
            let (first, left) = (self.line + done, self.lines - done);
            let shape = match pool.tripled {
                true => Shape::all_rows(w, first, left, capacity),
                false => Shape::row_each(left.min(capacity.max(1))),
            };
            // Along the lines, in the order of memory: processors fetch what follows.
            for strip in strips.clone() {
                let at = done * line + (strip.first - self.windows.start) * inner;
                let block = Block { w, first, shape, strip: &strip, at, line };
                Computation { pool, work, block: &block, out: &mut self.out }.run();
            }
            done += shape.lines;
        }
    }
}

/// The computation of a block.
struct Computation<'a, L: Load, O: Output> {
    pool: &'a Pool<'a, L>,
    work: &'a mut Work<L::Lane>,
    block: &'a Block<'a>,
    out: &'a mut O,
}

impl<L: Load, O: Output<Lane = L::Lane>> Computation<'_, L, O> {
    fn run(mut self) {
        let Self { pool, block, .. } = self;
        let (axis, inner) = (&block.w.axes[2], block.w.inner as usize);
        // Longer windows are mostly padding.
        let bounded = axis.reach as usize <= 4 * axis.size as usize + 64;
        match pool.tripled && bounded {
            true => self.work.runs.of_rows(block),
            false => self.work.runs.of_lines(block),
        }
        for from in (0..inner).step_by(pool.tile) {
            let tile = from..inner.min(from + pool.tile);
            match bounded {
                true => self.tile(&tile),
                false => self.tap_by_tap(&tile),
            }
        }
        self.store_empty();
    }

    /// Stores the results of windows without elements: some of each line, and all of the lines that
    /// have no rows.
    fn store_empty(&mut self) {
        let &Block { w, shape, strip, at, line, .. } = self.block;
        let (axis, inner) = (&w.axes[2], w.inner as usize);
        for window in (0..strip.within).chain(strip.after..strip.windows) {
            if axis.places(strip.first + window).next().is_none() {
                for i in 0..shape.lines {
                    self.out.store_empty(at + i * line + window * inner, inner);
                }
            }
        }
        for &i in &self.work.runs.empty {
            self.out.store_empty(at + i * line, strip.windows * inner);
        }
    }

    /// Pools some elements of the inner axis.
    fn tile(&mut self, tile: &Range<usize>) {
        let Self { pool, work: Work { runs, keys, next }, block, out } = self;
        // An even number, for pairs.
        let pitch = (block.strip.span * tile.len()).next_multiple_of(2);
        // There may be more windows that split an axis evenly than places; vectors may reach beyond
        // the end.
        let line = pitch.max(block.strip.windows * tile.len());
        let needed = block.shape.rows() * line + 2 * vector::<L::Lane>();
        if keys.len() < needed {
            keys.resize(needed, L::Lane::LOWEST);
            next.resize(needed, L::Lane::LOWEST);
        }
        let &Pool { load, source, tripled, .. } = *pool;
        dispatch(Fill { block, runs, load, source, tile, pitch, keys });
        let (mut keys, mut next) = (&mut keys[..], &mut next[..]);
        let (mut count, width) = (block.shape.rows(), tile.len());
        if tripled {
            let axis = &block.w.axes[1];
            (keys, next) = dispatch(Down { axis, count, pitch, keys, next });
            count -= axis.reach as usize;
        }
        let found = dispatch(Along { block, count, width, pitch, keys, next });
        dispatch(StoreLines { out: &mut **out, found, block, tile });
    }

    /// The same, each window by itself.
    fn tap_by_tap(&mut self, tile: &Range<usize>) {
        let Self { pool, work: Work { runs, .. }, block, out } = self;
        let (axis, inner, width) = (&block.w.axes[2], block.w.inner as usize, tile.len());
        let mut keys = vec![L::Lane::LOWEST; width];
        let lines = runs.iter().flat_map(|(rows, lines)| (0..lines).map(move |i| (rows, i)));
        for (i, (rows, line_of_run)) in lines.enumerate() {
            for window in 0..block.strip.windows {
                keys.fill(L::Lane::LOWEST);
                for place in axis.places(block.strip.first + window) {
                    for row in rows {
                        let row = row + line_of_run * runs.apart;
                        let begin = row + place * inner + tile.start;
                        let found = &pool.source[begin..begin + width];
                        for (j, (key, &item)) in keys.iter_mut().zip(found).enumerate() {
                            *key = pool.load.load(item, (begin + j) as u32).max(*key);
                        }
                    }
                }
                let at = block.at + i * block.line + window * inner + tile.start;
                out.store(at, keys.iter().copied(), width);
            }
        }
        out.flush();
    }
}
