//! Runs a plan through wgpu.

mod adapter;
#[cfg(feature = "io")]
mod cache;
mod download;
mod execute;
mod failure;
mod launch;
mod pipeline;
mod prepared;
mod record;

pub(crate) use adapter::{adapters, find, open, open_all, request};
pub(crate) use download::Reading;
pub(crate) use execute::Recording;
pub use prepared::{BufferRange, Prepared};

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::device::DeviceInfo;
use crate::error::{Error, Result};

/// Buffers end on a whole block, so that shaders may read whole blocks.
const PADDING: u64 = 16;

/// A wgpu device, its queue, and what is kept for it.
pub(crate) struct Gpu {
    pub(crate) info: DeviceInfo,
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipelines: pipeline::Pipelines,
    /// Why the device was lost, once that is known.
    lost: Arc<OnceLock<String>>,
    /// Whether a callback of ours tells; a caller's device has the caller's.
    told: bool,
}

/// A tensor in a buffer of a wgpu device.
#[derive(Clone)]
pub(crate) struct Buffer {
    pub(crate) gpu: Arc<Gpu>,
    buffer: wgpu::Buffer,
    /// Whether the work that fills it has been submitted, where that is not certain.
    submitted: Option<Arc<AtomicBool>>,
}

/// Has the reason of a device's loss put down.
fn tell_loss(device: &wgpu::Device, lost: &Arc<OnceLock<String>>) {
    let lost = lost.clone();
    device.set_device_lost_callback(move |kind, message| {
        let _ = lost.set(match message.is_empty() {
            true => format!("{kind:?}"),
            false => message,
        });
    });
}

impl Gpu {
    pub(crate) fn from_wgpu(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        let info = DeviceInfo::new(&device.adapter_info(), &device.limits());
        let lost = Arc::default();
        // There, this replaces no callback of the caller's.
        let told = device.adapter_info().backend == wgpu::Backend::BrowserWebGpu;
        if told {
            tell_loss(device, &lost);
        }
        Self {
            info,
            device: device.clone(),
            queue: queue.clone(),
            pipelines: pipeline::Pipelines::default(),
            lost,
            told,
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
            told: self.told,
        }
    }

    #[cfg(feature = "io")]
    pub(crate) fn save_pipelines(&self) -> Result<bool> {
        self.pipelines.save()
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

    pub(crate) async fn upload(self: &Arc<Self>, bytes: &[u8]) -> Result<Buffer> {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::COPY_SRC;
        let buffer = self
            .catch("an upload", || {
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
}
