//! ReduceMax in pieces: ranges of its axes, neighbours of one kind being one axis.

use std::borrow::Cow;

use super::Work;
use super::boxes::Part;
use super::combine::{Joined, bits, join};
use crate::error::Result;
use crate::operator::ReduceMax;
use crate::plan::{Limits, Plan, reduce};
use crate::tensor::key::{Keyed, with_keyed};
use crate::tensor::{Tensor, TensorDesc};

/// A reduced axis is halved as long as each half has so many of its elements: otherwise what is joined
/// would be much in relation to what is read, and an axis further in is halved.
const LEAST_ROWS: usize = 8;

pub(super) struct Reduce<'a> {
    operator: &'a ReduceMax,
    input: &'a Tensor,
    shape: Vec<usize>,
    reduced: Vec<bool>,
    output: Joined,
}

#[derive(Clone, Debug)]
pub(super) struct Piece {
    part: Part,
    /// An earlier piece has given the maxima of other elements of the same sets.
    later: bool,
}

impl<'a> Reduce<'a> {
    pub(super) fn new(operator: &'a ReduceMax, input: &'a Tensor) -> Result<Self> {
        let output = Joined::zeroed(&operator.infer(input.desc())?)?;
        let axes = reduce::merge(input.shape(), &operator.reduced(input.shape().len())?);
        let shape = axes.iter().map(|axis| axis.0 as usize).collect();
        let reduced = axes.iter().map(|axis| axis.1).collect();
        Ok(Self { operator, input, shape, reduced, output })
    }

    /// What the axes that stay have of a list with one value for each axis.
    fn kept<T: Clone>(&self, all: &[T]) -> Vec<T> {
        let all = all.iter().zip(&self.reduced);
        all.filter(|(_, reduced)| !**reduced).map(|(value, _)| value.clone()).collect()
    }

    fn land_as<T: Keyed>(&mut self, piece: &Piece, results: &Tensor) {
        let nan = self.operator.get_nan();
        let runs = Part(self.kept(&piece.part.0)).runs(&self.kept(&self.shape));
        let (whole, part) = (self.output.bits_mut::<T>(), bits::<T>(results));
        for (at, from) in runs.iter() {
            match piece.later {
                true => join::<T>(&mut whole[at], &part[from], nan),
                false => whole[at].copy_from_slice(&part[from]),
            }
        }
    }
}

impl Work for Reduce<'_> {
    type Piece = Piece;

    fn whole(&self) -> Option<Piece> {
        let part = Part::whole(&self.shape);
        (!self.output.desc.is_empty()).then_some(Piece { part, later: false })
    }

    fn cut(&self, piece: &Piece) -> Option<[Piece; 2]> {
        let sizes = piece.part.shape();
        let long = |axis: &usize| !self.reduced[*axis] || sizes[*axis] >= 2 * LEAST_ROWS;
        let mut axes = (0..sizes.len()).filter(|&axis| sizes[axis] > 1);
        let first = axes.clone().next()?;
        let axis = axes.find(long).unwrap_or(first);
        let [a, b] = piece.part.halves(axis);
        let later = piece.later || self.reduced[axis];
        Some([Piece { part: a, later: piece.later }, Piece { part: b, later }])
    }

    fn bytes(&self, piece: &Piece) -> u64 {
        let results: usize = self.kept(&piece.part.shape()).iter().product();
        ((piece.part.len() + results) * self.input.element_type().size()) as u64
    }

    fn plan(&self, piece: &mut Piece, limits: &Limits) -> Result<Plan> {
        let (element_type, shape) = (self.input.element_type(), piece.part.shape());
        let output = TensorDesc::new(element_type, self.kept(&shape))?;
        let input = TensorDesc::new(element_type, shape)?;
        let empty = self.operator.get_empty_set().bits(element_type);
        reduce::plan(&input, output, &self.reduced, self.operator.get_nan(), empty, limits)
    }

    fn inputs<'a>(&'a self, piece: &'a Piece) -> Vec<Cow<'a, [u8]>> {
        let item = self.input.element_type().size();
        vec![piece.part.runs(&self.shape).gather(self.input.bytes(), item)]
    }

    fn land(&mut self, piece: &Piece, results: &[Tensor]) {
        with_keyed!(self.input.element_type(), T => self.land_as::<T>(piece, &results[0]));
    }

    fn finish(self) -> Result<Vec<Tensor>> {
        Ok(vec![self.output.finish()?])
    }
}
