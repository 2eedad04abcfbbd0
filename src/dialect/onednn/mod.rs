//! oneDNN Graph: operators without versions.

mod reduce_max;

pub use reduce_max::ReduceMax;
