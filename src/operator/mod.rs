//! The operators: plain attributes, fully resolved, of no dialect and for no device.

pub(crate) mod axes;
mod ids;
mod max_pool;
mod reduce_max;
mod segment_max;

pub use axes::axes_from_tensor;
pub(crate) use ids::Ids;
pub(crate) use max_pool::Window;
pub use max_pool::{Indices, Layout, MaxPool, Order, Padding, Rounding};
pub use reduce_max::{EmptySet, ReduceMax};
pub use segment_max::{EmptySegment, SegmentMax, Segments};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::plan::{Limits, Plan};
use crate::stream::{self, RunOptions};
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
    /// Tensors that the device cannot hold go there in pieces: see [`Operator::run_with`].
    ///
    /// # Errors
    /// As [`Operator::checked`] and [`Operator::plan`], and what the device reports.
    pub fn run(&self, device: &Device, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        self.run_with(device, inputs, RunOptions::new())
    }

    /// As [`Operator::run`], with a say in what goes to a GPU at a time.
    ///
    /// What does not fit `options` goes there in pieces, whose results are put together on the host: ranges of
    /// the axes of a reduction, ranges of a pooling's results with what their windows look at, ranges of rows
    /// of segments. The result is the same, bit for bit. Inputs may be larger than the GPU's memory or, as
    /// memory-mapped files, than the host's; results must fit the host's. If the GPU runs out of memory,
    /// pieces are made smaller. The CPU works on the tensors where they lie, in one piece.
    ///
    /// ```
    /// use wgmax::operator::{Operator, ReduceMax};
    /// use wgmax::{Device, RunOptions, Tensor};
    ///
    /// let input = Tensor::from_slice([4, 1000], &[1.0f32; 4000])?;
    /// let options = RunOptions::new()
    ///     .max_piece(4096)
    ///     .progress(|progress| println!("{} of {} bytes", progress.done, progress.total));
    /// let operator = Operator::from(ReduceMax::new().axes([1]));
    /// let results = operator.run_with(&Device::auto(), &[&input], options)?;
    /// assert_eq!(results[0].as_slice::<f32>()?, [1.0; 4]);
    /// # Ok::<(), wgmax::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Operator::run`]; [`Error::OverLimit`] only for what cannot be cut so that it fits.
    pub fn run_with(
        &self,
        device: &Device,
        inputs: &[&Tensor],
        options: RunOptions<'_>,
    ) -> Result<Vec<Tensor>> {
        pollster::block_on(stream::run(self, device, inputs, options, true))
    }

    /// As [`Operator::run_with`], without blocking on a GPU.
    ///
    /// # Errors
    /// As [`Operator::run_with`].
    pub async fn run_async(
        &self,
        device: &Device,
        inputs: &[&Tensor],
        options: RunOptions<'_>,
    ) -> Result<Vec<Tensor>> {
        stream::run(self, device, inputs, options, false).await
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
