//! Elements as numbers, and the maximum or minimum of a set of them.

use half::{bf16, f16};
use wgmax::operator::EmptySet;
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
pub(super) fn bits_at(tensor: &Tensor, index: usize) -> u64 {
    let size = tensor.element_type().size();
    let mut bits = [0; 8];
    bits[..size].copy_from_slice(&tensor.bytes()[index * size..][..size]);
    u64::from_le_bytes(bits)
}

/// Whether `a` is above `b` if only the maximum is wanted: +0 is above -0.
fn greater(a: Value, b: Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) if a == 0.0 && b == 0.0 => {
            !a.is_sign_negative() && b.is_sign_negative()
        }
        _ => a > b,
    }
}

pub(super) fn quiet_nan(t: ElementType) -> u64 {
    match t {
        ElementType::F32 => 0x7fc0_0000,
        ElementType::F64 => 0x7ff8_0000_0000_0000,
        ElementType::F16 => 0x7e00,
        _ => 0x7fc0,
    }
}

/// The bits of the maximum of an empty set, or of the minimum.
pub(crate) fn empty_bits(t: ElementType, empty: EmptySet, extremum: Extremum) -> u64 {
    let infinite = empty == EmptySet::NegativeInfinity;
    if extremum == Extremum::Minimum {
        return match t {
            ElementType::F32 if infinite => 0x7f80_0000,
            ElementType::F64 if infinite => 0x7ff0_0000_0000_0000,
            ElementType::F16 if infinite => 0x7c00,
            ElementType::Bf16 if infinite => 0x7f80,
            ElementType::F32 => 0x7f7f_ffff,
            ElementType::F64 => 0x7fef_ffff_ffff_ffff,
            ElementType::F16 => 0x7bff,
            ElementType::Bf16 => 0x7f7f,
            ElementType::I8 => 0x7f,
            ElementType::I16 => 0x7fff,
            ElementType::I32 => 0x7fff_ffff,
            ElementType::I64 => i64::MAX as u64,
            ElementType::U8 => 0xff,
            ElementType::U16 => 0xffff,
            ElementType::U32 => 0xffff_ffff,
            ElementType::U64 => u64::MAX,
            ElementType::Bool => 1,
        };
    }
    match t {
        ElementType::F32 if infinite => 0xff80_0000,
        ElementType::F64 if infinite => 0xfff0_0000_0000_0000,
        ElementType::F16 if infinite => 0xfc00,
        ElementType::Bf16 if infinite => 0xff80,
        ElementType::F32 => 0xff7f_ffff,
        ElementType::F64 => 0xffef_ffff_ffff_ffff,
        ElementType::F16 => 0xfbff,
        ElementType::Bf16 => 0xff7f,
        ElementType::I8 => 0x80,
        ElementType::I16 => 0x8000,
        ElementType::I32 => 0x8000_0000,
        ElementType::I64 => 1 << 63,
        _ => 0,
    }
}

/// The maximum of the elements added so far, or the minimum.
#[derive(Clone, Copy)]
pub(super) struct Best {
    extremum: Extremum,
    /// Whether the position is that of the last element of equal ones.
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
    /// whether the operator gives indices. Then the first zero wins, otherwise +0 is the larger one.
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
