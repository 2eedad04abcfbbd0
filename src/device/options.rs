//! Options for opening a device.

use std::path::Path;

use super::Device;
use crate::base::error::{Error, Result};
use crate::device::waiting::{block_on, block_on_gpu};
use crate::exec::gpu::{self, Gpu, Request};
use crate::tuning::Tuning;

/// Options for opening a device. [`Device::named`] and [`Device::from_wgpu`] use the defaults.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct DeviceOptions {
    #[cfg(feature = "pipeline-cache")]
    pipeline_cache: Option<std::path::PathBuf>,
    tuning: Option<Tuning>,
    power_preference: wgpu::PowerPreference,
    features: wgpu::Features,
}

impl DeviceOptions {
    /// The defaults: no pipeline cache, a tuning for the device, no power preference, no optional
    /// features.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps compiled pipelines in a file in this directory, one file for each kind of adapter.
    /// Only Vulkan supports it. Needs the feature `pipeline-cache`, which `io` includes.
    ///
    /// The file is read when the device is opened. It is written when the last clone of the device
    /// is dropped, or by [`Device::save_pipelines`]; the directory is created then. A damaged file,
    /// or one of another adapter or driver, is replaced.
    ///
    /// Drivers trust the content of the file. Only users who may change the program itself should
    /// be able to write to the directory.
    #[cfg(feature = "pipeline-cache")]
    pub fn pipeline_cache(mut self, directory: impl Into<std::path::PathBuf>) -> Self {
        self.pipeline_cache = Some(directory.into());
        self
    }

    /// The tuning of plans. The default depends on the device: [`Tuning::software`] for adapters
    /// that a driver emulates on the CPU, [`Tuning::hardware`] for other GPUs.
    pub fn tuning(mut self, tuning: impl Into<Option<Tuning>>) -> Self {
        self.tuning = tuning.into();
        self
    }

    /// Which adapter is the best: with `LowPower` an integrated GPU comes before a discrete one. In
    /// a browser this option alone selects the GPU.
    ///
    /// The indices of adapters count in this order. So with `LowPower` those of
    /// [`adapters`](super::adapters) may name other adapters.
    pub fn power_preference(mut self, preference: wgpu::PowerPreference) -> Self {
        self.power_preference = preference;
        self
    }

    /// Optional features for the caller's own work on the device, such as `TIMESTAMP_QUERY`.
    /// Features that the adapter lacks are not requested. wgmax itself needs none.
    pub fn features(mut self, features: wgpu::Features) -> Self {
        self.features = features;
        self
    }

    /// Opens a device by name, as [`Device::named`].
    ///
    /// # Errors
    /// As [`Device::named`].
    pub fn open(&self, name: &str) -> Result<Device> {
        block_on(self.open_async(name))
    }

    /// As [`DeviceOptions::open`], without blocking.
    ///
    /// # Errors
    /// As [`DeviceOptions::open`].
    pub async fn open_async(&self, name: &str) -> Result<Device> {
        let lower = name.trim().to_ascii_lowercase();
        let wanted = match &*lower {
            "cpu" => return self.cpu(None),
            "auto" if cfg!(feature = "cpu") => "hardware",
            // Without the CPU, a software adapter is better than no device.
            "auto" => "gpu",
            _ => name,
        };
        match gpu::open(wanted, self.request()).await {
            Ok(gpu) => Ok(self.device(gpu)),
            Err(error) if lower == "auto" => self.cpu(Some(error)),
            Err(error) => Err(error),
        }
    }

    /// The CPU. `adapter` is the error if it replaces a GPU that was not found or could not be opened.
    fn cpu(&self, adapter: Option<Error>) -> Result<Device> {
        #[cfg(feature = "cpu")]
        {
            if let Some(error) = adapter {
                tracing::warn!("using the CPU: {error}");
            }
            Ok(self.tuned(Device::cpu()))
        }
        #[cfg(not(feature = "cpu"))]
        Err(Error::NoCpu { adapter: adapter.map(Box::new) })
    }

    /// A device that the caller has opened, as [`Device::from_wgpu`].
    ///
    /// For a pipeline cache, the caller must have opened it with the feature
    /// [`PIPELINE_CACHE`](wgpu::Features::PIPELINE_CACHE). Without it nothing is kept.
    ///
    /// # Errors
    /// As [`Device::from_wgpu`].
    pub fn wrap(&self, device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Device> {
        let gpu = Gpu::from_wgpu(device, queue, self.cache());
        gpu.check_alive()?;
        Ok(self.device(gpu))
    }

    /// Opens an adapter that the caller has chosen.
    ///
    /// # Errors
    /// [`Error::AdapterRefused`](crate::Error::AdapterRefused);
    /// [`Error::WouldBlock`](crate::Error::WouldBlock) in a browser.
    pub fn open_adapter(&self, adapter: &wgpu::Adapter) -> Result<Device> {
        block_on_gpu(self.open_adapter_async(adapter))
    }

    /// As [`DeviceOptions::open_adapter`], without blocking.
    ///
    /// # Errors
    /// [`Error::AdapterRefused`](crate::Error::AdapterRefused).
    pub async fn open_adapter_async(&self, adapter: &wgpu::Adapter) -> Result<Device> {
        gpu::request(adapter, self.request()).await.map(|gpu| self.device(gpu))
    }

    fn device(&self, gpu: Gpu) -> Device {
        self.tuned(Device::from_gpu(gpu))
    }

    fn tuned(&self, device: Device) -> Device {
        match &self.tuning {
            Some(tuning) => device.with_tuning(tuning.clone()),
            None => device,
        }
    }

    /// What is requested of an adapter.
    fn request(&self) -> Request<'_> {
        Request { cache: self.cache(), features: self.features, power: self.power_preference }
    }

    /// The directory of the pipeline cache.
    fn cache(&self) -> Option<&Path> {
        #[cfg(feature = "pipeline-cache")]
        return self.pipeline_cache.as_deref();
        #[cfg(not(feature = "pipeline-cache"))]
        None
    }
}

impl Device {
    /// Writes the file of [`DeviceOptions::pipeline_cache`] now, if there are new pipelines.
    /// Returns whether it was written.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    #[cfg(feature = "pipeline-cache")]
    pub fn save_pipelines(&self) -> Result<bool> {
        match &self.backend {
            super::Backend::Cpu(_) => Ok(false),
            super::Backend::Gpu(gpu) => gpu.save_pipelines(),
        }
    }
}
