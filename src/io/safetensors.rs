//! The safetensors format: a JSON header, then named tensors.

use std::io::{self, Write};
use std::path::Path;

use ::safetensors::SafeTensors;
use ::safetensors::tensor::{Dtype, Metadata, TensorInfo};

use super::source::{self, SharedBytes, part};
use super::{Named, bad_file, bad_tensor, pick, unsupported};
use crate::base::error::Result;
use crate::base::output::{WholeFile, io_error};
use crate::tensor::{ElementType, Tensor, memory};

/// The only key of the header that is not the name of a tensor.
const RESERVED: &str = "__metadata__";

/// The maximum length of a header, enough for 200,000 tensors. A parsed header takes up to a
/// hundred times as much memory.
const MAX_HEADER: usize = 32 << 20;
/// An upper bound on the memory that the parser takes for each value of a header: a value of 32
/// bytes and a name, in vectors and maps that grow by doubling.
const PARSED_BYTES: usize = 256;

/// In the order of [`ElementType::ALL`].
const DTYPES: [Dtype; ElementType::ALL.len()] = {
    use Dtype::*;
    [F32, F64, F16, BF16, I8, U8, I16, U16, I32, U32, I64, U64, BOOL]
};

/// Reads one tensor of a file, memory-mapped.
///
/// `tensor` is the name. It may be `None` if the file has exactly one tensor.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be read, otherwise as [`parse`].
pub fn read(path: impl AsRef<Path>, tensor: Option<&str>) -> Result<Tensor> {
    let path = path.as_ref();
    parse(&path.display().to_string(), tensor, source::open(path)?)
}

/// One tensor in the bytes of a file. `name` is the name of the file in errors; `tensor` is as for
/// [`read`].
///
/// # Errors
/// [`Error::BadFile`](crate::Error::BadFile) if the bytes do not follow the format,
/// [`Error::Unsupported`](crate::Error::Unsupported) if the file has no such tensor (the error
/// lists the tensors), for a dtype that is not an [`ElementType`], and for a header of more than
/// 32 MiB. [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn parse(name: &str, tensor: Option<&str>, bytes: SharedBytes) -> Result<Tensor> {
    let (header, metadata) = read_header(name, (*bytes).as_ref())?;
    let names = metadata.offset_keys();
    let picked = &names[pick(name, tensor, &names)?];
    let name = format!("{name}:{picked}");
    let info = metadata.info(picked).expect("the name is from the same header");
    let element_type = ElementType::of(&DTYPES, &info.dtype).ok_or_else(|| {
        unsupported(&name, format!("tensors of dtype {:?} are not supported", info.dtype))
    })?;
    // The data starts after 8 bytes for the length of the header, and the header.
    let (start, end) = info.data_offsets;
    let data = part(&bytes, 8 + header + start..8 + header + end)
        .expect("reading the header checked the ranges");
    Tensor::from_shared(element_type, info.shape.as_slice(), data)
        .map_err(|e| bad_tensor(&name, "safetensors", e))
}

/// The number of tensors of a file.
pub(super) fn count(name: &str, whole: &[u8]) -> Result<usize> {
    Ok(read_header(name, whole)?.1.offset_keys().len())
}

/// The length of the header according to the file, and the bytes after that length.
fn split_length(whole: &[u8]) -> Option<(usize, &[u8])> {
    let (length, rest) = whole.split_first_chunk()?;
    Some((usize::try_from(u64::from_le_bytes(*length)).ok()?, rest))
}

/// Whether bytes begin with the length of a header and the header.
pub(super) fn is_begun(bytes: &[u8]) -> bool {
    let begun = |(length, rest): (usize, &[u8])| length <= MAX_HEADER && rest.starts_with(b"{");
    split_length(bytes).is_some_and(begun)
}

/// The length of a file's header, and its content.
fn read_header(name: &str, whole: &[u8]) -> Result<(usize, Metadata)> {
    // If the file does not have the whole header, the parser reports the error.
    let header = split_length(whole).and_then(|(length, rest)| rest.get(..length));
    if let Some(header) = header {
        let length = header.len();
        if length > MAX_HEADER {
            let reason = format!("its header has {length} bytes; at most {MAX_HEADER} are read");
            return Err(unsupported(name, reason));
        }
        // The parser aborts if memory runs out. So it runs only if as much memory as it may need is
        // available.
        let delimiters = header.iter().filter(|byte| b",:[{".contains(byte)).count();
        memory::reserved::<u8>(2 * length + delimiters * PARSED_BYTES)?;
        // The parser adds the lengths of the header and of the data, which may overflow.
        let claimed = serde_json::from_slice::<Metadata>(header).map_or(0, |m| m.data_len());
        if claimed > whole.len() {
            let reason = format_args!("{} bytes cannot hold tensors of {claimed}", whole.len());
            return Err(bad_file(name, "safetensors", reason));
        }
    }
    let begins = "it does not begin with the length of a header, and the header";
    SafeTensors::read_metadata(whole).map_err(|e| match is_begun(whole) {
        true => bad_file(name, "safetensors", e),
        false if whole.is_empty() => bad_file(name, "safetensors", "it is empty"),
        false => bad_file(name, "safetensors", format_args!("{begins} ({e})")),
    })
}

/// Writes a tensor to a file, under the name `name`. If the file exists, the tensor of this name is
/// replaced, and the other tensors and the metadata are kept.
///
/// The file is written atomically.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be written,
/// [`Error::BadFile`](crate::Error::BadFile) if it exists and does not follow the format,
/// [`Error::Unsupported`](crate::Error::Unsupported) for the name
/// `__metadata__`, which the format reserves.
pub fn write(path: impl AsRef<Path>, name: &str, tensor: &Tensor) -> Result<()> {
    super::write_file(path.as_ref(), |to| encode(to, &[(name, tensor)], true))
}

/// Writes a file of these tensors and, if `keep`, of everything else in the file that it replaces.
pub(super) fn encode(to: &mut WholeFile, tensors: &[Named<'_>], keep: bool) -> Result<()> {
    let path = to.path().to_path_buf();
    let bad = |e| bad_file(path.display(), "safetensors", e);
    let old = if keep { to.extended().map(source::open).transpose()? } else { None };
    let mut comments = None;
    // Names, types, shapes and elements.
    let mut parts: Vec<(String, Dtype, Vec<usize>, &[u8])> = Vec::new();
    if let Some(old) = &old {
        let bytes = (**old).as_ref();
        let (header, metadata) = read_header(&path.display().to_string(), bytes)?;
        let data = &bytes[8 + header..];
        for name in metadata.offset_keys() {
            let info = metadata.info(&name).expect("the name is from the same header");
            let (start, end) = info.data_offsets;
            parts.push((name, info.dtype, info.shape.clone(), &data[start..end]));
        }
        comments = metadata.metadata().clone();
    }
    for &(name, tensor) in tensors {
        if name == RESERVED {
            let reason = format!("the safetensors format reserves the name {name}");
            return Err(unsupported(path.display(), reason));
        }
        let dtype = DTYPES[tensor.element_type() as usize];
        let part = (name.to_string(), dtype, tensor.shape().to_vec(), tensor.bytes());
        match parts.iter_mut().find(|part| part.0 == name) {
            Some(old) => *old = part,
            None => parts.push(part),
        }
    }
    // Wide elements come first, so that all are aligned in the file.
    parts.sort_by_key(|(_, dtype, ..)| std::cmp::Reverse(dtype.bitsize()));
    let mut at = 0;
    let infos = parts.iter().map(|(name, dtype, shape, data)| {
        let data_offsets = (at, at + data.len());
        at += data.len();
        (name.clone(), TensorInfo { dtype: *dtype, shape: shape.clone(), data_offsets })
    });
    let metadata = Metadata::new(comments, infos.collect()).map_err(bad)?;
    let mut write = || {
        let mut header = serde_json::to_vec(&metadata)?;
        // The data is aligned to 8 bytes, so that it can be memory-mapped.
        header.resize(header.len().next_multiple_of(8), b' ');
        if header.len() > MAX_HEADER {
            return Err(io::Error::other("its header would be too long to be read again"));
        }
        to.write_all(&(header.len() as u64).to_le_bytes())?;
        to.write_all(&header)?;
        parts.iter().try_for_each(|(.., data)| to.write_all(data))
    };
    write().map_err(|e| io_error(&path, e))
}
