//! The thirteen element types.

use std::fmt;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "lowercase")
)]
#[non_exhaustive]
pub enum ElementType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: the upper 16 bits of a binary32.
    Bf16,
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 16-bit integer.
    U16,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 64-bit integer.
    U64,
    /// One byte, 0 or 1; false is less than true.
    Bool,
}

// Tables by element type are in the order of `ALL`: a type's number is its index.
const _: () = {
    let mut i = 0;
    while i < ElementType::ALL.len() {
        assert!(ElementType::ALL[i] as usize == i);
        i += 1;
    }
};

impl ElementType {
    /// All thirteen types, floats first.
    pub const ALL: [Self; 13] = {
        use ElementType::*;
        [F32, F64, F16, Bf16, I8, U8, I16, U16, I32, U32, I64, U64, Bool]
    };

    /// The names, in the order of [`ElementType::ALL`].
    const NAMES: [&'static str; ElementType::ALL.len()] =
        ["f32", "f64", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool"];

    /// The type whose entry in a table is `value`. The table is in the order of [`ElementType::ALL`].
    #[cfg(feature = "io")]
    pub(crate) fn of<T: PartialEq>(table: &[T; ElementType::ALL.len()], value: &T) -> Option<Self> {
        table.iter().position(|known| known == value).map(|at| Self::ALL[at])
    }

    /// The size of an element in bytes: 1, 2, 4 or 8.
    pub const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    /// Whether the type is a floating-point type, with infinities and NaN.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64 | Self::F16 | Self::Bf16)
    }

    /// Whether the type is an integer (`bool` is not).
    pub const fn is_integer(self) -> bool {
        !self.is_float() && !matches!(self, Self::Bool)
    }

    /// Whether the type is an integer with a sign.
    pub(crate) const fn is_signed_integer(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The name: `f32`, `bf16`, `u8`, `bool`, ...
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
