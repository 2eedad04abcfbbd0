//! The operators of [ONNX](https://onnx.ai/onnx/operators/).
//!
//! A model names an opset. An operator has its newest version that is not newer than the opset:
//! opset 19 has ReduceMax-18, and all opsets from 20 have ReduceMax-20.

mod global_max_pool;
mod max_pool;
mod reduce_max;

pub use global_max_pool::GlobalMaxPool;
pub use max_pool::MaxPool;
pub use reduce_max::ReduceMax;

/// The version of an operator in an opset. `versions` must ascend.
fn newest(versions: &[u32], opset: u32) -> Option<u32> {
    versions.iter().copied().rfind(|&version| version <= opset)
}
