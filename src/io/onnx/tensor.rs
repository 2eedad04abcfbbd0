//! `TensorProto`: one tensor. Its elements are raw bytes or in a field of numbers.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prost::Message;
use prost::bytes::Bytes;
use prost::encoding::{WireType, encode_key, encode_varint};

use super::external::Files;
use super::numbers::{FORMAT, Field, bad, elements, field_of, filled};
use super::proto::{RAW_DATA, StringStringEntryProto, TensorProto};
use crate::base::error::Result;
use crate::io::source::{self, SharedBytes, shared};
use crate::io::{bad_tensor, unsupported};
use crate::tensor::{ElementType, Tensor, TensorDesc, memory};

/// Reads a file that holds one serialised `TensorProto` (`input_0.pb` and the like).
/// Its elements may be in an external file beside it.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io), and as [`parse_tensor`].
pub fn read_tensor(path: impl AsRef<Path>) -> Result<Tensor> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let files = Arc::new(Files::beside(path));
    Constant::new(|_| name.clone(), shared(source::open(path)?), &files)?.read()
}

/// Parses a serialised `TensorProto`. `name` is its name in errors.
///
/// The elements may be in `raw_data` or in the field for their type, packed or not.
///
/// # Errors
/// [`Error::BadFile`](crate::Error::BadFile) if the bytes do not follow the format, or if the elements
/// are too few, too many, outside their type's range, or given twice.
/// [`Error::Unsupported`](crate::Error::Unsupported) for elements in an external file, for segments,
/// for a type that is not an [`ElementType`], and for too many axes.
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn parse_tensor(name: &str, bytes: &[u8]) -> Result<Tensor> {
    parse_shared(name, Arc::new(memory::copied(bytes)?))
}

/// As [`parse_tensor`], without a copy of the bytes.
pub(in crate::io) fn parse_shared(name: &str, bytes: SharedBytes) -> Result<Tensor> {
    Constant::new(|_| name.to_string(), shared(bytes), &Arc::default())?.read()
}

/// Serialises a tensor as a `TensorProto`, with its elements in `raw_data`.
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn encode_tensor(tensor: &Tensor) -> Result<Vec<u8>> {
    let head = head(tensor);
    let mut out = memory::reserved(head.len() + tensor.bytes().len())?;
    out.extend_from_slice(&head);
    out.extend_from_slice(tensor.bytes());
    Ok(out)
}

/// Writes a tensor as [`encode_tensor`] serialises it.
pub(in crate::io) fn encode(to: &mut impl Write, tensor: &Tensor) -> io::Result<()> {
    to.write_all(&head(tensor))?;
    to.write_all(tensor.bytes())
}

/// The message up to the elements.
fn head(tensor: &Tensor) -> Vec<u8> {
    let head = TensorProto {
        dims: tensor.shape().iter().map(|&d| d as i64).collect(),
        data_type: Some(CODES[tensor.element_type() as usize]),
        ..TensorProto::default()
    };
    let mut out = head.encode_to_vec();
    // Encoded here and not by prost, so that the elements are not copied.
    encode_key(RAW_DATA, WireType::LengthDelimited, &mut out);
    encode_varint(tensor.bytes().len() as u64, &mut out);
    out
}

/// A tensor of a model. Its elements are read on demand.
#[derive(Clone)]
pub struct Constant {
    /// The name in errors.
    label: String,
    proto: TensorProto,
    /// The serialised message, and its fields of numbers that hold elements.
    bytes: Bytes,
    filled: Vec<Field>,
    files: Arc<Files>,
}

impl Constant {
    pub(super) fn new(
        label: impl Fn(&str) -> String,
        bytes: Bytes,
        files: &Arc<Files>,
    ) -> Result<Self> {
        let filled = filled(&label(""), bytes.clone())?;
        let proto = TensorProto::decode(bytes.clone()).map_err(|e| bad(&label(""), e))?;
        let label = label(proto.name.as_deref().unwrap_or_default());
        Ok(Self { label, proto, bytes, filled, files: Arc::clone(files) })
    }

    /// The name in the graph; may be empty.
    pub(super) fn name(&self) -> &str {
        self.proto.name.as_deref().unwrap_or_default()
    }

    /// The file beside the model that has the elements, if they are not in the model itself.
    pub(super) fn file(&self) -> Option<PathBuf> {
        let is_location =
            |entry: &&StringStringEntryProto| entry.key.as_deref() == Some("location");
        let entry = self.proto.external_data.iter().find(is_location)?;
        self.files.place(entry.value.as_deref()?)
    }

    /// The type and shape.
    ///
    /// # Errors
    /// [`Error::BadFile`](crate::Error::BadFile) for an unknown type or a negative dimension,
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a type that is not an [`ElementType`].
    pub fn desc(&self) -> Result<TensorDesc> {
        let (name, code) = (self.label.as_str(), self.proto.data_type.unwrap_or(0));
        let element_type = supported_type(code).ok_or_else(|| match other_type(code) {
            Some(other) => unsupported(name, format_args!("element type {other} is not supported")),
            None => bad(name, format_args!("unknown data_type {code}")),
        })?;
        let shape = (self.proto.dims.iter())
            .map(|&d| usize::try_from(d).map_err(|_| bad(name, format_args!("dimension {d}"))))
            .collect::<Result<Vec<usize>>>()?;
        TensorDesc::new(element_type, shape).map_err(|e| bad_tensor(name, FORMAT, e))
    }

    /// Reads the tensor. It shares the memory of its file if the elements are raw bytes.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if an external file cannot be read, and as [`parse_tensor`].
    pub fn read(&self) -> Result<Tensor> {
        let Self { label: name, proto, bytes, filled, files } = self;
        let external = match proto.data_location.unwrap_or(0) {
            0 => false,
            1 => true,
            other => return Err(bad(name, format_args!("unknown data_location {other}"))),
        };
        if proto.segment.is_some() {
            return Err(unsupported(name, "the tensor is cut into segments"));
        }
        let desc = self.desc()?;
        let (element_type, typed) = (desc.element_type(), field_of(desc.element_type()));
        if let Some(Field(field, _)) = filled.iter().find(|&&field| field != typed) {
            let reason =
                format_args!("{field} holds elements, but {desc} keeps them in {}", typed.0);
            return Err(bad(name, reason));
        }
        let typed = filled.first().map(|field| field.0);
        let raw = proto.raw_data.clone();
        let made = if external {
            let raw = raw.filter(|raw| !raw.is_empty()).map(|_| "raw_data");
            if let Some(field) = typed.or(raw) {
                return Err(bad(name, format_args!("both {field} and another file hold elements")));
            }
            let data = files.bytes(name, &proto.external_data, desc.byte_len())?;
            Tensor::from_shared(element_type, desc.shape(), data)
        } else if let Some(raw) = raw {
            if let Some(typed) = typed {
                return Err(bad(name, format_args!("both raw_data and {typed} hold elements")));
            }
            Tensor::from_shared(element_type, desc.shape(), Arc::new(raw))
        } else {
            let elements = elements(name, bytes.clone(), &desc)?;
            Tensor::from_bytes(element_type, desc.shape(), &elements)
        };
        made.map_err(|e| bad_tensor(name, FORMAT, e))
    }
}

impl fmt::Debug for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Constant({})", self.label)
    }
}

/// The numbers of the element types, in the order of [`ElementType::ALL`]: `TensorProto.DataType` in
/// `onnx.proto`.
const CODES: [i32; ElementType::ALL.len()] = [1, 11, 10, 16, 3, 2, 5, 4, 6, 12, 7, 13, 9];

/// The element type of a number of `TensorProto.DataType`, if this crate supports it.
pub fn supported_type(code: i32) -> Option<ElementType> {
    ElementType::of(&CODES, &code)
}

/// The name of a type of ONNX that this crate does not support.
fn other_type(code: i32) -> Option<&'static str> {
    const FROM_17: &str = "FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 FLOAT8E5M2FNUZ UINT4 INT4 \
        FLOAT4E2M1 FLOAT8E8M0 UINT2 INT2 FLOAT6E2M3 FLOAT6E3M2";
    match code {
        8 => Some("STRING"),
        14 => Some("COMPLEX64"),
        15 => Some("COMPLEX128"),
        _ => FROM_17.split(' ').nth(usize::try_from(code).ok()?.checked_sub(17)?),
    }
}
