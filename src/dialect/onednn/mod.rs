//! The operators of oneDNN Graph, which have no versions.

mod max_pool;
mod max_pool_backward;
mod reduce_max;

pub use max_pool::MaxPool;
pub use max_pool_backward::MaxPoolBackward;
pub use reduce_max::ReduceMax;
