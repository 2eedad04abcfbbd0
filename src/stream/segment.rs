//! SegmentMax in pieces: ranges of rows and, where rows are wide, of columns. The segments of a piece are
//! numbered anew, so that it has no more results than rows.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::Work;
use super::boxes::{Part, halves};
use super::combine::{Joined, Positions, bits, exceeds, identity, join, narrow};
use crate::error::Result;
use crate::operator::{Ids, SegmentMax, Segments};
use crate::plan::{Limits, Plan};
use crate::tensor::key::{Keyed, with_keyed};
use crate::tensor::{ElementType, Tensor, TensorDesc};

/// Rows are halved as long as each half has so many of them; then columns are.
const LEAST_ROWS: usize = 8;
/// Ids within a range of so many times their number are numbered by a table.
const DENSE: usize = 4;

pub(super) struct Segment<'a> {
    operator: &'a SegmentMax,
    data: &'a Tensor,
    ids: Ids<'a>,
    inner: usize,
    /// The rows that belong to a segment, as far as order tells.
    rows: Range<usize>,
    values: Joined,
    positions: Option<Positions>,
    /// The segments that have rows.
    seen: Vec<bool>,
}

#[derive(Clone, Debug)]
pub(super) struct Piece {
    rows: Range<usize>,
    columns: Range<usize>,
    /// Known once the piece has been planned.
    numbered: Option<Arc<Numbered>>,
}

/// Segments that are numbered anew.
#[derive(Debug, Default)]
struct Numbered {
    /// The number of each row's segment; -1 for a row of none.
    ids: Vec<i32>,
    /// The segment that each number stands for.
    segments: Vec<usize>,
}

impl<'a> Segment<'a> {
    /// `operator`: one that has been checked against its ids.
    pub(super) fn new(operator: &'a SegmentMax, data: &'a Tensor, ids: &'a Tensor) -> Result<Self> {
        let outputs = operator.infer(data.desc(), ids.desc())?;
        let segments = outputs[0].shape()[0];
        let ids = Ids::of(ids)?;
        let rows = match operator.get_segments() {
            Segments::Unsorted => 0..data.shape()[0],
            Segments::Sorted => 0..ids.first_at_least(segments as i64),
            Segments::Offsets => ids.at(0) as usize..ids.at(segments) as usize,
        };
        let mut values = Joined::zeroed(&outputs[0])?;
        let identity = identity(data.element_type(), operator.get_nan());
        with_keyed!(data.element_type(), T => values.bits_mut::<T>().fill(narrow::<T>(identity)));
        let indices = operator.get_indices().map(|_| &outputs[1]);
        Ok(Self {
            operator,
            data,
            ids,
            inner: data.shape()[1..].iter().product(),
            rows,
            values,
            positions: indices.map(Positions::none).transpose()?,
            seen: vec![false; segments],
        })
    }

    /// The segments of rows, numbered anew and in their order.
    fn number(&self, rows: &Range<usize>) -> Numbered {
        match self.operator.get_segments() {
            Segments::Sorted => ascending(rows.clone().map(|row| self.ids.at(row) as usize)),
            Segments::Offsets => {
                let mut next = self.ids.first_at_least(rows.start as i64 + 1);
                ascending(rows.clone().map(|row| {
                    while self.ids.at(next) <= row as i64 {
                        next += 1;
                    }
                    next - 1
                }))
            }
            Segments::Unsorted => any_order(
                rows.clone()
                    .into_par_iter()
                    .map(|row| usize::try_from(self.ids.at(row)).ok())
                    .map(|id| id.filter(|&id| id < self.seen.len())),
            ),
        }
    }

    fn land_as<T: Keyed>(&mut self, piece: &Piece, numbered: &Numbered, results: &[Tensor]) {
        let nan = self.operator.get_nan();
        let width = piece.columns.len();
        let (values, from) = (self.values.bits_mut::<T>(), bits::<T>(&results[0]));
        for (number, &segment) in numbered.segments.iter().enumerate() {
            self.seen[segment] = true;
            let first = segment * self.inner + piece.columns.start;
            let (at, part) = (first..first + width, number * width..(number + 1) * width);
            let Some(positions) = &mut self.positions else {
                join::<T>(&mut values[at], &from[part], nan);
                continue;
            };
            let found = bytemuck::cast_slice::<u8, i32>(results[1].bytes());
            for (at, part) in at.zip(part) {
                let earlier = &mut positions.at[at];
                if *earlier == Positions::NONE || exceeds::<T>(from[part], values[at], nan) {
                    values[at] = from[part];
                    *earlier = piece.rows.start as u64 + found[part] as u64;
                }
            }
        }
    }

    fn finish_as<T: Keyed>(&mut self) {
        let empty = self.operator.get_empty_segment().bits(self.data.element_type());
        let rows = self.values.bits_mut::<T>().chunks_exact_mut(self.inner.max(1));
        for (row, _) in rows.zip(&self.seen).filter(|(_, seen)| !**seen) {
            row.fill(narrow::<T>(empty));
        }
    }
}

/// Numbers of segments that ascend.
fn ascending(rows: impl Iterator<Item = usize>) -> Numbered {
    let mut numbered = Numbered::default();
    for segment in rows {
        if numbered.segments.last() != Some(&segment) {
            numbered.segments.push(segment);
        }
        numbered.ids.push(numbered.segments.len() as i32 - 1);
    }
    numbered
}

/// Numbers of segments in any order; a row may have none.
fn any_order(rows: impl IndexedParallelIterator<Item = Option<usize>> + Clone) -> Numbered {
    let none = (usize::MAX, 0);
    let both = |a: (usize, usize), b: (usize, usize)| (a.0.min(b.0), a.1.max(b.1));
    let (least, most) = rows.clone().flatten().map(|s| (s, s)).reduce(|| none, both);
    if least > most {
        return Numbered { ids: vec![-1; rows.len()], segments: Vec::new() };
    }
    if most - least < DENSE * rows.len() {
        let mut numbers = vec![-1; most - least + 1];
        let ids: Vec<Option<usize>> = rows.collect();
        ids.iter().flatten().for_each(|id| numbers[id - least] = 0);
        let mut segments = Vec::new();
        for (at, number) in numbers.iter_mut().enumerate().filter(|(_, number)| **number == 0) {
            *number = segments.len() as i32;
            segments.push(least + at);
        }
        let ids = ids.iter().map(|id| id.map_or(-1, |id| numbers[id - least])).collect();
        return Numbered { ids, segments };
    }
    let mut segments: Vec<usize> = rows.clone().flatten().collect();
    segments.par_sort_unstable();
    segments.dedup();
    let number = |id| segments.binary_search(&id).map_or(-1, |number| number as i32);
    let ids = rows.map(|id| id.map_or(-1, number)).collect();
    Numbered { ids, segments }
}

impl Work for Segment<'_> {
    type Piece = Piece;

    fn whole(&self) -> Option<Piece> {
        let piece = Piece { rows: self.rows.clone(), columns: 0..self.inner, numbered: None };
        (!self.rows.is_empty() && !self.values.desc.is_empty()).then_some(piece)
    }

    fn cut(&self, piece: &Piece) -> Option<[Piece; 2]> {
        let by_rows =
            || halves(&piece.rows).map(|rows| Piece { rows, numbered: None, ..piece.clone() });
        match (piece.rows.len(), piece.columns.len()) {
            (rows, _) if rows >= 2 * LEAST_ROWS => Some(by_rows()),
            (_, columns) if columns > 1 => {
                Some(halves(&piece.columns).map(|columns| Piece { columns, ..piece.clone() }))
            }
            (rows, _) if rows > 1 => Some(by_rows()),
            _ => None,
        }
    }

    fn bytes(&self, piece: &Piece) -> u64 {
        let row = piece.columns.len() * self.data.element_type().size() + size_of::<i32>();
        (piece.rows.len() * row) as u64
    }

    fn plan(&self, piece: &mut Piece, limits: &Limits) -> Result<Plan> {
        let numbered = match &piece.numbered {
            Some(numbered) => numbered.clone(),
            None => Arc::new(self.number(&piece.rows)),
        };
        let operator = match self.operator.get_segments() {
            Segments::Unsorted => SegmentMax::unsorted(),
            _ => SegmentMax::sorted(),
        };
        let operator = operator
            .num_segments(numbered.segments.len() as i64)
            .nan(self.operator.get_nan())
            .indices(self.positions.is_some().then_some(ElementType::I32));
        piece.numbered = Some(numbered);
        let rows = piece.rows.len();
        let data = TensorDesc::new(self.data.element_type(), [rows, piece.columns.len()])?;
        operator.plan(&data, &TensorDesc::new(ElementType::I32, [rows])?, limits)
    }

    fn inputs<'a>(&'a self, piece: &'a Piece) -> Vec<Cow<'a, [u8]>> {
        let part = Part(vec![piece.rows.clone(), piece.columns.clone()]);
        let runs = part.runs(&[self.data.shape()[0], self.inner]);
        let data = runs.gather(self.data.bytes(), self.data.element_type().size());
        let ids = piece.numbered.as_ref().map_or(&[][..], |numbered| &numbered.ids);
        vec![data, Cow::Borrowed(bytemuck::cast_slice(ids))]
    }

    fn land(&mut self, piece: &Piece, results: &[Tensor]) {
        if let Some(numbered) = &piece.numbered {
            with_keyed!(
                self.data.element_type(),
                T => self.land_as::<T>(piece, numbered, results)
            );
        }
    }

    fn finish(mut self) -> Result<Vec<Tensor>> {
        with_keyed!(self.data.element_type(), T => self.finish_as::<T>());
        let mut results = vec![self.values.finish()?];
        if let Some(positions) = self.positions {
            results.push(positions.finish()?);
        }
        if self.operator.get_status() {
            // What a status tells of is an error where ids are on the host.
            results.push(Tensor::from_slice([], &[0u32])?);
        }
        Ok(results)
    }
}
