//! `ModelProto`: a model whose graph is one node, as ONNX publishes its node tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::Path;

use prost::Message;
use prost::bytes::Bytes;

use super::proto::{AttributeProto, ModelProto, ValueInfoProto};
use super::tensor::from_proto;
use crate::dialect::{Attribute, Attributes, Dialect, Node};
use crate::error::{Error, Result};
use crate::io::{bad_file, io_error, unsupported};
use crate::tensor::Tensor;

/// A model of one node, and how its values are wired.
#[derive(Clone, Debug)]
pub struct TestModel {
    /// The node; its version is the opset that the model imports.
    pub node: Node,
    /// The values that the node takes, in the operator's order. An absent
    /// optional input is an empty name; each other name is in `graph_inputs`, in
    /// `initializers`, or in both.
    pub input_names: Vec<String>,
    /// The values that the node makes, in the operator's order; an output that
    /// is not asked for is an empty name.
    pub output_names: Vec<String>,
    /// The graph's inputs, in the order in which the graph lists them.
    pub graph_inputs: Vec<String>,
    /// The graph's outputs, in the order in which the graph lists them; each is
    /// in `output_names`.
    pub graph_outputs: Vec<String>,
    /// The constants among the node's inputs. One that is a graph input too is
    /// that input's default.
    pub initializers: BTreeMap<String, Tensor>,
}

/// Reads a model of one node.
///
/// # Errors
/// [`Error::Io`], and as [`parse_model`].
pub fn read_model(path: &Path) -> Result<TestModel> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|e| io_error(path, e))?;
    decode(&name, Bytes::from(bytes))
}

/// The model of a serialised `ModelProto`; `name` is what errors call it.
///
/// Any operator of ONNX's own domain is taken: what it is called and which
/// attributes it has is for [`crate::dialect`] to judge.
///
/// # Errors
/// [`Error::BadFile`] for anything that the format forbids, and where the graph
/// and the node do not fit together. [`Error::Unsupported`] for more than one
/// node, for an operator of another domain, and for sparse constants.
pub fn parse_model(name: &str, bytes: &[u8]) -> Result<TestModel> {
    decode(name, Bytes::copy_from_slice(bytes))
}

fn decode(name: &str, bytes: Bytes) -> Result<TestModel> {
    let unsupported = |reason: String| unsupported(name, reason);

    let model = ModelProto::decode(bytes).map_err(|e| bad(name, e))?;
    let graph = model.graph.ok_or_else(|| bad(name, "no graph"))?;
    let [node] = <[_; 1]>::try_from(graph.node).map_err(|nodes| match nodes.len() {
        0 => bad(name, "the graph has no node"),
        n => unsupported(format!("the graph has {n} nodes; only models of one node are read")),
    })?;
    if let Some(domain) = node.domain.as_deref().filter(|d| !is_own_domain(d)) {
        return Err(unsupported(format!(
            "the node is of the domain {domain:?}, not of ONNX's own"
        )));
    }
    let operator = node.op_type.unwrap_or_default();
    if operator.is_empty() {
        return Err(bad(name, "the node has no op_type"));
    }

    let mut opsets = (model.opset_import.iter())
        .filter(|set| is_own_domain(set.domain.as_deref().unwrap_or_default()))
        .map(|set| set.version.unwrap_or(0));
    let opset =
        opsets.next().ok_or_else(|| bad(name, "no opset of ONNX's own domain is imported"))?;
    if let Some(second) = opsets.find(|&other| other != opset) {
        return Err(bad(name, format_args!("both opset {opset} and opset {second} are imported")));
    }
    let version = (u32::try_from(opset).ok().filter(|&v| v > 0))
        .ok_or_else(|| bad(name, format_args!("opset {opset}")))?;

    if !graph.sparse_initializer.is_empty() {
        return Err(unsupported("sparse initializers".to_string()));
    }
    let taken: BTreeSet<&str> = node.input.iter().map(String::as_str).collect();
    let made: BTreeSet<&str> = node.output.iter().map(String::as_str).collect();
    let mut initializers = BTreeMap::new();
    for proto in graph.initializer {
        let key = proto.name.clone().unwrap_or_default();
        if key.is_empty() || !taken.contains(key.as_str()) {
            continue;
        }
        let tensor = from_proto(&format!("{name}: initializer {key:?}"), proto)?;
        if initializers.insert(key.clone(), tensor).is_some() {
            return Err(bad(name, format_args!("two initializers are called {key:?}")));
        }
    }

    let graph_inputs = names(name, graph.input, "input")?;
    let graph_outputs = names(name, graph.output, "output")?;
    let fed: BTreeSet<&str> =
        graph_inputs.iter().chain(initializers.keys()).map(String::as_str).collect();
    if let Some(input) = taken.iter().find(|input| !input.is_empty() && !fed.contains(*input)) {
        return Err(bad(name, format_args!("nothing feeds the node's input {input:?}")));
    }
    if let Some(output) = graph_outputs.iter().find(|output| !made.contains(output.as_str())) {
        return Err(bad(name, format_args!("nothing makes the graph output {output:?}")));
    }

    let attributes = attributes(name, node.attribute)?;
    Ok(TestModel {
        node: Node {
            dialect: Dialect::Onnx,
            operator,
            version: Some(version),
            attributes,
            outputs: node.output.len(),
        },
        input_names: node.input,
        output_names: node.output,
        graph_inputs,
        graph_outputs,
        initializers,
    })
}

/// The names of a graph's inputs or outputs, all different.
fn names(name: &str, values: Vec<ValueInfoProto>, what: &str) -> Result<Vec<String>> {
    let names: Vec<String> = values.into_iter().map(|v| v.name.unwrap_or_default()).collect();
    let mut seen = BTreeSet::new();
    for value in &names {
        if value.is_empty() {
            return Err(bad(name, format_args!("a graph {what} has no name")));
        }
        if !seen.insert(value) {
            return Err(bad(name, format_args!("two graph {what}s are called {value:?}")));
        }
    }
    Ok(names)
}

/// Whether a domain is ONNX's own, which has two spellings.
fn is_own_domain(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

fn attributes(name: &str, protos: Vec<AttributeProto>) -> Result<Attributes> {
    let mut attributes = Attributes::new();
    for proto in protos {
        let key = proto.name.clone().unwrap_or_default();
        if key.is_empty() {
            return Err(bad(name, "an attribute has no name"));
        }
        let value = attribute(name, &key, &proto)?;
        if attributes.insert(key.clone(), value).is_some() {
            return Err(bad(name, format_args!("two attributes are called {key:?}")));
        }
    }
    Ok(attributes)
}

/// The value of one attribute: the field that its `type` names.
fn attribute(name: &str, key: &str, proto: &AttributeProto) -> Result<Attribute> {
    if proto.ref_attr_name.as_ref().is_some_and(|r| !r.is_empty()) {
        return Err(unsupported(
            name,
            format_args!("attribute {key:?} refers to an attribute of a function"),
        ));
    }
    let text = |bytes: &Bytes| {
        String::from_utf8(bytes.to_vec())
            .map_err(|_| bad(name, format_args!("attribute {key:?} is not UTF-8")))
    };
    Ok(match proto.r#type.unwrap_or(0) {
        1 => Attribute::Other(proto.f.unwrap_or_default().to_string()),
        2 => Attribute::Int(proto.i.unwrap_or_default()),
        3 => Attribute::Text(text(&proto.s.clone().unwrap_or_default())?),
        4 => Attribute::Other("a tensor".to_string()),
        5 => Attribute::Other("a graph".to_string()),
        6 => Attribute::Other(format!("{:?}", proto.floats)),
        7 => Attribute::Ints(proto.ints.clone()),
        8 => {
            let strings = proto.strings.iter().map(text).collect::<Result<Vec<_>>>()?;
            Attribute::Other(format!("{strings:?}"))
        }
        9 => Attribute::Other("tensors".to_string()),
        10 => Attribute::Other("graphs".to_string()),
        11 | 12 => Attribute::Other("sparse tensors".to_string()),
        13 | 14 => Attribute::Other("types".to_string()),
        other => {
            return Err(bad(name, format_args!("attribute {key:?} has the type {other}")));
        }
    })
}

fn bad(name: &str, reason: impl Display) -> Error {
    bad_file(name, "ONNX model", reason)
}
