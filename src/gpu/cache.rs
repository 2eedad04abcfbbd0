//! Compiled pipelines, kept in a file from one run of a program to the next.

use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::io::output;

/// Begins each file, before the checksum and the length of what follows.
const MAGIC: &[u8; 16] = b"wgmax pipelines\n";
const HEADER: usize = MAGIC.len() + 16;

/// A cache of a device's pipelines, and its file.
pub(crate) struct PipelineFile {
    cache: wgpu::PipelineCache,
    path: PathBuf,
    /// The checksum of what the file holds; 0: nothing of use.
    saved: Mutex<u64>,
}

impl PipelineFile {
    /// The cache of a device in a directory, or none where its backend has no such thing.
    pub(crate) fn open(device: &wgpu::Device, directory: &Path) -> Option<Self> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let key = wgpu::util::pipeline_cache_key(&device.adapter_info())?;
        let path = directory.join(key);
        // A cache that cannot be read is made anew.
        let file = std::fs::read(&path).unwrap_or_default();
        let data = verified(&file);
        if data.is_none() && !file.is_empty() {
            tracing::warn!("{} is no cache of pipelines: it is made anew", path.display());
        }
        let saved = Mutex::new(data.map_or(0, checksum));
        Some(Self { cache: create(device, data), path, saved })
    }

    pub(crate) fn cache(&self) -> &wgpu::PipelineCache {
        &self.cache
    }

    /// Writes the file, if there is something new to write. Whether it did.
    pub(crate) fn save(&self) -> Result<bool> {
        let mut saved = self.saved.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(data) = self.cache.get_data() else { return Ok(false) };
        let sum = checksum(&data);
        if sum == *saved {
            return Ok(false);
        }
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory)
                .map_err(|source| Error::Io { path: directory.display().to_string(), source })?;
        }
        output::stage(&self.path, |file| {
            file.write_all(MAGIC)?;
            file.write_all(&sum.to_le_bytes())?;
            file.write_all(&(data.len() as u64).to_le_bytes())?;
            file.write_all(&data)
        })?
        .commit()?;
        *saved = sum;
        Ok(true)
    }
}

impl Drop for PipelineFile {
    fn drop(&mut self) {
        if let Err(error) = self.save() {
            tracing::warn!("the cache of pipelines is not kept: {error}");
        }
    }
}

fn checksum(data: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(data);
    hasher.finish()
}

/// What follows the header, if it is what was written there.
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
    // SAFETY: data must come from `get_data` of an earlier cache. It is read from a file
    // that only this module writes, whole or not at all, and is used only if its length and
    // checksum are those written with it, so neither a torn nor a foreign file gets here; wgpu and the
    // driver check in turn that adapter and driver are the same. What is left is somebody
    // who forges a file in the directory that the caller names: who may write there
    // may as well replace the program's other files, and the documentation of the option says so.
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
