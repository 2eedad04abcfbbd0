//! The operators: plain attributes, fully resolved, of no dialect and for no device.

pub(crate) mod axes;
mod max_pool;
mod reduce_max;
mod segment_max;

pub use axes::axes_from_tensor;
pub(crate) use max_pool::Window;
pub use max_pool::{Indices, Layout, MaxPool, Order, Padding, Rounding};
pub use reduce_max::{EmptySet, ReduceMax};
pub use segment_max::{EmptySegment, SegmentMax, Segments};

use crate::device::{Device, DeviceTensor};
use crate::error::{Error, Result};
use crate::plan::{Limits, Plan};
use crate::tensor::{Tensor, TensorDesc};

/// Any of the operators.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Operator {
    /// The maximum along axes.
    ReduceMax(ReduceMax),
    /// The maximum of windows, and where it is.
    MaxPool(MaxPool),
    /// The maximum of rows that belong together.
    SegmentMax(SegmentMax),
}

impl From<ReduceMax> for Operator {
    fn from(operator: ReduceMax) -> Self {
        Self::ReduceMax(operator)
    }
}

impl From<MaxPool> for Operator {
    fn from(operator: MaxPool) -> Self {
        Self::MaxPool(operator)
    }
}

impl From<SegmentMax> for Operator {
    fn from(operator: SegmentMax) -> Self {
        Self::SegmentMax(operator)
    }
}

impl Operator {
    /// The operator's name: `ReduceMax`, `MaxPool`, `SegmentMax`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::ReduceMax(_) => "ReduceMax",
            Self::MaxPool(_) => "MaxPool",
            Self::SegmentMax(_) => "SegmentMax",
        }
    }

    /// How many tensors the operator takes.
    pub const fn input_count(&self) -> usize {
        match self {
            Self::ReduceMax(_) | Self::MaxPool(_) => 1,
            Self::SegmentMax(_) => 2,
        }
    }

    /// The types and shapes of the results.
    ///
    /// # Errors
    /// [`Error::InputCount`], and what the operator does not allow for such inputs.
    pub fn infer(&self, inputs: &[&TensorDesc]) -> Result<Vec<TensorDesc>> {
        match (self, inputs) {
            (Self::ReduceMax(op), [input]) => Ok(vec![op.infer(input)?]),
            (Self::MaxPool(op), [input]) => op.infer(input),
            (Self::SegmentMax(op), [data, ids]) => op.infer(data, ids),
            _ => Err(self.wrong_count(inputs.len())),
        }
    }

    /// The launches that compute the operator within a device's limits.
    ///
    /// # Errors
    /// As [`Operator::infer`], and [`Error::OverLimit`].
    pub fn plan(&self, inputs: &[&TensorDesc], limits: &Limits) -> Result<Plan> {
        match (self, inputs) {
            (Self::ReduceMax(op), [input]) => op.plan(input, limits),
            (Self::MaxPool(op), [input]) => op.plan(input, limits),
            (Self::SegmentMax(op), [data, ids]) => op.plan(data, ids, limits),
            _ => Err(self.wrong_count(inputs.len())),
        }
    }

    /// The operator for tensors on the host, whose values may say more than their
    /// shapes: SegmentMax looks at its ids, and counts them.
    ///
    /// # Errors
    /// As [`SegmentMax::checked`].
    pub fn checked(&self, inputs: &[&Tensor]) -> Result<Self> {
        match (self, inputs) {
            (Self::SegmentMax(op), [data, ids]) => Ok(op.checked(data.desc(), ids)?.into()),
            _ => Ok(self.clone()),
        }
    }

    /// Uploads tensors, runs the operator on a device, and downloads the results.
    ///
    /// # Errors
    /// As [`Operator::checked`] and [`Operator::plan`], and what the device reports.
    pub fn run(&self, device: &Device, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        // Nothing is uploaded for a plan that cannot be.
        let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
        let plan = self.checked(inputs)?.plan(&descs, &device.info().limits)?;
        let inputs: Vec<DeviceTensor> =
            inputs.iter().map(|input| device.upload(input)).collect::<Result<_>>()?;
        let inputs: Vec<&DeviceTensor> = inputs.iter().collect();
        device.execute(&plan, &inputs)?.iter().map(DeviceTensor::download).collect()
    }

    fn wrong_count(&self, actual: usize) -> Error {
        let expected = if self.input_count() == 1 { "1 input" } else { "2 inputs" };
        Error::InputCount { operator: self.name().to_string(), expected, actual }
    }
}

impl EmptySet {
    /// The bits of the element that it stands for.
    pub(crate) fn bits(self, element_type: crate::ElementType) -> u64 {
        match self {
            Self::NegativeInfinity => crate::tensor::key::negative_infinity_bits(element_type),
            Self::Lowest => crate::tensor::key::lowest_bits(element_type),
        }
    }
}
