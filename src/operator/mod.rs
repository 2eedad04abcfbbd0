//! The operators: plain attributes, fully resolved, of no dialect and for no device.

pub(crate) mod axes;
mod reduce_max;

pub use axes::axes_from_tensor;
pub use reduce_max::{EmptySet, ReduceMax};

use crate::device::{Device, DeviceTensor};
use crate::error::Result;
use crate::plan::{Limits, Plan};
use crate::tensor::{Tensor, TensorDesc};

/// Any of the operators.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Operator {
    /// The maximum along axes.
    ReduceMax(ReduceMax),
}

impl From<ReduceMax> for Operator {
    fn from(operator: ReduceMax) -> Self {
        Self::ReduceMax(operator)
    }
}

impl Operator {
    /// The type and shape of the result.
    ///
    /// # Errors
    /// What the operator does not allow for such an input.
    pub fn infer(&self, input: &TensorDesc) -> Result<TensorDesc> {
        match self {
            Self::ReduceMax(op) => op.infer(input),
        }
    }

    /// The launches that compute the operator within a device's limits.
    ///
    /// # Errors
    /// As [`Operator::infer`], and [`Error::OverLimit`](crate::Error::OverLimit).
    pub fn plan(&self, input: &TensorDesc, limits: &Limits) -> Result<Plan> {
        match self {
            Self::ReduceMax(op) => op.plan(input, limits),
        }
    }

    /// Uploads a tensor, runs the operator on a device, and downloads the result.
    ///
    /// # Errors
    /// As [`Operator::plan`], and what the device reports.
    pub fn run(&self, device: &Device, input: &Tensor) -> Result<Tensor> {
        let on_device: DeviceTensor = device.upload(input)?;
        device.run(self, &on_device)?.download()
    }
}

impl ReduceMax {
    /// The launches that compute the operator within a device's limits.
    ///
    /// # Errors
    /// As [`ReduceMax::infer`], and [`Error::OverLimit`](crate::Error::OverLimit).
    pub fn plan(&self, input: &TensorDesc, limits: &Limits) -> Result<Plan> {
        let output = self.infer(input)?;
        let reduced = self.reduced(input.rank())?;
        crate::plan::reduce::plan(
            input,
            output,
            &reduced,
            self.get_nan(),
            self.get_empty_set().bits(input.element_type()),
            limits,
        )
    }

    /// Uploads a tensor, runs the operator on a device, and downloads the result.
    ///
    /// # Errors
    /// As [`ReduceMax::plan`], and what the device reports.
    pub fn run(&self, device: &Device, input: &Tensor) -> Result<Tensor> {
        Operator::from(self.clone()).run(device, input)
    }
}

impl EmptySet {
    fn bits(self, element_type: crate::ElementType) -> u64 {
        match self {
            Self::NegativeInfinity => crate::tensor::key::negative_infinity_bits(element_type),
            Self::Lowest => crate::tensor::key::lowest_bits(element_type),
        }
    }
}
