//! Runs plans on a GPU through wgpu.

mod adapter;
#[cfg(all(target_family = "wasm", feature = "webgpu"))]
mod browser;
#[cfg(feature = "pipeline-cache")]
mod cache;
mod download;
mod execute;
mod failure;
mod info;
mod launch;
mod pipeline;
mod prepared;
mod record;
mod texture;

pub(crate) use adapter::{Request, adapters, find, open, open_all, request};
pub(crate) use download::Reading;
pub(crate) use execute::Recording;
pub use info::DeviceInfo;
pub use prepared::{BufferRange, Prepared};
pub use texture::{Operand, TextureRange, texture_view};

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use pipeline::Pipelines;

use crate::error::{Error, Result};

/// The size of our own buffers is a multiple of 16 bytes, so that shaders may read whole blocks.
const PADDING: u64 = 16;

/// A wgpu device with its queue and its pipelines.
pub(crate) struct Gpu {
    pub(crate) info: DeviceInfo,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pipelines: Arc<Pipelines>,
    /// Why the device was lost, if it is known to be.
    lost: Arc<OnceLock<String>>,
    /// Whether our own callback reports a loss. On a caller's device the callback is the caller's.
    has_loss_callback: bool,
}

/// A tensor in a buffer of a wgpu device.
#[derive(Clone)]
pub(crate) struct Buffer {
    pub(crate) gpu: Arc<Gpu>,
    buffer: wgpu::Buffer,
    /// Whether the work that fills the buffer has been submitted; `None` if it certainly has.
    submitted: Option<Arc<AtomicBool>>,
}

/// Stores the reason in `lost` when the device is lost.
fn set_loss_callback(device: &wgpu::Device, lost: &Arc<OnceLock<String>>) {
    let lost = lost.clone();
    device.set_device_lost_callback(move |kind, message| {
        let _ = lost.set(match message.is_empty() {
            true => format!("{kind:?}"),
            false => message,
        });
    });
}

impl Gpu {
    /// A device that the caller has opened. Its pipelines are kept in a file of the directory
    /// `cache`, if one is given and the device can.
    pub(crate) fn from_wgpu(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        cache: Option<&Path>,
    ) -> Self {
        let info = DeviceInfo::new(&device.adapter_info(), &device.limits());
        #[cfg(all(target_family = "wasm", feature = "webgpu"))]
        let info = info.named(browser::device_name(device));
        let lost = Arc::default();
        // In a browser, setting a callback does not replace the caller's.
        let has_loss_callback = device.adapter_info().backend == wgpu::Backend::BrowserWebGpu;
        if has_loss_callback {
            set_loss_callback(device, &lost);
        }
        Self {
            info,
            device: device.clone(),
            queue: queue.clone(),
            pipelines: Arc::new(Pipelines::new(device, cache)),
            lost,
            has_loss_callback,
        }
    }

    /// The same device, on which `edit` changes the texts of shaders before compilation.
    #[cfg(feature = "oracle")]
    pub(crate) fn with_edit(&self, edit: pipeline::Edit) -> Self {
        Self {
            info: self.info.clone(),
            device: self.device.clone(),
            queue: self.queue.clone(),
            pipelines: Arc::new(Pipelines::with_edit(edit, self.pipelines.clone())),
            lost: self.lost.clone(),
            has_loss_callback: self.has_loss_callback,
        }
    }

    #[cfg(feature = "pipeline-cache")]
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

    /// Copies bytes to a new buffer, padded with zeros to a whole word.
    pub(crate) async fn upload(self: &Arc<Self>, bytes: &[u8]) -> Result<Buffer> {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::COPY_SRC;
        let buffer = self
            .catch("an upload", || {
                let buffer = self.create_buffer("wgmax tensor", bytes.len() as u64, usage)?;
                // `write_buffer` takes whole words only.
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
    /// The buffer, if the work that fills it has been submitted.
    pub(crate) fn submitted(&self) -> Option<&wgpu::Buffer> {
        self.check_submitted(None).ok().map(|()| &self.buffer)
    }

    /// An error if the work that fills the buffer has not been submitted. `mine` identifies the
    /// caller's own recording, which may use the buffer before.
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
