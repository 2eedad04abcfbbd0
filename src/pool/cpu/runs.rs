//! Which rows the lines of a block read. Nothing here depends on the elements.

use std::ops::Range;

use crate::base::threads;
use crate::pool::params::{Axis, Windows};
use crate::vector::PARALLEL_FROM;

/// Bytes of keys that are processed together: two buffers of them, and the source, stay in the
/// first cache.
pub(super) const BLOCK: usize = 16 << 10;

/// About how many results a thread computes at a time: fewer end a stream of memory too often, more would
/// leave threads without work.
pub(super) fn results_of_a_part(w: &Windows) -> usize {
    let each = w.outputs as usize / (8 * threads::count());
    each.clamp((PARALLEL_FROM / w.taps().max(1)).max(1), 2 * PARALLEL_FROM)
}

/// Neighbouring windows of a line, and the places along the axis that they cover.
#[derive(Clone, Copy)]
pub(super) struct Strip {
    pub first: usize,
    pub windows: usize,
    pub span: usize,
    /// The places that hold elements.
    pub from: usize,
    pub to: usize,
    /// Places before them.
    pub skipped: usize,
    /// Windows that may be without elements: those before `within`, and those from `after` on.
    pub within: usize,
    pub after: usize,
}

impl Strip {
    pub(super) fn new(axis: &Axis, first: usize, windows: usize) -> Self {
        let (size, step) = (i64::from(axis.size), i64::from(axis.stride).max(1));
        let (begin, last) = (axis.first(first), first + windows - 1);
        let span = (axis.first(last) - begin) as usize + axis.reach(last) as usize + 1;
        let from = begin.clamp(0, size);
        let to = (begin + span as i64).clamp(from, size);
        let count = windows as i64;
        // Only windows that reach into the padding can be without elements.
        let within = ((-begin).max(0).div_euclid(step) + i64::from(begin < 0)).min(count);
        let after = (size - i64::from(axis.reach) - begin).max(0) as u64;
        let after = (after.div_ceil(step as u64) as i64).clamp(within, count);
        let after = if axis.is_shared_out() { count } else { after };
        Self {
            first,
            windows,
            span,
            from: from as usize,
            to: to as usize,
            skipped: ((from - begin) as usize).min(span),
            within: within as usize,
            after: after as usize,
        }
    }
}

/// Neighbouring lines that are processed together, as rows of keys.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub lines: usize,
    /// Lines of a plane, the rows that it has, and the distance from one line's row to the next
    /// line's.
    plane: usize,
    span: usize,
    stride: usize,
}

impl Shape {
    /// A row for each line.
    pub(super) fn row_each(lines: usize) -> Self {
        Self { lines, plane: lines, span: lines, stride: 1 }
    }

    /// All rows that the windows of some lines cover: of several planes, or of a part of one.
    pub(super) fn all_rows(w: &Windows, first: usize, left: usize, capacity: usize) -> Self {
        let (axis, plane) = (&w.axes[1], w.axes[1].outputs as usize);
        let (stride, reach) = (axis.stride as usize, axis.reach as usize);
        let span = |lines: usize| (lines - 1) * stride + reach + 1;
        // So many rows that blocks overlap little.
        let rows = capacity.max(4 * (reach + 1));
        if first.is_multiple_of(plane) && left >= plane && span(plane) <= rows {
            let planes = (capacity / span(plane)).clamp(1, left / plane);
            return Self { lines: planes * plane, plane, span: span(plane), stride };
        }
        let lines = ((rows - reach - 1) / stride + 1).min(plane - first % plane).min(left);
        Self { lines, plane: lines, span: span(lines), stride }
    }

    pub(super) fn rows(&self) -> usize {
        self.lines / self.plane * self.span
    }

    /// The row of a line, once windows down the rows are computed.
    pub(super) fn row(&self, line: usize) -> usize {
        line / self.plane * self.span + line % self.plane * self.stride
    }
}

/// Maximum bytes of the rows that the windows of a line, or of a strip of it, cover, if windows down
/// the rows are computed by tripling.
const MAX_ROW_BYTES: usize = 1 << 20;

/// Whether it is faster to compute windows down the rows by tripling than one by one, with keys of
/// `lane` bytes.
pub(super) fn is_tripled(w: &Windows, lane: usize) -> bool {
    let [before, axis, last] = &w.axes;
    let row = last.size as usize * w.inner as usize * lane;
    before.taps == 1
        && axis.is_even()
        && axis.reach / 4 <= axis.size
        && axis.taps > axis.stride.saturating_mul(axis.taps.ilog2() + 2)
        && (axis.reach as usize + 1) * row.min(BLOCK) <= MAX_ROW_BYTES
}

/// A line of results.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    w: &'a Windows,
    outer: usize,
    x0: usize,
    x1: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(w: &'a Windows, line: usize) -> Self {
        let [a0, a1, _] = &w.axes;
        let (x1, rest) = (line % a1.outputs as usize, line / a1.outputs as usize);
        Self { w, outer: rest / a0.outputs as usize, x0: rest % a0.outputs as usize, x1 }
    }

    /// Advances by `lines`, at most to the next plane.
    pub(super) fn advance(&mut self, lines: usize) {
        self.x1 += lines;
        if self.x1 == self.w.axes[1].outputs as usize {
            self.x1 = 0;
            self.x0 += 1;
        }
        if self.x0 == self.w.axes[0].outputs as usize {
            self.x0 = 0;
            self.outer += 1;
        }
    }

    /// How many of the next `lines`, this one included, have the same pattern of rows: each has the
    /// rows that are `stride` after those of the line before.
    fn alike(&self, lines: usize) -> usize {
        let axis = &self.w.axes[1];
        let (first, last) = (axis.first(self.x1), i64::from(axis.size) - 1 - i64::from(axis.reach));
        if first < 0 || first > last || axis.is_shared_out() {
            return 1;
        }
        let inside = (last - first) as usize / axis.stride as usize + 1;
        inside.min(axis.outputs as usize - self.x1).min(lines)
    }

    /// The first element of the line's place along the outer axis.
    fn origin(&self) -> usize {
        self.w.base as usize + self.outer * self.w.outer_pitch as usize
    }

    /// Adds the first elements of the rows of the last axis that the line's windows cover.
    pub(super) fn rows(&self, rows: &mut Vec<usize>) {
        let [a0, a1, _] = &self.w.axes;
        let origin = self.origin();
        if a0.taps == 1 {
            let y0 = a0.first(self.x0);
            if (0..i64::from(a0.size)).contains(&y0) {
                let origin = origin + y0 as usize * a0.pitch as usize;
                rows.extend(a1.places(self.x1).map(|y1| origin + y1 * a1.pitch as usize));
            }
            return;
        }
        for y0 in a0.places(self.x0) {
            for y1 in a1.places(self.x1) {
                rows.push(origin + y0 * a0.pitch as usize + y1 * a1.pitch as usize);
            }
        }
    }
}

/// Some windows of some lines.
pub(super) struct Block<'a> {
    pub w: &'a Windows,
    /// The first line.
    pub first: usize,
    pub shape: Shape,
    pub strip: &'a Strip,
    /// The destination of the first line's results, and the distance from one line to the next.
    pub at: usize,
    pub line: usize,
}

/// The keys of a block: lines of keys, each the maximum of some rows.
#[derive(Default)]
pub(super) struct Runs {
    rows: Vec<usize>,
    /// Runs of lines with the same pattern of rows: the rows of the first line, among those of all
    /// runs, and the number of lines.
    runs: Vec<(Range<usize>, usize)>,
    /// The distance from a line's rows to the next line's, in elements.
    pub apart: usize,
    /// The lines of results without any row.
    pub empty: Vec<usize>,
}

impl Runs {
    /// The first elements of the rows of each run's first line, and how many lines it has.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[usize], usize)> {
        self.runs.iter().map(|(rows, lines)| (&self.rows[rows.clone()], *lines))
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.runs.clear();
        self.empty.clear();
    }

    /// A run of lines whose rows, from `begin` on, have been added.
    fn push(&mut self, begin: usize, lines: usize) {
        self.runs.push((begin..self.rows.len(), lines));
    }

    /// A line of keys for each line of results: the maximum of all rows of its windows.
    pub(super) fn of_lines(&mut self, block: &Block<'_>) {
        self.clear();
        let axis = &block.w.axes[1];
        self.apart = axis.stride as usize * axis.pitch as usize;
        let mut cursor = Cursor::new(block.w, block.first);
        let mut done = 0;
        while done < block.shape.lines {
            let begin = self.rows.len();
            cursor.rows(&mut self.rows);
            let lines = cursor.alike(block.shape.lines - done);
            if self.rows.len() == begin {
                self.empty.extend(done..done + lines);
            }
            self.push(begin, lines);
            done += lines;
            cursor.advance(lines);
        }
    }

    /// A line of keys for each row, padding included.
    pub(super) fn of_rows(&mut self, block: &Block<'_>) {
        self.clear();
        let Block { w, first, shape, .. } = block;
        let [before, axis, _] = &w.axes;
        self.apart = axis.pitch as usize;
        for done in (0..shape.lines).step_by(shape.plane) {
            let cursor = Cursor::new(w, first + done);
            let y0 = before.first(cursor.x0);
            let inside = (0..i64::from(before.size)).contains(&y0);
            for i in 0..shape.plane {
                if !inside || axis.places(cursor.x1 + i).next().is_none() {
                    self.empty.push(done + i);
                }
            }
            // Padding above, rows, and padding below.
            let size = if inside { i64::from(axis.size) } else { 0 };
            let begin = axis.first(cursor.x1);
            let end = begin + shape.span as i64;
            let (from, to) = (begin.clamp(0, size), end.clamp(0, size));
            let (above, below) =
                if from < to { (from - begin, end - to) } else { (end - begin, 0) };
            self.push(self.rows.len(), above as usize);
            if from < to {
                let plane = cursor.origin() + y0 as usize * before.pitch as usize;
                self.rows.push(plane + from as usize * axis.pitch as usize);
                self.push(self.rows.len() - 1, (to - from) as usize);
            }
            self.push(self.rows.len(), below as usize);
        }
    }
}
