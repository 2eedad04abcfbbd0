//! Operators that belong to no other specification, as golden cases hold them: gradients. They have
//! one version, 1.

use super::attributes::{Inputs, Name, Reader};
use super::{Dialect, Node};
use crate::error::Result;
use crate::operator::{ReduceMax, ReduceMaxBackward, SegmentMax, SegmentMaxBackward};
use crate::tensor::ElementType;
use crate::tensor::key::Nan;

/// The only version.
const VERSION: u32 = 1;

fn name(node: &Node, operator: &'static str) -> Result<Name> {
    let version = node.version(operator)?;
    let name = Name { dialect: Dialect::Neutral, operator, version: Some(version) };
    name.outputs(node.outputs, false)?;
    if version == VERSION { Ok(name) } else { Err(name.unknown_version()) }
}

/// ReduceMaxBackward: the attributes `axes` (all by default) and `keep_dims` (false) of a
/// [`ReduceMax`]; the inputs are `data` and `diff_out`.
pub(super) fn reduce_max_backward(
    node: &Node,
    inputs: Inputs<'_>,
    nan: Option<Nan>,
) -> Result<ReduceMaxBackward> {
    let name = name(node, "ReduceMaxBackward")?;
    let mut reader = Reader::new(&node.attributes);
    let mut reduce = ReduceMax::new();
    if let Some(axes) = reader.ints("axes")? {
        reduce = reduce.axes(axes);
    }
    reduce = reduce.keep_dims(reader.bool("keep_dims")?.unwrap_or(false));
    reader.finish(&name)?;
    let (data, [gradient]) = name.inputs(inputs, "2 inputs")?;
    let gradient = gradient.ok_or_else(|| name.input_count("2 inputs", 1))?;
    let operator = ReduceMaxBackward::new(reduce.nan(nan.unwrap_or(Nan::Propagate)));
    operator.infer(data, gradient.desc())?;
    Ok(operator)
}

/// SegmentMaxBackward: no attributes; the inputs are `data`, `segment_ids`, which ascend, of type
/// `i32` or `i64`, and `diff_out`, which tells the number of segments.
pub(super) fn segment_max_backward(
    node: &Node,
    inputs: Inputs<'_>,
    nan: Option<Nan>,
) -> Result<SegmentMaxBackward> {
    let name = name(node, "SegmentMaxBackward")?;
    Reader::new(&node.attributes).finish(&name)?;
    let (data, [ids, gradient]) = name.inputs(inputs, "3 inputs")?;
    let (Some(ids), Some(gradient)) = (ids, gradient) else {
        return Err(name.input_count("3 inputs", inputs.iter().flatten().count()));
    };
    let ids = ids.desc();
    if !matches!(ids.element_type(), ElementType::I32 | ElementType::I64) {
        return Err(name.wrong_type(ids.element_type()));
    }
    let segment = SegmentMax::sorted().nan(nan.unwrap_or(Nan::Propagate));
    let operator = SegmentMaxBackward::new(segment);
    operator.infer(&[data, ids, gradient.desc()])?;
    Ok(operator)
}
