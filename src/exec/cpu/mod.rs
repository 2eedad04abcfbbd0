//! Runs plans with the CPU kernels. Without the feature `cpu` there are none, and no `Memory` can be
//! made.

#[cfg(not(feature = "cpu"))]
mod none;
#[cfg(feature = "cpu")]
mod run;

#[cfg(not(feature = "cpu"))]
pub(crate) use none::{Memory, execute};
#[cfg(feature = "cpu")]
pub(crate) use run::{Memory, execute};
