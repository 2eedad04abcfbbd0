//! MaxPool.
use super::*;
use crate::error::Result;
use crate::operator::{MaxPool, Window};

pub(crate) fn plan(
    _op: &MaxPool,
    _input: &TensorDesc,
    _outputs: Vec<TensorDesc>,
    _windows: &[Window],
    _limits: &Limits,
) -> Result<Plan> {
    Err(crate::Error::UnknownOperator { dialect: "wgmax", operator: "MaxPool".into() })
}
