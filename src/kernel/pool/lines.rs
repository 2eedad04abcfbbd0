//! The twins of pooling, some lines of results at a time: what the rows hold that a line's windows cover
//! is merged place by place; then windows along it are made, of all lines together.

use std::ops::Range;

use rayon::prelude::*;

use super::along::{Along, Down};
use super::ends::{Load, Put, Sink};
use super::rows::{Block, Cursor, Fill, Shape, TallFill, is_tall};
use super::{Axis, Params};
use crate::cpu::fold::{self, vector};
use crate::cpu::simd::dispatch;
use crate::kernel::PARALLEL_FROM;
use crate::tensor::key::Lane;

/// Bytes of lanes that are worked on together: two buffers of them, and what is read, stay in the
/// first cache.
pub(super) const BLOCK: usize = 16 << 10;
/// Bytes of the inner axis that are worked on together, at least.
const TILE: usize = 256;

/// Neighbouring windows of a line, and the places along the axis that they cover.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    pub first: usize,
    pub windows: usize,
    pub span: usize,
    /// The places that hold elements.
    pub from: usize,
    pub to: usize,
    /// Places before them.
    pub skipped: usize,
    /// Windows that may be without elements: the first so many, and those from here on.
    within: usize,
    behind: usize,
}

impl Stretch {
    fn new(axis: &Axis, first: usize, windows: usize) -> Self {
        let (size, step) = (i64::from(axis.size), i64::from(axis.stride));
        let begin = axis.first(first);
        let span = (windows - 1) * axis.stride as usize + axis.reach as usize + 1;
        let from = begin.clamp(0, size);
        let to = (begin + span as i64).clamp(from, size);
        let count = windows as i64;
        // Only windows that reach into the padding can be without elements.
        let within = ((-begin).max(0).div_euclid(step) + i64::from(begin < 0)).min(count);
        let behind = (size - i64::from(axis.reach) - begin).max(0) as u64;
        let behind = (behind.div_ceil(step as u64) as i64).clamp(within, count);
        Self {
            first,
            windows,
            span,
            from: from as usize,
            to: to as usize,
            skipped: ((from - begin) as usize).min(span),
            within: within as usize,
            behind: behind as usize,
        }
    }
}

/// What a thread keeps from one block to the next.
pub(super) struct Work<L> {
    pub rows: Vec<usize>,
    /// Lines without any row, and where lines begin in what is found.
    pub empty: Vec<usize>,
    begins: Vec<usize>,
    lanes: Vec<L>,
    next: Vec<L>,
}

impl<L> Work<L> {
    fn new() -> Self {
        Self { rows: vec![], empty: vec![], begins: vec![], lanes: vec![], next: vec![] }
    }
}

/// One launch.
struct Pool<'a, L: Load> {
    p: &'a Params,
    load: L,
    source: &'a [L::Item],
    /// Elements of the inner axis that are worked on together.
    tile: usize,
    /// Windows of a line that are.
    stretch: usize,
    /// Whether rows are made into windows by doubling.
    tall: bool,
}

/// Some lines of results, or a part of one.
struct Part<S> {
    /// The first line.
    line: usize,
    windows: Range<usize>,
    sink: S,
}

/// Pools what `load` makes of `source`; the sink has room for all results.
pub(super) fn twin<L: Load, S: Sink<Lane = L::Lane>>(
    p: &Params,
    load: L,
    source: &[L::Item],
    sink: S,
) {
    let (axis, inner) = (&p.axes[2], p.inner as usize);
    let windows = axis.outputs as usize;
    let line = windows * inner;
    let lanes = BLOCK / size_of::<L::Lane>();

    // So few elements of the inner axis that a block has several windows.
    let reach = axis.reach as usize;
    let tile = (lanes / (4 * (reach + 1))).max(TILE / size_of::<L::Lane>()).min(inner);
    // So many windows that little is done twice, where their stretches overlap.
    let most = lanes.max(4 * (reach + 1) * tile) / tile;
    let stretch = ((most - reach - 1) / axis.stride as usize + 1).min(windows);
    let pool = Pool { p, load, source, tile, stretch, tall: is_tall::<L>(p) };

    let outputs = p.outputs as usize;
    let cost = outputs * p.axes.iter().map(|a| a.taps as usize).product::<usize>();
    if cost < PARALLEL_FROM {
        return pool.part(&mut Work::new(), Part { line: 0, windows: 0..windows, sink });
    }
    let threads = rayon::current_num_threads();
    let mut parts = Vec::new();
    let mut rest = sink;
    if outputs >= line * threads * 4 {
        let lines = outputs / line;
        let mut some = (PARALLEL_FROM / 4 / line).max(1);
        if pool.tall {
            // What is above and below of the lines of a part is looked at twice, unless they are whole planes.
            let plane = p.axes[1].outputs as usize;
            some = some.max(4 * (p.axes[1].reach as usize + 1)).next_multiple_of(plane.min(some));
            some = if some > plane {
                some / plane * plane
            } else {
                plane.div_ceil(plane.div_ceil(some))
            };
        }
        for first in (0..lines).step_by(some) {
            let (sink, others) = rest.split(some.min(lines - first) * line);
            rest = others;
            parts.push(Part { line: first, windows: 0..windows, sink });
        }
    } else {
        let some = stretch.min(windows.div_ceil(threads * 4));
        for first in 0..outputs / line {
            for begin in (0..windows).step_by(some) {
                let windows = begin..windows.min(begin + some);
                let (sink, others) = rest.split(windows.len() * inner);
                rest = others;
                parts.push(Part { line: first, windows, sink });
            }
        }
    }
    parts.into_par_iter().for_each_init(Work::new, |work, part| pool.part(work, part));
}

impl<L: Load> Pool<'_, L> {
    fn part<S: Sink<Lane = L::Lane>>(&self, work: &mut Work<L::Lane>, part: Part<S>) {
        let Part { line, windows, mut sink } = part;
        let axis = &self.p.axes[2];
        for begin in windows.clone().step_by(self.stretch) {
            let stretch = Stretch::new(axis, begin, self.stretch.min(windows.end - begin));
            let at = (begin - windows.start) * self.p.inner as usize;
            self.stretch(work, line, stretch, at, windows.len(), &mut sink);
        }
    }

    /// A stretch of all lines of a part, of which the sink has so many windows.
    fn stretch<S: Sink<Lane = L::Lane>>(
        &self,
        work: &mut Work<L::Lane>,
        first: usize,
        stretch: Stretch,
        at: usize,
        windows: usize,
        sink: &mut S,
    ) {
        let (axis, inner) = (&self.p.axes[2], self.p.inner as usize);
        let line = windows * inner;
        let lines = sink.len() / line;
        // Far longer than the axis: mostly padding.
        let bounded = axis.reach as usize <= 4 * axis.size as usize + 64;
        let width = inner.min(self.tile);
        let room = BLOCK / size_of::<L::Lane>() / (stretch.span * width);
        let mut done = 0;
        while done < lines {
            let shape = match self.tall {
                true => Shape::tall(self.p, first + done, lines - done, room),
                false => Shape::direct((lines - done).min(room.max(1))),
            };
            let at = at + done * line;
            let block = Block { p: self.p, first: first + done, shape, stretch: &stretch };
            work.empty.clear();
            for from in (0..inner).step_by(self.tile) {
                let tile = from..inner.min(from + self.tile);
                match bounded {
                    true => self.tile(work, &block, tile, at, line, sink),
                    false => self.tap_by_tap(work, &block, tile, at, line, sink),
                }
            }
            let begin = axis.first(stretch.first);
            for window in (0..stretch.within).chain(stretch.behind..stretch.windows) {
                let first = begin + window as i64 * i64::from(axis.stride);
                if axis.places(first).next().is_none() {
                    for i in 0..shape.lines {
                        sink.put_empty(at + i * line + window * inner, inner);
                    }
                }
            }
            for &i in &work.empty {
                sink.put_empty(at + i * line, stretch.windows * inner);
            }
            done += shape.lines;
        }
    }

    /// Some elements of the inner axis of a block, whose results go to `at`; they are `line` apart.
    fn tile<S: Sink<Lane = L::Lane>>(
        &self,
        work: &mut Work<L::Lane>,
        block: &Block,
        tile: Range<usize>,
        at: usize,
        line: usize,
        sink: &mut S,
    ) {
        let (axis, inner, width) = (&self.p.axes[2], self.p.inner as usize, tile.len());
        let (shape, windows) = (block.shape, block.stretch.windows);
        // An even number, for pairs.
        let pitch = (block.stretch.span * width).next_multiple_of(2);
        // Vectors may reach beyond the end.
        let room = shape.rows() * pitch + 2 * vector::<L::Lane>();
        let Work { rows, empty, begins, lanes, next } = work;
        if lanes.len() < room {
            lanes.resize(room, L::Lane::LOWEST);
            next.resize(room, L::Lane::LOWEST);
        }
        let (load, source) = (self.load, self.source);
        let (mut lanes, mut next) = (&mut lanes[..], &mut next[..]);
        let fill = Fill { block, load, source, tile: &tile, pitch, rows, empty, lanes };
        let mut count = shape.rows();
        if self.tall {
            dispatch(TallFill(fill));
            let axis = &self.p.axes[1];
            let keys = count * pitch;
            let apart = axis.dilation as usize * pitch;
            dispatch(Down { taps: axis.taps as usize, apart, keys, lanes, next });
            if !fold::steps(axis.taps as usize).is_multiple_of(2) {
                (lanes, next) = (next, lanes);
            }
            count -= axis.reach as usize;
        } else {
            dispatch(fill);
        }
        let along = Along { axis, windows, width, pitch, count, lanes, next };
        let (found, pitch) = dispatch(along);
        begins.clear();
        begins.extend((0..shape.lines).map(|i| shape.row(i) * pitch));
        let (count, at) = (windows * width, at + tile.start);
        dispatch(Put { sink, found, begins, count, width, inner, at, line });
    }

    /// The same, each window by itself.
    fn tap_by_tap<S: Sink<Lane = L::Lane>>(
        &self,
        work: &mut Work<L::Lane>,
        block: &Block,
        tile: Range<usize>,
        at: usize,
        line: usize,
        sink: &mut S,
    ) {
        let (axis, inner, width) = (&self.p.axes[2], self.p.inner as usize, tile.len());
        let mut lanes = vec![L::Lane::LOWEST; width];
        let mut cursor = Cursor::new(self.p, block.first);
        for i in 0..block.shape.lines {
            cursor.rows(&mut work.rows);
            cursor.advance();
            if work.rows.is_empty() {
                work.empty.push(i);
            }
            for window in 0..block.stretch.windows {
                lanes.fill(L::Lane::LOWEST);
                for place in axis.places(axis.first(block.stretch.first + window)) {
                    for row in &work.rows {
                        let begin = row + place * inner + tile.start;
                        let found = &self.source[begin..begin + width];
                        for (j, (lane, &item)) in lanes.iter_mut().zip(found).enumerate() {
                            *lane = self.load.lane(item, (begin + j) as u32).max(*lane);
                        }
                    }
                }
                sink.put(at + i * line + window * inner + tile.start, &lanes, width);
            }
        }
    }
}
