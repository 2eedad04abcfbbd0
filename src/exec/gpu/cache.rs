//! Compiled pipelines, kept in a file between runs of a program.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::base::error::Result;
use crate::base::output::{WholeFile, io_error};

/// The first bytes of each file. The checksum and the length of the data follow, then the data.
const MAGIC: &[u8; 16] = b"wgmax pipelines\n";
const HEADER: usize = MAGIC.len() + 16;

/// A cache of a device's pipelines, and its file.
pub(crate) struct PipelineFile {
    cache: wgpu::PipelineCache,
    path: PathBuf,
    /// The checksum of the file's data; 0 if the file has no valid data.
    saved: Mutex<u64>,
}

impl PipelineFile {
    /// Opens the cache of a device in a directory; `None` if the backend does not support caches.
    pub(crate) fn open(device: &wgpu::Device, directory: &Path) -> Option<Self> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let key = wgpu::util::pipeline_cache_key(&device.adapter_info())?;
        let path = directory.join(key);
        // A file that cannot be read is replaced.
        let file = std::fs::read(&path).unwrap_or_default();
        let data = verified(&file);
        if data.is_none() && !file.is_empty() {
            tracing::warn!("{} is not a valid pipeline cache and is replaced", path.display());
        }
        let saved = Mutex::new(data.map_or(0, checksum));
        Some(Self { cache: create(device, data), path, saved })
    }

    pub(crate) fn cache(&self) -> &wgpu::PipelineCache {
        &self.cache
    }

    /// Writes the file if there are new pipelines. Returns whether it did.
    pub(crate) fn save(&self) -> Result<bool> {
        let mut saved = self.saved.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(data) = self.cache.get_data() else { return Ok(false) };
        let sum = checksum(&data);
        if sum == *saved {
            return Ok(false);
        }
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory).map_err(|e| io_error(directory, e))?;
        }
        let mut file = WholeFile::create(&self.path)?;
        let parts = [MAGIC, &sum.to_le_bytes()[..], &(data.len() as u64).to_le_bytes(), &data];
        for part in parts {
            file.write_all(part).map_err(|e| io_error(&self.path, e))?;
        }
        file.finish()?;
        *saved = sum;
        Ok(true)
    }
}

impl Drop for PipelineFile {
    fn drop(&mut self) {
        if let Err(error) = self.save() {
            tracing::warn!("the pipeline cache was not saved: {error}");
        }
    }
}

/// The CRC-32 of some bytes, with bit 32 set so that it is never 0. Unlike the standard library's
/// hashes, it is the same in every build.
fn checksum(data: &[u8]) -> u64 {
    1 << 32 | u64::from(crc32fast::hash(data))
}

/// The data of a file, if its header matches it.
fn verified(file: &[u8]) -> Option<&[u8]> {
    let (header, data) = file.split_at_checked(HEADER)?;
    let (magic, numbers) = header.split_at(MAGIC.len());
    let (sum, len) = numbers.split_at(8);
    let whole = magic == MAGIC
        && len == (data.len() as u64).to_le_bytes()
        && sum == checksum(data).to_le_bytes();
    whole.then_some(data)
}

#[allow(unsafe_code)]
fn create(device: &wgpu::Device, data: Option<&[u8]>) -> wgpu::PipelineCache {
    let descriptor =
        wgpu::PipelineCacheDescriptor { label: Some("wgmax pipelines"), data, fallback: true };
    // SAFETY: the data must come from `get_data` of an earlier cache. It is read from a file that
    // only this module writes, atomically. It is used only if the length and checksum in its header
    // match, which excludes torn and foreign files. wgpu and the driver check that the adapter and
    // the driver are the same. A forged file in the caller's directory remains possible; the
    // documentation of `DeviceOptions::pipeline_cache` says who may write there.
    unsafe { device.create_pipeline_cache(&descriptor) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_only_what_was_written_whole() {
        let data = b"compiled";
        let mut file = MAGIC.to_vec();
        file.extend(checksum(data).to_le_bytes());
        file.extend((data.len() as u64).to_le_bytes());
        file.extend(data);
        assert_eq!(verified(&file), Some(&data[..]));
        for at in 0..file.len() {
            assert_eq!(verified(&file[..at]), None, "cut at {at}");
            let mut changed = file.clone();
            changed[at] ^= 1;
            assert_eq!(verified(&changed), None, "changed at {at}");
        }
    }
}
