//! Tensors on a device.

use std::fmt;

use crate::error::Result;
use crate::gpu;
use crate::tensor::{Tensor, TensorDesc};

/// A tensor in the memory of a device. Clones share the memory.
#[derive(Clone)]
pub struct DeviceTensor {
    pub(super) desc: TensorDesc,
    pub(super) storage: Storage,
}

#[derive(Clone)]
pub(super) enum Storage {
    Host(Tensor),
    Gpu(gpu::Buffer),
}

impl DeviceTensor {
    /// The type and shape.
    pub fn desc(&self) -> &TensorDesc {
        &self.desc
    }

    /// Copies the tensor to the host, waiting for the device.
    ///
    /// # Errors
    /// [`Error::NotSubmitted`](crate::Error::NotSubmitted),
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::DeviceLost`](crate::Error::DeviceLost), [`Error::Gpu`](crate::Error::Gpu).
    pub fn download(&self) -> Result<Tensor> {
        pollster::block_on(self.fetch(true))
    }

    /// As [`DeviceTensor::download`], without blocking.
    ///
    /// # Errors
    /// As [`DeviceTensor::download`].
    pub async fn download_async(&self) -> Result<Tensor> {
        self.fetch(false).await
    }

    /// `wait`: whether this may block until the device is done.
    pub(crate) async fn fetch(&self, wait: bool) -> Result<Tensor> {
        match &self.storage {
            Storage::Host(tensor) => Ok(tensor.clone()),
            Storage::Gpu(buffer) => buffer.download(&self.desc, wait).await,
        }
    }
}

impl fmt::Debug for DeviceTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceTensor({})", self.desc)
    }
}
