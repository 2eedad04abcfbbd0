//! Rust types of elements.

use std::fmt;
use std::str::FromStr;

use half::{bf16, f16};

use crate::base::element_type::ElementType;
use crate::base::error::Error;

impl FromStr for ElementType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|t| t.name() == name)
            .ok_or_else(|| Error::UnknownElementType { name: name.to_string() })
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type of tensor elements.
///
/// It is implemented for the thirteen types of [`ElementType`] and cannot be implemented for
/// others. `f16` and `bf16` are the types of the crate `half`, version 2.
pub trait Element:
    bytemuck::NoUninit + bytemuck::CheckedBitPattern + fmt::Debug + Send + Sync + sealed::Sealed
{
    /// The element type of this Rust type.
    const TYPE: ElementType;
}

macro_rules! elements {
    ($($rust:ty => $variant:ident),* $(,)?) => {$(
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const TYPE: ElementType = ElementType::$variant;
        }
    )*};
}

elements! {
    f32 => F32, f64 => F64, f16 => F16, bf16 => Bf16,
    i8 => I8, u8 => U8, i16 => I16, u16 => U16,
    i32 => I32, u32 => U32, i64 => I64, u64 => U64,
    bool => Bool,
}

/// The bits of an element.
pub(crate) fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

/// The value of an element of an integer type.
pub(crate) fn integer(element_type: ElementType, bits: u64) -> i128 {
    let unused = 64 - 8 * element_type.size();
    match element_type.is_signed_integer() {
        true => ((bits << unused) as i64 >> unused).into(),
        false => bits.into(),
    }
}
