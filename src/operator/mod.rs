//! The operators: plain attributes, fully resolved, of no dialect and for no device.

pub(crate) mod axes;
mod max_pool;
mod reduce_max;

pub use axes::axes_from_tensor;
pub(crate) use max_pool::Window;
pub use max_pool::{Indices, Layout, MaxPool, Order, Padding, Rounding};
pub use reduce_max::{EmptySet, ReduceMax};

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

impl Operator {
    /// The operator's name: `ReduceMax`, `MaxPool`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::ReduceMax(_) => "ReduceMax",
            Self::MaxPool(_) => "MaxPool",
        }
    }

    /// How many tensors the operator takes.
    pub const fn input_count(&self) -> usize {
        match self {
            Self::ReduceMax(_) | Self::MaxPool(_) => 1,
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
            _ => Err(self.wrong_count(inputs.len())),
        }
    }

    /// Uploads tensors, runs the operator on a device, and downloads the results.
    ///
    /// # Errors
    /// As [`Operator::plan`], and what the device reports.
    pub fn run(&self, device: &Device, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        // Nothing is uploaded for a plan that cannot be.
        let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
        let plan = self.plan(&descs, &device.info().limits)?;
        let inputs: Vec<DeviceTensor> =
            inputs.iter().map(|input| device.upload(input)).collect::<Result<_>>()?;
        let inputs: Vec<&DeviceTensor> = inputs.iter().collect();
        device.execute(&plan, &inputs)?.iter().map(DeviceTensor::download).collect()
    }

    fn wrong_count(&self, actual: usize) -> Error {
        Error::InputCount { operator: self.name().to_string(), expected: "1 input", actual }
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
