//! The rows that lines of results look at, merged place by place.

use std::ops::Range;

use super::Params;
use super::ends::Load;
use super::lines::{BLOCK, Stretch};
use crate::cpu::fold::vector;
use crate::cpu::simd::Loop;
use crate::tensor::key::Lane;

/// Neighbouring lines that are worked on together, as rows of lanes.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub lines: usize,
    /// Lines of a plane, the rows that it has, and from one line's row to the next line's.
    per: usize,
    span: usize,
    stride: usize,
}

impl Shape {
    /// A row a line.
    pub(super) fn direct(lines: usize) -> Self {
        Self { lines, per: lines, span: lines, stride: 1 }
    }

    /// All rows that the windows of some lines cover: of several planes, or of a part of one.
    pub(super) fn tall(p: &Params, first: usize, left: usize, room: usize) -> Self {
        let (axis, plane) = (&p.axes[1], p.axes[1].outputs as usize);
        let (stride, reach) = (axis.stride as usize, axis.reach as usize);
        let span = |lines: usize| (lines - 1) * stride + reach + 1;
        // So many rows that little is done twice, where blocks overlap.
        let most = room.max(4 * (reach + 1));
        if first.is_multiple_of(plane) && left >= plane && span(plane) <= most {
            let planes = (room / span(plane)).clamp(1, left / plane);
            return Self { lines: planes * plane, per: plane, span: span(plane), stride };
        }
        let lines = ((most - reach - 1) / stride + 1).min(plane - first % plane).min(left);
        Self { lines, per: lines, span: span(lines), stride }
    }

    pub(super) fn rows(&self) -> usize {
        self.lines / self.per * self.span
    }

    /// The row of a line, when windows down the rows are made.
    pub(super) fn row(&self, line: usize) -> usize {
        line / self.per * self.span + line % self.per * self.stride
    }
}

/// Bytes of the rows that a line's windows cover, or of a stretch of them, that blocks of all rows may have.
const TALL: usize = 1 << 20;

/// Whether windows across lines are better made of rows by doubling than one by one.
pub(super) fn is_tall<L: Load>(p: &Params) -> bool {
    let [before, axis, last] = &p.axes;
    let row = last.size as usize * p.inner as usize * size_of::<L::Lane>();
    before.taps == 1
        && axis.reach == (axis.taps - 1) * axis.dilation
        && axis.reach / 4 <= axis.size
        && axis.taps > axis.stride.saturating_mul(axis.taps.ilog2() + 2)
        && (axis.reach as usize + 1) * row.min(BLOCK) <= TALL
}

/// A line of results.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    p: &'a Params,
    outer: usize,
    x0: usize,
    x1: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(p: &'a Params, line: usize) -> Self {
        let [a0, a1, _] = &p.axes;
        let (x1, rest) = (line % a1.outputs as usize, line / a1.outputs as usize);
        Self { p, outer: rest / a0.outputs as usize, x0: rest % a0.outputs as usize, x1 }
    }

    /// To the next line.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        self.x1 += 1;
        if self.x1 == self.p.axes[1].outputs as usize {
            self.x1 = 0;
            self.x0 += 1;
        }
        if self.x0 == self.p.axes[0].outputs as usize {
            self.x0 = 0;
            self.outer += 1;
        }
    }

    /// The first element of the batch, or what the outer axis is.
    #[inline(always)]
    fn origin(&self) -> usize {
        self.p.base as usize + self.outer * self.p.outer_pitch as usize
    }

    /// The first elements of the rows of the last axis that the line's windows cover.
    #[inline(always)]
    pub(super) fn rows(&self, rows: &mut Vec<usize>) {
        let [a0, a1, _] = &self.p.axes;
        rows.clear();
        let origin = self.origin();
        if a0.taps == 1 {
            let y0 = a0.first(self.x0);
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
    pub p: &'a Params,
    /// The first line.
    pub first: usize,
    pub shape: Shape,
    pub stretch: &'a Stretch,
}

/// The maxima of the rows of each line, place by place. Padding has the lowest lanes.
pub(super) struct Fill<'a, L: Load> {
    pub block: &'a Block<'a>,
    pub load: L,
    pub source: &'a [L::Item],
    /// The part of the inner axis.
    pub tile: &'a Range<usize>,
    /// From one line's lanes to the next line's.
    pub pitch: usize,
    pub rows: &'a mut Vec<usize>,
    /// Gets the lines without rows.
    pub empty: &'a mut Vec<usize>,
    pub lanes: &'a mut [L::Lane],
}

impl<L: Load> Loop for Fill<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { block, load, source, tile, pitch, rows, empty, lanes } = self;
        let mut cursor = Cursor::new(block.p, block.first);
        if tile.len() == block.p.inner as usize {
            touch(block, source, rows);
        }
        for i in 0..block.shape.lines {
            cursor.rows(rows);
            cursor.advance();
            if rows.is_empty() {
                empty.push(i);
            }
            let lanes = &mut lanes[i * pitch..];
            fill(load, source, rows, block.p.inner as usize, block.stretch, tile, pitch, lanes);
        }
    }
}

/// Reads what the lines of a block look at, in order: processors fetch ahead of that, and not of rows in turn.
#[inline(always)]
fn touch<T: Copy>(block: &Block, source: &[T], rows: &mut Vec<usize>) {
    let inner = block.p.inner as usize;
    let mut ends = [0, 0];
    for (end, line) in ends.iter_mut().zip([0, block.shape.lines - 1]) {
        Cursor::new(block.p, block.first + line).rows(rows);
        let row = if line == 0 { rows.first() } else { rows.last() };
        let Some(row) = row else { return };
        *end = row + if line == 0 { block.stretch.from } else { block.stretch.to } * inner;
    }
    let [begin, end] = ends;
    let places = (block.stretch.to - block.stretch.from) * inner;
    if rows.len() > 1 && begin < end && end - begin <= 2 * block.shape.lines * rows.len() * places {
        for line in source[begin..end].chunks(64 / size_of::<T>()) {
            std::hint::black_box(line[0]);
        }
    }
}

/// All rows by themselves.
pub(super) struct TallFill<'a, L: Load>(pub Fill<'a, L>);

impl<L: Load> Loop for TallFill<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Fill { block, load, source, tile, pitch, empty, lanes, .. } = self.0;
        let Block { p, first, shape, stretch } = block;
        let [before, axis, _] = &p.axes;
        let mut row = 0;
        for done in (0..shape.lines).step_by(shape.per) {
            let cursor = Cursor::new(p, first + done);
            let y0 = before.first(cursor.x0);
            let inside = (0..i64::from(before.size)).contains(&y0);
            let origin =
                cursor.origin() + if inside { y0 as usize * before.pitch as usize } else { 0 };
            for i in 0..shape.per {
                if !inside || axis.places(axis.first(cursor.x1 + i)).next().is_none() {
                    empty.push(done + i);
                }
            }
            let begin = axis.first(cursor.x1);
            for y1 in begin..begin + shape.span as i64 {
                let rows = [origin + y1.max(0) as usize * axis.pitch as usize];
                let known = usize::from(inside && (0..i64::from(axis.size)).contains(&y1));
                let lanes = &mut lanes[row * pitch..];
                fill(load, source, &rows[..known], p.inner as usize, stretch, tile, pitch, lanes);
                row += 1;
            }
        }
    }
}

/// The maxima of some rows. Vectors may reach beyond the end, where the next row comes later.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "it is one loop's body")]
fn fill<L: Load>(
    load: L,
    source: &[L::Item],
    rows: &[usize],
    inner: usize,
    stretch: &Stretch,
    tile: &Range<usize>,
    pitch: usize,
    lanes: &mut [L::Lane],
) {
    let (width, places) = (tile.len(), stretch.to - stretch.from);
    if rows.is_empty() || places == 0 {
        return lanes[..pitch].fill(L::Lane::LOWEST);
    }
    let before = stretch.skipped * width;
    clear(lanes, before);
    let lanes = &mut lanes[before..];
    // The places of a tile lie apart.
    let (count, pieces) = if width == inner { (places * width, 1) } else { (width, places) };
    for piece in 0..pieces {
        let offset = (stretch.from + piece) * inner + tile.start;
        merge_rows(load, source, rows, offset, &mut lanes[piece * width..], count);
    }
    let behind = places * width;
    clear(&mut lanes[behind..], pitch - before - behind);
}

/// Sets so many lanes to the lowest, and perhaps more, up to a vector.
#[inline(always)]
fn clear<L: Lane>(lanes: &mut [L], count: usize) {
    let vector = vector::<L>();
    if count > vector {
        lanes[..count].fill(L::LOWEST);
    } else if count > 0 {
        lanes[..vector].fill(L::LOWEST);
    }
}

/// The maxima of rows at an offset, in whole vectors if there is room.
#[inline(always)]
fn merge_rows<L: Load>(
    load: L,
    source: &[L::Item],
    rows: &[usize],
    offset: usize,
    lanes: &mut [L::Lane],
    count: usize,
) {
    let most = rows.iter().fold(0, |most, &row| row.max(most)) + offset;
    let whole = count.next_multiple_of(vector::<L::Lane>());
    let whole = if whole <= lanes.len().min(source.len() - most) { whole } else { count };
    let lanes = &mut lanes[..whole];
    let row = |i: usize| (&source[rows[i] + offset..][..whole], (rows[i] + offset) as u32);
    match rows.len() {
        1 => one(load, row(0), lanes),
        2 => two(load, row(0), row(1), lanes),
        3 => three(load, row(0), row(1), row(2), lanes),
        count => {
            two(load, row(0), row(1), lanes);
            for i in (2..count - 1).step_by(2) {
                two_more(load, row(i), row(i + 1), lanes);
            }
            // An odd one out; or else the last one once more, which changes no maximum.
            one_more(load, row(count - 1), lanes);
        }
    }
}

/// A row's items, and the position of the first.
type Row<'a, L> = (&'a [<L as Load>::Item], u32);

// Flat loops over slices: of loops inside loops, compilers gather lanes from afar.

#[inline(always)]
fn one<L: Load>(load: L, a: Row<L>, lanes: &mut [L::Lane]) {
    for ((lane, &x), i) in lanes.iter_mut().zip(a.0).zip(0u32..) {
        *lane = load.lane(x, a.1.wrapping_add(i));
    }
}

#[inline(always)]
fn one_more<L: Load>(load: L, a: Row<L>, lanes: &mut [L::Lane]) {
    for ((lane, &x), i) in lanes.iter_mut().zip(a.0).zip(0u32..) {
        *lane = load.lane(x, a.1.wrapping_add(i)).max(*lane);
    }
}

#[inline(always)]
fn two<L: Load>(load: L, a: Row<L>, b: Row<L>, lanes: &mut [L::Lane]) {
    for (((lane, &x), &y), i) in lanes.iter_mut().zip(a.0).zip(b.0).zip(0u32..) {
        let (x, y) = (load.lane(x, a.1.wrapping_add(i)), load.lane(y, b.1.wrapping_add(i)));
        *lane = x.max(y);
    }
}

#[inline(always)]
fn two_more<L: Load>(load: L, a: Row<L>, b: Row<L>, lanes: &mut [L::Lane]) {
    for (((lane, &x), &y), i) in lanes.iter_mut().zip(a.0).zip(b.0).zip(0u32..) {
        let (x, y) = (load.lane(x, a.1.wrapping_add(i)), load.lane(y, b.1.wrapping_add(i)));
        *lane = x.max(y).max(*lane);
    }
}

#[inline(always)]
fn three<L: Load>(load: L, a: Row<L>, b: Row<L>, c: Row<L>, lanes: &mut [L::Lane]) {
    let rows = lanes.iter_mut().zip(a.0).zip(b.0).zip(c.0).zip(0u32..);
    for ((((lane, &x), &y), &z), i) in rows {
        let (x, y) = (load.lane(x, a.1.wrapping_add(i)), load.lane(y, b.1.wrapping_add(i)));
        *lane = x.max(y).max(load.lane(z, c.1.wrapping_add(i)));
    }
}
