//! Random tensors that depend only on a seed and a name.

use wgmax::operator::{Operator, ScatterBy};
use wgmax::{ElementType, Tensor, TensorDesc};
use wgmax_verify::Random;

/// A tensor of finite elements of any magnitude, subnormals included.
///
/// # Errors
/// If there is no memory for the tensor.
pub fn tensor(desc: &TensorDesc, seed: u64, name: &str) -> anyhow::Result<Tensor> {
    let size = desc.element_type().size();
    // FNV-1a, because names often differ only in their last letters.
    let hash = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let mut random = Random(name.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325 ^ seed, hash));
    let fill = |bytes: &mut [u8]| {
        for element in bytes.chunks_exact_mut(size) {
            let bits = finite(desc.element_type(), random.next()).to_le_bytes();
            element.copy_from_slice(&bits[..size]);
        }
    };
    // A hostile model may need more memory than the machine has.
    let made = wgmax::internals::filled(desc.clone(), fill);
    made.map_err(|_| anyhow::anyhow!("there is no memory for {desc}"))
}

/// How many elements the indices of an operator's input may name; `None` if the input is no indices.
pub fn indexed(operator: &Operator, inputs: &[TensorDesc], input: usize) -> Option<usize> {
    let shape = inputs[0].shape();
    match operator {
        Operator::MaxUnpool(op) if input == 1 => Some(op.indices_within.iter().product()),
        Operator::ScatterMax(op) if input == 1 => match op.by {
            ScatterBy::Axis(axis) => Some(shape[axis.rem_euclid(shape.len() as i64) as usize]),
            // The smallest of the axes that a vector is along.
            ScatterBy::Vectors => {
                shape.iter().take(*inputs[1].shape().last()?).min().copied().or(Some(1))
            }
        },
        _ => None,
    }
}

/// Random indices below a number.
///
/// # Errors
/// If they are neither of type i64 nor i32.
pub fn below(indices: &Tensor, elements: usize) -> wgmax::Result<Tensor> {
    let below = |index: i64| index.rem_euclid(elements.max(1) as i64);
    if indices.element_type() == ElementType::I32 {
        let of = indices.as_slice::<i32>()?.iter();
        let indices_below: Vec<i32> = of.map(|&index| below(index.into()) as i32).collect();
        return Tensor::from_slice(indices.shape(), &indices_below);
    }
    let of = indices.as_slice::<i64>()?.iter();
    let indices_below: Vec<i64> = of.map(|&index| below(index)).collect();
    Tensor::from_slice(indices.shape(), &indices_below)
}

/// The bits of an element that is neither infinite nor NaN, made from random bits.
fn finite(element_type: ElementType, bits: u64) -> u64 {
    let exponent: u64 = match element_type {
        ElementType::F32 => 0x7f80_0000,
        ElementType::F64 => 0x7ff0_0000_0000_0000,
        ElementType::F16 => 0x7c00,
        ElementType::Bf16 => 0x7f80,
        ElementType::Bool => return bits & 1,
        _ => return bits,
    };
    let lowest_bit = exponent & exponent.wrapping_neg();
    if bits & exponent == exponent { bits ^ lowest_bit } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_finite_and_depend_on_seed_and_name() {
        for element_type in ElementType::ALL {
            let desc = TensorDesc::new(element_type, [300, 7]).unwrap();
            let make = |seed, name| tensor(&desc, seed, name).unwrap();
            let a = make(1, "x");
            assert_eq!(a.bytes(), make(1, "x").bytes());
            assert_ne!(a.bytes(), make(2, "x").bytes());
            assert_ne!(a.bytes(), make(1, "y").bytes());
            if element_type == ElementType::F16 {
                assert!(a.as_slice::<half::f16>().unwrap().iter().all(|v| v.is_finite()));
            }
            if element_type == ElementType::F32 {
                assert!(a.as_slice::<f32>().unwrap().iter().all(|v| v.is_finite()));
            }
        }
    }

    #[test]
    fn too_large_tensors_are_errors() {
        let desc = TensorDesc::new(ElementType::F64, [usize::MAX >> 6]).unwrap();
        assert!(tensor(&desc, 1, "x").unwrap_err().to_string().contains("no memory"));
    }
}
