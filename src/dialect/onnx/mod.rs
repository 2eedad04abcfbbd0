//! The operators of [ONNX](https://onnx.ai/onnx/operators/).
//!
//! A model names an opset. The opset has the newest version of each operator that is not newer than
//! itself: opset 19 has ReduceMax-18, and opsets 20 to 28 have ReduceMax-20. Opset 28 is the newest
//! known one; later ones are [`Error::UnknownOpset`].

mod arg_max;
mod global_max_pool;
mod max_pool;
mod max_unpool;
mod reduce_max;
mod scatter;

pub use arg_max::ArgMax;
pub use global_max_pool::GlobalMaxPool;
pub use max_pool::MaxPool;
pub use max_unpool::MaxUnpool;
pub use reduce_max::ReduceMax;
pub use scatter::{ScatterElements, ScatterND};

use super::Dialect;
use super::attributes::{Name, Types};
use crate::base::error::{Error, Result};

/// The newest opset whose text this dialect follows. A later one may change operators.
const NEWEST_OPSET: u32 = 28;

/// The element types of operators that took only floats at first.
const FLOATS: Types = {
    use crate::tensor::ElementType::*;
    &[(1, &[F32, F64, F16]), (22, &[Bf16])]
};

/// An operator with its version in an opset. `versions` must ascend.
///
/// # Errors
/// [`Error::UnknownVersion`], [`Error::UnknownOpset`].
fn name(operator: &'static str, versions: &[u32], opset: u32) -> Result<Name> {
    if opset > NEWEST_OPSET {
        return Err(Error::UnknownOpset { opset, newest: NEWEST_OPSET });
    }
    let name = |version| Name { dialect: Dialect::Onnx, operator, version: Some(version) };
    match versions.iter().copied().rfind(|&version| version <= opset) {
        Some(version) => Ok(name(version)),
        None => Err(name(opset).unknown_version()),
    }
}
