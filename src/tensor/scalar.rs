//! One number, for an element of any type.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use half::{bf16, f16};

use super::ElementType;
use super::element::integer;
use crate::base::error::{Error, Result};

/// A number that becomes an element of the type of an operator's input, such as a
/// [`ReduceMax::initial`](crate::operator::ReduceMax::initial).
///
/// Made from a Rust number of up to 64 bits, from a `bool`, or from text (`"-1.5"`, `"nan"`, `"-inf"`), which
/// is also its form for serde. As an element of a float type it is rounded to the nearest; a finite number must
/// stay finite. As an element of an integer type it must be in range and have no fraction; as a `bool` it must
/// be 0 or 1.
///
/// ```
/// use wgmax::operator::{ReduceMax, Scalar};
/// use wgmax::{Device, Run, Tensor};
///
/// let input = Tensor::from_slice([2, 2], &[-5i8, -7, 3, 1])?;
/// let found = ReduceMax::new().axes([1]).initial(0).run(&Device::cpu(), &input)?;
/// assert_eq!(found[0].as_slice::<i8>()?, [0, 3]);
/// assert_eq!("0".parse::<Scalar>()?, Scalar::from(0));
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(into = "String", try_from = "String")
)]
pub struct Scalar(Value);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Value {
    Integer(i128),
    /// The bits of an `f64`.
    Float(u64),
}

impl Scalar {
    /// The bits of the element of this type.
    ///
    /// # Errors
    /// [`Error::InitialOutOfRange`] if the type has no such element, or a float type only infinity.
    pub(crate) fn bits(self, element_type: ElementType) -> Result<u64> {
        let error = || Error::InitialOutOfRange { value: self.to_string(), element_type };
        if element_type.is_float() {
            let bits = self.float_bits(element_type);
            return match self.is_finite() && is_infinite(bits, element_type) {
                true => Err(error()),
                false => Ok(bits),
            };
        }
        let whole = match self.0 {
            Value::Integer(value) => Some(value),
            // Saturates, so that a value out of range stays out of range.
            Value::Float(bits) => {
                let value = f64::from_bits(bits);
                (value.trunc() == value).then_some(value as i128)
            }
        };
        let fits = |value: &i128| match element_type {
            ElementType::Bool => (0..=1).contains(value),
            _ => integer(element_type, *value as u64 & mask(element_type)) == *value,
        };
        whole.filter(fits).map(|value| value as u64 & mask(element_type)).ok_or_else(error)
    }

    fn is_finite(self) -> bool {
        match self.0 {
            Value::Integer(_) => true,
            Value::Float(bits) => f64::from_bits(bits).is_finite(),
        }
    }

    /// The error of an initial value that is not allowed.
    pub(crate) fn refused(self, expected: &'static str) -> Error {
        bad(expected, self.to_string())
    }

    /// The number as an `f32`: exactly, or the neighbour whose last bit is 1. Rounding that to fewer bits gives
    /// the same result as rounding the number.
    fn odd(self) -> f32 {
        let (near, order) = match self.0 {
            Value::Integer(value) => {
                let near = value as f32;
                (near, (near as i128).unsigned_abs().cmp(&value.unsigned_abs()))
            }
            Value::Float(bits) => {
                let (wide, near) = (f64::from_bits(bits), f64::from_bits(bits) as f32);
                (near, f64::from(near).abs().partial_cmp(&wide.abs()).unwrap_or(Ordering::Equal))
            }
        };
        match order {
            Ordering::Equal => near,
            Ordering::Less => f32::from_bits(near.to_bits() | 1),
            Ordering::Greater => f32::from_bits((near.to_bits() - 1) | 1),
        }
    }

    fn float_bits(self, element_type: ElementType) -> u64 {
        let wide = match self.0 {
            Value::Integer(value) => value as f64,
            Value::Float(bits) => f64::from_bits(bits),
        };
        match (element_type, self.0) {
            (ElementType::F64, _) => wide.to_bits(),
            (ElementType::F16, _) => f16::from_f32(self.odd()).to_bits().into(),
            (ElementType::Bf16, _) => bf16::from_f32(self.odd()).to_bits().into(),
            (_, Value::Integer(value)) => (value as f32).to_bits().into(),
            (_, Value::Float(_)) => (wide as f32).to_bits().into(),
        }
    }
}

fn is_infinite(bits: u64, float: ElementType) -> bool {
    let infinity = match float {
        ElementType::F16 => f16::INFINITY.to_bits().into(),
        ElementType::Bf16 => bf16::INFINITY.to_bits().into(),
        ElementType::F64 => f64::INFINITY.to_bits(),
        _ => f32::INFINITY.to_bits().into(),
    };
    bits & (mask(float) >> 1) == infinity
}

/// A mask of the bits of an element.
fn mask(element_type: ElementType) -> u64 {
    u64::MAX >> (64 - 8 * element_type.size())
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Integer(value) => write!(f, "{value}"),
            Value::Float(bits) => write!(f, "{:?}", f64::from_bits(bits)),
        }
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Scalar {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        // -0 is not an integer.
        let integer = text.parse().map(Value::Integer).ok();
        let integer = integer.filter(|_| text != "-0");
        // A number of digits is finite.
        let float = || {
            let value: f64 = text.parse().ok()?;
            let is_beyond = value.is_infinite() && text.contains(|c: char| c.is_ascii_digit());
            (!is_beyond).then_some(Value::Float(value.to_bits()))
        };
        let truth = || text.parse().map(|value: bool| Value::Integer(value.into()));
        let number = integer.or_else(float).or_else(|| truth().ok());
        number.map(Self).ok_or_else(|| bad("a number", format!("{text:?}")))
    }
}

fn bad(expected: &'static str, value: String) -> Error {
    Error::BadAttribute { attribute: "initial", expected, value }
}

impl From<Scalar> for String {
    fn from(scalar: Scalar) -> Self {
        scalar.to_string()
    }
}

impl TryFrom<String> for Scalar {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

macro_rules! from_numbers {
    ($($rust:ty)*, $make:expr) => {$(
        impl From<$rust> for Scalar {
            fn from(value: $rust) -> Self {
                Self($make(value.into()))
            }
        }
    )*};
}

impl From<usize> for Scalar {
    fn from(value: usize) -> Self {
        Self(Value::Integer(value as i128))
    }
}

from_numbers!(i8 u8 i16 u16 i32 u32 i64 u64 bool, Value::Integer);
from_numbers!(f16 bf16 f32 f64, |value: f64| Value::Float(value.to_bits()));

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(scalar: impl Into<Scalar>, t: ElementType) -> Option<u64> {
        scalar.into().bits(t).ok()
    }

    #[test]
    fn integers_are_in_range() {
        use ElementType::{Bool, I8, I64, U8, U64};
        assert_eq!(bits(-1, I8), Some(0xff));
        assert_eq!(bits(-128, I8), Some(0x80));
        assert_eq!([bits(128, I8), bits(-129, I8), bits(-1, U8), bits(256, U8)], [None; 4]);
        assert_eq!(bits(u64::MAX, U64), Some(u64::MAX));
        assert_eq!(
            [bits(u64::MAX, I64), bits(-1, U64), bits(1e30, I64), bits(-1e30, U64)],
            [None; 4]
        );
        assert_eq!(bits(i64::MIN, I64), Some(1 << 63));
        assert_eq!(
            [bits(true, Bool), bits(false, U8), bits(1.0, Bool)],
            [Some(1), Some(0), Some(1)]
        );
        assert_eq!(
            [bits(2, Bool), bits(0.5, U8), bits(f32::NAN, I8), bits(f64::INFINITY, U64)],
            [None; 4]
        );
    }

    #[test]
    fn floats_are_rounded() {
        use ElementType::{Bf16, F16, F32, F64};
        assert_eq!(bits(16_777_217, F32), Some(16_777_216f32.to_bits().into()));
        assert_eq!(bits(0.1, F32), Some(0.1f32.to_bits().into()));
        assert_eq!(bits(-0.0, F64), Some(1 << 63));
        assert_eq!(bits(f16::from_f32(0.5), F16), Some(0x3800));
        assert_eq!([bits(65_519, F16), bits(f64::INFINITY, F16)], [Some(0x7bff), Some(0x7c00)]);
        // Finite numbers that only infinity is near to.
        assert_eq!([bits(65_520, F16), bits(-1e9, F16), bits(-1e99, F32)], [None; 3]);
        // Rounded once, from all bits: not first to 24 or 53 bits.
        let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-30);
        assert_eq!([bits(above, F16), bits(-above, F16)], [Some(0x3c01), Some(0xbc01)]);
        assert_eq!(bits(1.0 + 2f64.powi(-11), F16), Some(0x3c00));
        let above = (1u64 << 62) + (1 << 54) + 1;
        assert_eq!([bits(above, Bf16), bits(above - 1, Bf16)], [Some(0x5e81), Some(0x5e80)]);
        assert_eq!([bits(f64::MAX, Bf16), bits(1e-300, F16)], [None, Some(0)]);
        assert_eq!(bits(-1, Bf16), Some(0xbf80));
        assert!(f32::from_bits(bits(f64::NAN, F32).unwrap() as u32).is_nan());
    }

    #[test]
    fn texts_of_numbers_are_finite() {
        for text in ["1e400", "-1e309", "9".repeat(400).as_str()] {
            assert!(text.parse::<Scalar>().is_err(), "{text}");
        }
        let infinity: Scalar = "-inf".parse().unwrap();
        assert_eq!(infinity.bits(ElementType::F32).ok(), Some(0xff80_0000));
        let least: Scalar = i128::MIN.to_string().parse().unwrap();
        assert!(least.bits(ElementType::F16).is_err());
        assert_eq!(least.bits(ElementType::F32).ok(), Some(0xff00_0000));
    }

    #[test]
    fn text_gives_the_same_number() {
        let all =
            [1.into(), (-1.5).into(), f64::NEG_INFINITY.into(), i64::MIN.into(), 1e300.into()];
        for scalar in all {
            let scalar: Scalar = scalar;
            assert_eq!(scalar.to_string().parse::<Scalar>().unwrap(), scalar);
        }
        assert_eq!("-0".parse::<Scalar>().unwrap(), Scalar::from(-0.0));
        assert_eq!("true".parse::<Scalar>().unwrap(), Scalar::from(true));
        let error = "one".parse::<Scalar>().unwrap_err().to_string();
        assert_eq!(error, "attribute initial must be a number, but is \"one\"");
    }
}
