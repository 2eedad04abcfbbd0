//! What all parts of a model share.

use std::fmt::{self, Display};
use std::sync::Arc;

use super::external::Files;
use crate::base::error::Error;
use crate::io::bad_file;

/// The data that all parts of a model share.
pub(super) struct Context {
    /// The name of the model in errors.
    pub(super) name: String,
    pub(super) files: Arc<Files>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The name of a domain. ONNX's own, `ai.onnx`, becomes the empty name, which is its other
/// spelling.
pub(super) fn own_domain(domain: Option<String>) -> String {
    domain.filter(|domain| domain != "ai.onnx").unwrap_or_default()
}

pub(super) fn bad(name: &str, reason: impl Display) -> Error {
    bad_file(name, "ONNX model", reason)
}
