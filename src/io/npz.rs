//! NumPy's `.npz` format: a zip archive with one `.npy` member per array.
//!
//! Arrays are written without compression and aligned, so that they can be memory-mapped. Stored
//! and deflated members are read; the checksum of the member is verified.

use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::source::{self, SharedBytes, part};
use super::{bad_file, npy, pick, unsupported};
use crate::error::{Error, Result};
use crate::output::{self, Staged};
use crate::tensor::Tensor;

/// Reads one array of an archive. It is memory-mapped if it is stored without compression and
/// [`npy`] would map it.
///
/// `array` is the name, with or without `.npy`. It may be `None` if the archive has exactly one
/// array.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read, otherwise as [`parse`].
pub fn read(path: impl AsRef<Path>, array: Option<&str>) -> Result<Tensor> {
    let path = path.as_ref();
    parse(&path.display().to_string(), array, source::open(path)?)
}

/// One array in the bytes of an archive. `name` is the name of the file in errors; `array` is as
/// for [`read`].
///
/// # Errors
/// [`Error::BadFile`] if the bytes are not an archive or the member is not exactly one array.
/// [`Error::Unsupported`] if the archive has no such array (the error lists the arrays), for a
/// compression other than deflate, and for a dtype that [`npy`] does not support.
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
    // An array whose name ends with `.npy`, as given, has precedence over one without this ending.
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
    // Reading to the end verifies the checksum.
    let length = io::copy(&mut member, &mut io::sink()).map_err(|e| zip(e.into()))?;
    let stored = member.data_start().and_then(|start| {
        let start = usize::try_from(start).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        part(&bytes, start..end)
    });
    let stored = stored.ok_or_else(|| bad_file(&name, "npz", "it ends inside a member"))?;
    npy::parse(&name, stored)
}

/// The array of a compressed member whose declared length is `declared` bytes.
fn inflate(name: &str, declared: u64, mut member: impl Read) -> Result<Tensor> {
    let header = npy::Header::read(name, &mut member)?;
    if header.file_len() != declared {
        let needed = header.file_len();
        let reason = format!("the array needs {needed} bytes, but the archive says {declared}");
        return Err(bad_file(name, "npz", reason));
    }
    // Memory grows with the data that is really there, not with the declared length. A member that
    // is longer than declared is unpacked only that far.
    let mut data = Vec::new();
    member.take(declared).read_to_end(&mut data).map_err(|e| zip_error(name, e.into()))?;
    header.tensor(name, Arc::new(data))
}

/// Writes an archive with one tensor of the name `array`.
///
/// The file is written atomically. An existing file is replaced with all its arrays.
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
        // 64-bit sizes, because the length of the member is not known when it is started. NumPy
        // does the same.
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
        // The bytes are in memory, so a read error means a malformed archive.
        ZipError::Io(error) => bad_file(name, "npz", error),
        _ => bad_file(name, "npz", error),
    }
}
