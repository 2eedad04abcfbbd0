//! The gradient of MaxPool: for each window, in row-major order, adds to the element that it
//! selects.

use half::{bf16, f16};
use wgmax::internals::{filled, reserved};
use wgmax::operator::{MaxPoolBackward, Numbering, Operator};
use wgmax::{ElementType, Result, Tensor, TensorDesc};

use super::value::bits_at;
use super::{check_shape, max_pool, tensor};

pub(super) fn run(op: &MaxPoolBackward, first: &Tensor, gradient: &Tensor) -> Result<Tensor> {
    of(op, first, gradient, &op.infer([first.desc(), gradient.desc()])?[0])
}

/// The gradient of `data`.
fn of(
    op: &MaxPoolBackward,
    first: &Tensor,
    gradient: &Tensor,
    data: &TensorDesc,
) -> Result<Tensor> {
    let t = data.element_type();
    let mut sums = reserved(data.len())?;
    sums.resize(data.len(), 0);
    let is_saved = op.shape.is_some();
    let picked = if is_saved {
        saved(op, first, gradient, data)?
    } else {
        picked_by_data(op, first, gradient)?
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

/// The sum so far, in the bits of `f32` or `f64`, plus one more element.
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
    super::value::value(t, bits).map_or(super::value::quiet_nan(t), |_| bits)
}

/// The elements that the windows of data select: as many as there are gradients.
fn picked_by_data(
    op: &MaxPoolBackward,
    data: &Tensor,
    gradient: &Tensor,
) -> Result<Vec<Option<usize>>> {
    let (picked, shape) = max_pool::picked(&op.pool, data)?;
    check_shape(Operator::from(op).name(), 1, &shape, gradient)?;
    Ok(picked)
}

/// The elements that saved indices name; none for windows without elements.
fn saved(
    op: &MaxPoolBackward,
    indices: &Tensor,
    gradient: &Tensor,
    data: &TensorDesc,
) -> Result<Vec<Option<usize>>> {
    let counting = op.pool.indices.unwrap_or_default();
    debug_assert_ne!(counting.numbering, Numbering::ColumnMajor);
    // Which windows have elements does not depend on their values.
    let zeros = filled(data.clone(), |_| {})?;
    let picked = picked_by_data(op, &zeros, gradient)?;
    check_shape(Operator::from(op).name(), 0, gradient.shape(), indices)?;
    let axis = match counting.numbering {
        Numbering::FromAxis(axis) => axis.rem_euclid(data.rank() as i64),
        _ => 0,
    };
    let modulus = data.shape()[axis as usize..].iter().product::<usize>();
    let element = |(window, found): (usize, Option<usize>)| {
        // In the same sub-tensor as any element of the window.
        found.map(|picked| {
            (picked / modulus * modulus).wrapping_add(bits_at(indices, window) as usize)
        })
    };
    Ok(picked.into_iter().enumerate().map(element).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgmax::Error;
    use wgmax::operator::{Indices, MaxPool};

    /// The oracle checks the shape itself: it does not rely on the operator.
    #[test]
    fn a_gradient_of_another_shape_is_an_error() {
        let pool = MaxPool::new([2]).indices(Indices::default());
        let data = Tensor::from_slice([1, 1, 3], &[1f32, 2.0, 3.0]).unwrap();
        let gradient = |n: usize| Tensor::from_slice([1, 1, n], &vec![1f32; n]).unwrap();
        let indices = |n: usize| Tensor::from_slice([1, 1, n], &vec![1i64; n]).unwrap();
        let from_data = MaxPoolBackward::new(pool);
        let from_indices = from_data.clone().from_indices([1, 1, 3]);
        for n in [1, 3] {
            let found = of(&from_data, &data, &gradient(n), data.desc());
            assert!(matches!(found, Err(Error::WrongInput { position: 1, .. })), "{found:?}");
            let found = of(&from_indices, &indices(2), &gradient(n), data.desc());
            assert!(matches!(found, Err(Error::WrongInput { position: 1, .. })), "{found:?}");
            let found = of(&from_indices, &indices(n), &gradient(2), data.desc());
            assert!(matches!(found, Err(Error::WrongInput { position: 0, .. })), "{found:?}");
        }
        assert!(of(&from_data, &data, &gradient(2), data.desc()).is_ok());
        assert!(of(&from_indices, &indices(2), &gradient(2), data.desc()).is_ok());
    }
}
