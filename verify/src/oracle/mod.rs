//! The operators computed directly from their definitions: an independent check of shaders and CPU
//! kernels.
//!
//! [`run`] shares no code with the kernels and uses neither keys nor plans, so it finds errors that
//! shaders and CPU kernels have in common. It reads every element of every set one by one, which is
//! slow; [`cost`] estimates how slow.
//!
//! ```
//! use wgmax::operator::{Operator, ReduceMax};
//! use wgmax::{Device, Run, Tensor, compare};
//! use wgmax_verify::oracle;
//!
//! let elements = [1.0f32, 5.0, f32::NAN, -1.0, f32::NEG_INFINITY, -0.0];
//! let input = Tensor::from_slice([2, 3], &elements)?;
//! let operator = Operator::from(ReduceMax::new().axes([-1]));
//! let expected = oracle::run(&operator, &[&input])?;
//! let found = operator.run(&Device::auto()?, &input)?;
//! assert!(compare(&expected[0], &found[0])?.is_equal());
//! # Ok::<(), wgmax::Error>(())
//! ```

mod max_pool;
mod max_pool_backward;
mod reduce_max;
mod scatter;
mod scatter_max;
mod segment_max;
mod sets;
mod value;

use wgmax::internals::filled;
use wgmax::operator::{MaxPool, Operator};
use wgmax::{ElementType, Error, Outputs, Result, Tensor, TensorDesc};

pub(crate) use max_pool::{axes, first_spatial};
pub use reduce_max::reduced;
pub use scatter_max::winners;
pub use segment_max::{id, status};
pub use sets::sets;
use value::Best;
pub(crate) use value::{Value, empty_bits, float, infinity, value};
pub use value::{bits_at, scalar_bits};

/// Computes the results of an operator.
///
/// # Errors
/// As [`Operator::checked`] and [`Operator::infer`], and [`Error::OutOfMemory`]; [`Error::WrongInput`]
/// for a gradient of another shape than the oracle finds for the results.
pub fn run(operator: &Operator, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
    // Only the checks of the inputs are shared with the operators.
    infer(operator, inputs)?;
    match (operator, inputs) {
        (Operator::ReduceMax(op), [input]) => reduce_max::run(op, input),
        (Operator::MaxPool(op), [input]) => max_pool::run(op, input),
        (Operator::SegmentMax(op), [data, ids]) => segment_max::run(op, data, ids),
        (Operator::ScatterMax(op), [data, indices, updates]) => {
            scatter_max::run(op, data, indices, updates)
        }
        (Operator::MaxPoolBackward(op), [first, gradient]) => {
            Ok(vec![max_pool_backward::run(op, first, gradient)?])
        }
        (Operator::ReduceMaxBackward(op), [first, gradient]) => {
            Ok(vec![scatter::reduce(op, first, gradient)?])
        }
        (Operator::SegmentMaxBackward(op), inputs) => Ok(vec![scatter::segment(op, inputs)?]),
        (Operator::ScatterMaxBackward(op), inputs) => scatter_max::backward(op, inputs),
        (Operator::MaxUnpool(op), [values, indices]) => {
            Ok(vec![scatter::unpool(op, values, indices)?])
        }
        _ => unreachable!("`infer` checks the number of inputs"),
    }
}

/// The number of elements that [`run`] reads of inputs of these types and shapes; it reads about
/// ten million per second.
///
/// # Errors
/// As [`Operator::infer`].
pub fn cost(operator: &Operator, inputs: &[&TensorDesc]) -> Result<u64> {
    let outputs = operator.infer(inputs)?;
    let windows = |op: &MaxPool, data: &TensorDesc, results: &TensorDesc| {
        let taps = axes(op, data.shape()).into_iter().map(|axis| axis.kernel as u64);
        let reads = taps.fold(results.len() as u64, u64::saturating_mul);
        // The oracle also steps through the windows of each axis to count them.
        results.shape().iter().fold(reads, |sum, &size| sum.saturating_add(size as u64))
    };
    Ok(match operator {
        Operator::MaxPool(op) => windows(op, inputs[0], &outputs[0]),
        Operator::MaxPoolBackward(op) => windows(&op.pool, &outputs[0], inputs[1]),
        _ => inputs.iter().copied().chain(&outputs[..1]).map(|desc| desc.len() as u64).sum(),
    })
}

fn infer(operator: &Operator, inputs: &[&Tensor]) -> Result<Outputs<TensorDesc>> {
    let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
    match operator {
        // An index that names no element drops its update.
        Operator::ScatterMax(op) => op.infer(&descs),
        Operator::ScatterMaxBackward(op) => op.infer(&descs),
        operator => operator.checked(inputs)?.infer(&descs),
    }
}

/// Refuses an input that has another shape than the oracle finds for it, whatever
/// [`Operator::infer`] says.
///
/// # Errors
/// [`Error::WrongInput`].
fn check_shape(of: &'static str, position: usize, shape: &[usize], input: &Tensor) -> Result<()> {
    if input.shape() == shape {
        return Ok(());
    }
    let actual_type = input.element_type();
    Err(Error::WrongInput {
        of,
        position,
        expected_type: actual_type,
        expected_shape: shape.to_vec(),
        actual_type,
        actual_shape: input.shape().to_vec(),
    })
}

/// A tensor of elements with these bits. The low ones are used.
pub(crate) fn tensor(
    t: ElementType,
    shape: &[usize],
    bits: impl Iterator<Item = u64>,
) -> Result<Tensor> {
    filled(TensorDesc::new(t, shape)?, |bytes| {
        for (element, bits) in bytes.chunks_exact_mut(t.size()).zip(bits) {
            element.copy_from_slice(&bits.to_le_bytes()[..t.size()]);
        }
    })
}

/// The coordinates of an element from its position in row-major order.
pub fn coordinates(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        at[axis] = number % shape[axis];
        number /= shape[axis];
    }
    at
}

/// The position of an element in row-major order from its coordinates.
fn flatten(at: &[usize], shape: &[usize]) -> usize {
    at.iter().zip(shape).fold(0, |flat, (&at, &size)| flat * size + at)
}
