//! The rows that lines of results look at, merged place by place.

use std::ops::Range;

use super::lines::{BLOCK, Strip};
use crate::fault::{self, Fault};
use crate::pool::params::Windows;
use crate::tensor::key::Lane;
use crate::vector::{Load, Loop, vector};

/// Neighbouring lines that are worked on together, as rows of keys.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub lines: usize,
    /// Lines of a plane, the rows that it has, and from one line's row to the next line's.
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
        let stride = fault::or(Fault::DownStride, stride, 1);
        // So many rows that little is done twice, where blocks overlap.
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

    /// The row of a line, when windows down the rows are made.
    pub(super) fn row(&self, line: usize) -> usize {
        line / self.plane * self.span + line % self.plane * self.stride
    }
}

/// Bytes of the rows that a line's windows cover, or of a strip of them, that blocks of all rows
/// may have.
const MAX_ROW_BYTES: usize = 1 << 20;

/// Whether windows across lines are better made of all rows by tripling than one by one.
pub(super) fn is_tripled<L: Load>(w: &Windows) -> bool {
    let [before, axis, last] = &w.axes;
    let row = last.size as usize * w.inner as usize * size_of::<L::Lane>();
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

    /// Behind so many lines of the same plane.
    #[inline(always)]
    pub(super) fn advance(&mut self, lines: usize) {
        self.x1 += lines;
        if self.x1 == self.w.axes[1].outputs as usize {
            self.x1 = 0;
            self.x0 += 1;
        }
        if self.x0 == self.w.axes[0].outputs as usize {
            self.x0 = 0;
            self.outer += fault::or(Fault::NextPlane, 1, 0);
        }
    }

    /// How many lines from this one on, of so many, have rows that lie alike: `stride` rows behind
    /// those of the line before.
    #[inline(always)]
    fn alike(&self, lines: usize) -> usize {
        let axis = &self.w.axes[1];
        let (first, last) = (axis.first(self.x1), i64::from(axis.size) - 1 - i64::from(axis.reach));
        if first < 0 || first > last {
            return 1;
        }
        let inside = (last - first) as usize / axis.stride as usize + 1;
        inside.min(axis.outputs as usize - self.x1).min(lines)
    }

    /// The first element of the batch, or what the outer axis is.
    #[inline(always)]
    fn origin(&self) -> usize {
        self.w.base as usize + self.outer * self.w.outer_pitch as usize
    }

    /// The first elements of the rows of the last axis that the line's windows cover.
    #[inline(always)]
    pub(super) fn rows(&self, rows: &mut Vec<usize>) {
        let [a0, a1, _] = &self.w.axes;
        rows.clear();
        let origin = self.origin();
        if a0.taps == 1 {
            let mut y0 = a0.first(self.x0);
            if y0 < 0 && fault::planted(Fault::PaddingClamp) {
                y0 = 0;
            }
            if (0..i64::from(a0.size)).contains(&y0) {
                let origin = origin + y0 as usize * a0.pitch as usize;
                rows.extend(a1.places(a1.first(self.x1)).map(|y1| origin + y1 * a1.pitch as usize));
            }
            return;
        }
        for y0 in a0.places(a0.first(self.x0)) {
            for y1 in a1.places(a1.first(self.x1)) {
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
}

/// The maxima of the rows of each line, place by place. Padding has the lowest keys.
pub(super) struct Fill<'a, L: Load> {
    pub block: &'a Block<'a>,
    pub load: L,
    pub source: &'a [L::Item],
    /// The part of the inner axis.
    pub tile: &'a Range<usize>,
    /// From one line's keys to the next line's.
    pub pitch: usize,
    pub rows: &'a mut Vec<usize>,
    /// Gets the lines without rows.
    pub empty: &'a mut Vec<usize>,
    pub keys: &'a mut [L::Lane],
}

impl<L: Load> Loop for Fill<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { block, load, source, tile, pitch, rows, empty, keys } = self;
        let axis = &block.w.axes[1];
        let apart = fault::or(Fault::LineStep, axis.stride, 1) as usize * axis.pitch as usize;
        let mut cursor = Cursor::new(block.w, block.first);
        let mut done = 0;
        while done < block.shape.lines {
            cursor.rows(rows);
            let lines = cursor.alike(block.shape.lines - done);
            if rows.is_empty() {
                empty.extend(done..done + lines);
            }
            let lines = Lines { rows, apart, count: lines };
            let keys = &mut keys[done * pitch..];
            fill(load, source, lines, block.w.inner as usize, block.strip, tile, pitch, keys);
            done += lines.count;
            cursor.advance(lines.count);
        }
    }
}

/// Lines whose rows lie alike: where the first one's begin, and how far apart each line's are from
/// the next line's.
#[derive(Clone, Copy)]
struct Lines<'a> {
    rows: &'a [usize],
    apart: usize,
    count: usize,
}

/// All rows by themselves.
pub(super) struct FillAll<'a, L: Load>(pub Fill<'a, L>);

impl<L: Load> Loop for FillAll<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Fill { block, load, source, tile, pitch, empty, keys, .. } = self.0;
        let Block { w, first, shape, strip } = block;
        let [before, axis, _] = &w.axes;
        let mut row = 0;
        for done in (0..shape.lines).step_by(shape.plane) {
            let cursor = Cursor::new(w, first + done);
            let y0 = before.first(cursor.x0);
            let inside = (0..i64::from(before.size)).contains(&y0);
            let origin =
                cursor.origin() + if inside { y0 as usize * before.pitch as usize } else { 0 };
            for i in 0..shape.plane {
                if !inside || axis.places(axis.first(cursor.x1 + i)).next().is_none() {
                    empty.push(done + i);
                }
            }
            // Padding above, rows, and padding below.
            let begin = axis.first(cursor.x1);
            let size = if inside { i64::from(axis.size) } else { 0 };
            let end = begin + shape.span as i64;
            let (from, to) = (begin.clamp(0, size), end.clamp(0, size));
            let above = if from < to { from - begin } else { end - begin };
            let first = [origin + from as usize * axis.pitch as usize];
            let below = end - begin - above - (to - from).max(0);
            for (rows, count) in [(&[][..], above), (&first, (to - from).max(0)), (&[], below)] {
                let lines = Lines { rows, apart: axis.pitch as usize, count: count as usize };
                let keys = &mut keys[row * pitch..];
                fill(load, source, lines, w.inner as usize, strip, tile, pitch, keys);
                row += count as usize;
            }
        }
    }
}

/// The maxima of the rows of each line. Vectors may reach beyond the end, where the next line comes
/// later.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "it is one loop's body")]
fn fill<L: Load>(
    load: L,
    source: &[L::Item],
    lines: Lines<'_>,
    inner: usize,
    strip: &Strip,
    tile: &Range<usize>,
    pitch: usize,
    keys: &mut [L::Lane],
) {
    let (width, places) = (tile.len(), strip.to - strip.from);
    if lines.rows.is_empty() || places == 0 {
        return keys[..lines.count * pitch].fill(L::Lane::LOWEST);
    }
    let before = strip.skipped * width;
    // The places of a tile lie apart.
    let (count, pieces) = if width == inner { (places * width, 1) } else { (width, places) };
    let behind = before + places * width;
    let last = lines.rows.iter().fold(0, |last, &row| row.max(last));
    let whole = count.next_multiple_of(vector::<L::Lane>());
    for line in 0..lines.count {
        let keys = &mut keys[line * pitch..];
        clear(keys, before);
        for piece in 0..pieces {
            let offset = (strip.from + piece) * inner + tile.start + line * lines.apart;
            let keys = &mut keys[before + piece * width..];
            let space = keys.len().min(source.len() - offset - last);
            let count = if whole <= space { whole } else { count };
            merge_rows(load, source, lines.rows, offset, &mut keys[..count]);
        }
        clear(&mut keys[behind..], pitch - behind);
    }
}

/// Sets so many keys to the lowest, and perhaps more, up to a vector.
#[inline(always)]
fn clear<L: Lane>(keys: &mut [L], count: usize) {
    if count == 0 || fault::planted(Fault::StalePadding) {
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
    match rows.len() {
        1 => one(load, row(0), keys),
        2 => two(load, row(0), row(1), keys),
        3 => three(load, row(0), row(1), row(2), keys),
        count => {
            two(load, row(0), row(1), keys);
            for i in (2..count - 1).step_by(2) {
                two_more(load, row(i), row(i + 1), keys);
            }
            // An odd one out; or else the last one once more, which changes no maximum.
            one_more(load, row(fault::or(Fault::OddRow, count, count / 2 * 2) - 1), keys);
        }
    }
}

/// A row's items, and the position of the first.
type Row<'a, L> = (&'a [<L as Load>::Item], u32);

// Flat loops over slices: of loops inside loops, compilers gather keys from afar.

#[inline(always)]
fn one<L: Load>(load: L, a: Row<L>, keys: &mut [L::Lane]) {
    for ((key, &x), i) in keys.iter_mut().zip(a.0).zip(0u32..) {
        *key = load.load(x, a.1.wrapping_add(i));
    }
}

#[inline(always)]
fn one_more<L: Load>(load: L, a: Row<L>, keys: &mut [L::Lane]) {
    for ((key, &x), i) in keys.iter_mut().zip(a.0).zip(0u32..) {
        *key = load.load(x, a.1.wrapping_add(i)).max(*key);
    }
}

#[inline(always)]
fn two<L: Load>(load: L, a: Row<L>, b: Row<L>, keys: &mut [L::Lane]) {
    for (((key, &x), &y), i) in keys.iter_mut().zip(a.0).zip(b.0).zip(0u32..) {
        let (x, y) = (load.load(x, a.1.wrapping_add(i)), load.load(y, b.1.wrapping_add(i)));
        *key = x.max(y);
    }
}

#[inline(always)]
fn two_more<L: Load>(load: L, a: Row<L>, b: Row<L>, keys: &mut [L::Lane]) {
    for (((key, &x), &y), i) in keys.iter_mut().zip(a.0).zip(b.0).zip(0u32..) {
        let (x, y) = (load.load(x, a.1.wrapping_add(i)), load.load(y, b.1.wrapping_add(i)));
        *key = x.max(y).max(*key);
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
