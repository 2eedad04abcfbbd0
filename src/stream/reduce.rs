//! ReduceMax in pieces: ranges of its axes. Neighbouring axes that are both reduced or both kept
//! are merged first.

use std::borrow::Cow;

use super::combine::{self, Assembled, bits, exceeds, merge_max};
use super::part::Part;
use super::{Planning, Work};
use crate::base::error::Result;
use crate::plan::Plan;
use crate::reduce::{self, ReduceMax, Resolved};
use crate::tensor::key::{KeyOrder, Ranking, with_order};
use crate::tensor::{ElementType, Indices, Outputs, Tensor, TensorDesc, TensorView, View};

/// The minimum size of half a reduced axis. Below it, an inner axis is split instead: partial
/// results would be too large compared with the input.
const MIN_ROWS: usize = 8;

pub(super) struct Reduce<'a> {
    operator: &'a ReduceMax,
    /// The operator of the pieces: with maxima, and with positions of 32 bits if any.
    local: ReduceMax,
    memory: &'a [u8],
    /// The layout of the elements, by the merged axes.
    input: View,
    /// Which merged axes are reduced.
    reduced: Vec<bool>,
    output: Assembled,
    /// The positions of the maxima.
    positions: Option<combine::Positions>,
}

#[derive(Clone, Debug)]
pub(super) struct Piece {
    part: Part,
    /// An earlier piece has reduced other elements of the same sets, so the maxima are merged.
    merge: bool,
}

impl<'a> Reduce<'a> {
    pub(super) fn new(operator: &'a ReduceMax, input: &'a TensorView) -> Result<Self> {
        let (desc, view) = (input.desc(), input.view());
        let local = operator.clone().values(true);
        let Resolved { outputs, reduced, .. } = local.resolve(desc)?;
        let output = Assembled::zeroed(&outputs[0])?;
        let positions = outputs.get(1).map(combine::Positions::none).transpose()?;
        let narrow = |indices| Indices { element_type: ElementType::I32, ..indices };
        let local = local.indices(operator.indices.map(narrow));
        let memory = input.memory().bytes();
        let whole =
            Self { operator, local, memory, input: view.clone(), reduced, output, positions };
        if !view.is_contiguous() {
            return Ok(whole);
        }
        let axes = reduce::merge(desc.shape(), &whole.reduced);
        let shape: Vec<usize> = axes.iter().map(|axis| axis.0 as usize).collect();
        let input = TensorDesc::new(desc.element_type(), shape)?.into();
        let reduced = axes.iter().map(|axis| axis.1).collect();
        Ok(Self { input, reduced, ..whole })
    }

    fn element_type(&self) -> ElementType {
        self.input.desc().element_type()
    }

    /// The values of the axes that are not reduced.
    fn kept<T: Clone>(&self, all: &[T]) -> Vec<T> {
        let all = all.iter().zip(&self.reduced);
        all.filter(|(_, reduced)| !**reduced).map(|(value, _)| value.clone()).collect()
    }

    /// Turns a position in a piece into one in the whole set.
    fn position(&self, piece: &Piece, local: i32) -> u64 {
        let (mut rest, mut position, mut weight) = (local as usize, 0, 1);
        let axes = piece.part.0.iter().zip(self.input.desc().shape()).zip(&self.reduced).rev();
        for ((range, &size), _) in axes.filter(|(_, reduced)| **reduced) {
            position += (range.start + rest % range.len()) as u64 * weight;
            rest /= range.len();
            weight *= size as u64;
        }
        position
    }

    fn combine_as(
        &mut self,
        order: impl KeyOrder,
        piece: &Piece,
        results: &[Tensor],
    ) -> Result<()> {
        let kept = self.kept(self.input.desc().shape());
        let kept = TensorDesc::new(self.element_type(), kept)?;
        let runs = Part(self.kept(&piece.part.0)).runs(&kept)?;
        if let Some(mut positions) = self.positions.take() {
            let last = self.operator.indices.is_some_and(|positions| positions.last);
            let local: &[i32] = bytemuck::cast_slice(results[1].bytes());
            for (at, from) in runs.flat_map(|(at, from)| at.zip(from)) {
                let position = self.position(piece, local[from]);
                let (whole, part) = (self.output.bits_mut(), bits(&results[0]));
                let earlier = positions.at[at];
                // Pieces come in any order: among equal elements, positions decide which one
                // counts.
                let replaces = !piece.merge
                    || exceeds(order, part[from], whole[at])
                    || (!exceeds(order, whole[at], part[from])
                        && if last { position > earlier } else { position < earlier });
                if replaces {
                    whole[at] = part[from];
                    positions.at[at] = position;
                }
            }
            self.positions = Some(positions);
            return Ok(());
        }
        let (whole, part) = (self.output.bits_mut(), bits(&results[0]));
        for (at, from) in runs {
            match piece.merge {
                true => merge_max(order, &mut whole[at], &part[from]),
                false => whole[at].copy_from_slice(&part[from]),
            }
        }
        Ok(())
    }
}

impl Work for Reduce<'_> {
    type Piece = Piece;

    fn whole(&self) -> Option<Piece> {
        let part = Part::whole(self.input.desc().shape());
        (!self.output.desc.is_empty()).then_some(Piece { part, merge: false })
    }

    fn split(&self, piece: &Piece) -> Option<[Piece; 2]> {
        let sizes = piece.part.shape();
        let long = |axis: &usize| !self.reduced[*axis] || sizes[*axis] >= 2 * MIN_ROWS;
        let mut axes = (0..sizes.len()).filter(|&axis| sizes[axis] > 1);
        let first = axes.clone().next()?;
        let axis = axes.find(long).unwrap_or(first);
        let [a, b] = piece.part.halves(axis);
        let merge = piece.merge || self.reduced[axis];
        Some([Piece { part: a, merge: piece.merge }, Piece { part: b, merge }])
    }

    fn min_bytes(&self, piece: &Piece) -> u64 {
        let results: usize = self.kept(&piece.part.shape()).iter().product();
        let position = if self.positions.is_some() { 4 } else { 0 };
        let item = self.element_type().size();
        (piece.part.len() * item + results * (item + position)) as u64
    }

    fn plan(&self, piece: &mut Piece, planning: Planning<'_>) -> Result<Plan> {
        let (element_type, shape) = (self.element_type(), piece.part.shape());
        let result = |element_type| TensorDesc::new(element_type, self.kept(&shape));
        let indices = self.positions.as_ref().map(|_| result(ElementType::I32)).transpose()?;
        let outputs = Outputs::new(Some(result(element_type)?), indices, None);
        let input = TensorDesc::new(element_type, shape)?;
        let (operator, input, reduced) = (&self.local, &input, self.reduced.clone());
        let resolved = Resolved { operator, input, outputs, reduced };
        let Planning { limits, tuning } = planning;
        reduce::plan(resolved, tuning.target(limits)?, &tuning.reduce)
    }

    fn inputs<'a>(&'a self, piece: &'a Piece) -> Result<Vec<Cow<'a, [u8]>>> {
        Ok(vec![piece.part.of(&self.input)?.gather(self.memory)?])
    }

    fn combine(&mut self, piece: &Piece, results: &[Tensor]) -> Result<()> {
        let (t, op) = (self.element_type(), self.operator);
        let ranking = Ranking::new(t, op.nan, op.extremum);
        with_order!(t, ranking, order => self.combine_as(order, piece, results))
    }

    fn finish(self) -> Result<Vec<Tensor>> {
        let mut results = Vec::new();
        if self.operator.values {
            results.push(self.output.finish()?);
        }
        if let Some(positions) = self.positions {
            results.push(positions.finish()?);
        }
        Ok(results)
    }
}
