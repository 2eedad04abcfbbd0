//! What the attributes of each specification mean: one module a dialect.
//!
//! A dialect turns attributes into an operator of [`crate::operator`] and does
//! nothing else. Its types can be filled in by hand, or from a [`Node`], the
//! form in which models and golden cases hold an operator.

use std::collections::BTreeMap;

/// The value of an attribute as a model or a case file holds it.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// An integer.
    Int(i64),
    /// A list of integers.
    Ints(Vec<i64>),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(String),
    /// Anything else, as it is printed in an error.
    Other(String),
}

/// Attributes by name.
pub type Attributes = BTreeMap<String, Attribute>;

/// Whose specification an operator follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// ONNX, versions by opset.
    Onnx,
    /// oneDNN Graph, without versions.
    OneDnn,
    /// OpenVINO, versions by operator.
    OpenVino,
}

/// An operator as a model or a golden case holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The specification.
    pub dialect: Dialect,
    /// The operator's name there: `ReduceMax`, `MaxPool`, `SegmentMax`.
    pub operator: String,
    /// The opset (ONNX) or the operator's version (OpenVINO); `None` for oneDNN Graph.
    pub version: Option<u32>,
    /// The attributes that were given; the others have the dialect's defaults.
    pub attributes: Attributes,
}
