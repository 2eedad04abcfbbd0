//! The executors: both run plans, and know no operator.

pub(crate) mod cpu;
pub(crate) mod gpu;
