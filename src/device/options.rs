//! How a device is opened.

use super::Device;
use crate::error::Result;
use crate::gpu;

/// How a device is opened, where that is not left to [`Device::named`].
#[derive(Clone, Debug, Default)]
pub struct DeviceOptions {
    #[cfg(feature = "io")]
    pub(crate) pipeline_cache: Option<std::path::PathBuf>,
}

impl DeviceOptions {
    /// As [`Device::named`] opens devices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps compiled pipelines in this directory, in a file for each kind of adapter, where the backend can
    /// hand them out (Vulkan); the directory is made when there is something to put into it. The file
    /// is read when the device is opened, and written when its last clone is dropped, or by
    /// [`Device::save_pipelines`]. A file that is damaged, or of another adapter or driver, is made anew.
    ///
    /// Drivers trust what is in the file: name a directory that only those may write to who
    /// may change the program itself.
    #[cfg(feature = "io")]
    pub fn pipeline_cache(mut self, directory: impl Into<std::path::PathBuf>) -> Self {
        self.pipeline_cache = Some(directory.into());
        self
    }

    /// Opens a device by name, as [`Device::named`].
    ///
    /// # Errors
    /// As [`Device::named`].
    pub fn open(&self, name: &str) -> Result<Device> {
        pollster::block_on(self.open_async(name))
    }

    /// As [`DeviceOptions::open`], without blocking.
    ///
    /// # Errors
    /// As [`DeviceOptions::open`].
    pub async fn open_async(&self, name: &str) -> Result<Device> {
        match name {
            "cpu" => Ok(Device::cpu()),
            "gpu" => gpu::open(None, self).await.map(Device::from_gpu),
            "auto" => Ok(gpu::open(None, self).await.map_or_else(
                |error| {
                    tracing::warn!("falling back to the CPU: {error}");
                    Device::cpu()
                },
                Device::from_gpu,
            )),
            _ => gpu::open(Some(name), self).await.map(Device::from_gpu),
        }
    }

    /// Opens an adapter that the caller has chosen.
    ///
    /// # Errors
    /// [`Error::AdapterRefused`](crate::Error::AdapterRefused).
    pub async fn open_adapter(&self, adapter: &wgpu::Adapter) -> Result<Device> {
        gpu::request(adapter, self).await.map(Device::from_gpu)
    }
}

impl Device {
    /// Writes the file of [`DeviceOptions::pipeline_cache`] now, if there are pipelines that it does not
    /// hold. Whether anything was written.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    #[cfg(feature = "io")]
    pub fn save_pipelines(&self) -> Result<bool> {
        match &self.backend {
            super::Backend::Cpu(_) => Ok(false),
            super::Backend::Gpu(gpu) => gpu.save_pipelines(),
        }
    }
}
