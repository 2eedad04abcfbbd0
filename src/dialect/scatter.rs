//! What the scatters of ONNX and OpenVINO have in common.

use super::attributes::{Call, Name, Reader};
use crate::base::error::{Error, Result};
use crate::operator::ScatterMax;
use crate::tensor::TensorDesc;
use crate::tensor::key::Extremum;

/// Reads the attribute `reduction`. Its default, `none`, and all values but `max` and `min` are
/// refused.
///
/// # Errors
/// [`Error::BadAttribute`].
pub(super) fn reduction(reader: &mut Reader<'_>) -> Result<Extremum> {
    const EXPECTED: &str = "max or min";
    let found =
        reader.text_as("reduction", EXPECTED, &[Extremum::Maximum, Extremum::Minimum], str::eq)?;
    let value = "none".to_string();
    found.ok_or(Error::BadAttribute { attribute: "reduction", expected: EXPECTED, value })
}

/// The descriptions of data, indices and updates, and `N` required inputs after them.
///
/// # Errors
/// [`Error::InputCount`], [`Error::OutputCount`].
pub(super) fn inputs<'a, const N: usize>(
    call: &Call<'a>,
    name: &Name,
    expected: &'static str,
) -> Result<([&'a TensorDesc; 3], [super::Input<'a>; N])> {
    name.outputs(call.node.outputs, false)?;
    let all: Option<Vec<_>> = call.inputs.iter().copied().collect();
    match all.as_deref() {
        Some([data, indices, updates, others @ ..]) if others.len() == N => {
            let others = others.try_into().map_err(|_| call.input_count(name, expected))?;
            Ok(([data.desc(), indices.desc(), updates.desc()], others))
        }
        _ => Err(call.input_count(name, expected)),
    }
}

/// The operator, if it accepts these inputs.
///
/// # Errors
/// As [`ScatterMax::infer`].
pub(super) fn fitting(operator: ScatterMax, inputs: [&TensorDesc; 3]) -> Result<ScatterMax> {
    operator.infer(inputs)?;
    Ok(operator)
}
