//! The operators once more, from their definitions: a third opinion beside shader and twin.
//!
//! [`run`] shares no code with the kernels, knows no keys and no plans, and looks
//! at every element that a result depends on: what shader and twin both got wrong, it
//! still gets right. It is as slow as that sounds; [`cost`] tells beforehand.
//!
//! ```
//! use wgmax::operator::{Operator, ReduceMax};
//! use wgmax::{Device, Tensor, compare, oracle};
//!
//! let input = Tensor::from_slice([2, 3], &[1.0f32, 5.0, f32::NAN, -1.0, f32::NEG_INFINITY, -0.0])?;
//! let operator = Operator::from(ReduceMax::new().axes([-1]));
//! let expected = oracle::run(&operator, &[&input])?;
//! let found = operator.run(&Device::auto(), &[&input])?;
//! assert!(compare(&expected[0], &found[0])?.is_equal());
//! # Ok::<(), wgmax::Error>(())
//! ```

mod max_pool;
mod reduce_max;
mod segment_max;
mod value;

use crate::error::Result;
use crate::operator::Operator;
use crate::tensor::{ElementType, Tensor, TensorDesc};
use value::Best;

/// The results of an operator on tensors of any size.
///
/// # Errors
/// What the operator does not allow: as [`Operator::checked`] and [`Operator::infer`].
pub fn run(operator: &Operator, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
    // What is refused is not the oracle's business; all else it finds out by itself.
    infer(operator, inputs)?;
    match (operator, inputs) {
        (Operator::ReduceMax(op), [input]) => Ok(vec![reduce_max::run(op, input)?]),
        (Operator::MaxPool(op), [input]) => max_pool::run(op, input),
        (Operator::SegmentMax(op), [data, ids]) => segment_max::run(op, data, ids),
        _ => unreachable!("inferring counts the inputs"),
    }
}

/// How many elements [`run`] looks at, one by one; it does some ten million a second.
///
/// # Errors
/// As [`run`].
pub fn cost(operator: &Operator, inputs: &[&Tensor]) -> Result<u64> {
    let outputs = infer(operator, inputs)?;
    Ok(match operator {
        Operator::MaxPool(op) => {
            let taps = op.get_kernel().iter().map(|&k| k as u64);
            let looked_at = taps.fold(outputs[0].len() as u64, u64::saturating_mul);
            // Windows are counted by laying them along each axis.
            outputs[0].shape().iter().fold(looked_at, |sum, &size| sum.saturating_add(size as u64))
        }
        _ => (inputs[0].len() + outputs[0].len()) as u64,
    })
}

fn infer(operator: &Operator, inputs: &[&Tensor]) -> Result<Vec<TensorDesc>> {
    let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
    operator.checked(inputs)?.infer(&descs)
}

/// A tensor of the lowest bytes of each of these.
fn tensor(t: ElementType, shape: &[usize], bits: impl Iterator<Item = u64>) -> Result<Tensor> {
    let bytes: Vec<u8> =
        bits.flat_map(|bits| bits.to_le_bytes().into_iter().take(t.size())).collect();
    Tensor::from_bytes(t, shape, &bytes)
}

/// Where the element of this number is.
fn coordinates(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        at[axis] = number % shape[axis];
        number /= shape[axis];
    }
    at
}

/// The number of the element that is there.
fn flatten(at: &[usize], shape: &[usize]) -> usize {
    at.iter().zip(shape).fold(0, |flat, (&at, &size)| flat * size + at)
}
