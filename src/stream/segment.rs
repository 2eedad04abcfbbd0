//! SegmentMax in pieces: ranges of rows and, if rows are wide, of columns. The segments of a piece
//! are renumbered from 0, so that a piece has no more results than rows.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::combine::{Assembled, Positions, bits, exceeds, identity, merge_max};
use super::part::{Part, halves};
use super::{Planning, Work};
use crate::base::error::Result;
use crate::base::threads;
use crate::plan::Plan;
use crate::segment::{Ids, SegmentMax, Segments};
use crate::tensor::key::{Key, KeyOrder, Ranking, with_order};
use crate::tensor::{ElementType, Indices, Tensor, TensorDesc, TensorView, View, memory};

/// The minimum rows of a half. Pieces with fewer are split along their columns.
const MIN_ROWS: usize = 8;
/// Ids are renumbered by a table if their range is at most this factor times the number of rows,
/// and otherwise by sorting.
const TABLE_FACTOR: usize = 4;

pub(super) struct Segment<'a> {
    operator: &'a SegmentMax,
    memory: &'a [u8],
    /// The layout of the elements: rows, and the elements of a row.
    data: View,
    ids: Ids<'a>,
    /// Elements of a row.
    inner: usize,
    /// The rows to read. For sorted ids and offsets, rows outside of all segments are skipped.
    rows: Range<usize>,
    values: Assembled,
    positions: Option<Positions>,
    /// For each segment, whether it has rows.
    seen: Vec<bool>,
}

#[derive(Clone, Debug)]
pub(super) struct Piece {
    rows: Range<usize>,
    columns: Range<usize>,
    /// Set when the piece is planned.
    renumbered: Option<Arc<Renumbered>>,
}

/// The segments of a piece, renumbered from 0 in their order.
#[derive(Debug, Default)]
struct Renumbered {
    /// The new id of each row; -1 if its id is out of range.
    ids: Vec<i32>,
    /// The original id of each segment.
    segments: Vec<usize>,
}

impl<'a> Segment<'a> {
    /// `operator` must have been checked against its ids.
    pub(super) fn new(
        operator: &'a SegmentMax,
        data: &'a TensorView,
        ids: &'a Tensor,
    ) -> Result<Self> {
        let outputs = operator.infer([data.desc(), ids.desc()])?;
        let segments = outputs[0].shape()[0];
        let ids = Ids::of(ids)?;
        let rows = match operator.segments {
            Segments::Unsorted => 0..data.desc().shape()[0],
            Segments::Sorted => 0..ids.first_at_least(segments as i64),
            Segments::Offsets => ids.at(0) as usize..ids.at(segments) as usize,
        };
        let mut values = Assembled::zeroed(&outputs[0])?;
        let t = data.desc().element_type();
        let identity = identity(t, operator.nan, operator.extremum);
        with_order!(t, Ranking::MAXIMUM, order => fill(order, values.bits_mut(), identity));
        let indices = operator.indices.map(|_| &outputs[1]);
        Ok(Self {
            operator,
            memory: data.memory().bytes(),
            data: data.view().rows()?,
            ids,
            inner: data.desc().shape()[1..].iter().product(),
            rows,
            values,
            positions: indices.map(Positions::none).transpose()?,
            seen: memory::repeated(false, segments)?,
        })
    }

    fn renumber(&self, rows: &Range<usize>) -> Result<Renumbered> {
        match self.operator.segments {
            Segments::Sorted => renumber_sorted(rows.clone().map(|row| self.ids.at(row) as usize)),
            Segments::Offsets => {
                let mut next = self.ids.first_at_least(rows.start as i64 + 1);
                renumber_sorted(rows.clone().map(|row| {
                    while self.ids.at(next) <= row as i64 {
                        next += 1;
                    }
                    next - 1
                }))
            }
            Segments::Unsorted => renumber_unsorted(rows.len(), |row| {
                let id = usize::try_from(self.ids.at(rows.start + row)).ok();
                id.filter(|&id| id < self.seen.len())
            }),
        }
    }

    /// The number of rows that belong to no segment.
    fn dropped(&self) -> usize {
        let segments = 0..self.seen.len() as i64;
        match self.operator.segments {
            Segments::Unsorted => self.ids.iter().filter(|id| !segments.contains(id)).count(),
            _ => self.data.desc().shape()[0] - self.rows.len(),
        }
    }

    fn combine_as<O: KeyOrder>(
        &mut self,
        order: O,
        piece: &Piece,
        renumbered: &Renumbered,
        results: &[Tensor],
    ) {
        let width = piece.columns.len();
        let (values, from) = (self.values.bits_mut::<O::Key>(), bits(&results[0]));
        for (number, &segment) in renumbered.segments.iter().enumerate() {
            self.seen[segment] = true;
            let first = segment * self.inner + piece.columns.start;
            let (at, part) = (first..first + width, number * width..(number + 1) * width);
            let Some(positions) = &mut self.positions else {
                merge_max(order, &mut values[at], &from[part]);
                continue;
            };
            let found = bytemuck::cast_slice::<u8, i32>(results[1].bytes());
            for (at, part) in at.zip(part) {
                let earlier = &mut positions.at[at];
                if *earlier == Positions::NONE || exceeds(order, from[part], values[at]) {
                    values[at] = from[part];
                    *earlier = piece.rows.start as u64 + found[part] as u64;
                }
            }
        }
    }

    /// Gives each segment without rows the bits of an empty one.
    fn finish_as(&mut self, order: impl KeyOrder, empty: u64) {
        let rows = self.values.bits_mut().chunks_exact_mut(self.inner.max(1));
        for (row, _) in rows.zip(&self.seen).filter(|(_, seen)| !**seen) {
            fill(order, row, empty);
        }
    }
}

/// Sets elements to the same bits.
fn fill<O: KeyOrder>(_: O, elements: &mut [O::Key], bits: u64) {
    elements.fill(Key::narrow(bits));
}

/// Renumbers ids in ascending order.
fn renumber_sorted(rows: impl Iterator<Item = usize>) -> Result<Renumbered> {
    let mut renumbered = Renumbered::default();
    for segment in rows {
        if renumbered.segments.last() != Some(&segment) {
            memory::push(&mut renumbered.segments, segment)?;
        }
        memory::push(&mut renumbered.ids, renumbered.segments.len() as i32 - 1)?;
    }
    Ok(renumbered)
}

/// Renumbers ids in any order. `id` returns the id of a row, or `None` if it is out of range.
fn renumber_unsorted(
    rows: usize,
    id: impl Fn(usize) -> Option<usize> + Sync,
) -> Result<Renumbered> {
    let mut present = memory::repeated(None, rows)?;
    let (min, max) = (AtomicUsize::new(usize::MAX), AtomicUsize::new(0));
    threads::each_chunk(&mut present, threads::CHUNK_LEN, |number, present| {
        for (i, present) in present.iter_mut().enumerate() {
            *present = id(number * threads::CHUNK_LEN + i);
        }
        min.fetch_min(present.iter().flatten().copied().min().unwrap_or(usize::MAX), Relaxed);
        max.fetch_max(present.iter().flatten().copied().max().unwrap_or(0), Relaxed);
    });
    let (min, max) = (min.into_inner(), max.into_inner());
    let mut ids = memory::repeated(-1, rows)?;
    if min > max {
        return Ok(Renumbered { ids, segments: Vec::new() });
    }
    let number_all = |ids: &mut [i32], number: &(dyn Fn(usize) -> i32 + Sync)| {
        threads::each_chunk(ids, threads::CHUNK_LEN, |chunk, ids| {
            for (to, id) in ids.iter_mut().zip(&present[chunk * threads::CHUNK_LEN..]) {
                *to = id.map_or(-1, number);
            }
        });
    };
    if max - min < TABLE_FACTOR * rows {
        let mut numbers = memory::repeated(-1, max - min + 1)?;
        present.iter().flatten().for_each(|id| numbers[id - min] = 0);
        let mut segments = Vec::new();
        for (at, number) in numbers.iter_mut().enumerate().filter(|(_, number)| **number == 0) {
            *number = segments.len() as i32;
            memory::push(&mut segments, min + at)?;
        }
        number_all(&mut ids, &|id| numbers[id - min]);
        return Ok(Renumbered { ids, segments });
    }
    let mut segments = memory::collected(present.iter().copied().flatten())?;
    threads::sort(&mut segments);
    segments.dedup();
    number_all(&mut ids, &|id| segments.binary_search(&id).map_or(-1, |number| number as i32));
    Ok(Renumbered { ids, segments })
}

impl Work for Segment<'_> {
    type Piece = Piece;

    fn whole(&self) -> Option<Piece> {
        let piece = Piece { rows: self.rows.clone(), columns: 0..self.inner, renumbered: None };
        (!self.rows.is_empty() && !self.values.desc.is_empty()).then_some(piece)
    }

    fn split(&self, piece: &Piece) -> Option<[Piece; 2]> {
        let by_rows =
            || halves(&piece.rows).map(|rows| Piece { rows, renumbered: None, ..piece.clone() });
        match (piece.rows.len(), piece.columns.len()) {
            (rows, _) if rows >= 2 * MIN_ROWS => Some(by_rows()),
            (_, columns) if columns > 1 => {
                Some(halves(&piece.columns).map(|columns| Piece { columns, ..piece.clone() }))
            }
            (rows, _) if rows > 1 => Some(by_rows()),
            _ => None,
        }
    }

    fn min_bytes(&self, piece: &Piece) -> u64 {
        let row = piece.columns.len() * self.data.desc().element_type().size() + size_of::<i32>();
        (piece.rows.len() * row) as u64
    }

    fn plan(&self, piece: &mut Piece, planning: Planning<'_>) -> Result<Plan> {
        let renumbered = match &piece.renumbered {
            Some(renumbered) => renumbered.clone(),
            None => Arc::new(self.renumber(&piece.rows)?),
        };
        let operator = match self.operator.segments {
            Segments::Unsorted => SegmentMax::unsorted(),
            _ => SegmentMax::sorted(),
        };
        let mut operator = operator
            .num_segments(renumbered.segments.len())
            .nan(self.operator.nan)
            .extremum(self.operator.extremum)
            .indices(self.positions.as_ref().map(|_| Indices::new(ElementType::I32)));
        operator.initial = self.operator.initial;
        piece.renumbered = Some(renumbered);
        let rows = piece.rows.len();
        let data = TensorDesc::new(self.data.desc().element_type(), [rows, piece.columns.len()])?;
        let ids = TensorDesc::new(ElementType::I32, [rows])?;
        operator.plan([&data, &ids], planning.limits, planning.tuning)
    }

    fn inputs<'a>(&'a self, piece: &'a Piece) -> Result<Vec<Cow<'a, [u8]>>> {
        let part = Part(vec![piece.rows.clone(), piece.columns.clone()]);
        let data = part.of(&self.data)?.gather(self.memory)?;
        let ids = piece.renumbered.as_ref().map_or(&[][..], |renumbered| &renumbered.ids);
        Ok(vec![data, Cow::Borrowed(bytemuck::cast_slice(ids))])
    }

    fn combine(&mut self, piece: &Piece, results: &[Tensor]) -> Result<()> {
        if let Some(renumbered) = &piece.renumbered {
            let (t, op) = (self.data.desc().element_type(), self.operator);
            let ranking = Ranking::new(t, op.nan, op.extremum);
            with_order!(t, ranking, order => self.combine_as(order, piece, renumbered, results));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Tensor>> {
        let t = self.data.desc().element_type();
        let empty = self.operator.rules(t)?.empty;
        with_order!(t, Ranking::MAXIMUM, order => self.finish_as(order, empty));
        let dropped = self.operator.status.then(|| self.dropped());
        let mut results = vec![self.values.finish()?];
        if let Some(positions) = self.positions {
            results.push(positions.finish()?);
        }
        if let Some(dropped) = dropped {
            // Ids on the host are checked before the run, so they have no errors.
            results
                .push(Tensor::from_slice([2], &[0, u32::try_from(dropped).unwrap_or(u32::MAX)])?);
        }
        Ok(results)
    }
}
