//! The operators of oneDNN Graph, which have no versions.

mod max_pool;
mod max_pool_backward;
mod reduce_max;

pub use max_pool::MaxPool;
pub use max_pool_backward::MaxPoolBackward;
pub use reduce_max::ReduceMax;

use super::attributes::Types;

/// The element types of all operators.
const FLOATS: Types = {
    use crate::tensor::ElementType::*;
    &[(0, &[F32, Bf16, F16])]
};
