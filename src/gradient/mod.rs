//! Gradients: what the gradients of an operator's results are for its data.
//!
//! A maximum passes its gradient on to the first of the elements that it is equal to. Where several
//! maxima are one element, their gradients are added (`pool.rs`), in an order that is defined, with
//! one rounding of each sum: so every device gives the same bits. Where none are, gradients are
//! stored where the positions of the maxima say (`places.rs`), as are the values of MaxUnpool.

mod max_pool;
mod max_unpool;
mod places;
mod pool;
mod reduce_max;
mod scatter;
mod segment_max;
mod sum;
mod tile;

pub use max_pool::MaxPoolBackward;
pub use max_unpool::MaxUnpool;
pub use reduce_max::ReduceMaxBackward;
pub use segment_max::SegmentMaxBackward;

use crate::error::{Error, Result};
use crate::plan::Kernel;
use crate::tensor::TensorDesc;

/// The kernels of this room.
pub(crate) static KERNELS: [&Kernel; 5] =
    [&pool::POOL, &tile::TILE, &scatter::SCATTER, &scatter::UNPOOL, &scatter::CLAIM];

/// Refuses gradients of another type than data has, and types that have none.
///
/// # Errors
/// [`Error::WrongElementType`].
fn check_type(gradient: &TensorDesc) -> Result<()> {
    match gradient.element_type().is_float() {
        true => Ok(()),
        false => Err(Error::WrongElementType {
            what: "the gradient",
            expected: "f32, f64, f16 or bf16".to_string(),
            actual: gradient.element_type(),
        }),
    }
}

/// Refuses an input that is not of a type and shape.
///
/// # Errors
/// [`Error::WrongInput`].
fn check_input(
    operator: &'static str,
    position: usize,
    expected: &TensorDesc,
    actual: &TensorDesc,
) -> Result<()> {
    if expected == actual {
        return Ok(());
    }
    Err(Error::WrongInput {
        of: operator,
        position,
        expected_type: expected.element_type(),
        expected_shape: expected.shape().to_vec(),
        actual_type: actual.element_type(),
        actual_shape: actual.shape().to_vec(),
    })
}
