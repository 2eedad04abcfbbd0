//! Golden cases: an operator, its inputs, and the answer that is expected.
//!
//! Two layouts are read: folders with a `case.json` next to `.npy` files, and the
//! folders of ONNX's node tests, `model.onnx` next to `test_data_set_N`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::onnx;
use crate::dialect::{Attribute, Dialect, Node};
use crate::error::{Error, Result};
use crate::tensor::{ElementType, Tensor};

const JSON: &str = "case.json";
const MODEL: &str = "model.onnx";
const DATA_SET: &str = "test_data_set_";

/// One operator on one set of inputs.
#[derive(Clone, Debug)]
pub struct Case {
    /// What reports call it.
    pub id: String,
    /// The operator.
    pub node: Node,
    /// Its inputs in the operator's order; an optional one that is absent is
    /// `None`, or missing at the end.
    pub inputs: Vec<Option<Tensor>>,
    /// The right answer.
    pub expect: Expect,
}

/// The right answer to a [`Case`].
#[derive(Clone, Debug)]
pub enum Expect {
    /// These outputs: all of the operator's, or its first ones.
    Outputs(Vec<Tensor>),
    /// A refusal, whatever its words.
    Error,
}

/// How a case is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CaseKind {
    /// `case.json` and `.npy` files.
    Json,
    /// `model.onnx` and `test_data_set_N` folders.
    Onnx,
}

/// A folder that holds a case, or several on one ONNX model.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaseFolder {
    /// The folder.
    pub path: PathBuf,
    /// What is in it.
    pub kind: CaseKind,
}

/// The case folders at and below `paths`, in the order of `paths` and by name
/// below each; a folder that is reached twice is listed once.
///
/// A path may also be a `case.json` or a `model.onnx`. Links to folders are not
/// followed, save for the paths themselves. A folder without cases adds nothing.
///
/// # Errors
/// [`Error::Io`] for a path that does not exist or a folder that cannot be read,
/// [`Error::Unsupported`] for any other file.
pub fn find(paths: &[PathBuf]) -> Result<Vec<CaseFolder>> {
    let mut found = Vec::new();
    for path in paths {
        if fs::metadata(path).map_err(io(path))?.is_dir() {
            walk(path, &mut found)?;
            continue;
        }
        let kind = match path.file_name().and_then(|name| name.to_str()) {
            Some(JSON) => CaseKind::Json,
            Some(MODEL) => CaseKind::Onnx,
            _ => {
                let reason = format!("a case is a folder, a {JSON} or a {MODEL}");
                return Err(super::unsupported(path.display(), reason));
            }
        };
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        found.push(CaseFolder { path: folder.to_path_buf(), kind });
    }
    let mut seen = BTreeSet::new();
    found.retain(|folder| {
        let place = fs::canonicalize(&folder.path).unwrap_or_else(|_| folder.path.clone());
        seen.insert((place, folder.kind))
    });
    Ok(found)
}

fn walk(root: &Path, found: &mut Vec<CaseFolder>) -> Result<()> {
    let mut pending = vec![root.to_path_buf()];
    while let Some(path) = pending.pop() {
        let mut below = Vec::new();
        let mut data_sets = false;
        for entry in fs::read_dir(&path).map_err(io(&path))? {
            let entry = entry.map_err(io(&path))?;
            data_sets |= entry.file_name().as_encoded_bytes().starts_with(DATA_SET.as_bytes());
            // The type of the entry itself: a link is a link, wherever it leads.
            if entry.file_type().map_err(io(&entry.path()))?.is_dir() {
                below.push(entry.path());
            }
        }
        below.sort_unstable_by(|a, b| b.cmp(a));
        pending.append(&mut below);
        if path.join(JSON).is_file() {
            found.push(CaseFolder { path: path.clone(), kind: CaseKind::Json });
        }
        if data_sets && path.join(MODEL).is_file() {
            found.push(CaseFolder { path, kind: CaseKind::Onnx });
        }
    }
    Ok(())
}

impl CaseFolder {
    /// Reads the folder's cases: one of a `case.json`, one of each data set of an
    /// ONNX model.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::BadFile`] and [`Error::Unsupported`], naming the
    /// file that is at fault.
    pub fn load(&self) -> Result<Vec<Case>> {
        match self.kind {
            CaseKind::Json => Ok(vec![load_json(&self.path)?]),
            CaseKind::Onnx => load_onnx(&self.path),
        }
    }
}

/// A folder's name, by which its cases go.
fn folder_name(path: &Path) -> String {
    // "." and "a/.." have no name until they are resolved.
    let resolved = match path.file_name() {
        Some(_) => path.to_path_buf(),
        None => fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()),
    };
    let name = resolved.file_name().unwrap_or(resolved.as_os_str());
    name.to_string_lossy().into_owned()
}

// ---- case.json -------------------------------------------------------------

/// A `case.json`, with the fields that matter here.
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

fn load_json(folder: &Path) -> Result<Case> {
    let path = folder.join(JSON);
    let text = fs::read(&path).map_err(io(&path))?;
    parse(&path, &text, |file| super::npy::read(folder.join(file)))
}

/// The case of the text of a `case.json`. `read` gives the tensors of the files that it names,
/// which lie next to it. `path` stands for the text in errors; a case without an id is
/// called as the folder.
///
/// # Errors
/// [`Error::BadFile`] for a text that is no case, and for a tensor that is not what the text says
/// of it; what `read` gives.
pub fn parse(
    path: &Path,
    text: &[u8],
    mut read: impl FnMut(&str) -> Result<Tensor>,
) -> Result<Case> {
    let case: JsonCase = serde_json::from_slice(text).map_err(|e| bad(path, e))?;

    let dialect: Dialect = case.dialect.parse().map_err(|e| bad(path, e))?;
    let number = case.version.as_u64().and_then(|v| u32::try_from(v).ok());
    let version = match (dialect, number, case.version.as_str()) {
        (Dialect::OneDnn, _, Some("graph")) => None,
        (Dialect::Onnx | Dialect::OpenVino, Some(number), _) => Some(number),
        _ => {
            let reason = "a number, or \"graph\" for onednn";
            return Err(bad(path, format_args!("`version` is {}, not {reason}", case.version)));
        }
    };
    let attributes = case.attrs.into_iter().map(|(name, v)| (name, attribute(v))).collect();

    let mut inputs: Vec<Option<Tensor>> = Vec::new();
    for (position, entry) in case.inputs.iter().enumerate() {
        let slot = slot(&case.op, entry.name.as_deref(), position);
        if slot >= inputs.len() {
            inputs.resize(slot + 1, None);
        }
        if inputs[slot].is_some() {
            return Err(bad(path, format_args!("input {slot} of {} is listed twice", case.op)));
        }
        inputs[slot] = Some(read_entry(path, entry, &mut read)?);
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

/// Where an input goes: where its name says, or else where it stands.
fn slot(operator: &str, name: Option<&str>, position: usize) -> usize {
    let names: &[&str] = match operator {
        "ReduceMax" => &["data", "axes"],
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

/// The tensor of an entry, which must be what the entry says of it.
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
    // NumPy has no bf16. No other type may stand for one that it has.
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

// ---- ONNX node tests -------------------------------------------------------

fn load_onnx(folder: &Path) -> Result<Vec<Case>> {
    let path = folder.join(MODEL);
    let model = onnx::read_test_model(&path)?;
    let sets = data_sets(folder)?;
    if sets.is_empty() {
        return Err(bad(&path, format_args!("there is no {DATA_SET}0 next to it")));
    }
    let several = sets.len() > 1;
    let load = |set: PathBuf| {
        let mut id = folder_name(folder);
        if several {
            id = format!("{id}/{}", folder_name(&set));
        }
        load_set(&path, &model, &set, id)
    };
    sets.into_iter().map(load).collect()
}

/// The data sets next to a model, by number.
fn data_sets(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut sets = Vec::new();
    for entry in fs::read_dir(folder).map_err(io(folder))? {
        let path = entry.map_err(io(folder))?.path();
        if let Some(number) =
            path.file_name().and_then(|name| name.to_str()?.strip_prefix(DATA_SET))
            && path.is_dir()
        {
            // What is no number comes last, by name.
            sets.push((number.parse::<u64>().unwrap_or(u64::MAX), path));
        }
    }
    sets.sort_unstable();
    Ok(sets.into_iter().map(|(_, path)| path).collect())
}

fn load_set(path: &Path, model: &onnx::TestModel, set: &Path, id: String) -> Result<Case> {
    // Files are given for every input of the graph, or for those without a default.
    let inputs = numbered(set, "input")?;
    let all: Vec<&String> = model.graph_inputs.iter().collect();
    let without_default: Vec<&String> =
        all.iter().copied().filter(|name| !model.initializers.contains_key(*name)).collect();
    let fed = [all, without_default].into_iter().find(|names| names.len() == inputs.len());
    let Some(fed) = fed else {
        let (files, inputs) = (inputs.len(), model.graph_inputs.len());
        let reason = format!("{files} input files for a graph of {inputs} inputs");
        return Err(bad(set, reason));
    };
    let mut values: BTreeMap<&String, Tensor> =
        model.initializers.iter().map(|(name, tensor)| (name, tensor.clone())).collect();
    for (name, file) in fed.into_iter().zip(&inputs) {
        values.insert(name, onnx::read_tensor(file)?);
    }
    let slots = model.input_names.iter().map(|name| match (name.as_str(), values.get(name)) {
        ("", _) => Ok(None),
        (_, Some(tensor)) => Ok(Some(tensor.clone())),
        (_, None) => Err(bad(path, format_args!("nothing feeds the node's input {name:?}"))),
    });
    let inputs = slots.collect::<Result<_>>()?;

    let files = numbered(set, "output")?;
    let names = &model.graph_outputs;
    if files.len() != names.len() || names.is_empty() {
        let (files, outputs) = (files.len(), names.len());
        let reason = format!("{files} output files for a graph of {outputs} outputs");
        return Err(bad(set, reason));
    }
    let file_of: BTreeMap<&String, &PathBuf> = names.iter().zip(&files).collect();
    let leading: Vec<&PathBuf> =
        model.output_names.iter().map_while(|name| file_of.get(name).copied()).collect();
    if leading.len() != files.len() {
        let reason = "the graph leaves out an output that is followed by another";
        return Err(super::unsupported(path.display(), reason));
    }
    let read = leading.into_iter().map(|file| onnx::read_tensor(file));
    let expect = Expect::Outputs(read.collect::<Result<_>>()?);
    Ok(Case { id, node: model.node.clone(), inputs, expect })
}

/// The files `WHAT_0.pb`, `WHAT_1.pb`, ... of a data set, without a gap.
fn numbered(set: &Path, what: &str) -> Result<Vec<PathBuf>> {
    let mut numbers = BTreeSet::new();
    for entry in fs::read_dir(set).map_err(io(set))? {
        let name = entry.map_err(io(set))?.file_name();
        let number = (name.to_str())
            .and_then(|name| name.strip_prefix(what)?.strip_prefix('_')?.strip_suffix(".pb"));
        if let Some(number) = number {
            let parsed: Option<u64> = number.parse().ok();
            // One spelling a number, so that no file is passed over.
            let Some(parsed) = parsed.filter(|n| n.to_string() == number) else {
                return Err(bad(set, format_args!("{what}_{number}.pb has no plain number")));
            };
            numbers.insert(parsed);
        }
    }
    if let Some((missing, _)) = (0..).zip(&numbers).find(|(i, n)| i != *n) {
        return Err(bad(set, format_args!("{what}_{missing}.pb is missing")));
    }
    Ok(numbers.iter().map(|n| set.join(format!("{what}_{n}.pb"))).collect())
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |source| super::io_error(path, source)
}

fn bad(path: &Path, reason: impl Display) -> Error {
    super::bad_file(path.display(), "golden case", reason)
}
