//! `NodeProto`: an operator in a graph, and its attributes.

use std::sync::Arc;

use prost::bytes::Bytes;

use super::graph::Graph;
use super::model::{Context, bad, own_domain};
use super::proto::{AttributeProto, NodeProto};
use super::tensor::Constant;
use crate::dialect::{Attribute, Attributes, Dialect, Node};
use crate::error::Result;
use crate::io::unsupported;
use crate::tensor::Tensor;

/// An operator in a graph.
#[derive(Clone, Debug)]
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
