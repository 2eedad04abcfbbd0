//! `ModelProto`: a graph, the functions it may call, and the opset of both.

use std::fmt::{self, Display};
use std::path::Path;
use std::sync::Arc;

use prost::Message;
use prost::bytes::Bytes;

use super::external::Files;
use super::graph::Graph;
use super::node::GraphNode;
use super::proto::{FunctionProto, ModelProto, OperatorSetIdProto};
use super::tensor::shared;
use crate::error::{Error, Result};
use crate::io::bad_file;
use crate::io::source::{self, SharedBytes};

/// A model.
#[derive(Clone, Debug)]
pub struct Model {
    /// What errors call it: its path, as a rule.
    pub name: String,
    /// The opset of ONNX's own domain that the graph imports, if it does.
    pub opset: Option<u32>,
    /// The graph.
    pub graph: Graph,
    /// The functions that the model defines for itself.
    pub functions: Vec<Function>,
}

/// A function that a model defines: nodes that stand for one.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its domain; empty for ONNX's own.
    pub domain: String,
    /// Its name, which nodes have as their operator.
    pub name: String,
    /// The opset of ONNX's own domain that it imports, if it does.
    pub opset: Option<u32>,
    /// Its nodes.
    pub nodes: Vec<GraphNode>,
}

/// What the parts of a model need to know of the whole.
pub(super) struct Context {
    /// What errors call the model.
    pub(super) name: String,
    pub(super) files: Arc<Files>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Opens a model. It is mapped, and so is a file beside it once a tensor in it is
/// read, so both must be left alone as long as the model or one of its tensors lives.
///
/// # Errors
/// [`Error::Io`], and as [`parse_model`].
pub fn read_model(path: &Path) -> Result<Model> {
    let name = path.display().to_string();
    decode(&name, shared(source::open(path)?), Files::beside(path))
}

/// The model of a serialised `ModelProto`; `name` is what errors call it. Elements
/// that lie in other files cannot be read.
///
/// Nothing is asked of the operators: what they are called and which attributes
/// they have is for [`crate::dialect`] to judge.
///
/// # Errors
/// [`Error::BadFile`] for anything that the format forbids.
pub fn parse_model(name: &str, bytes: SharedBytes) -> Result<Model> {
    decode(name, shared(bytes), Files::default())
}

fn decode(name: &str, bytes: Bytes, files: Files) -> Result<Model> {
    // The decoder refuses messages that are nested deeper than a hundred, so what
    // follows the nesting here is bounded, too.
    let proto = ModelProto::decode(bytes).map_err(|e| bad(name, e))?;
    let context = Arc::new(Context { name: name.to_string(), files: Arc::new(files) });
    let graph = proto.graph.ok_or_else(|| bad(name, "no graph"))?;
    let functions = proto.functions.into_iter().map(|f| Function::new(&context, f));
    Ok(Model {
        name: name.to_string(),
        opset: opset(name, &proto.opset_import)?,
        graph: Graph::new(&context, graph)?,
        functions: functions.collect::<Result<_>>()?,
    })
}

impl Function {
    fn new(context: &Arc<Context>, proto: FunctionProto) -> Result<Self> {
        let nodes = proto.node.into_iter().map(|node| GraphNode::new(context, node));
        Ok(Self {
            domain: own_domain(proto.domain),
            name: proto.name.unwrap_or_default(),
            opset: opset(&context.name, &proto.opset_import)?,
            nodes: nodes.collect::<Result<_>>()?,
        })
    }
}

/// The version of ONNX's own domain among the imports.
fn opset(name: &str, imports: &[OperatorSetIdProto]) -> Result<Option<u32>> {
    let mut versions = (imports.iter())
        .filter(|set| own_domain(set.domain.clone()).is_empty())
        .map(|set| set.version.unwrap_or(0));
    let Some(opset) = versions.next() else { return Ok(None) };
    if let Some(second) = versions.find(|&other| other != opset) {
        return Err(bad(name, format_args!("both opset {opset} and opset {second} are imported")));
    }
    match u32::try_from(opset) {
        Ok(version) if version > 0 => Ok(Some(version)),
        _ => Err(bad(name, format_args!("opset {opset}"))),
    }
}

/// A domain; ONNX's own has two spellings, of which the empty one stays.
pub(super) fn own_domain(domain: Option<String>) -> String {
    domain.filter(|domain| domain != "ai.onnx").unwrap_or_default()
}

pub(super) fn bad(name: &str, reason: impl Display) -> Error {
    bad_file(name, "ONNX model", reason)
}
