//! Random elements, including special values.

use super::Random;
use crate::error::Result;
use crate::tensor::{ElementType, Tensor, TensorDesc};

/// The kind of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Random bits, and some special values.
    Any,
    /// Only special values: NaNs of both signs with several payloads, infinities, zeros,
    /// subnormals, and the largest and smallest numbers.
    Hard,
    /// Random bits without NaN.
    Numbers,
    /// Only the lowest element: minus infinity for floats.
    Lowest,
    /// Only NaN; special values for types without NaN.
    Nan,
}

impl Style {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Any, Self::Hard, Self::Numbers, Self::Lowest, Self::Nan];
}

/// A tensor of random elements of type `t`.
///
/// # Errors
/// [`Error::ShapeOverflow`](crate::Error::ShapeOverflow).
pub fn tensor(
    t: ElementType,
    shape: &[usize],
    style: Style,
    random: &mut Random,
) -> Result<Tensor> {
    let hard = hard_bits(t);
    let lowest = lowest_bits(t);
    Tensor::build(TensorDesc::new(t, shape)?, |bytes| {
        for element in bytes.chunks_exact_mut(t.size()) {
            let mut bits = match style {
                Style::Hard => random.pick(&hard),
                Style::Lowest => lowest,
                Style::Nan => random.pick(&hard[..hard.len().min(NANS)]),
                Style::Any if random.once_in(64) => random.pick(&hard),
                Style::Any | Style::Numbers => random.next(),
            };
            if t == ElementType::Bool {
                bits &= 1;
            }
            if style == Style::Numbers && is_nan(t, bits) {
                bits = 0;
            }
            element.copy_from_slice(&bits.to_le_bytes()[..t.size()]);
        }
        Ok(())
    })
}

/// The number of bits of a float type and of its fraction; `None` for other types.
fn float(t: ElementType) -> Option<(u32, u32)> {
    match t {
        ElementType::F32 => Some((32, 23)),
        ElementType::F64 => Some((64, 52)),
        ElementType::F16 => Some((16, 10)),
        ElementType::Bf16 => Some((16, 7)),
        _ => None,
    }
}

/// The bits of positive infinity, from the numbers of bits of the type and of its fraction.
fn infinity((bits, fraction): (u32, u32)) -> u64 {
    ((1 << (bits - 1)) - 1) >> fraction << fraction
}

fn is_nan(t: ElementType, bits: u64) -> bool {
    float(t).is_some_and(|float| bits & ((1 << (float.0 - 1)) - 1) > infinity(float))
}

/// The number of NaNs at the start of a float's special values.
const NANS: usize = 6;

/// The bits of a type's special values, NaNs first.
fn hard_bits(t: ElementType) -> Vec<u64> {
    if let Some(float) = float(t) {
        let (infinity, fraction) = (infinity(float), float.1);
        let sign = 1u64 << (float.0 - 1);
        let positive = [
            infinity + 1,
            infinity | 1 << (fraction - 1),
            sign - 1,
            infinity,
            infinity - 1,
            0,
            1,
            (1 << fraction) - 1,
            1 << fraction,
        ];
        return positive.into_iter().flat_map(|bits| [bits, bits | sign]).collect();
    }
    if t == ElementType::Bool {
        return vec![0, 1];
    }
    let all = u64::MAX >> (64 - 8 * t.size());
    vec![0, 1, all, all >> 1, (all >> 1) + 1, all - 1, all & 0xffff_ffff]
}

/// The bits of the lowest element of a type.
fn lowest_bits(t: ElementType) -> u64 {
    let sign = 1 << (8 * t.size() - 1);
    match (float(t), t) {
        (Some(float), _) => infinity(float) | sign,
        (None, ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::I64) => sign,
        _ => 0,
    }
}
