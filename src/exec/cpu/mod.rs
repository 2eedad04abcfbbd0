//! Runs plans with the CPU kernels. Without the feature `cpu` there are none, and no `Memory` can
//! exist.

use std::sync::Arc;

use crate::base::error::Result;

#[cfg(not(feature = "cpu"))]
mod none;
#[cfg(feature = "cpu")]
mod run;

#[cfg(not(feature = "cpu"))]
pub(crate) use none::{Memory, execute};
#[cfg(feature = "cpu")]
pub(crate) use run::{Memory, execute};

/// Any thread calls it with the fraction of a plan that is done, from 0 to 1. An error ends the run.
pub(crate) type Watch = Arc<dyn Fn(f64) -> Result<()> + Send + Sync>;
