//! The safetensors format: a JSON header, then named tensors.

use std::io::Write;
use std::path::Path;

use ::safetensors::SafeTensors;
use ::safetensors::tensor::{Dtype, Metadata, TensorInfo};

use super::source::{self, SharedBytes, part};
use super::{bad_file, pick, unsupported};
use crate::error::Result;
use crate::output::{self, Staged};
use crate::tensor::{ElementType, Tensor};

/// The only key of the header that is not the name of a tensor.
const RESERVED: &str = "__metadata__";

const DTYPES: [(ElementType, Dtype); 13] = [
    (ElementType::F32, Dtype::F32),
    (ElementType::F64, Dtype::F64),
    (ElementType::F16, Dtype::F16),
    (ElementType::Bf16, Dtype::BF16),
    (ElementType::I8, Dtype::I8),
    (ElementType::U8, Dtype::U8),
    (ElementType::I16, Dtype::I16),
    (ElementType::U16, Dtype::U16),
    (ElementType::I32, Dtype::I32),
    (ElementType::U32, Dtype::U32),
    (ElementType::I64, Dtype::I64),
    (ElementType::U64, Dtype::U64),
    (ElementType::Bool, Dtype::BOOL),
];

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
/// lists the tensors) and for a dtype that is not an [`ElementType`].
pub fn parse(name: &str, tensor: Option<&str>, bytes: SharedBytes) -> Result<Tensor> {
    let (header, metadata) = SafeTensors::read_metadata((*bytes).as_ref())
        .map_err(|e| bad_file(name, "safetensors", e))?;
    let names = metadata.offset_keys();
    let picked = &names[pick(name, tensor, &names)?];
    let name = format!("{name}:{picked}");
    let info = metadata.info(picked).expect("the name is from the same header");
    let (element_type, _) = DTYPES.iter().find(|(_, d)| *d == info.dtype).ok_or_else(|| {
        unsupported(&name, format!("tensors of dtype {:?} are not supported", info.dtype))
    })?;
    // The data starts after 8 bytes for the length of the header, and the header.
    let (start, end) = info.data_offsets;
    let data = part(&bytes, 8 + header + start..8 + header + end)
        .expect("reading the header checked the ranges");
    Tensor::from_shared(*element_type, info.shape.as_slice(), data)
        .map_err(|e| bad_file(&name, "safetensors", e))
}

/// Writes a file with one tensor of the name `name`.
///
/// The file is written atomically. An existing file is replaced with all its tensors.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be written,
/// [`Error::Unsupported`](crate::Error::Unsupported) for the name
/// `__metadata__`, which the format reserves.
pub fn write(path: impl AsRef<Path>, name: &str, tensor: &Tensor) -> Result<()> {
    stage(path.as_ref(), name, tensor)?.commit()
}

pub(super) fn stage(path: &Path, name: &str, tensor: &Tensor) -> Result<Staged> {
    if name == RESERVED {
        let reason = format!("the safetensors format reserves the name {name}");
        return Err(unsupported(path.display(), reason));
    }
    let (_, dtype) =
        DTYPES.iter().find(|(t, _)| *t == tensor.element_type()).expect("the table has all types");
    let data = tensor.bytes();
    let info =
        TensorInfo { dtype: *dtype, shape: tensor.shape().to_vec(), data_offsets: (0, data.len()) };
    let metadata = Metadata::new(None, vec![(name.to_string(), info)])
        .map_err(|e| bad_file(path.display(), "safetensors", e))?;
    output::stage(path, |to| {
        let mut header = serde_json::to_vec(&metadata)?;
        // The data is aligned to 8 bytes, so that it can be memory-mapped.
        header.resize(header.len().next_multiple_of(8), b' ');
        to.write_all(&(header.len() as u64).to_le_bytes())?;
        to.write_all(&header)?;
        to.write_all(data)
    })
}
