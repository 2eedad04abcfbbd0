//! ONNX: operators by opset.
//!
//! A model names an opset, and an operator's version is the newest one that is
//! not newer than that: opset 19 has ReduceMax-18, and every opset from 20 on
//! ReduceMax-20.

mod global_max_pool;
mod max_pool;
mod reduce_max;

pub use global_max_pool::GlobalMaxPool;
pub use max_pool::MaxPool;
pub use reduce_max::ReduceMax;

/// The newest of an operator's versions, which ascend, in an opset.
fn newest(versions: &[u32], opset: u32) -> Option<u32> {
    versions.iter().copied().rfind(|&version| version <= opset)
}
