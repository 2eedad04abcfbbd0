//! The elements of a `TensorProto` in its fields of numbers. They are decoded here and not by
//! prost, so that there is an error where memory runs out.

use std::fmt::Display;

use prost::DecodeError;
use prost::bytes::{Buf, Bytes};
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use prost::encoding::{double, float, int32, int64, uint64};

use crate::error::{Error, Result};
use crate::io::{bad_file, unsupported};
use crate::tensor::{TensorDesc, memory};

/// A field that holds elements: its name and its number.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Field(pub &'static str, pub u32);

pub(super) const FLOAT_DATA: Field = Field("float_data", 4);
pub(super) const INT32_DATA: Field = Field("int32_data", 5);
pub(super) const STRING_DATA: Field = Field("string_data", 6);
pub(super) const INT64_DATA: Field = Field("int64_data", 7);
pub(super) const DOUBLE_DATA: Field = Field("double_data", 10);
pub(super) const UINT64_DATA: Field = Field("uint64_data", 11);
/// The numbers of other fields that may hold any number of values.
const DIMS: u32 = 1;
const EXTERNAL_DATA: u32 = 13;
/// ONNX knows five.
const MAX_ENTRIES: usize = 64;
const ALL: [Field; 6] = [FLOAT_DATA, INT32_DATA, STRING_DATA, INT64_DATA, DOUBLE_DATA, UINT64_DATA];

/// The fields of a message that hold elements. A message with more dimensions than a tensor may
/// have, or more entries on external data than there are, is refused: call it before prost decodes
/// the message, which aborts where memory runs out.
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
        // A packed field without numbers is its length alone, a byte.
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

/// A type of numbers in messages.
pub(super) trait Number: Default {
    /// How one is encoded.
    const WIRE: WireType;
    fn merge(&mut self, wire: WireType, from: &mut Bytes) -> Result<(), DecodeError>;
}

macro_rules! number {
    ($type:ty, $wire:ident, $codec:ident) => {
        impl Number for $type {
            const WIRE: WireType = WireType::$wire;
            fn merge(&mut self, wire: WireType, from: &mut Bytes) -> Result<(), DecodeError> {
                $codec::merge(wire, self, from, DecodeContext::default())
            }
        }
    };
}
number!(f32, ThirtyTwoBit, float);
number!(f64, SixtyFourBit, double);
number!(i32, Varint, int32);
number!(i64, Varint, int64);
number!(u64, Varint, uint64);

/// The numbers of a field, packed or not.
pub(super) fn numbers<T: Number>(name: &str, mut bytes: Bytes, field: Field) -> Result<Vec<T>> {
    let bad = |e: DecodeError| bad(name, e);
    let mut all = Vec::new();
    let mut one = |wire: WireType, from: &mut Bytes| {
        let mut number = T::default();
        number.merge(wire, from).map_err(bad)?;
        memory::push(&mut all, number)
    };
    while bytes.has_remaining() {
        let (tag, wire) = decode_key(&mut bytes).map_err(bad)?;
        if tag != field.1 {
            skip_field(wire, tag, &mut bytes, DecodeContext::default()).map_err(bad)?;
        } else if wire == WireType::LengthDelimited {
            // The message is valid, so it has as many bytes.
            let len = decode_varint(&mut bytes).map_err(bad)?;
            let mut packed = bytes.split_to(bytes.len().min(len as usize));
            while packed.has_remaining() {
                one(T::WIRE, &mut packed)?;
            }
        } else {
            one(wire, &mut bytes)?;
        }
    }
    Ok(all)
}

/// The format's name in errors.
pub(super) const FORMAT: &str = "ONNX tensor";

pub(super) fn bad(name: &str, reason: impl Display) -> Error {
    bad_file(name, FORMAT, reason)
}
