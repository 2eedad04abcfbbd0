//! Operators of ONNX, oneDNN Graph and OpenVINO.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use wgmax::Nan;
use wgmax::dialect::{self, Attribute, Attributes, Dialect, Node};

use crate::error::raised;
use crate::fields::{bad, integer, integers};
use crate::run::{Input, run};

/// The results of a node, as a list. `inputs` may have `None` for an absent one; inputs that hold parameters
/// are read here.
#[pyfunction]
#[pyo3(signature = (dialect, operator, version, attributes, inputs, outputs = 1, nan = None, device = None))]
#[expect(clippy::too_many_arguments, reason = "those of a node")]
pub(crate) fn node<'py>(
    py: Python<'py>,
    dialect: &str,
    operator: String,
    version: Option<u32>,
    attributes: &Bound<'py, PyDict>,
    inputs: Vec<Option<Bound<'py, PyAny>>>,
    outputs: usize,
    nan: Option<Bound<'py, PyAny>>,
    device: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let dialect: Dialect = dialect.parse().map_err(raised)?;
    let mut read = Attributes::new();
    for (name, value) in attributes {
        read.insert(name.extract()?, attribute(&value)?);
    }
    let nan = match nan.as_ref().map(|nan| (nan, nan.extract::<String>().ok())) {
        None => None,
        Some((_, Some(name))) if name == "propagate" => Some(Nan::Propagate),
        Some((_, Some(name))) if name == "ignore" => Some(Nan::Ignore),
        Some((nan, _)) => return Err(bad("nan", "None, 'propagate' or 'ignore'", nan)),
    };
    let node = Node { dialect, operator, version, attributes: read, outputs };
    let inputs: Vec<Option<Input>> = inputs
        .iter()
        .map(|input| input.as_ref().map(Input::of).transpose())
        .collect::<PyResult<_>>()?;
    let mut known: Vec<Option<dialect::Input<'_>>> = inputs
        .iter()
        .map(|input| input.as_ref().map(|input| dialect::Input::Desc(input.desc())))
        .collect();
    let mut made = node.operator_for(&known, nan);
    // Inputs are read only if they may be parameters. The first never is.
    let mut others = Vec::new();
    if matches!(made, Err(wgmax::Error::UnknownElements { .. })) {
        for input in inputs.iter().skip(1) {
            others.push(input.as_ref().map(|input| input.to_host(py)).transpose()?);
        }
        for (known, other) in known[1..].iter_mut().zip(&others) {
            *known = other.as_ref().map(dialect::Input::Tensor);
        }
        made = node.operator_for(&known, nan);
    }
    let operator = made.map_err(raised)?;
    let taken: Vec<Input> = inputs.into_iter().flatten().take(operator.input_count()).collect();
    PyList::new(py, run(py, operator, &taken, device.as_ref())?)
}

fn attribute(value: &Bound<'_, PyAny>) -> PyResult<Attribute> {
    if let Ok(value) = value.extract() {
        return Ok(Attribute::Bool(value));
    }
    if let Some(value) = integer(value) {
        return Ok(Attribute::Int(value));
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Attribute::Text(String::from_utf8_lossy(bytes.as_bytes()).into_owned()));
    }
    if let Ok(text) = value.extract() {
        return Ok(Attribute::Text(text));
    }
    match integers(value) {
        Some(values) => Ok(Attribute::Ints(values)),
        None => Ok(Attribute::Other(value.repr()?.to_string())),
    }
}
