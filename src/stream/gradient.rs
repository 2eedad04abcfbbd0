//! The gradient of MaxPool in pieces: ranges of planes.

use std::borrow::Cow;
use std::ops::Range;

use super::combine::Assembled;
use super::part::halves;
use super::{Planning, Work};
use crate::base::error::Result;
use crate::gradient::MaxPoolBackward;
use crate::operator::Layout;
use crate::plan::Plan;
use crate::tensor::{Tensor, TensorDesc};

pub(super) struct Planes<'a> {
    operator: &'a MaxPoolBackward,
    inputs: [Tensor; 2],
    planes: usize,
    result: Assembled,
}

impl<'a> Planes<'a> {
    pub(super) fn new(operator: &'a MaxPoolBackward, inputs: [Tensor; 2]) -> Result<Self> {
        let data = operator.data(inputs[0].desc(), inputs[1].desc())?;
        let planes = match operator.pool.layout {
            Layout::Ncx => data.shape()[0] * data.shape()[1],
            Layout::Nxc => data.shape()[0],
        };
        Ok(Self { operator, inputs, planes, result: Assembled::zeroed(&data)? })
    }

    /// Some planes of a tensor.
    fn part(&self, desc: &TensorDesc, planes: &Range<usize>) -> Result<TensorDesc> {
        let shape = desc.shape();
        let shape = match self.operator.pool.layout {
            Layout::Ncx => [&[planes.len(), 1], &shape[2..]].concat(),
            Layout::Nxc => [&[planes.len()], &shape[1..]].concat(),
        };
        TensorDesc::new(desc.element_type(), shape)
    }

    /// The range of some planes of a tensor, in bytes.
    fn bytes(&self, desc: &TensorDesc, planes: &Range<usize>) -> Range<usize> {
        let plane = desc.byte_len() / self.planes;
        planes.start * plane..planes.end * plane
    }
}

impl Work for Planes<'_> {
    type Piece = Range<usize>;

    fn whole(&self) -> Option<Range<usize>> {
        (!self.result.desc.is_empty()).then_some(0..self.planes)
    }

    fn split(&self, planes: &Range<usize>) -> Option<[Range<usize>; 2]> {
        (planes.len() > 1).then(|| halves(planes))
    }

    fn min_bytes(&self, planes: &Range<usize>) -> u64 {
        let descs = self.inputs.iter().map(Tensor::desc).chain([&self.result.desc]);
        descs.map(|desc| self.bytes(desc, planes).len() as u64).sum()
    }

    fn plan(&self, planes: &mut Range<usize>, planning: Planning<'_>) -> Result<Plan> {
        let [first, gradient] = &self.inputs;
        let parts = [self.part(first.desc(), planes)?, self.part(gradient.desc(), planes)?];
        let data = self.part(&self.result.desc, planes)?;
        let Planning { limits, tuning } = planning;
        let tunings = (&tuning.pool, &tuning.reduce, &tuning.gradient);
        self.operator.plan_planes(
            [&parts[0], &parts[1]],
            &data,
            (planes.start as u64, &self.result.desc),
            tuning.target(limits)?,
            tunings,
        )
    }

    fn inputs<'b>(&'b self, planes: &'b Range<usize>) -> Result<Vec<Cow<'b, [u8]>>> {
        let part =
            |input: &'b Tensor| Cow::Borrowed(&input.bytes()[self.bytes(input.desc(), planes)]);
        Ok(self.inputs.iter().map(part).collect())
    }

    fn combine(&mut self, planes: &Range<usize>, results: &[Tensor]) -> Result<()> {
        let bytes = self.bytes(&self.result.desc, planes);
        self.result.bytes_mut()[bytes].copy_from_slice(results[0].bytes());
        Ok(())
    }

    fn finish(self) -> Result<Vec<Tensor>> {
        Ok(vec![self.result.finish()?])
    }
}
