//! `GraphProto` and `NodeProto`: operators with their attributes, and the values that connect them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use prost::bytes::Bytes;

use super::context::{Context, bad, own_domain};
use super::proto::{AttributeProto, DimensionProto, GraphProto, NodeProto, ValueInfoProto};
use super::tensor::{Constant, supported_type};
use crate::base::error::Result;
use crate::dialect::{Attribute, Attributes, Dialect, Node};
use crate::io::unsupported;
use crate::tensor::{ElementType, Tensor};

/// Nodes, and the declarations of the values that connect them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Graph {
    /// The nodes. Each uses only outputs of earlier nodes, and values from outside the graph.
    pub nodes: Vec<GraphNode>,
    /// The inputs of the graph, in its order.
    pub inputs: Vec<ValueInfo>,
    /// The outputs of the graph, in its order.
    pub outputs: Vec<ValueInfo>,
    /// The types and shapes that the model declares for other values.
    pub values: Vec<ValueInfo>,
    /// The constants by name. If a graph input has the same name, the constant is its default.
    pub initializers: BTreeMap<String, Constant>,
    /// The number of sparse constants, which are not read.
    pub sparse_initializers: usize,
}

impl Graph {
    /// The files that have elements of its constants.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let constants = self.initializers.values().filter_map(Constant::file);
        constants.chain(self.nodes.iter().flat_map(GraphNode::files)).collect()
    }
}

/// The type and shape that a model declares for a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ValueInfo {
    /// The name; not empty.
    pub name: String,
    /// The element type, if the value is a tensor of a type that this crate supports.
    pub element_type: Option<ElementType>,
    /// The dimensions, if the model declares the rank.
    pub shape: Option<Vec<Dim>>,
}

/// A dimension as a model declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dim {
    /// A number.
    Known(usize),
    /// A name. The same name is the same number everywhere in a model.
    Named(String),
    /// Not declared. Some writers use negative numbers or the name `?` for this.
    Unknown,
}

impl Graph {
    pub(super) fn new(context: &Arc<Context>, proto: GraphProto) -> Result<Self> {
        let model = &context.name;
        let mut initializers = BTreeMap::new();
        for bytes in proto.initializer {
            let label = |name: &str| format!("{model}: initializer {name:?}");
            let constant = Constant::new(label, bytes, &context.files)?;
            let name = constant.name().to_string();
            if name.is_empty() {
                continue;
            }
            if initializers.insert(name.clone(), constant).is_some() {
                return Err(bad(model, format_args!("two initializers are called {name:?}")));
            }
        }
        let nodes = proto.node.into_iter().map(|node| GraphNode::new(context, node));
        let graph = Self {
            nodes: nodes.collect::<Result<_>>()?,
            inputs: infos(model, proto.input, "graph input")?,
            outputs: infos(model, proto.output, "graph output")?,
            values: (proto.value_info.into_iter())
                .map(ValueInfo::new)
                .filter(|value| !value.name.is_empty())
                .collect(),
            initializers,
            sparse_initializers: proto.sparse_initializer.len(),
        };
        graph.check(model)?;
        Ok(graph)
    }

    /// Refuses a value that is defined twice, or used before it is defined.
    fn check(&self, model: &str) -> Result<()> {
        let names = |node: &GraphNode| node.outputs.clone().into_iter().filter(|n| !n.is_empty());
        let mut defined: BTreeSet<String> = self.inputs.iter().map(|i| i.name.clone()).collect();
        defined.extend(self.initializers.keys().cloned());
        let mut later = BTreeSet::new();
        for name in self.nodes.iter().flat_map(names) {
            if defined.contains(&name) || !later.insert(name.clone()) {
                return Err(bad(model, format_args!("two values are called {name:?}")));
            }
        }
        for node in &self.nodes {
            if let Some(name) = node.inputs.iter().find(|name| later.contains(*name)) {
                return Err(bad(model, format_args!("{name:?} is used before it is made")));
            }
            for name in names(node) {
                later.remove(&name);
            }
        }
        Ok(())
    }
}

impl ValueInfo {
    fn new(proto: ValueInfoProto) -> Self {
        let tensor = proto.r#type.and_then(|t| t.tensor_type).unwrap_or_default();
        Self {
            name: proto.name.unwrap_or_default(),
            element_type: tensor.elem_type.and_then(supported_type),
            shape: tensor.shape.map(|shape| shape.dim.into_iter().map(Dim::new).collect()),
        }
    }
}

impl Dim {
    fn new(proto: DimensionProto) -> Self {
        let known = proto.dim_value.and_then(|value| usize::try_from(value).ok());
        match (known, proto.dim_param) {
            (Some(value), _) => Self::Known(value),
            (None, Some(name)) if !matches!(name.as_str(), "" | "?") => Self::Named(name),
            _ => Self::Unknown,
        }
    }
}

/// The inputs or outputs of a graph. Each must have a name, and all names must differ.
fn infos(model: &str, protos: Vec<ValueInfoProto>, what: &str) -> Result<Vec<ValueInfo>> {
    let values: Vec<ValueInfo> = protos.into_iter().map(ValueInfo::new).collect();
    let mut seen = BTreeSet::new();
    for ValueInfo { name, .. } in &values {
        if name.is_empty() {
            return Err(bad(model, format_args!("a {what} has no name")));
        }
        if !seen.insert(name) {
            return Err(bad(model, format_args!("two {what}s are called {name:?}")));
        }
    }
    Ok(values)
}

/// An operator in a graph.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GraphNode {
    /// The name in the model; may be empty.
    pub name: String,
    /// The operator's domain; empty for ONNX's own.
    pub domain: String,
    /// The name of the operator, such as `MaxPool`.
    pub operator: String,
    /// The names of its inputs, in the operator's order; empty for an absent optional input.
    pub inputs: Vec<String>,
    /// The names of its outputs, in the operator's order; empty for an output that is not used.
    pub outputs: Vec<String>,
    /// The graphs among its attributes, such as the branches of an `If`, with the attributes'
    /// names.
    pub subgraphs: Vec<(String, Graph)>,
    attributes: Vec<AttributeProto>,
    context: Arc<Context>,
}

impl GraphNode {
    pub(super) fn new(context: &Arc<Context>, mut proto: NodeProto) -> Result<Self> {
        let operator = proto.op_type.unwrap_or_default();
        if operator.is_empty() {
            return Err(bad(&context.name, "a node has no op_type"));
        }
        let mut subgraphs = Vec::new();
        for attribute in &mut proto.attribute {
            let single = attribute.g.take().map(|graph| *graph);
            for graph in single.into_iter().chain(std::mem::take(&mut attribute.graphs)) {
                let name = attribute.name.clone().unwrap_or_default();
                subgraphs.push((name, Graph::new(context, graph)?));
            }
        }
        Ok(Self {
            name: proto.name.unwrap_or_default(),
            domain: own_domain(proto.domain),
            operator,
            inputs: proto.input,
            outputs: proto.output,
            subgraphs,
            attributes: proto.attribute,
            context: Arc::clone(context),
        })
    }

    /// The attributes by name. Graphs and tensors are an [`Attribute::Other`] that only says so.
    ///
    /// # Errors
    /// [`Error::BadFile`](crate::Error::BadFile) if an attribute does not follow the format,
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a reference to an attribute of a
    /// function.
    pub fn attributes(&self) -> Result<Attributes> {
        let model = &self.context.name;
        let mut attributes = Attributes::new();
        for proto in &self.attributes {
            let key = proto.name.clone().unwrap_or_default();
            if key.is_empty() {
                return Err(bad(model, "an attribute has no name"));
            }
            let value = attribute(model, &key, proto)?;
            if attributes.insert(key.clone(), value).is_some() {
                return Err(bad(model, format_args!("two attributes are called {key:?}")));
            }
        }
        Ok(attributes)
    }

    /// The node in the form of [`crate::dialect`], for version `opset` of ONNX's own operators.
    /// Unused outputs at the end are not counted.
    ///
    /// # Errors
    /// As [`GraphNode::attributes`].
    pub fn node(&self, opset: u32) -> Result<Node> {
        let outputs = self.outputs.iter().rposition(|name| !name.is_empty());
        Ok(Node {
            dialect: Dialect::Onnx,
            operator: self.operator.clone(),
            version: Some(opset),
            attributes: self.attributes()?,
            outputs: outputs.map_or(0, |last| last + 1),
        })
    }

    /// The tensor of a `Constant`; `None` for other operators, and for texts and sparse tensors.
    ///
    /// # Errors
    /// As [`Constant::read`].
    pub fn constant(&self) -> Result<Option<Tensor>> {
        let [proto] = self.attributes.as_slice() else { return Ok(None) };
        if self.operator != "Constant" || !self.domain.is_empty() {
            return Ok(None);
        }
        match (proto.name.as_deref().unwrap_or_default(), &proto.t) {
            ("value", Some(bytes)) => self.tensor(bytes)?.read().map(Some),
            ("value_int", _) => Tensor::from_slice([], &[proto.i.unwrap_or_default()]).map(Some),
            ("value_ints", _) => Tensor::from_slice([proto.ints.len()], &proto.ints).map(Some),
            ("value_float", _) => Tensor::from_slice([], &[proto.f.unwrap_or_default()]).map(Some),
            ("value_floats", _) => {
                Tensor::from_slice([proto.floats.len()], &proto.floats).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The files that have elements of its constants, and of those of its subgraphs.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let constants = self.attributes.iter().filter_map(|attribute| attribute.t.as_ref());
        let constants = constants.filter_map(|bytes| self.tensor(bytes).ok()?.file());
        constants.chain(self.subgraphs.iter().flat_map(|(_, graph)| graph.files())).collect()
    }

    fn tensor(&self, bytes: &Bytes) -> Result<Constant> {
        let output = self.outputs.first().map_or("", String::as_str);
        let label = |_: &str| format!("{}: constant {output:?}", self.context.name);
        Constant::new(label, bytes.clone(), &self.context.files)
    }
}

/// The value of an attribute: the field that its `type` selects.
fn attribute(model: &str, key: &str, proto: &AttributeProto) -> Result<Attribute> {
    if proto.ref_attr_name.as_ref().is_some_and(|r| !r.is_empty()) {
        let reason = format_args!("attribute {key:?} refers to an attribute of a function");
        return Err(unsupported(model, reason));
    }
    let text = |bytes: &Bytes| {
        String::from_utf8(bytes.to_vec())
            .map_err(|_| bad(model, format_args!("attribute {key:?} is not UTF-8")))
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
        other => return Err(bad(model, format_args!("attribute {key:?} has the type {other}"))),
    })
}
