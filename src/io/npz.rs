//! NumPy's `.npz`: a zip archive with one `.npy` member an array.
//!
//! Arrays are written without compression and aligned, so that they can be
//! mapped; both stored and deflated ones are read, and the checksum of the one
//! that is read is checked.

use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::output::{self, Staged};
use super::source::{self, SharedBytes, window};
use super::{bad_file, npy, pick, unsupported};
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// One array of an archive, mapped into memory if it is stored without
/// compression and [`npy`] would map it.
///
/// `array` is its name, with or without `.npy`; it may be left out if the
/// archive holds exactly one.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read, otherwise as [`parse`].
pub fn read(path: impl AsRef<Path>, array: Option<&str>) -> Result<Tensor> {
    let path = path.as_ref();
    parse(&path.display().to_string(), array, source::open(path)?)
}

/// One array of an archive's bytes; `name` stands for the file in errors, the
/// rest is as for [`read`].
///
/// # Errors
/// [`Error::BadFile`] if the bytes are no archive or the member is not exactly
/// one array, [`Error::Unsupported`] if the archive has no such array (the error
/// lists those it has), for a compression other than deflate, and for a dtype that
/// [`npy`] does not support.
pub fn parse(name: &str, array: Option<&str>, bytes: SharedBytes) -> Result<Tensor> {
    let zip = |e| zip_error(name, e);
    let whole = (*bytes).as_ref();
    let mut archive = ZipArchive::new(Cursor::new(whole)).map_err(zip)?;
    if archive.has_duplicate_names() {
        return Err(bad_file(name, "npz", "two members have one name"));
    }
    let (mut arrays, mut indices) = (Vec::new(), Vec::new());
    for index in 0..archive.len() {
        let member = archive.by_index_data(index).map_err(zip)?;
        if let Some(array) = member.name().map_err(zip)?.strip_suffix(".npy") {
            arrays.push(array.to_string());
            indices.push(index);
        }
    }
    // An array whose own name ends in `.npy` goes before one with the rest of it.
    let wanted = array.map(|array| match array.strip_suffix(".npy") {
        Some(stem) if !arrays.iter().any(|a| a == array) => stem,
        _ => array,
    });
    let picked = pick(name, wanted, &arrays)?;
    let name = format!("{name}:{}", arrays[picked]);
    let zip = |e| zip_error(&name, e);
    let mut member = archive.by_index(indices[picked]).map_err(zip)?;
    if member.compression() != CompressionMethod::Stored {
        return inflate(&name, member.size(), member);
    }
    // The checksum is compared when the end is reached.
    let length = io::copy(&mut member, &mut io::sink()).map_err(|e| zip(e.into()))?;
    let stored = member.data_start().and_then(|start| {
        let start = usize::try_from(start).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        window(&bytes, start..end)
    });
    let stored = stored.ok_or_else(|| bad_file(&name, "npz", "it ends inside a member"))?;
    npy::parse(&name, stored)
}

/// The array of a compressed member that says that it is `declared` bytes long.
fn inflate(name: &str, declared: u64, mut member: impl Read) -> Result<Tensor> {
    let header = npy::Header::read(name, &mut member)?;
    if header.file_len() != declared {
        let needed = header.file_len();
        let reason = format!("the array needs {needed} bytes, but the archive says {declared}");
        return Err(bad_file(name, "npz", reason));
    }
    // Memory grows with what is really there, never ahead of it, and of a member
    // that goes on for longer than it says no more than this is unpacked.
    let mut data = Vec::new();
    member.take(declared).read_to_end(&mut data).map_err(|e| zip_error(name, e.into()))?;
    header.tensor(name, Arc::new(data))
}

/// Writes an archive of one tensor, called `array`.
///
/// The file appears whole or not at all; arrays of an older file of this name
/// are not kept.
///
/// # Errors
/// [`Error::Io`] if the file cannot be written, or the name is too long for an archive.
pub fn write(path: impl AsRef<Path>, array: &str, tensor: &Tensor) -> Result<()> {
    stage(path.as_ref(), array, tensor)?.commit()
}

pub(super) fn stage(path: &Path, array: &str, tensor: &Tensor) -> Result<Staged> {
    let array = array.strip_suffix(".npy").unwrap_or(array);
    output::stage(path, |to| {
        let mut archive = ZipWriter::new(to);
        // Sizes of 64 bits, because how long the member will be is not known to
        // the archive when it starts. NumPy does the same.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(true)
            .with_alignment(64);
        archive.start_file(format!("{array}.npy"), options)?;
        npy::encode(&mut archive, tensor)?;
        archive.finish()?;
        Ok(())
    })
}

fn zip_error(name: &str, error: ZipError) -> Error {
    match error {
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            unsupported(name, error)
        }
        // The bytes are in memory, so an error of reading is one of the format.
        ZipError::Io(error) => bad_file(name, "npz", error),
        _ => bad_file(name, "npz", error),
    }
}
