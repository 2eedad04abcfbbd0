//! Models whose graph is one node, as ONNX publishes its node tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::graph::ValueInfo;
use super::model::{Model, bad, parse_model, read_model};
use crate::dialect::Node;
use crate::error::Result;
use crate::io::unsupported;
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
/// [`Error::Io`](crate::Error::Io), and as [`parse_test_model`].
pub fn read_test_model(path: &Path) -> Result<TestModel> {
    one_node(read_model(path)?)
}

/// The model of a serialised `ModelProto`; `name` is what errors call it.
///
/// Any operator of ONNX's own domain is taken: what it is called and which
/// attributes it has is for [`crate::dialect`] to judge.
///
/// # Errors
/// [`Error::BadFile`](crate::Error::BadFile) for anything that the format forbids,
/// and where the graph and the node do not fit together.
/// [`Error::Unsupported`](crate::Error::Unsupported) for more than one node, for an
/// operator of another domain, and for sparse constants.
pub fn parse_test_model(name: &str, bytes: &[u8]) -> Result<TestModel> {
    one_node(parse_model(name, Arc::new(bytes.to_vec()))?)
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

    let taken: BTreeSet<&str> = node.inputs.iter().map(String::as_str).collect();
    let made: BTreeSet<&str> = node.outputs.iter().map(String::as_str).collect();
    let mut initializers = BTreeMap::new();
    for (key, constant) in &graph.initializers {
        if taken.contains(key.as_str()) {
            initializers.insert(key.clone(), constant.read()?);
        }
    }
    let names = |values: Vec<ValueInfo>| values.into_iter().map(|v| v.name).collect::<Vec<_>>();
    let (graph_inputs, graph_outputs) = (names(graph.inputs), names(graph.outputs));
    let fed: BTreeSet<&str> =
        graph_inputs.iter().chain(initializers.keys()).map(String::as_str).collect();
    if let Some(input) = taken.iter().find(|input| !input.is_empty() && !fed.contains(*input)) {
        return Err(bad(name, format_args!("nothing feeds the node's input {input:?}")));
    }
    if let Some(output) = graph_outputs.iter().find(|output| !made.contains(output.as_str())) {
        return Err(bad(name, format_args!("nothing makes the graph output {output:?}")));
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
