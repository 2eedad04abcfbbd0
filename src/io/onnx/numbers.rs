//! The elements of a `TensorProto` in its fields of numbers. They are decoded here and not by
//! prost, so that exhausted memory is an error.

use std::fmt::Display;

use prost::DecodeError;
use prost::bytes::{Buf, Bytes};
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use prost::encoding::{double, float, int32, int64, uint64};

use crate::base::error::{Error, Result};
use crate::io::{bad_file, unsupported};
use crate::tensor::{ElementType, TensorDesc};

/// A field that holds elements: its name and its number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Field(pub &'static str, pub u32);

const FLOAT_DATA: Field = Field("float_data", 4);
const INT32_DATA: Field = Field("int32_data", 5);
const STRING_DATA: Field = Field("string_data", 6);
const INT64_DATA: Field = Field("int64_data", 7);
const DOUBLE_DATA: Field = Field("double_data", 10);
const UINT64_DATA: Field = Field("uint64_data", 11);
/// The numbers of other fields that may hold any number of values.
const DIMS: u32 = 1;
const EXTERNAL_DATA: u32 = 13;
/// Maximum entries of external data; ONNX defines five.
const MAX_ENTRIES: usize = 64;
const ALL: [Field; 6] = [FLOAT_DATA, INT32_DATA, STRING_DATA, INT64_DATA, DOUBLE_DATA, UINT64_DATA];

/// The fields of a message that hold elements. A message with more dimensions than a tensor may
/// have, or more than `MAX_ENTRIES` entries of external data, is refused. Call this before prost
/// decodes the message: prost aborts if memory runs out.
pub(super) fn filled(name: &str, mut bytes: Bytes) -> Result<Vec<Field>> {
    let mut filled = Vec::new();
    let (mut rank, mut entries) = (0, 0);
    let mut next = || -> Result<bool, DecodeError> {
        if !bytes.has_remaining() {
            return Ok(false);
        }
        let (tag, wire) = decode_key(&mut bytes)?;
        let before = bytes.clone();
        skip_field(wire, tag, &mut bytes, DecodeContext::default())?;
        let value = &before[..before.len() - bytes.len()];
        let packed = wire == WireType::LengthDelimited;
        match tag {
            DIMS if packed => rank += packed_varints(value),
            DIMS => rank += 1,
            EXTERNAL_DATA => entries += 1,
            _ => {}
        }
        // A packed field without numbers has only a length, one byte.
        let empty = packed && value.len() == 1;
        let field = ALL.into_iter().find(|field| field.1 == tag);
        let field = field.filter(|&field| !empty || field == STRING_DATA);
        filled.extend(field.filter(|field| !filled.contains(field)));
        Ok(true)
    };
    while next().map_err(|e| bad(name, e))? {}
    if rank > TensorDesc::MAX_RANK {
        return Err(unsupported(name, Error::TooManyAxes { rank, max: TensorDesc::MAX_RANK }));
    }
    match entries {
        0..=MAX_ENTRIES => Ok(filled),
        _ => Err(bad(name, format_args!("{entries} entries on external data"))),
    }
}

/// The number of varints in a packed field.
fn packed_varints(mut field: &[u8]) -> usize {
    // Skips the length, which has been read before.
    let _ = decode_varint(&mut field);
    field.iter().filter(|&&byte| byte < 0x80).count()
}

/// The field for the elements of a type, if they are not in `raw_data`.
pub(super) fn field_of(element_type: ElementType) -> Field {
    match element_type {
        ElementType::F32 => FLOAT_DATA,
        ElementType::F64 => DOUBLE_DATA,
        ElementType::I64 => INT64_DATA,
        ElementType::U32 | ElementType::U64 => UINT64_DATA,
        _ => INT32_DATA,
    }
}

/// The elements in the field for their type, packed or not. The field of a float holds its value,
/// or for 16 bits its bits as an integer.
pub(super) fn elements(name: &str, mut bytes: Bytes, desc: &TensorDesc) -> Result<Vec<u8>> {
    let element_type = desc.element_type();
    let (size, field) = (element_type.size(), field_of(element_type));
    let half = 1i128 << (8 * size - 1);
    let range = if element_type.is_signed_integer() { -half..half } else { 0..2 * half };
    let (mut all, mut misfit) = (Vec::new(), None);
    let mut one = |wire: WireType, from: &mut Bytes| {
        let number = number(field, wire, from).map_err(|e| bad(name, e))?;
        if misfit.is_none() && !range.contains(&number) {
            misfit = Some((all.len() / size, number));
        }
        all.try_reserve(size).map_err(|_| Error::host_memory(name))?;
        all.extend_from_slice(&number.to_le_bytes()[..size]);
        Ok(())
    };
    while bytes.has_remaining() {
        let (tag, wire) = decode_key(&mut bytes).map_err(|e| bad(name, e))?;
        if tag != field.1 {
            let skipped = skip_field(wire, tag, &mut bytes, DecodeContext::default());
            skipped.map_err(|e| bad(name, e))?;
        } else if wire == WireType::LengthDelimited {
            // The message is valid, so it has that many bytes.
            let len = decode_varint(&mut bytes).map_err(|e| bad(name, e))?;
            let mut packed = bytes.split_to(bytes.len().min(len as usize));
            let wire = match field {
                FLOAT_DATA => WireType::ThirtyTwoBit,
                DOUBLE_DATA => WireType::SixtyFourBit,
                _ => WireType::Varint,
            };
            while packed.has_remaining() {
                one(wire, &mut packed)?;
            }
        } else {
            one(wire, &mut bytes)?;
        }
    }
    let (expected, found) = (desc.len(), all.len() / size);
    if found != expected {
        let reason = format_args!("{desc} has {expected} elements, but {} holds {found}", field.0);
        return Err(bad(name, reason));
    }
    let Some((index, value)) = misfit else { return Ok(all) };
    let reason = format_args!("element {index} is {value}, which does not fit {element_type}");
    Err(bad(name, reason))
}

/// One number of a field: for a float, its bits.
fn number(field: Field, wire: WireType, from: &mut Bytes) -> Result<i128, DecodeError> {
    macro_rules! decoded {
        ($codec:ident) => {{
            let mut number = Default::default();
            $codec::merge(wire, &mut number, from, DecodeContext::default())?;
            number
        }};
    }
    Ok(match field {
        FLOAT_DATA => f32::to_bits(decoded!(float)).into(),
        DOUBLE_DATA => f64::to_bits(decoded!(double)).into(),
        INT64_DATA => decoded!(int64).into(),
        UINT64_DATA => decoded!(uint64).into(),
        _ => decoded!(int32).into(),
    })
}

/// The format's name in errors.
pub(super) const FORMAT: &str = "ONNX tensor";

pub(super) fn bad(name: &str, reason: impl Display) -> Error {
    bad_file(name, FORMAT, reason)
}
