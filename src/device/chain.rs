//! Operators one after the other, with one submit for all of them.

use std::fmt;

use super::tensor::Storage;
use super::{Backend, Device, DeviceTensor, Here};
use crate::error::{Error, Result};
use crate::gpu::Recording;
use crate::operator::Operator;
use crate::tensor::TensorDesc;

/// Operators that are given to a GPU together: each may take what those before it give.
///
/// Made by [`Device::chain`]. The tensors that it gives hold their values once it has been
/// submitted; until then only the chain itself takes them, and all else answers
/// [`Error::NotSubmitted`], as it does for ever if the chain is dropped. A CPU computes each at once.
///
/// ```
/// use wgmax::operator::{MaxPool, ReduceMax};
/// use wgmax::{Device, Tensor};
///
/// # let device = Device::auto();
/// let images = device.upload(&Tensor::from_slice([1, 2, 2, 2], &[1.0f32, 2., 3., 4., 5., 6., 7., 8.])?)?;
/// let mut chain = device.chain();
/// let pooled = chain.run(&MaxPool::new([2, 2]).into(), &[&images])?;
/// let largest = chain.run(&ReduceMax::new().axes([1]).into(), &[&pooled[0]])?;
/// chain.submit()?;
/// assert_eq!(largest[0].download()?.as_slice::<f32>()?, [8.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
pub struct Chain {
    device: Device,
    /// What a GPU has been told so far.
    recording: Option<Recording>,
}

impl Device {
    /// Begins a chain of operators, which one submit gives to the device.
    pub fn chain(&self) -> Chain {
        let recording = match &self.backend {
            Backend::Cpu(_) => None,
            Backend::Gpu(gpu) => Some(gpu.recording()),
        };
        Chain { device: self.clone(), recording }
    }
}

impl Chain {
    /// Adds an operator on tensors of the chain's device, and gives its results.
    ///
    /// # Errors
    /// As [`Device::run`]. The chain stays as it was before.
    pub fn run(
        &mut self,
        operator: &Operator,
        inputs: &[&DeviceTensor],
    ) -> Result<Vec<DeviceTensor>> {
        pollster::block_on(self.run_async(operator, inputs))
    }

    /// As [`Chain::run`], without blocking.
    ///
    /// # Errors
    /// As [`Chain::run`].
    pub async fn run_async(
        &mut self,
        operator: &Operator,
        inputs: &[&DeviceTensor],
    ) -> Result<Vec<DeviceTensor>> {
        let Some(recording) = &mut self.recording else {
            return self.device.run_async(operator, inputs).await;
        };
        let descs: Vec<&TensorDesc> = inputs.iter().map(|input| &input.desc).collect();
        let plan = operator.plan(&descs, &self.device.info().limits)?;
        let Here::Gpu(_, buffers) = self.device.here(&plan, inputs)? else {
            return Err(Error::CannotRecord);
        };
        let results = recording.add(&plan, &buffers).await?;
        let tensor = |(desc, buffer): (&TensorDesc, _)| DeviceTensor {
            desc: desc.clone(),
            storage: Storage::Gpu(buffer),
        };
        Ok(plan.outputs.iter().zip(results).map(tensor).collect())
    }

    /// Gives all operators to the device, without waiting for it.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Gpu`].
    pub fn submit(self) -> Result<()> {
        pollster::block_on(self.submit_async())
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
