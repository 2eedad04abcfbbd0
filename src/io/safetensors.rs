//! safetensors: named tensors behind one JSON header.

use std::io::Write;
use std::path::Path;

use ::safetensors::SafeTensors;
use ::safetensors::tensor::{Dtype, Metadata, TensorInfo};

use super::output::{self, Staged};
use super::source::{self, SharedBytes, window};
use super::{bad_file, pick, unsupported};
use crate::error::Result;
use crate::tensor::{ElementType, Tensor};

/// The key of the header that is no tensor's name.
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

/// One tensor of a file, mapped into memory.
///
/// `tensor` is its name; it may be left out if the file holds exactly one.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be read, otherwise as [`parse`].
pub fn read(path: impl AsRef<Path>, tensor: Option<&str>) -> Result<Tensor> {
    let path = path.as_ref();
    parse(&path.display().to_string(), tensor, source::open(path)?)
}

/// One tensor of a file's bytes; `name` stands for the file in errors, the rest
/// is as for [`read`].
///
/// # Errors
/// [`Error::BadFile`](crate::Error::BadFile) if the bytes are not what the
/// format says, [`Error::Unsupported`](crate::Error::Unsupported) if the file
/// has no such tensor (the error lists those it has) and for a dtype that is
/// no [`ElementType`].
pub fn parse(name: &str, tensor: Option<&str>, bytes: SharedBytes) -> Result<Tensor> {
    let (header, metadata) = SafeTensors::read_metadata((*bytes).as_ref())
        .map_err(|e| bad_file(name, "safetensors", e))?;
    let names = metadata.offset_keys();
    let picked = &names[pick(name, tensor, &names)?];
    let name = format!("{name}:{picked}");
    let info = metadata.info(picked).expect("the name comes from the same header");
    let (element_type, _) = DTYPES.iter().find(|(_, d)| *d == info.dtype).ok_or_else(|| {
        unsupported(&name, format!("tensors of dtype {:?} are not supported", info.dtype))
    })?;
    // The data starts behind the header and the eight bytes of its length.
    let (start, end) = info.data_offsets;
    let data = window(&bytes, 8 + header + start..8 + header + end)
        .expect("reading the header checked the ranges");
    Tensor::from_shared(*element_type, info.shape.as_slice(), data)
        .map_err(|e| bad_file(&name, "safetensors", e))
}

/// Writes a file of one tensor, called `name`.
///
/// The file appears whole or not at all; tensors of an older file of this path
/// are not kept.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be written,
/// [`Error::Unsupported`](crate::Error::Unsupported) for the name
/// `__metadata__`, which the format keeps for itself.
pub fn write(path: impl AsRef<Path>, name: &str, tensor: &Tensor) -> Result<()> {
    stage(path.as_ref(), name, tensor)?.commit()
}

pub(super) fn stage(path: &Path, name: &str, tensor: &Tensor) -> Result<Staged> {
    if name == RESERVED {
        let reason = format!("no tensor of a safetensors file can be called {name}");
        return Err(unsupported(path.display(), reason));
    }
    let (_, dtype) =
        DTYPES.iter().find(|(t, _)| *t == tensor.element_type()).expect("all are there");
    let data = tensor.bytes();
    let info =
        TensorInfo { dtype: *dtype, shape: tensor.shape().to_vec(), data_offsets: (0, data.len()) };
    let metadata = Metadata::new(None, vec![(name.to_string(), info)])
        .map_err(|e| bad_file(path.display(), "safetensors", e))?;
    output::stage(path, |to| {
        let mut header = serde_json::to_vec(&metadata)?;
        // Data that starts at a multiple of 8 can be mapped as it is.
        header.resize(header.len().next_multiple_of(8), b' ');
        to.write_all(&(header.len() as u64).to_le_bytes())?;
        to.write_all(&header)?;
        to.write_all(data)
    })
}
