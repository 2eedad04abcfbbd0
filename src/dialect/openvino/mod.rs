//! OpenVINO: operators by their own version.

mod reduce_max;

pub use reduce_max::ReduceMax;
