//! The operators of oneDNN Graph, which have no versions.

mod max_pool;
mod reduce_max;

pub use max_pool::MaxPool;
pub use reduce_max::ReduceMax;
