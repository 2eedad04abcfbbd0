//! Replaces the CPU backend if the feature `cpu` is off. Nothing can run.

use std::sync::Arc;

use crate::base::error::Result;
use crate::plan::Plan;
use crate::tensor::Tensor;

/// It has no values.
pub(crate) enum Memory {}

impl Memory {
    pub(crate) fn fresh(&self) -> Arc<Self> {
        match *self {}
    }
}

pub(crate) fn execute(
    _: &Plan,
    _: &[&Tensor],
    memory: &Arc<Memory>,
    _: Option<super::Watch>,
    _: impl FnMut(usize, &[u8]),
) -> Result<Vec<Tensor>> {
    match **memory {}
}
