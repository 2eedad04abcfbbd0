//! Elements as numbers, and the maximum or minimum of a set of them.

use half::{bf16, f16};
use wgmax::operator::{EmptySet, Scalar};
use wgmax::{ElementType, Extremum, Nan, Tensor};

/// The value of an element, which Rust's own comparison orders. The oracle must not use keys.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum Value {
    Int(i128),
    Float(f64),
}

/// The value of an element's bits; `None` for NaN.
pub(crate) fn value(t: ElementType, bits: u64) -> Option<Value> {
    let float = |v: f64| (!v.is_nan()).then_some(Value::Float(v));
    match t {
        ElementType::F32 => float(f32::from_bits(bits as u32).into()),
        ElementType::F64 => float(f64::from_bits(bits)),
        ElementType::F16 => float(f16::from_bits(bits as u16).to_f64()),
        ElementType::Bf16 => float(bf16::from_bits(bits as u16).to_f64()),
        ElementType::I8 => Some(Value::Int((bits as u8 as i8).into())),
        ElementType::I16 => Some(Value::Int((bits as u16 as i16).into())),
        ElementType::I32 => Some(Value::Int((bits as u32 as i32).into())),
        ElementType::I64 => Some(Value::Int((bits as i64).into())),
        _ => Some(Value::Int((bits & (u64::MAX >> (64 - t.size() * 8))).into())),
    }
}

/// The bits of an element, zero-extended.
pub fn bits_at(tensor: &Tensor, index: usize) -> u64 {
    let size = tensor.element_type().size();
    let mut bits = [0; 8];
    bits[..size].copy_from_slice(&tensor.bytes()[index * size..][..size]);
    u64::from_le_bytes(bits)
}

/// Whether `a` is above `b` without positions: +0 is above -0.
fn greater(a: Value, b: Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) if a == 0.0 && b == 0.0 => {
            !a.is_sign_negative() && b.is_sign_negative()
        }
        _ => a > b,
    }
}

/// The bits of a float type and of its fraction; `None` for other types.
pub(crate) fn float(t: ElementType) -> Option<(u32, u32)> {
    match t {
        ElementType::F32 => Some((32, 23)),
        ElementType::F64 => Some((64, 52)),
        ElementType::F16 => Some((16, 10)),
        ElementType::Bf16 => Some((16, 7)),
        _ => None,
    }
}

/// The bits of positive infinity, from the numbers of bits of the type and of its fraction.
pub(crate) fn infinity((bits, fraction): (u32, u32)) -> u64 {
    ((1 << (bits - 1)) - 1) >> fraction << fraction
}

pub(super) fn quiet_nan(t: ElementType) -> u64 {
    float(t).map_or(0, |float| infinity(float) | 1 << (float.1 - 1))
}

/// The bits of the maximum of an empty set, or of the minimum.
pub(crate) fn empty_bits(t: ElementType, empty: EmptySet, extremum: Extremum) -> u64 {
    if empty == EmptySet::Zero {
        return 0;
    }
    let sign = 1u64 << (8 * t.size() - 1);
    let is_maximum = extremum == Extremum::Maximum;
    match (t, float(t)) {
        (_, Some(float)) => {
            let finite = u64::from(empty != EmptySet::Identity);
            (infinity(float) - finite) | if is_maximum { sign } else { 0 }
        }
        (ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::I64, _) => {
            if is_maximum {
                sign
            } else {
                sign - 1
            }
        }
        _ if is_maximum => 0,
        (ElementType::Bool, _) => 1,
        _ => sign | (sign - 1),
    }
}

/// The bits of a number as an element, zero-extended.
pub fn scalar_bits(t: ElementType, scalar: Scalar) -> u64 {
    let text = scalar.to_string();
    let float = || text.parse::<f64>().expect("a number");
    // `half` ignores the lower half of the bits, or rounds to `f32` first. One bit stands for all that are not 0.
    let short = || {
        let (upper, lower) = (float().to_bits() >> 32, float().to_bits() as u32);
        f64::from_bits((upper | u64::from(lower != 0)) << 32)
    };
    match t {
        ElementType::F32 => (float() as f32).to_bits().into(),
        ElementType::F64 => float().to_bits(),
        ElementType::F16 => f16::from_f64(short()).to_bits().into(),
        ElementType::Bf16 => bf16::from_f64(short()).to_bits().into(),
        _ => {
            let value = text.parse().unwrap_or_else(|_| float() as i128);
            value as u64 & (u64::MAX >> (64 - 8 * t.size()))
        }
    }
}

/// The maximum of the elements added so far, or the minimum.
#[derive(Clone, Copy)]
pub(super) struct Best {
    extremum: Extremum,
    /// Whether the position of the last of equal elements counts.
    last: bool,
    /// The largest or smallest element, with +0 above -0.
    best: Option<(Value, u64)>,
    /// The first or last of them and its position, with +0 and -0 equal.
    first: Option<(Value, u64, usize)>,
    /// The position of the first or last NaN.
    nan: Option<usize>,
}

impl Best {
    pub(super) fn new(extremum: Extremum) -> Self {
        Self { extremum, last: false, best: None, first: None, nan: None }
    }

    /// The same with the position of the last of equal elements, or the first.
    pub(super) fn last(self, last: bool) -> Self {
        Self { last, ..self }
    }

    /// Adds an initial value, if there is one, which has no position.
    pub(super) fn joined_by(mut self, t: ElementType, initial: Option<Scalar>) -> Self {
        if let Some(initial) = initial {
            self.add(t, scalar_bits(t, initial), 0);
        }
        self
    }

    /// Adds an element. Positions must ascend.
    pub(super) fn add(&mut self, t: ElementType, bits: u64, position: usize) {
        let Some(v) = value(t, bits) else {
            self.nan = if self.last { Some(position) } else { self.nan.or(Some(position)) };
            return;
        };
        let replaces = |best: Value| match self.extremum {
            Extremum::Maximum => (greater(v, best), v > best),
            Extremum::Minimum => (greater(best, v), v < best),
        };
        if self.best.is_none_or(|(best, _)| replaces(best).0) {
            self.best = Some((v, bits));
        }
        if self.first.is_none_or(|(best, ..)| replaces(best).1 || (self.last && v == best)) {
            self.first = Some((v, bits, position));
        }
    }

    /// The bits of the maximum or minimum and its position; `None` for an empty set. `indexed`:
    /// whether the operator returns indices. Then the first zero wins; otherwise +0 is larger.
    pub(super) fn found(&self, t: ElementType, nan: Nan, indexed: bool) -> Option<(u64, usize)> {
        match (self.nan, self.best, self.first) {
            (Some(at), best, _) if nan == Nan::Propagate || best.is_none() => {
                Some((quiet_nan(t), at))
            }
            (_, Some((_, best)), Some((_, first, at))) => {
                Some((if indexed { first } else { best }, at))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of many bits are rounded once.
    #[test]
    fn scalars_are_the_nearest_elements() {
        let bits = |t, x: f64| scalar_bits(t, x.into());
        let above = 2f64.powi(-40);
        for (t, digits, one) in [(ElementType::F16, 10, 0x3c00), (ElementType::Bf16, 7, 0x3f80)] {
            let half = 1.0 + 2f64.powi(-digits - 1);
            let found = [half - above, half, half + above].map(|x| bits(t, x));
            assert_eq!(found, [one, one, one + 1], "{t}");
        }
        assert_eq!(bits(ElementType::F16, f64::NAN) & 0x7fff, 0x7e00);
    }
}
