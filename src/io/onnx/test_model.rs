//! Models of one node, as in ONNX's node tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::context::bad;
use super::graph::ValueInfo;
use super::model::{Model, parse_model, read_model};
use crate::base::error::Result;
use crate::dialect::Node;
use crate::io::unsupported;
use crate::tensor::{Tensor, memory};

/// A model of one node, with the names that connect it to the graph's inputs and outputs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TestModel {
    /// The node. Its version is the opset that the model imports.
    pub node: Node,
    /// The names of the node's inputs, in the operator's order; empty for an absent optional input.
    /// Each other name is in `graph_inputs`, in `initializers`, or in both.
    pub input_names: Vec<String>,
    /// The names of the node's outputs, in the operator's order; empty for an unused output.
    pub output_names: Vec<String>,
    /// The names of the graph's inputs, in the graph's order.
    pub graph_inputs: Vec<String>,
    /// The names of the graph's outputs, in the graph's order. Each is in `output_names`.
    pub graph_outputs: Vec<String>,
    /// The constants among the node's inputs, by name. If a graph input has the same name, the
    /// constant is its default.
    pub initializers: BTreeMap<String, Tensor>,
}

/// Reads a model of one node.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io), and as [`parse_test_model`].
pub fn read_test_model(path: impl AsRef<Path>) -> Result<TestModel> {
    one_node(read_model(path)?)
}

/// Parses a serialised `ModelProto` of one node. `name` is its name in errors.
///
/// The node may have any operator of ONNX's own domain. The operator and its attributes are not
/// checked here; [`crate::dialect`] does that.
///
/// # Errors
/// [`Error::BadFile`](crate::Error::BadFile) if the bytes do not follow the format, or if the
/// inputs and outputs of the graph and of the node do not match.
/// [`Error::Unsupported`](crate::Error::Unsupported) for more than one node, for an operator of
/// another domain, and for sparse constants.
pub fn parse_test_model(name: &str, bytes: &[u8]) -> Result<TestModel> {
    one_node(parse_model(name, Arc::new(memory::copied(bytes)?))?)
}

fn one_node(model: Model) -> Result<TestModel> {
    let Model { name, opset, graph, .. } = model;
    let name = name.as_str();
    let unsupported = |reason: String| unsupported(name, reason);
    let [node] = <[_; 1]>::try_from(graph.nodes).map_err(|nodes| match nodes.len() {
        0 => bad(name, "the graph has no node"),
        n => unsupported(format!("the graph has {n} nodes; only models of one node are read")),
    })?;
    if !node.domain.is_empty() {
        let domain = &node.domain;
        let reason = format!("the node is of the domain {domain:?}, not of ONNX's own");
        return Err(unsupported(reason));
    }
    let opset = opset.ok_or_else(|| bad(name, "no opset of ONNX's own domain is imported"))?;
    if graph.sparse_initializers > 0 {
        return Err(unsupported("sparse initializers".to_string()));
    }

    let used: BTreeSet<&str> = node.inputs.iter().map(String::as_str).collect();
    let outputs: BTreeSet<&str> = node.outputs.iter().map(String::as_str).collect();
    let mut initializers = BTreeMap::new();
    for (key, constant) in &graph.initializers {
        if used.contains(key.as_str()) {
            initializers.insert(key.clone(), constant.read()?);
        }
    }
    let names = |values: Vec<ValueInfo>| values.into_iter().map(|v| v.name).collect::<Vec<_>>();
    let (graph_inputs, graph_outputs) = (names(graph.inputs), names(graph.outputs));
    let defined: BTreeSet<&str> =
        graph_inputs.iter().chain(initializers.keys()).map(String::as_str).collect();
    let undefined = |input: &&&str| !input.is_empty() && !defined.contains(**input);
    if let Some(input) = used.iter().find(undefined) {
        return Err(bad(name, format_args!("no value feeds the node's input {input:?}")));
    }
    if let Some(output) = graph_outputs.iter().find(|output| !outputs.contains(output.as_str())) {
        return Err(bad(name, format_args!("no node makes the graph output {output:?}")));
    }
    Ok(TestModel {
        node: node.node(opset)?,
        input_names: node.inputs,
        output_names: node.outputs,
        graph_inputs,
        graph_outputs,
        initializers,
    })
}
