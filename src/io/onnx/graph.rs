//! `GraphProto`: nodes, and the values that connect them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::model::{Context, bad};
use super::node::GraphNode;
use super::proto::{DimensionProto, GraphProto, ValueInfoProto};
use super::tensor::{Constant, supported_type};
use crate::error::Result;
use crate::tensor::ElementType;

/// Nodes, and what the model declares of the values that connect them.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The nodes. Each uses only outputs of earlier nodes, and values of outside the graph.
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

/// The type and shape that a model declares for a value.
#[derive(Clone, Debug, PartialEq)]
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
