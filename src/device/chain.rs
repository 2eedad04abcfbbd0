//! Several operators with one submit.

use std::fmt;

use super::tensor::Storage;
use super::{Backend, BackendInputs, Device, DeviceTensor};
use crate::base::error::{Error, Result};
use crate::exec::gpu::Recording;
use crate::operator::Operator;
use crate::tensor::{Inputs, Outputs};

/// Operators that are submitted to a GPU together. They may take the results of earlier ones.
///
/// Created by [`Device::chain`]. The result tensors hold their values once the chain has been
/// submitted. Until then only the chain itself accepts them; other uses return
/// [`Error::NotSubmitted`]. If the chain is dropped, they stay unusable. The CPU runs each operator
/// as soon as it is added.
///
/// ```
/// use wgmax::operator::{MaxPool, ReduceMax};
/// use wgmax::{Device, Tensor};
///
/// # let device = Device::auto()?;
/// let images = Tensor::from_slice([1, 2, 2, 2], &[1.0f32, 2., 3., 4., 5., 6., 7., 8.])?;
/// let images = device.upload(&images)?;
/// let mut chain = device.chain();
/// let pooled = chain.run(MaxPool::new([2, 2]), &images)?;
/// let largest = chain.run(ReduceMax::new().axes([1]), &pooled[0])?;
/// chain.submit()?;
/// assert_eq!(largest[0].download()?.as_slice::<f32>()?, [8.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[must_use = "nothing runs before `submit`"]
pub struct Chain {
    device: Device,
    /// The GPU commands recorded so far; `None` on the CPU.
    recording: Option<Recording>,
}

impl Device {
    /// Begins a chain: operators that are submitted together.
    pub fn chain(&self) -> Chain {
        let recording = match &self.backend {
            Backend::Cpu(_) => None,
            Backend::Gpu(gpu) => Some(gpu.recording()),
        };
        Chain { device: self.clone(), recording }
    }
}

impl Chain {
    /// Adds an operator on tensors of the chain's device and returns its results.
    ///
    /// # Errors
    /// As [`Device::run`]. An error leaves the chain unchanged.
    pub fn run<'a>(
        &mut self,
        operator: impl Into<Operator>,
        inputs: impl Inputs<&'a DeviceTensor>,
    ) -> Result<Outputs<DeviceTensor>> {
        self.device.clone().block_on(self.run_async(operator, inputs))
    }

    /// As [`Chain::run`], without blocking.
    ///
    /// # Errors
    /// As [`Chain::run`].
    pub async fn run_async<'a>(
        &mut self,
        operator: impl Into<Operator>,
        inputs: impl Inputs<&'a DeviceTensor>,
    ) -> Result<Outputs<DeviceTensor>> {
        let inputs = inputs.into_inputs();
        let Some(recording) = &mut self.recording else {
            return self.device.run_async(operator, inputs).await;
        };
        let plan = self.device.plan_for(operator, &inputs)?;
        let BackendInputs::Gpu(_, buffers) = self.device.backend_inputs(&plan, &inputs)? else {
            return Err(Error::CannotRecord);
        };
        let results = recording.add(&plan, &buffers).await?;
        let storages = results.into_iter().map(Storage::Gpu).collect();
        Ok(DeviceTensor::results(&plan, storages))
    }

    /// Submits all operators to the device, without waiting for them.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Gpu`].
    pub fn submit(self) -> Result<()> {
        self.device.clone().block_on(self.submit_async())
    }

    /// As [`Chain::submit`], without blocking.
    ///
    /// # Errors
    /// As [`Chain::submit`].
    pub async fn submit_async(self) -> Result<()> {
        match self.recording {
            None => Ok(()),
            Some(recording) => recording.submit().await,
        }
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chain({})", self.device.info())
    }
}
