//! What every module uses: errors, element types, threads, files.

pub(crate) mod element_type;
pub(crate) mod error;
#[cfg(feature = "pipeline-cache")]
#[cfg_attr(not(feature = "io"), expect(dead_code, reason = "tensors are written in more ways"))]
pub(crate) mod output;
pub(crate) mod threads;
