//! The gradient of MaxPool: for each window, in row-major order, adds to the element that it has
//! picked.

use half::{bf16, f16};

use super::value::bits_at;
use super::{max_pool, tensor};
use crate::error::Result;
use crate::operator::{Indices, MaxPoolBackward, Order};
use crate::tensor::{ElementType, Tensor, TensorDesc, memory};

pub(super) fn run(op: &MaxPoolBackward, first: &Tensor, gradient: &Tensor) -> Result<Tensor> {
    let data = op.infer(first.desc(), gradient.desc())?;
    let t = data.element_type();
    let mut sums = memory::reserved(data.len())?;
    sums.resize(data.len(), 0);
    let picked = match op.get_shape() {
        Some(_) => saved(op, first, &data)?,
        None => max_pool::picked(op.get_pool(), first)?,
    };
    for (window, element) in picked.into_iter().enumerate() {
        // Saved indices may be any numbers.
        if let Some(sum) = element.and_then(|element| sums.get_mut(element)) {
            *sum = add(t, *sum, bits_at(gradient, window));
        }
    }
    let results = sums.into_iter().map(|sum| match t {
        ElementType::F16 => f16::from_f32(f32::from_bits(sum as u32)).to_bits().into(),
        ElementType::Bf16 => bf16::from_f32(f32::from_bits(sum as u32)).to_bits().into(),
        _ => sum,
    });
    tensor(t, data.shape(), results.map(|bits| quiet(t, bits)))
}

/// The sum so far, in the bits of `f32` or `f64`, and one element more.
fn add(t: ElementType, sum: u64, bits: u64) -> u64 {
    let single = f32::from_bits(sum as u32);
    let wide = match t {
        ElementType::F64 => return (f64::from_bits(sum) + f64::from_bits(bits)).to_bits(),
        ElementType::F16 => f16::from_bits(bits as u16).to_f32(),
        ElementType::Bf16 => bf16::from_bits(bits as u16).to_f32(),
        _ => f32::from_bits(bits as u32),
    };
    (single + wide).to_bits().into()
}

/// The canonical NaN for any NaN.
fn quiet(t: ElementType, bits: u64) -> u64 {
    match super::value::value(t, bits) {
        None => super::value::quiet_nan(t),
        Some(_) => bits,
    }
}

/// The elements that saved indices name; none for windows without elements.
fn saved(op: &MaxPoolBackward, indices: &Tensor, data: &TensorDesc) -> Result<Vec<Option<usize>>> {
    let counting = op.get_pool().get_indices().unwrap_or_default();
    debug_assert_eq!(counting.order, Order::RowMajor);
    // Which windows have elements does not depend on these.
    let zeros = Tensor::filled(data.clone(), |_| {})?;
    let some = max_pool::picked(op.get_pool(), &zeros)?;
    let axis = Indices { axis: counting.axis.rem_euclid(data.rank() as i64), ..counting }.axis;
    let modulus = data.shape()[axis as usize..].iter().product::<usize>();
    let element = |(window, found): (usize, Option<usize>)| {
        // In the same sub-tensor as any element of the window.
        found.map(|some| (some / modulus * modulus).wrapping_add(bits_at(indices, window) as usize))
    };
    Ok(some.into_iter().enumerate().map(element).collect())
}
