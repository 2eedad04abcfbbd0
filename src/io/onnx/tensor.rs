//! `TensorProto`: one tensor. Its elements are raw bytes or in a field of numbers.

use std::fmt::{self, Display};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use prost::Message;
use prost::bytes::Bytes;
use prost::encoding::{WireType, encode_key, encode_varint};

use super::external::Files;
use super::numbers::{
    DOUBLE_DATA, FLOAT_DATA, FORMAT, Field, INT32_DATA, INT64_DATA, Number, UINT64_DATA, bad,
    filled, numbers,
};
use super::proto::{RAW_DATA, TensorHead, TensorProto};
use crate::error::Result;
use crate::io::source::{self, SharedBytes};
use crate::io::{bad_tensor, unsupported};
use crate::tensor::{ElementType, Tensor, TensorDesc, memory};

/// Reads a file that holds one serialised `TensorProto` (`input_0.pb` and the like).
/// Its elements may be in an external file beside it.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io), and as [`parse_tensor`].
pub fn read_tensor(path: &Path) -> Result<Tensor> {
    let name = path.display().to_string();
    from_bytes(&name, shared(source::open(path)?), &Files::beside(path))
}

/// Parses a serialised `TensorProto`. `name` is its name in errors.
///
/// The elements may be in `raw_data` or in the field for their type, packed or not.
///
/// # Errors
/// [`Error::BadFile`](crate::Error::BadFile) if the bytes do not follow the format, or if the elements are too few, too
/// many, outside their type's range, or given twice. [`Error::Unsupported`](crate::Error::Unsupported) for elements in an
/// external file, for segments, for a type that is not an [`ElementType`], and for too many axes.
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn parse_tensor(name: &str, bytes: &[u8]) -> Result<Tensor> {
    parse_shared(name, Arc::new(memory::copied(bytes)?))
}

/// As [`parse_tensor`], without a copy of the bytes.
pub(in crate::io) fn parse_shared(name: &str, bytes: SharedBytes) -> Result<Tensor> {
    from_bytes(name, shared(bytes), &Files::default())
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

/// What is before the elements.
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
    head: TensorHead,
    /// The serialised `TensorProto`.
    bytes: Bytes,
    files: Arc<Files>,
}

impl Constant {
    pub(super) fn new(
        label: impl Fn(&str) -> String,
        bytes: Bytes,
        files: &Arc<Files>,
    ) -> Result<Self> {
        filled(&label(""), bytes.clone())?;
        let head = TensorHead::decode(bytes.clone()).map_err(|e| bad(&label(""), e))?;
        let label = label(head.name.as_deref().unwrap_or_default());
        Ok(Self { label, head, bytes, files: Arc::clone(files) })
    }

    /// The name in the graph; may be empty.
    pub(super) fn name(&self) -> &str {
        self.head.name.as_deref().unwrap_or_default()
    }

    /// The type and shape.
    ///
    /// # Errors
    /// [`Error::BadFile`](crate::Error::BadFile) for an unknown type or a negative dimension,
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a type that is not an [`ElementType`].
    pub fn desc(&self) -> Result<TensorDesc> {
        desc(&self.label, self.head.data_type, &self.head.dims)
    }

    /// Reads the tensor. It shares the memory of its file if the elements are raw bytes.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if an external file cannot be read, and as [`parse_tensor`].
    pub fn read(&self) -> Result<Tensor> {
        from_bytes(&self.label, self.bytes.clone(), &self.files)
    }
}

impl fmt::Debug for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Constant({})", self.label)
    }
}

/// The bytes of a file in the type that the decoder splits without copies.
pub(super) fn shared(bytes: SharedBytes) -> Bytes {
    struct Owner(SharedBytes);
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            (*self.0).as_ref()
        }
    }
    Bytes::from_owner(Owner(bytes))
}

fn desc(name: &str, code: Option<i32>, dims: &[i64]) -> Result<TensorDesc> {
    let code = code.unwrap_or(0);
    let element_type = supported_type(code).ok_or_else(|| match other_type(code) {
        Some(other) => unsupported(name, format_args!("element type {other}")),
        None => bad(name, format_args!("unknown data_type {code}")),
    })?;
    let shape = (dims.iter())
        .map(|&d| usize::try_from(d).map_err(|_| bad(name, format_args!("dimension {d}"))))
        .collect::<Result<Vec<usize>>>()?;
    TensorDesc::new(element_type, shape).map_err(|e| bad_tensor(name, FORMAT, e))
}

/// Parses a serialised `TensorProto`, whose external data is in `files`.
fn from_bytes(name: &str, bytes: Bytes, files: &Files) -> Result<Tensor> {
    let filled = filled(name, bytes.clone())?;
    let mut proto = TensorProto::decode(bytes.clone()).map_err(|e| bad(name, e))?;
    let external = match proto.data_location.unwrap_or(0) {
        0 => false,
        1 => true,
        other => return Err(bad(name, format_args!("unknown data_location {other}"))),
    };
    if proto.segment.is_some() {
        return Err(unsupported(name, "the tensor is cut into segments"));
    }
    let desc = desc(name, proto.data_type, &proto.dims)?;
    let element_type = desc.element_type();

    let typed = typed_field(element_type);
    if let Some(Field(field, _)) = filled.iter().find(|&&field| field != typed) {
        return Err(bad(
            name,
            format_args!("{field} holds elements, but {desc} keeps them in {}", typed.0),
        ));
    }
    let raw = proto.raw_data.take();
    if external {
        let raw = raw.filter(|raw| !raw.is_empty()).map(|_| "raw_data");
        if let Some(field) = filled.first().map(|field| field.0).or(raw) {
            return Err(bad(name, format_args!("both {field} and another file hold elements")));
        }
        let data = files.bytes(name, &proto.external_data, desc.byte_len())?;
        return Tensor::from_shared(element_type, desc.shape(), data)
            .map_err(|e| bad_tensor(name, FORMAT, e));
    }
    if let Some(raw) = raw {
        if let Some(Field(typed, _)) = filled.first() {
            return Err(bad(name, format_args!("both raw_data and {typed} hold elements")));
        }
        return Tensor::from_shared(element_type, desc.shape(), Arc::new(raw))
            .map_err(|e| bad_tensor(name, FORMAT, e));
    }
    from_typed(&Typed { name, desc: &desc, bytes })
}

/// A tensor whose elements are in the field for its type.
struct Typed<'a> {
    name: &'a str,
    desc: &'a TensorDesc,
    /// The serialised `TensorProto`.
    bytes: Bytes,
}

fn from_typed(typed: &Typed<'_>) -> Result<Tensor> {
    use bytemuck::cast_slice;
    match typed.desc.element_type() {
        ElementType::F32 => typed.build(cast_slice(&typed.all::<f32>()?)),
        ElementType::F64 => typed.build(cast_slice(&typed.all::<f64>()?)),
        ElementType::I32 => typed.build(cast_slice(&typed.all::<i32>()?)),
        ElementType::I64 => typed.build(cast_slice(&typed.all::<i64>()?)),
        ElementType::U64 => typed.build(cast_slice(&typed.all::<u64>()?)),
        ElementType::I8 => typed.build(cast_slice(&typed.narrow::<i32, i8>()?)),
        ElementType::I16 => typed.build(cast_slice(&typed.narrow::<i32, i16>()?)),
        ElementType::U8 | ElementType::Bool => typed.build(&typed.narrow::<i32, u8>()?),
        // The field holds the bits of a 16-bit float, not its value.
        ElementType::U16 | ElementType::F16 | ElementType::Bf16 => {
            typed.build(cast_slice(&typed.narrow::<i32, u16>()?))
        }
        ElementType::U32 => typed.build(cast_slice(&typed.narrow::<u64, u32>()?)),
    }
}

impl Typed<'_> {
    /// The numbers of the field.
    fn all<T: Number>(&self) -> Result<Vec<T>> {
        let Self { name, desc, bytes } = self;
        let field = typed_field(desc.element_type());
        let all = numbers(name, bytes.clone(), field)?;
        match all.len() == desc.len() {
            true => Ok(all),
            false => Err(bad(
                name,
                format_args!(
                    "{desc} has {} elements, but {} holds {}",
                    desc.len(),
                    field.0,
                    all.len()
                ),
            )),
        }
    }

    /// The numbers of a wide field as those of the narrower element type.
    fn narrow<From, To>(&self) -> Result<Vec<To>>
    where
        From: Number + Copy + Display,
        To: TryFrom<From>,
    {
        let wide = self.all::<From>()?;
        let mut narrow = memory::reserved(wide.len())?;
        for (index, &value) in wide.iter().enumerate() {
            let element_type = self.desc.element_type();
            narrow.push(To::try_from(value).map_err(|_| {
                let reason = "which does not fit";
                bad(self.name, format_args!("element {index} is {value}, {reason} {element_type}"))
            })?);
        }
        Ok(narrow)
    }

    fn build(&self, bytes: &[u8]) -> Result<Tensor> {
        Tensor::from_bytes(self.desc.element_type(), self.desc.shape(), bytes)
            .map_err(|e| bad_tensor(self.name, FORMAT, e))
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
    Some(match code {
        8 => "STRING",
        14 => "COMPLEX64",
        15 => "COMPLEX128",
        17 => "FLOAT8E4M3FN",
        18 => "FLOAT8E4M3FNUZ",
        19 => "FLOAT8E5M2",
        20 => "FLOAT8E5M2FNUZ",
        21 => "UINT4",
        22 => "INT4",
        23 => "FLOAT4E2M1",
        24 => "FLOAT8E8M0",
        25 => "UINT2",
        26 => "INT2",
        27 => "FLOAT6E2M3",
        28 => "FLOAT6E3M2",
        _ => return None,
    })
}

/// The field for the elements of a type, if they are not in `raw_data`.
fn typed_field(element_type: ElementType) -> Field {
    match element_type {
        ElementType::F32 => FLOAT_DATA,
        ElementType::F64 => DOUBLE_DATA,
        ElementType::I64 => INT64_DATA,
        ElementType::U32 | ElementType::U64 => UINT64_DATA,
        _ => INT32_DATA,
    }
}
