//! MaxPool in pieces: ranges of its results, each with the input that its windows cover. If a
//! single window is too large, the windows are split too.

use std::borrow::Cow;

use super::combine::{Assembled, Positions, bits, exceeds, merge_max};
use super::part::Part;
use super::window::{Indexing, Piece};
use super::{Planning, Work};
use crate::base::error::Result;
use crate::plan::Plan;
use crate::pool::{self, MaxPool, Resolved, Window};
use crate::tensor::key::{KeyOrder, Ranking, with_order};
use crate::tensor::{ElementType, Indices, Outputs, Tensor, TensorDesc, TensorView, memory};

pub(super) struct Pool<'a> {
    operator: &'a MaxPool,
    /// The operator of a piece: its indices are positions in the piece.
    local: MaxPool,
    input: &'a TensorView,
    windows: Vec<Window>,
    values: Assembled,
    positions: Option<Positions>,
    indexing: Indexing,
    /// For each result, whether an earlier piece had elements for it. Empty until a window is
    /// split.
    seen: Vec<bool>,
}

impl<'a> Pool<'a> {
    pub(super) fn new(operator: &'a MaxPool, input: &'a TensorView) -> Result<Self> {
        let Resolved { outputs, windows, .. } = operator.resolve(input.desc())?;
        let indices = Indices::new(ElementType::I32);
        Ok(Self {
            operator,
            local: operator.clone().indices(operator.indices.map(|_| indices)),
            input,
            windows,
            values: Assembled::zeroed(&outputs[0])?,
            positions: outputs.get(1).map(Positions::none).transpose()?,
            indexing: Indexing::new(operator, input.desc())?,
            seen: Vec::new(),
        })
    }

    /// The piece without the taps that are in the padding of all its windows.
    fn trimmed(&self, mut piece: Piece) -> Piece {
        let outputs = &piece.part.0[self.operator.first_spatial()..];
        for ((taps, window), outputs) in piece.taps.iter_mut().zip(&self.windows).zip(outputs) {
            *taps = window.trim(outputs, taps);
        }
        piece
    }

    /// The possible splits of a piece. Splits along the outermost axes come first: their halves
    /// have the longest contiguous spans.
    fn splits(&self, piece: &Piece) -> Vec<[Piece; 2]> {
        let axes = (0..piece.part.0.len()).filter(|&axis| piece.part.0[axis].len() > 1);
        let mut splits: Vec<[Piece; 2]> = axes
            .map(|axis| piece.part.halves(axis).map(|part| Piece { part, ..piece.clone() }))
            .collect();
        // Windows are split along their outermost axis, so that the taps of the first half come
        // first in memory and win ties.
        if let Some(axis) = piece.taps.iter().position(|taps| taps.end - taps.start > 1) {
            let taps = &piece.taps[axis];
            let middle = taps.start + (taps.end - taps.start).div_ceil(2);
            splits.push([(taps.start..middle, false), (middle..taps.end, true)].map(
                |(taps, second)| {
                    let mut half = Piece { partial: true, ..piece.clone() };
                    half.merge |= second;
                    half.taps[axis] = taps;
                    half
                },
            ));
        }
        splits.into_iter().map(|halves| halves.map(|half| self.trimmed(half))).collect()
    }

    fn combine_as<O: KeyOrder>(
        &mut self,
        order: O,
        piece: &Piece,
        results: &[Tensor],
    ) -> Result<()> {
        let runs = piece.part.runs(&self.values.desc)?;
        let from = bits::<O::Key>(&results[0]);
        let values = self.values.bits_mut();
        if !piece.partial {
            runs.for_each(|(at, part)| values[at].copy_from_slice(&from[part]));
            if let Some(positions) = &mut self.positions {
                let found = self.indexing.of_piece(&self.windows, piece).indices(&results[1])?;
                let runs = piece.part.runs(&self.values.desc)?;
                runs.for_each(|(at, part)| positions.at[at].copy_from_slice(&found[part]));
            }
            return Ok(());
        }
        let indexing = self.indexing.of_piece(&self.windows, piece);
        let found = results.get(1).map(|local| indexing.indices(local)).transpose()?;
        if self.seen.is_empty() {
            self.seen = memory::repeated(false, values.len())?;
        }
        for (at, part) in runs.flat_map(|(at, part)| at.zip(part)) {
            let (has_elements, first) = (indexing.has_elements(part), !self.seen[at]);
            self.seen[at] |= has_elements;
            let replaces = match has_elements {
                // The first piece gives the value of a window without any elements.
                false => !piece.merge,
                true if first => true,
                true if found.is_some() => exceeds(order, from[part], values[at]),
                true => {
                    merge_max(order, &mut values[at..=at], &from[part..=part]);
                    false
                }
            };
            if replaces {
                values[at] = from[part];
                if let (Some(positions), Some(found)) = (&mut self.positions, &found) {
                    positions.at[at] = found[part];
                }
            }
        }
        Ok(())
    }
}

impl Work for Pool<'_> {
    type Piece = Piece;

    fn whole(&self) -> Option<Piece> {
        let piece = Piece {
            part: Part::whole(self.values.desc.shape()),
            taps: self.windows.iter().map(|window| 0..window.kernel).collect(),
            partial: false,
            merge: false,
        };
        (!self.values.desc.is_empty()).then(|| self.trimmed(piece))
    }

    fn split(&self, piece: &Piece) -> Option<[Piece; 2]> {
        let whole = self.min_bytes(piece);
        let larger = |halves: &[Piece; 2]| halves.iter().map(|half| self.min_bytes(half)).max();
        let mut splits = self.splits(piece);
        let sizes: Vec<u64> = splits.iter().filter_map(larger).collect();
        // Both halves read the elements that windows of both cover. Take the first split whose larger
        // half has at most 3/5 of the bytes, or else the split with the smallest larger half.
        let good = sizes.iter().position(|&size| size <= whole / 5 * 3);
        let best = || (0..sizes.len()).min_by_key(|&i| sizes[i]).filter(|&i| sizes[i] < whole);
        good.or_else(best).map(|i| splits.swap_remove(i))
    }

    fn min_bytes(&self, piece: &Piece) -> u64 {
        let item = self.input.desc().element_type().size();
        let result = item + if self.positions.is_some() { 4 } else { 0 };
        (self.indexing.source(&self.windows, piece).len() * item + piece.part.len() * result) as u64
    }

    fn plan(&self, piece: &mut Piece, planning: Planning<'_>) -> Result<Plan> {
        let element_type = self.input.desc().element_type();
        let source = self.indexing.source(&self.windows, piece);
        let input = TensorDesc::new(element_type, source.shape())?;
        let result = |element_type| TensorDesc::new(element_type, piece.part.shape());
        let indices = self.positions.as_ref().map(|_| result(ElementType::I32)).transpose()?;
        let outputs = Outputs::new(Some(result(element_type)?), indices, None);
        let spatial = piece.part.0[self.operator.first_spatial()..].iter().zip(&piece.taps);
        let windows = self.windows.iter().zip(spatial);
        let windows =
            windows.map(|(window, (outputs, taps))| window.restrict(outputs, taps)).collect();
        let Planning { limits, tuning } = planning;
        let (operator, input) = (&self.local, &input);
        let modulus = operator.index_modulus(input)?;
        let resolved = Resolved { operator, input, outputs, windows, modulus };
        pool::plan(resolved, tuning.target(limits)?, &tuning.pool, &tuning.reduce)
    }

    fn inputs<'a>(&'a self, piece: &'a Piece) -> Result<Vec<Cow<'a, [u8]>>> {
        let source = self.indexing.source(&self.windows, piece);
        Ok(vec![source.of(self.input.view())?.gather(self.input.memory().bytes())?])
    }

    fn combine(&mut self, piece: &Piece, results: &[Tensor]) -> Result<()> {
        let (t, op) = (self.input.desc().element_type(), self.operator);
        let ranking = Ranking::new(t, op.nan, op.extremum);
        with_order!(t, ranking, order => self.combine_as(order, piece, results))
    }

    fn finish(self) -> Result<Vec<Tensor>> {
        let mut results = vec![self.values.finish()?];
        if let Some(positions) = self.positions {
            results.push(positions.finish()?);
        }
        Ok(results)
    }
}
