//! `case.json`: one case and its `.npy` files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

use serde::Deserialize;
use serde_json::Value;

use super::{Case, Expect, JSON, bad, folder_name, io};
use crate::base::error::Result;
use crate::dialect::{Attribute, Dialect, Node};
use crate::tensor::{ElementType, Tensor};

/// The fields of a `case.json` that are read here.
#[derive(Deserialize)]
struct JsonCase {
    id: Option<String>,
    op: String,
    dialect: String,
    version: Value,
    attrs: BTreeMap<String, Value>,
    inputs: Vec<JsonTensor>,
    outputs: Option<Vec<JsonTensor>>,
    expect: JsonExpect,
    #[serde(default)]
    contested: bool,
    recommended: Option<Vec<JsonTensor>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum JsonExpect {
    Ok,
    Error,
}

#[derive(Deserialize)]
struct JsonTensor {
    name: Option<String>,
    file: String,
    dtype: String,
    shape: Vec<usize>,
}

pub(super) fn load(folder: &Path) -> Result<Case> {
    let path = folder.join(JSON);
    let text = fs::read(&path).map_err(io(&path))?;
    parse(&path, &text, |file| crate::io::npy::read(folder.join(file)))
}

/// Parses the text of a `case.json`. `read` reads a file that it names, given the path relative to
/// the folder of the `case.json`. `path` is used in errors; the name of its folder is the name of a
/// case without an id.
///
/// # Errors
/// [`Error::BadFile`](crate::Error::BadFile) for a text that is not a case, and for a tensor whose
/// type or shape differs from the text; the errors of `read`.
pub fn parse(
    path: &Path,
    text: &[u8],
    mut read: impl FnMut(&str) -> Result<Tensor>,
) -> Result<Case> {
    let case: JsonCase = serde_json::from_slice(text).map_err(|e| bad(path, e))?;

    let dialect: Dialect = case.dialect.parse().map_err(|e| bad(path, e))?;
    let number = case.version.as_u64().and_then(|v| u32::try_from(v).ok());
    let version = match (dialect, number, case.version.as_str()) {
        (Dialect::OneDnn, _, Some("graph")) | (Dialect::WebNn, _, Some("1")) => None,
        (Dialect::Onnx | Dialect::OpenVino | Dialect::Neutral, Some(number), _) => Some(number),
        _ => {
            let reason = "a number, or \"graph\" for onednn, or \"1\" for webnn";
            return Err(bad(path, format_args!("`version` is {}, not {reason}", case.version)));
        }
    };
    let attributes = case.attrs.into_iter().map(|(name, v)| (name, attribute(v))).collect();

    let mut inputs: Vec<Option<Tensor>> = Vec::new();
    for (position, entry) in case.inputs.iter().enumerate() {
        let index = input_index(&case.op, entry.name.as_deref(), position);
        if index >= inputs.len() {
            inputs.resize(index + 1, None);
        }
        if inputs[index].is_some() {
            return Err(bad(path, format_args!("input {index} of {} is listed twice", case.op)));
        }
        inputs[index] = Some(read_entry(path, entry, &mut read)?);
    }

    let expect = match case.expect {
        JsonExpect::Error => Expect::Error,
        JsonExpect::Ok => {
            let outputs = match case.recommended {
                Some(recommended) if case.contested => recommended,
                _ => case.outputs.ok_or_else(|| bad(path, "missing field `outputs`"))?,
            };
            if outputs.is_empty() {
                return Err(bad(path, "`expect` is \"ok\", but there are no outputs"));
            }
            let read = outputs.iter().map(|entry| read_entry(path, entry, &mut read));
            Expect::Outputs(read.collect::<Result<_>>()?)
        }
    };
    let outputs = match &expect {
        Expect::Outputs(outputs) => outputs.len(),
        Expect::Error => 1,
    };
    let node = Node { dialect, operator: case.op, version, attributes, outputs };
    Ok(Case {
        id: case.id.unwrap_or_else(|| folder_name(path.parent().unwrap_or(path))),
        node,
        inputs,
        expect,
    })
}

/// The index of an input: that of its name, or else its position in the list.
fn input_index(operator: &str, name: Option<&str>, position: usize) -> usize {
    let names: &[&str] = match operator {
        "ReduceMax" | "ReduceMin" => &["data", "axes"],
        "SegmentMax" => &["data", "segment_ids", "num_segments"],
        _ => &[],
    };
    name.and_then(|name| names.iter().position(|n| *n == name)).unwrap_or(position)
}

fn attribute(value: Value) -> Attribute {
    match value {
        Value::Bool(value) => Attribute::Bool(value),
        Value::String(value) => Attribute::Text(value),
        Value::Number(ref number) => match number.as_i64() {
            Some(number) => Attribute::Int(number),
            None => Attribute::Other(value.to_string()),
        },
        Value::Array(ref list) => match list.iter().map(Value::as_i64).collect() {
            Some(list) => Attribute::Ints(list),
            None => Attribute::Other(value.to_string()),
        },
        other => Attribute::Other(other.to_string()),
    }
}

/// Reads the tensor of an entry, and checks its type and shape against the entry.
fn read_entry(
    json: &Path,
    entry: &JsonTensor,
    read: &mut impl FnMut(&str) -> Result<Tensor>,
) -> Result<Tensor> {
    let inside = !entry.file.is_empty()
        && Path::new(&entry.file).components().all(|c| matches!(c, Component::Normal(_)));
    if !inside {
        return Err(bad(json, format_args!("file {:?} is not inside the folder", entry.file)));
    }
    let element_type: ElementType = entry.dtype.parse().map_err(|e| bad(json, e))?;
    let mut tensor = read(&entry.file)?;
    // NumPy has no bf16, so files hold it as u16. Other types must match exactly.
    if (element_type, tensor.element_type()) == (ElementType::Bf16, ElementType::U16) {
        tensor = Tensor::from_bytes(element_type, tensor.shape(), tensor.bytes())?;
    }
    if tensor.element_type() != element_type || tensor.shape() != entry.shape {
        let reason = format!(
            "{:?} is said to be {element_type}{:?}, but is {}",
            entry.file,
            entry.shape,
            tensor.desc()
        );
        return Err(bad(json, reason));
    }
    Ok(tensor)
}
