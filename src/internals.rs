//! Items that only the other packages of this project use. Any version may change them: those packages
//! depend on exactly one version.

pub use crate::base::threads::simulated;
pub use crate::plan::divisor;
pub use crate::tensor::compare::{each_difference, element_texts};
pub use crate::tensor::memory::{collected, push, repeated, reserved};
pub use crate::tensor::zeroed;
pub use crate::vector::{Extension, Loop, dispatch_up_to as vectorised_up_to, limit_extension};

use std::borrow::Cow;

use crate::base::error::Result;
use crate::operator::SegmentMax;
use crate::plan::{Kernel, Plan, Shader};
use crate::tensor::{ElementType, Tensor, TensorDesc, View};
use crate::tuning::software;

/// The element type of a number of ONNX's `TensorProto.DataType`, if the library supports it.
#[cfg(feature = "io")]
pub fn supported_type(code: i32) -> Option<ElementType> {
    crate::io::onnx::supported_type(code)
}

/// The operator whose only work is the status of ids or offsets, and its data: `rows` rows without elements.
///
/// # Errors
/// [`Error::ShapeOverflow`](crate::Error::ShapeOverflow).
pub fn status_alone(operator: &SegmentMax, rows: usize) -> Result<(SegmentMax, Tensor)> {
    let mut operator = operator.clone().indices(None).status(true);
    operator.initial = None;
    Ok((operator, Tensor::from_bytes(ElementType::U8, [rows, 0], &[])?))
}

/// The kernels that only plans for software adapters have.
pub fn software_kernels() -> impl Iterator<Item = &'static Kernel> {
    software::kernels()
}

/// Whether a kernel has a variant for an element type. Bit i of `flags` stands for its i-th flag.
pub fn has_variant(kernel: &Kernel, element_type: ElementType, flags: u8) -> bool {
    (kernel.has)(element_type, flags)
}

/// The flags of a shader's variant.
pub fn variant(shader: &Shader) -> u8 {
    shader.flags
}

/// The views of a plan's inputs, then of its results.
pub fn views(plan: &Plan) -> impl Iterator<Item = Cow<'_, View>> {
    plan.views()
}

/// A tensor whose bytes `fill` writes; they are zero before.
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn filled(desc: TensorDesc, fill: impl FnOnce(&mut [u8])) -> Result<Tensor> {
    Tensor::filled(desc, fill)
}
