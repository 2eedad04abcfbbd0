//! The operators of OpenVINO. Each operator has its own version.

mod max_pool;
mod reduce_max;
mod segment_max;

pub use max_pool::MaxPool;
pub use reduce_max::ReduceMax;
pub use segment_max::SegmentMax;
