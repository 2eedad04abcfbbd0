//! Runs a plan through wgpu.

mod adapter;
#[cfg(feature = "io")]
mod cache;
mod execute;
mod pipeline;
mod prepared;

pub(crate) use adapter::{adapters, find, open, open_all, request};
pub(crate) use execute::Recording;
pub use prepared::{BufferRange, Prepared};

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::device::DeviceInfo;
use crate::error::{Error, Result};
use crate::tensor::{Tensor, TensorDesc};

/// Buffers end on a whole block, so that shaders may read whole blocks.
const PADDING: u64 = 16;

/// A wgpu device, its queue, and what is kept for it.
pub(crate) struct Gpu {
    pub(crate) info: DeviceInfo,
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipelines: pipeline::Pipelines,
    /// Why the device was lost, once it was; stays empty for a caller's device.
    lost: Arc<OnceLock<String>>,
}

/// A tensor in a buffer of a wgpu device.
#[derive(Clone)]
pub(crate) struct Buffer {
    pub(crate) gpu: Arc<Gpu>,
    buffer: wgpu::Buffer,
    /// Whether the work that fills it has been submitted, where that is not certain.
    submitted: Option<Arc<AtomicBool>>,
}

impl Gpu {
    pub(crate) fn from_wgpu(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        let info = DeviceInfo::new(&device.adapter_info(), &device.limits());
        Self {
            info,
            device: device.clone(),
            queue: queue.clone(),
            pipelines: pipeline::Pipelines::default(),
            lost: Arc::default(),
        }
    }

    /// The same device with pipelines of its own, whose texts go through `edit`.
    #[cfg(feature = "oracle")]
    pub(crate) fn with_edit(&self, edit: fn(&crate::kernel::Shader, String) -> String) -> Self {
        Self {
            info: self.info.clone(),
            device: self.device.clone(),
            queue: self.queue.clone(),
            pipelines: pipeline::Pipelines::with_edit(edit),
            lost: self.lost.clone(),
        }
    }

    /// Runs `f` with out-of-memory and validation errors caught, and returns the first of them.
    async fn catch<T>(&self, what: &str, f: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check_alive()?;
        let (value, memory, validation, internal) = {
            let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
            let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
            let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
            let value = f();
            let memory = memory.pop();
            let validation = validation.pop();
            (value, memory, validation, internal.pop())
        };
        let (device, what) = (self.info.name.clone(), what.to_string());
        if memory.await.is_some() {
            return Err(Error::OutOfMemory { device, what });
        }
        let error = match validation.await {
            Some(error) => Some(error),
            None => internal.await,
        };
        match error {
            Some(error) => Err(Error::Gpu { device, what, reason: error.to_string() }),
            None => value,
        }
    }

    #[cfg(feature = "io")]
    pub(crate) fn save_pipelines(&self) -> Result<bool> {
        self.pipelines.save()
    }

    /// An error if the device is known to be lost.
    pub(crate) fn check_alive(&self) -> Result<()> {
        match self.lost.get() {
            None => Ok(()),
            Some(reason) => {
                Err(Error::DeviceLost { device: self.info.name.clone(), reason: reason.clone() })
            }
        }
    }

    /// Waits until all that was submitted is done.
    pub(crate) fn wait(&self) -> Result<()> {
        let device = || self.info.name.clone();
        self.check_alive()?;
        match self.device.poll(wgpu::PollType::wait_indefinitely()) {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::Gpu {
                device: device(),
                what: "waiting".into(),
                reason: error.to_string(),
            }),
        }
    }

    fn create_buffer(
        &self,
        label: &str,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer> {
        let size = size.max(1).next_multiple_of(PADDING);
        if size > self.info.limits.max_buffer_size {
            return Err(Error::OverLimit {
                what: "a buffer",
                needed: size,
                limit: "max_buffer_size",
                allowed: self.info.limits.max_buffer_size,
            });
        }
        Ok(self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: false,
        }))
    }

    pub(crate) async fn upload(self: &Arc<Self>, tensor: &Tensor) -> Result<Buffer> {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::COPY_SRC;
        let buffer = self
            .catch("an upload", || {
                let bytes = tensor.bytes();
                let buffer = self.create_buffer("wgmax tensor", bytes.len() as u64, usage)?;
                // Writes are in whole words; the tail goes padded.
                let whole = bytes.len() / 4 * 4;
                self.queue.write_buffer(&buffer, 0, &bytes[..whole]);
                if whole < bytes.len() {
                    let mut last = [0; 4];
                    last[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
                    self.queue.write_buffer(&buffer, whole as u64, &last);
                }
                Ok(buffer)
            })
            .await?;
        Ok(Buffer { gpu: self.clone(), buffer, submitted: None })
    }
}

impl Buffer {
    /// An error if nothing has been submitted that fills it; `mine` is the one recording that may use it before.
    fn check_submitted(&self, mine: Option<&Arc<AtomicBool>>) -> Result<()> {
        match &self.submitted {
            Some(submitted)
                if !submitted.load(Ordering::Acquire)
                    && !mine.is_some_and(|mine| Arc::ptr_eq(mine, submitted)) =>
            {
                Err(Error::NotSubmitted)
            }
            _ => Ok(()),
        }
    }

    /// `wait`: block until the device is done; for those who may block.
    pub(crate) async fn download(&self, desc: &TensorDesc, wait: bool) -> Result<Tensor> {
        self.check_submitted(None)?;
        self.gpu.read(&self.buffer, desc, wait).await
    }
}

impl Gpu {
    async fn read(&self, buffer: &wgpu::Buffer, desc: &TensorDesc, wait: bool) -> Result<Tensor> {
        let len = desc.byte_len();
        let bytes = self.read_bytes(buffer, (len as u64).next_multiple_of(4), wait).await?;
        Tensor::build(desc.clone(), |out| {
            out.copy_from_slice(&bytes[..len]);
            Ok(())
        })
    }

    /// The first `size` bytes of a buffer, a multiple of 4.
    async fn read_bytes(&self, buffer: &wgpu::Buffer, size: u64, wait: bool) -> Result<Vec<u8>> {
        if size == 0 {
            return Ok(Vec::new());
        }
        let (sender, receiver) = futures_intrusive::channel::shared::oneshot_channel();
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self
            .catch("a download", || {
                let staging = self.create_buffer("wgmax download", size, usage)?;
                let mut encoder = self.device.create_command_encoder(&Default::default());
                encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, size);
                self.queue.submit([encoder.finish()]);
                staging.map_async(wgpu::MapMode::Read, 0..size, move |result| {
                    let _ = sender.send(result);
                });
                Ok(staging)
            })
            .await?;
        let failed = |reason: String| match self.lost.get() {
            Some(reason) => {
                Error::DeviceLost { device: self.info.name.clone(), reason: reason.clone() }
            }
            None => {
                Error::Gpu { device: self.info.name.clone(), what: "a download".into(), reason }
            }
        };
        if wait {
            // What goes wrong shows in the mapping's result.
            let _ = self.device.poll(wgpu::PollType::wait_indefinitely());
        }
        // A browser maps on its own; elsewhere somebody has to poll.
        let mut receive = std::pin::pin!(receiver.receive());
        let mapped = std::future::poll_fn(|context| {
            let _ = self.device.poll(wgpu::PollType::Poll);
            let state = receive.as_mut().poll(context);
            if state.is_pending() && cfg!(not(target_arch = "wasm32")) {
                context.waker().wake_by_ref();
            }
            state
        });
        match mapped.await {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(failed(error.to_string())),
            None => return Err(failed("the mapping was dropped".into())),
        }
        let bytes =
            staging.get_mapped_range(0..size).map_err(|error| failed(error.to_string()))?.to_vec();
        staging.unmap();
        Ok(bytes)
    }
}
