//! SegmentMax.

use super::{Limits, Plan};
use crate::error::Result;
use crate::operator::SegmentMax;
use crate::tensor::TensorDesc;

pub(crate) fn plan(
    _operator: &SegmentMax,
    _data: &TensorDesc,
    _ids: &TensorDesc,
    _outputs: Vec<TensorDesc>,
    _limits: &Limits,
) -> Result<Plan> {
    Err(crate::Error::SegmentCountUnknown)
}
