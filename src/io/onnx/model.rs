//! `ModelProto`: a graph, the functions that it may call, and their opsets.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prost::Message;
use prost::bytes::Bytes;

use super::context::{Context, bad, own_domain};
use super::external::Files;
use super::graph::{Graph, GraphNode};
use super::proto::{FunctionProto, ModelProto, OperatorSetIdProto};
use crate::base::error::Result;
use crate::io::source::{self, SharedBytes, shared};

/// An ONNX model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Model {
    /// The name in errors, usually the path.
    pub name: String,
    /// The version of ONNX's own operators that the graph imports, if any.
    pub opset: Option<u32>,
    /// The graph.
    pub graph: Graph,
    /// The functions that the model defines.
    pub functions: Vec<Function>,
}

/// A function of a model: nodes that a single node calls.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Function {
    /// The domain; empty for ONNX's own.
    pub domain: String,
    /// The name, which calling nodes have as their operator.
    pub name: String,
    /// The version of ONNX's own operators that the function imports, if any.
    pub opset: Option<u32>,
    /// The nodes.
    pub nodes: Vec<GraphNode>,
}

impl Model {
    /// The files beside the model that have elements of its constants.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let functions = self.functions.iter().flat_map(|function| &function.nodes);
        let mut files = self.graph.files();
        files.extend(functions.flat_map(GraphNode::files));
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// Opens a model. The model is memory-mapped, and so is an external file once one of its tensors is
/// read. Do not change these files while the model or one of its tensors exists.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io), and as [`parse_model`].
pub fn read_model(path: impl AsRef<Path>) -> Result<Model> {
    let path = path.as_ref();
    let name = path.display().to_string();
    decode(&name, shared(source::open(path)?), Files::beside(path))
}

/// Parses a serialised `ModelProto`. `name` is its name in errors. Tensors in external files cannot
/// be read.
///
/// Operators and their attributes are not checked here; [`crate::dialect`] does that.
///
/// # Errors
/// [`Error::BadFile`](crate::Error::BadFile) if the bytes do not follow the format.
pub fn parse_model(name: &str, bytes: SharedBytes) -> Result<Model> {
    decode(name, shared(bytes), Files::default())
}

fn decode(name: &str, bytes: Bytes, files: Files) -> Result<Model> {
    // The decoder refuses messages nested deeper than 100 levels. This bounds the recursion here,
    // too.
    let is_empty = bytes.is_empty();
    let proto = ModelProto::decode(bytes).map_err(|e| bad(name, e))?;
    let context = Arc::new(Context { name: name.to_string(), files: Arc::new(files) });
    let lacking = if is_empty { "it is empty" } else { "no graph" };
    let graph = proto.graph.ok_or_else(|| bad(name, lacking))?;
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

/// The imported version of ONNX's own operators.
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
