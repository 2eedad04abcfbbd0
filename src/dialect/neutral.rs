//! Gradients that no other specification has, for golden cases. They have one version, 1.

use super::Dialect;
use super::attributes::{Call, Name, Reader, Types};
use crate::base::error::Result;
use crate::operator::{Operator, ReduceMax, ReduceMaxBackward, SegmentMax, SegmentMaxBackward};
use crate::tensor::ElementType;
use crate::tensor::key::Nan;

/// The types of segment ids.
const IDS: Types = &[(1, &[ElementType::I32, ElementType::I64])];

fn name(call: &Call<'_>, operator: &'static str) -> Result<Name> {
    let name = Name { dialect: Dialect::Neutral, operator, version: Some(1) };
    name.check_version(Some(call.version(operator)?))?;
    Ok(name)
}

/// ReduceMaxBackward: the attributes `axes` (all by default) and `keep_dims` (false) of a
/// [`ReduceMax`]; the inputs are `data` and `diff_out`.
pub(super) fn reduce_max_backward(call: &Call<'_>) -> Result<Operator> {
    let name = name(call, "ReduceMaxBackward")?;
    let mut reader = Reader::new(&name, &call.node.attributes);
    let mut reduce = ReduceMax::new();
    if let Some(axes) = reader.ints("axes")? {
        reduce = reduce.axes(axes);
    }
    reduce = reduce.keep_dims(reader.bool("keep_dims")?).nan(call.nan.unwrap_or(Nan::Propagate));
    reader.finish()?;
    let (data, [gradient]) = call.inputs(&name, "2 inputs", false)?;
    let gradient = gradient.ok_or_else(|| call.input_count(&name, "2 inputs"))?;
    let operator = ReduceMaxBackward::new(reduce);
    operator.infer([data, gradient.desc()])?;
    Ok(operator.into())
}

/// SegmentMaxBackward: no attributes; the inputs are `data`, `segment_ids`, ascending, of type
/// `i32` or `i64`, and `diff_out`, whose first dimension is the number of segments.
pub(super) fn segment_max_backward(call: &Call<'_>) -> Result<Operator> {
    let name = name(call, "SegmentMaxBackward")?;
    Reader::new(&name, &call.node.attributes).finish()?;
    let (data, [ids, gradient]) = call.inputs(&name, "3 inputs", false)?;
    let (Some(ids), Some(gradient)) = (ids, gradient) else {
        return Err(call.input_count(&name, "3 inputs"));
    };
    name.check_type(ids.desc(), IDS)?;
    let segment = SegmentMax::sorted().nan(call.nan.unwrap_or(Nan::Propagate));
    let operator = SegmentMaxBackward::new(segment);
    operator.infer([data, ids.desc(), gradient.desc()])?;
    Ok(operator.into())
}
