//! The operators of OpenVINO. Each operator has its own version.

mod adaptive_max_pool;
mod max_pool;
mod reduce_max;
mod scatter;
mod segment_max;

pub use adaptive_max_pool::AdaptiveMaxPool;
pub use max_pool::MaxPool;
pub use reduce_max::ReduceMax;
pub use scatter::{ScatterElementsUpdate, ScatterNDUpdate};
pub use segment_max::SegmentMax;

use super::attributes::Types;
use crate::tensor::ElementType;

/// The element types of all operators: all but `bool`.
const NUMBERS: Types = {
    use crate::tensor::ElementType::*;
    &[(1, &[F32, F64, F16, Bf16, I8, U8, I16, U16, I32, U32, I64, U64])]
};

/// The types that axes and indices may have.
const INTEGERS: [ElementType; 8] = {
    use ElementType::*;
    [I8, U8, I16, U16, I32, U32, I64, U64]
};
