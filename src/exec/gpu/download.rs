//! Copies buffers to the host.

use futures_intrusive::channel::shared::{OneshotReceiver, oneshot_channel};

use super::{Buffer, Gpu};
use crate::base::error::Result;
use crate::tensor::{Tensor, TensorDesc, memory};

/// A tensor that is being copied to the host.
pub(crate) struct Reading {
    desc: TensorDesc,
    copy: Option<Copy>,
}

/// Bytes that are being copied to the host.
struct Copy {
    staging: wgpu::Buffer,
    size: u64,
    submission: wgpu::SubmissionIndex,
    mapped: OneshotReceiver<std::result::Result<(), wgpu::BufferAsyncError>>,
}

impl Buffer {
    /// Copies a tensor to the host. It begins at byte `first` of the buffer, a multiple of 4.
    /// `wait`: whether this may block until the device is done.
    pub(crate) async fn download(
        &self,
        first: u64,
        desc: &TensorDesc,
        wait: bool,
    ) -> Result<Tensor> {
        self.gpu.finish(self.read(first, desc).await?, wait).await
    }

    /// As [`Buffer::download`], but `read` gets the bytes that the browser has mapped, without a
    /// copy in the WebAssembly memory. It is not called if there are none.
    #[cfg(target_family = "wasm")]
    pub(crate) async fn mapped(
        &self,
        first: u64,
        desc: &TensorDesc,
        read: impl FnOnce(&wgpu::BufferView),
    ) -> Result<()> {
        let copy = self.read(first, desc).await?.copy;
        if let Some(view) = self.gpu.view(&copy, false).await? {
            read(&view);
        }
        // Otherwise a browser frees it only when it collects garbage.
        if let Some(copy) = copy {
            copy.staging.destroy();
        }
        Ok(())
    }

    /// Starts to copy the tensor to the host, after all work that was submitted before.
    pub(crate) async fn read(&self, first: u64, desc: &TensorDesc) -> Result<Reading> {
        self.check(None, "a download", "the tensor".to_string())?;
        let copy = self.gpu.copy(&self.buffer, first, desc.padded_byte_len()).await?;
        Ok(Reading { desc: desc.clone(), copy })
    }
}

impl Gpu {
    /// Waits for a copy and returns the tensor.
    pub(crate) async fn finish(&self, reading: Reading, wait: bool) -> Result<Tensor> {
        let view = self.view(&reading.copy, wait).await?;
        let tensor = Tensor::filled(reading.desc, |out| {
            if let Some(bytes) = view {
                out.copy_from_slice(&bytes[..out.len()]);
            }
        })?;
        self.check_alive()?;
        Ok(tensor)
    }

    /// The first `size` bytes of a buffer, a multiple of 4.
    pub(super) async fn read_bytes(
        &self,
        buffer: &wgpu::Buffer,
        size: u64,
        wait: bool,
    ) -> Result<Vec<u8>> {
        let copy = self.copy(buffer, 0, size).await?;
        let view = self.view(&copy, wait).await?;
        let bytes = view.map_or_else(|| Ok(Vec::new()), |bytes| memory::copied(&bytes))?;
        self.check_alive()?;
        Ok(bytes)
    }

    /// Starts to copy `size` bytes of a buffer; `None` if `size` is 0.
    async fn copy(&self, buffer: &wgpu::Buffer, first: u64, size: u64) -> Result<Option<Copy>> {
        if size == 0 {
            return Ok(None);
        }
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        self.catch("a download", || {
            let (sender, mapped) = oneshot_channel();
            let staging = self.create_buffer("wgmax download", size, usage)?;
            let mut encoder = self.encoder("wgmax download");
            encoder.copy_buffer_to_buffer(buffer, first, &staging, 0, size);
            let submission = self.queue.submit([encoder.finish()]);
            staging.map_async(wgpu::MapMode::Read, 0..size, move |result| {
                let _ = sender.send(result);
            });
            Ok(Some(Copy { staging, size, submission, mapped }))
        })
        .await
    }

    /// Waits for a copy and maps it. Whoever has read the bytes checks that the device is alive: if it
    /// is destroyed, the next poll on any thread frees the memory that is mapped here.
    ///
    /// Dropping the staging buffer unmaps it: `unmap` would report an error if the device has just
    /// been lost.
    async fn view(&self, copy: &Option<Copy>, wait: bool) -> Result<Option<wgpu::BufferView>> {
        let Some(copy) = copy else { return Ok(None) };
        if wait {
            // Only until the copy is done: later submissions may still be running.
            let submission_index = Some(copy.submission.clone());
            self.poll(wgpu::PollType::Wait { submission_index, timeout: None })?;
        }
        let failed = |reason: String| self.failed("a download", reason);
        match self.receive(&copy.mapped).await? {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(failed(error.to_string())),
            None => return Err(failed("the mapping was dropped".into())),
        }
        let view = copy.staging.get_mapped_range(0..copy.size);
        view.map(Some).map_err(|error| failed(error.to_string()))
    }
}
