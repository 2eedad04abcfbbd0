//! ReduceMax in pieces: ranges of its axes. Neighbouring axes that are both reduced or both kept
//! are merged into one first.

use std::borrow::Cow;

use super::combine::{Assembled, bits, merge_max};
use super::part::Part;
use super::{Planning, Work};
use crate::error::Result;
use crate::plan::Plan;
use crate::reduce::{self, ReduceMax};
use crate::tensor::key::{KeyOrder, Ranking, with_order};
use crate::tensor::{ElementType, Tensor, TensorDesc, TensorView, View};

/// The minimum size of half a reduced axis. Below it, an inner axis is split instead: partial
/// results would be too large compared with the input.
const MIN_ROWS: usize = 8;

pub(super) struct Reduce<'a> {
    operator: &'a ReduceMax,
    memory: &'a [u8],
    /// Where the elements lie, by the merged axes.
    input: View,
    /// Which of them are reduced.
    reduced: Vec<bool>,
    output: Assembled,
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
        let output = Assembled::zeroed(&operator.infer(desc)?)?;
        let memory = input.memory().bytes();
        let reduced = operator.reduced(desc.rank())?;
        if !view.is_contiguous() {
            return Ok(Self { operator, memory, input: view.clone(), reduced, output });
        }
        let axes = reduce::merge(desc.shape(), &reduced);
        let shape: Vec<usize> = axes.iter().map(|axis| axis.0 as usize).collect();
        let input = TensorDesc::new(desc.element_type(), shape)?.into();
        let reduced = axes.iter().map(|axis| axis.1).collect();
        Ok(Self { operator, memory, input, reduced, output })
    }

    fn element_type(&self) -> ElementType {
        self.input.desc().element_type()
    }

    /// The values of the axes that are not reduced.
    fn kept<T: Clone>(&self, all: &[T]) -> Vec<T> {
        let all = all.iter().zip(&self.reduced);
        all.filter(|(_, reduced)| !**reduced).map(|(value, _)| value.clone()).collect()
    }

    fn combine_as(&mut self, order: impl KeyOrder, piece: &Piece, results: &Tensor) -> Result<()> {
        let kept = self.kept(self.input.desc().shape());
        let kept = TensorDesc::new(self.element_type(), kept)?;
        let runs = Part(self.kept(&piece.part.0)).runs(&kept)?;
        let (whole, part) = (self.output.bits_mut(), bits(results));
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
        ((piece.part.len() + results) * self.element_type().size()) as u64
    }

    fn plan(&self, piece: &mut Piece, planning: Planning<'_>) -> Result<Plan> {
        let (element_type, shape) = (self.element_type(), piece.part.shape());
        let output = TensorDesc::new(element_type, self.kept(&shape))?;
        let input = TensorDesc::new(element_type, shape)?;
        let (target, tuning) = (planning.tuning.target(planning.limits)?, &planning.tuning.reduce);
        reduce::plan(self.operator, &input, output, &self.reduced, target, tuning)
    }

    fn inputs<'a>(&'a self, piece: &'a Piece) -> Result<Vec<Cow<'a, [u8]>>> {
        Ok(vec![piece.part.of(&self.input)?.gather(self.memory)?])
    }

    fn combine(&mut self, piece: &Piece, results: &[Tensor]) -> Result<()> {
        let (t, op) = (self.element_type(), self.operator);
        let ranking = Ranking::new(t, op.get_nan(), op.get_extremum());
        with_order!(t, ranking, order => self.combine_as(order, piece, &results[0]))
    }

    fn finish(self) -> Result<Vec<Tensor>> {
        Ok(vec![self.output.finish()?])
    }
}
