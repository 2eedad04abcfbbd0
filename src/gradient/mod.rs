//! Gradients of operators with respect to their data.
//!
//! A maximum passes its gradient on to the first of the elements that equal it. If several maxima
//! are one element, their gradients are added in a defined order, with a defined rounding: so every
//! device gives the same bits. For poolings, one launch finds the maxima and adds (`tile.rs`), or a
//! launch adds at given indices (`pool.rs`). Gradients that are not added are stored at the
//! positions of the maxima (`places.rs`), and so are the values of MaxUnpool.

mod max_pool;
mod max_unpool;
mod params;
mod places;
mod pool;
mod reduce_max;
mod scatter;
mod scatter_max;
mod segment_max;
mod span;
mod sum;
mod tile;

pub(crate) use pool::{HARDWARE, SpecialLaunch, Tuning, Windows, run_sums};

pub use max_pool::MaxPoolBackward;
pub use max_unpool::MaxUnpool;
pub use reduce_max::ReduceMaxBackward;
pub use scatter_max::ScatterMaxBackward;
pub use segment_max::SegmentMaxBackward;

use crate::base::error::{Error, Result};
use crate::plan::Kernel;
use crate::tensor::{ElementType, Indices, Scalar, TensorDesc, check_input};

/// The kernels of this module.
pub(crate) static KERNELS: [&Kernel; 5] =
    [&pool::POOL, &tile::TILE, &scatter::SCATTER, &scatter::UNPOOL, &scatter::CLAIM];

/// Refuses tensors of integers.
///
/// # Errors
/// [`Error::WrongElementType`].
fn check_float(what: &'static str, desc: &TensorDesc) -> Result<()> {
    check_type(what, "f32, f64, f16 or bf16", desc, ElementType::is_float)
}

/// Refuses tensors of unexpected types.
///
/// # Errors
/// [`Error::WrongElementType`].
fn check_type(
    what: &'static str,
    expected: &str,
    desc: &TensorDesc,
    is_expected: impl Fn(ElementType) -> bool,
) -> Result<()> {
    let (expected, actual) = (expected.to_string(), desc.element_type());
    if is_expected(actual) {
        return Ok(());
    }
    Err(Error::WrongElementType { what, expected, actual })
}

/// The data of a gradient: the first input or, if that is indices, a tensor of the given shape.
///
/// # Errors
/// [`Error::WrongElementType`] for integers, [`Error::ShapeOverflow`], [`Error::BadAttribute`] for an operator
/// with an initial value, which has no position.
fn data_of(
    initial: Option<Scalar>,
    first: &TensorDesc,
    shape: Option<&[usize]>,
    gradient: &TensorDesc,
) -> Result<TensorDesc> {
    if let Some(initial) = initial {
        return Err(initial.refused("absent for a gradient"));
    }
    if shape.is_none() {
        check_float("the data", first)?;
    }
    check_float("the gradient", gradient)?;
    match shape {
        None => Ok(first.clone()),
        Some(shape) => TensorDesc::new(gradient.element_type(), shape),
    }
}

/// Refuses indices, the first input, of an unexpected type, or of another shape than the gradient;
/// types other than `i32` and `i64`; and `i32` for sets of more elements than it can number.
///
/// # Errors
/// [`Error::BadAttribute`], [`Error::IndexTooLarge`], [`Error::WrongInput`].
fn check_indices(
    operator: &'static str,
    expected: Indices,
    elements: usize,
    indices: &TensorDesc,
    gradient: &TensorDesc,
) -> Result<()> {
    expected.check_type(elements as u64)?;
    check_input(operator, 0, &TensorDesc::new(expected.element_type, gradient.shape())?, indices)
}

/// The type of this many positions: 32 bits if they are enough.
fn position_type(positions: u64) -> ElementType {
    if positions <= i32::MAX as u64 { ElementType::I32 } else { ElementType::I64 }
}
