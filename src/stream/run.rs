//! `run` and its variants: operators on host tensors, on any device.

use super::RunOptions;
#[expect(unused_imports, reason = "named in documentation")]
use crate::base::error::Error;
use crate::base::error::Result;
use crate::device::Device;
use crate::operator::{MaxPool, Operator, ReduceMax, SegmentMax};
use crate::tensor::{Tensor, TensorView};

impl Operator {
    /// Uploads tensors, runs the operator on a device, and downloads the results.
    ///
    /// Inputs larger than the device are streamed in pieces; see [`Operator::run_with`].
    ///
    /// # Errors
    /// As [`Operator::checked`] and [`Operator::plan`], and what the device reports.
    pub fn run(&self, device: &Device, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        self.run_with(device, inputs, RunOptions::new())
    }

    /// As [`Operator::run`], with options.
    ///
    /// Inputs larger than [`RunOptions::max_piece`] are streamed to a GPU in pieces; their partial
    /// results are combined on the host. The result is the same, bit for bit. A reduction is split
    /// along its axes. A pooling is split along its results, and along its windows where one is too
    /// large. Segments are split along their rows, then along their columns. The gradient of a
    /// pooling is split along its planes. For the other gradients, and for MaxUnpool, positions are
    /// found in pieces, and one thread of the host stores the values.
    ///
    /// Inputs may be larger than the GPU's memory. Memory-mapped inputs may be larger than the
    /// host's memory too. Results must fit the host's memory. If the GPU runs out of memory, the
    /// run goes on with smaller pieces. The CPU reads the tensors in place, unless one plan is over a limit:
    /// then pieces of them are copied.
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
    /// let results = operator.run_with(&Device::auto()?, &[&input], options)?;
    /// assert_eq!(results[0].as_slice::<f32>()?, [1.0; 4]);
    /// # Ok::<(), wgmax::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Operator::run`]. [`Error::OverLimit`] is returned only if no split makes the pieces
    /// fit.
    pub fn run_with(
        &self,
        device: &Device,
        inputs: &[&Tensor],
        options: RunOptions<'_>,
    ) -> Result<Vec<Tensor>> {
        device.block_on(super::run(self, device, inputs, options, true))
    }

    /// As [`Operator::run_with`], on tensors whose elements need not lie one after the other.
    ///
    /// Axes are taken in the order in which they lie in memory, wherever the operator allows it: a
    /// permuted or flipped tensor is read as a dense one, and its results go to their places. The CPU
    /// reads rows with gaps where they lie. All else is copied first: elements that no such order
    /// brings together, poolings with indices, positions that count over permuted axes.
    ///
    /// # Errors
    /// As [`Operator::run_with`].
    pub fn run_views(
        &self,
        device: &Device,
        inputs: &[&TensorView],
        options: RunOptions<'_>,
    ) -> Result<Vec<Tensor>> {
        device.block_on(super::run_views(self, device, inputs, options, true))
    }

    /// As [`Operator::run_views`], without blocking on a GPU.
    ///
    /// # Errors
    /// As [`Operator::run_with`].
    pub async fn run_views_async(
        &self,
        device: &Device,
        inputs: &[&TensorView],
        options: RunOptions<'_>,
    ) -> Result<Vec<Tensor>> {
        super::run_views(self, device, inputs, options, false).await
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
        super::run(self, device, inputs, options, false).await
    }
}

impl ReduceMax {
    /// Uploads a tensor, runs the operator on a device, and downloads the result.
    ///
    /// # Errors
    /// As [`ReduceMax::plan`], and what the device reports.
    pub fn run(&self, device: &Device, input: &Tensor) -> Result<Tensor> {
        Ok(Operator::from(self.clone()).run(device, &[input])?.swap_remove(0))
    }

    /// As [`ReduceMax::run`], without blocking on a GPU.
    ///
    /// # Errors
    /// As [`ReduceMax::run`].
    pub async fn run_async(&self, device: &Device, input: &Tensor) -> Result<Tensor> {
        let operator = Operator::from(self.clone());
        Ok(operator.run_async(device, &[input], RunOptions::new()).await?.swap_remove(0))
    }
}

impl MaxPool {
    /// Uploads a tensor, runs the operator on a device, and downloads the maxima
    /// and, if requested, the indices.
    ///
    /// # Errors
    /// As [`MaxPool::plan`], and what the device reports.
    pub fn run(&self, device: &Device, input: &Tensor) -> Result<Vec<Tensor>> {
        Operator::from(self.clone()).run(device, &[input])
    }

    /// As [`MaxPool::run`], without blocking on a GPU.
    ///
    /// # Errors
    /// As [`MaxPool::run`].
    pub async fn run_async(&self, device: &Device, input: &Tensor) -> Result<Vec<Tensor>> {
        Operator::from(self.clone()).run_async(device, &[input], RunOptions::new()).await
    }
}

impl SegmentMax {
    /// Checks the ids or offsets, uploads both tensors, runs the operator on a
    /// device, and downloads the maxima and the other outputs that were requested.
    ///
    /// # Errors
    /// As [`SegmentMax::checked`] and [`SegmentMax::plan`], and what the device reports.
    pub fn run(&self, device: &Device, data: &Tensor, ids: &Tensor) -> Result<Vec<Tensor>> {
        Operator::from(self.clone()).run(device, &[data, ids])
    }

    /// As [`SegmentMax::run`], without blocking on a GPU.
    ///
    /// # Errors
    /// As [`SegmentMax::run`].
    pub async fn run_async(
        &self,
        device: &Device,
        data: &Tensor,
        ids: &Tensor,
    ) -> Result<Vec<Tensor>> {
        Operator::from(self.clone()).run_async(device, &[data, ids], RunOptions::new()).await
    }
}
