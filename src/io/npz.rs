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
use super::{Named, bad_file, npy, pick, unsupported};
use crate::base::error::{Error, Result};
use crate::base::output::WholeFile;
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
    let whole = (*bytes).as_ref();
    let mut archive = open(name, whole)?;
    let (arrays, indices) = arrays(name, &archive)?;
    let wanted = array.map(|array| stem(array, &arrays));
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

fn open<'a>(name: &str, whole: &'a [u8]) -> Result<ZipArchive<Cursor<&'a [u8]>>> {
    // Something may precede an archive, so this is asked only afterwards.
    let archive = ZipArchive::new(Cursor::new(whole)).map_err(|e| match whole {
        [] => bad_file(name, "npz", "it is empty"),
        [b'P', b'K', ..] => zip_error(name, e),
        _ => bad_file(name, "npz", format_args!("it is not a zip archive ({e})")),
    })?;
    match archive.has_duplicate_names() {
        true => Err(bad_file(name, "npz", "two members have one name")),
        false => Ok(archive),
    }
}

/// The names of the arrays, and the members that hold them.
fn arrays(name: &str, archive: &ZipArchive<Cursor<&[u8]>>) -> Result<(Vec<String>, Vec<usize>)> {
    let zip = |e| zip_error(name, e);
    let (mut arrays, mut indices) = (Vec::new(), Vec::new());
    for index in 0..archive.len() {
        let member = archive.by_index_data(index).map_err(zip)?;
        if let Some(array) = member.name().map_err(zip)?.strip_suffix(".npy") {
            arrays.push(array.to_string());
            indices.push(index);
        }
    }
    Ok((arrays, indices))
}

/// The name of an array from a name that may end with `.npy`. The name as given has precedence, if
/// there is such an array.
pub(super) fn stem<'a>(array: &'a str, arrays: &[String]) -> &'a str {
    match array.strip_suffix(".npy") {
        Some(stem) if !arrays.iter().any(|a| a == array) => stem,
        _ => array,
    }
}

/// The number of members of an archive, arrays and others.
pub(super) fn count(name: &str, whole: &[u8]) -> Result<usize> {
    Ok(open(name, whole)?.len())
}

/// The array of a compressed member whose declared length is `declared` bytes.
fn inflate(name: &str, declared: u64, mut member: impl Read) -> Result<Tensor> {
    let header = npy::Header::read(name, &mut member)?;
    if header.file_len() != declared {
        let needed = header.file_len();
        let reason = format!("the array needs {needed} bytes, but the archive says {declared}");
        return Err(bad_file(name, "npz", reason));
    }
    // Memory grows with the actual data, not with the declared length. A member that is longer than
    // declared is unpacked only up to that length.
    let mut data = Vec::new();
    member.take(declared).read_to_end(&mut data).map_err(|e| zip_error(name, e.into()))?;
    header.view(name, Arc::new(data))?.to_tensor()
}

/// Writes a tensor to an archive, under the name `array`. If the archive exists, the array of this
/// name is replaced, and everything else is kept.
///
/// The archive is written atomically.
///
/// # Errors
/// [`Error::Io`] if the file cannot be written, or the name is too long for an archive.
/// [`Error::BadFile`] if the file exists and is not an archive.
pub fn write(path: impl AsRef<Path>, array: &str, tensor: &Tensor) -> Result<()> {
    super::write_file(path.as_ref(), |to| encode(to, &[(array, tensor)], true))
}

/// Writes an archive of these tensors and, if `keep`, of the other members of the file that it
/// replaces.
pub(super) fn encode(to: &mut WholeFile, tensors: &[Named<'_>], keep: bool) -> Result<()> {
    let name = to.path().display().to_string();
    let old = if keep { to.extended().map(source::open).transpose()? } else { None };
    let mut archive = ZipWriter::new(to);
    let mut existing = Vec::new();
    if let Some(old) = &old {
        let mut old = open(&name, (**old).as_ref())?;
        existing = arrays(&name, &old)?.0;
        let replaced: Vec<_> = tensors.iter().map(|(name, _)| member(name, &existing)).collect();
        copy(&name, &mut old, &mut archive, &replaced)?;
    }
    let mut write = || -> zip::result::ZipResult<()> {
        for (array, tensor) in tensors {
            archive.start_file(member(array, &existing), stored())?;
            npy::encode(&mut archive, tensor)?;
        }
        Ok(())
    };
    let written = write();
    // For example a name that is too long.
    let failed = |e: ZipError| Error::Io { path: name.clone(), source: e.into() };
    written.and_then(|()| archive.finish()).map(drop).map_err(failed)
}

fn member(array: &str, existing: &[String]) -> String {
    format!("{}.npy", stem(array, existing))
}

/// How arrays are stored: aligned, so that they can be memory-mapped.
fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        // 64-bit sizes, because the length of the member is not known when it is started. NumPy
        // does the same.
        .large_file(true)
        .with_alignment(64)
}

/// Copies all members except some.
fn copy<W: io::Write + io::Seek>(
    name: &str,
    from: &mut ZipArchive<Cursor<&[u8]>>,
    to: &mut ZipWriter<W>,
    without: &[String],
) -> Result<()> {
    let zip = |e| zip_error(name, e);
    to.set_raw_comment(from.comment().into()).map_err(zip)?;
    for index in 0..from.len() {
        let member = from.by_index_raw(index).map_err(zip)?;
        let array = member.name().map_err(zip)?.to_string();
        if without.contains(&array) {
            continue;
        }
        if member.encrypted() {
            return Err(unsupported(name, format!("its member {array:?} is encrypted")));
        }
        let plain = member.compression() == CompressionMethod::Stored
            && member.comment().is_empty()
            && array.is_ascii();
        if !plain || !array.ends_with(".npy") {
            to.raw_copy_file(member).map_err(zip)?;
            continue;
        }
        // Stored again, because a copied member would not be aligned.
        let options = member.options().large_file(true).with_alignment(64);
        drop(member);
        to.start_file(array, options).map_err(zip)?;
        let mut member = from.by_index(index).map_err(zip)?;
        io::copy(&mut member, to).map_err(|e| zip(e.into()))?;
    }
    Ok(())
}

fn zip_error(name: &str, error: ZipError) -> Error {
    match error {
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            unsupported(name, error)
        }
        ZipError::Io(error) if error.kind() == io::ErrorKind::OutOfMemory => {
            Error::host_memory(name)
        }
        // The bytes are in memory, so a read error means a malformed archive.
        ZipError::Io(error) => bad_file(name, "npz", error),
        _ => bad_file(name, "npz", error),
    }
}
