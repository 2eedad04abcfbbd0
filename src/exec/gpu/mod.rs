//! Runs plans on a GPU through wgpu.

mod adapter;
mod bound;
#[cfg(all(target_family = "wasm", feature = "webgpu"))]
mod browser;
#[cfg(feature = "pipeline-cache")]
mod cache;
mod download;
mod execute;
mod failure;
mod info;
mod launch;
mod operand;
mod pipeline;
#[cfg(not(target_family = "wasm"))]
mod poller;
mod prepared;
mod record;
mod sizes;
mod texture;

pub(crate) use adapter::{Request, adapters, find, open, open_all, request};
pub(crate) use download::Reading;
pub(crate) use execute::Recording;
pub use info::{DeviceBackend, DeviceInfo, DeviceKind};
pub use operand::{BufferRange, Operand};
pub use prepared::{Prepared, Scratch};
pub use record::Record;
pub use texture::{TextureRange, texture_view};

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use pipeline::Pipelines;

use crate::base::error::{Error, Result};

/// The size of our own buffers is a multiple of 16 bytes, so that shaders may read whole blocks.
const PADDING: u64 = 16;

/// Larger uploads are submitted in parts, so that the device copies a part while the host copies the
/// next one, and wgpu's staging memory is reused.
const UPLOAD_PART: usize = 4 << 20;

/// The usage of our tensors' buffers.
const TENSOR: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_DST)
    .union(wgpu::BufferUsages::COPY_SRC);

/// A wgpu device with its queue and its pipelines.
#[derive(Clone)]
pub(crate) struct Gpu {
    /// The first field, so that it is dropped before the device.
    #[cfg(not(target_family = "wasm"))]
    poller: Arc<poller::Poller>,
    pub(crate) info: DeviceInfo,
    /// Distinguishes devices with the same name.
    number: usize,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pipelines: Arc<Pipelines>,
    /// Why the device was lost, if it is known to be lost.
    lost: Arc<OnceLock<String>>,
    /// Whether this is a browser's device. It reports a loss to our callback in addition to the
    /// caller's, and other errors too late to detect a loss by them.
    is_browser: bool,
    /// Whether the queue belongs to another device.
    has_wrong_queue: bool,
}

/// A tensor in a buffer of a wgpu device.
#[derive(Clone)]
pub(crate) struct Buffer {
    pub(crate) gpu: Arc<Gpu>,
    buffer: wgpu::Buffer,
    /// Whether the work that fills the buffer has been submitted; `None` if it is known to be.
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
    /// A device that the caller has opened. Its pipelines are kept in a file in the directory
    /// `cache`, if one is given and the device supports it.
    pub(crate) fn from_wgpu(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        cache: Option<&Path>,
    ) -> Self {
        let info = DeviceInfo::new(&device.adapter_info(), &device.limits());
        #[cfg(all(target_family = "wasm", feature = "webgpu"))]
        let info = info.named(browser::device_name(device));
        let lost = Arc::default();
        // In a browser, a new callback does not replace the caller's.
        let is_browser = device.adapter_info().backend == wgpu::Backend::BrowserWebGpu;
        if is_browser {
            set_loss_callback(device, &lost);
        }
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let gpu = Self {
            #[cfg(not(target_family = "wasm"))]
            poller: Arc::default(),
            info,
            number: COUNT.fetch_add(1, Ordering::Relaxed) + 1,
            device: device.clone(),
            queue: queue.clone(),
            pipelines: Arc::new(Pipelines::new(device, cache)),
            lost,
            is_browser,
            has_wrong_queue: false,
        };
        Self { has_wrong_queue: !gpu.owns_queue(), ..gpu }
    }

    /// The same device. `edit` changes the texts of shaders before compilation.
    pub(crate) fn with_edit(&self, edit: pipeline::Edit) -> Self {
        let pipelines = Arc::new(Pipelines::with_edit(edit, self.pipelines.clone()));
        Self { pipelines, ..self.clone() }
    }

    /// The device and its number.
    pub(crate) fn described(&self) -> String {
        format!("{} (device {})", self.info, self.number)
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
        let allowed = self.info.limits.max_buffer_size;
        Error::check_limit("a buffer", size, ("max_buffer_size", allowed))?;
        Ok(self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: false,
        }))
    }

    /// Copies bytes to a new buffer, padded with zeros to a whole word.
    pub(crate) async fn upload(self: &Arc<Self>, bytes: &[u8]) -> Result<Buffer> {
        let write = |buffer: &wgpu::Buffer| self.write(buffer, bytes);
        self.filled(bytes.len() as u64, write).await
    }

    /// A new buffer of zeros, to which `write` may write.
    pub(crate) async fn filled(
        self: &Arc<Self>,
        size: u64,
        write: impl FnOnce(&wgpu::Buffer),
    ) -> Result<Buffer> {
        let filled = || {
            let buffer = self.create_buffer("wgmax tensor", size, TENSOR)?;
            write(&buffer);
            Ok(buffer)
        };
        let buffer = self.catch("an upload", filled).await?;
        Ok(Buffer { gpu: self.clone(), buffer, submitted: None })
    }

    /// Copies bytes to the buffer of an earlier upload of the same size.
    pub(crate) async fn upload_again(&self, buffer: &Buffer, bytes: &[u8]) -> Result<()> {
        self.catch("an upload", || {
            self.write(&buffer.buffer, bytes);
            Ok(())
        })
        .await
    }

    fn write(&self, buffer: &wgpu::Buffer, bytes: &[u8]) {
        // `write_buffer` takes whole words only.
        let (whole, rest) = bytes.split_at(bytes.len() / 4 * 4);
        for (i, part) in whole.chunks(UPLOAD_PART).enumerate() {
            self.queue.write_buffer(buffer, (i * UPLOAD_PART) as u64, part);
            if whole.len() > UPLOAD_PART {
                self.queue.submit([]);
            }
        }
        if !rest.is_empty() {
            let mut last = [0; 4];
            last[..rest.len()].copy_from_slice(rest);
            self.queue.write_buffer(buffer, whole.len() as u64, &last);
        }
    }
}

impl Buffer {
    /// An error, unless the buffer may be used: `tensor` is its name in `operator`. `mine`
    /// identifies the caller's own recording, which may use the buffer before it is submitted.
    fn check(&self, mine: Option<&Arc<AtomicBool>>, operator: &str, tensor: String) -> Result<()> {
        self.check_submitted(mine)?;
        self.gpu.check_not_destroyed(&self.buffer, || (operator.to_string(), tensor))
    }

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
