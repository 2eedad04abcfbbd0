//! The operators of ONNX, oneDNN Graph, OpenVINO and WebNN: one module per specification.
//!
//! A dialect converts the attributes of a specification to an operator of [`crate::operator`]. Its
//! types can be filled in field by field, or from a [`Node`], the form in which models and golden
//! cases hold an operator.
//!
//! ```
//! use wgmax::dialect::onnx;
//! use wgmax::{Device, Run, Tensor};
//!
//! let data = Tensor::from_slice([2, 2], &[1.0f32, 4.0, 3.0, 2.0])?;
//! let mut attributes = onnx::ReduceMax::new(13);
//! attributes.axes = Some(vec![1]);
//! attributes.keepdims = 0;
//! let rows = attributes.operator(data.desc(), None)?.run(&Device::cpu(), &data)?;
//! assert_eq!(rows[0].as_slice::<f32>()?, [4.0, 3.0]);
//! # Ok::<(), wgmax::Error>(())
//! ```

mod attributes;
mod neutral;
pub mod onednn;
pub mod onnx;
pub mod openvino;
mod pool;
mod scatter;
pub mod webnn;

use attributes::Call;
pub use pool::AutoPad;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::base::error::{Error, Result};
use crate::operator::Operator;
use crate::tensor::key::{Extremum, Nan};
use crate::tensor::{Tensor, TensorDesc};

/// The value of an attribute, as a model or a golden case holds it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Attribute {
    /// An integer.
    Int(i64),
    /// A list of integers.
    Ints(Vec<i64>),
    /// A boolean.
    Bool(bool),
    /// A string.
    Text(String),
    /// Any other value, as text for error messages.
    Other(String),
}

impl fmt::Display for Attribute {
    /// The value as it appears in error messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(int) => write!(f, "{int}"),
            Self::Ints(ints) => write!(f, "{ints:?}"),
            Self::Bool(bool) => write!(f, "{bool}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Other(other) => f.write_str(other),
        }
    }
}

/// Attributes by name.
pub type Attributes = BTreeMap<String, Attribute>;

/// An input of a node, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// The tensor.
    Tensor(&'a Tensor),
    /// Its type and shape.
    Desc(&'a TensorDesc),
}

impl<'a> Input<'a> {
    /// The type and shape.
    pub fn desc(self) -> &'a TensorDesc {
        match self {
            Self::Tensor(tensor) => tensor.desc(),
            Self::Desc(desc) => desc,
        }
    }

    /// The tensor of the input `name`, whose elements are needed.
    fn tensor(self, name: &'static str) -> Result<&'a Tensor> {
        match self {
            Self::Tensor(tensor) => Ok(tensor),
            Self::Desc(_) => Err(Error::UnknownElements { name }),
        }
    }
}

/// A specification of operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// ONNX. A model names the version of all operators, the opset.
    Onnx,
    /// oneDNN Graph. It has no versions.
    OneDnn,
    /// OpenVINO. Each operator has its own version.
    OpenVino,
    /// WebNN. It has no versions.
    WebNn,
    /// The operators of this library that no other specification has, for golden cases: version 1 of
    /// `ReduceMaxBackward` (attributes `axes` and `keep_dims`; inputs `data` and `diff_out`) and of
    /// `SegmentMaxBackward` (inputs `data`, `segment_ids` and `diff_out`).
    Neutral,
}

impl Dialect {
    /// The specification's name: `ONNX`, `oneDNN Graph`, `OpenVINO`, `WebNN`, `neutral`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Onnx => "ONNX",
            Self::OneDnn => "oneDNN Graph",
            Self::OpenVino => "OpenVINO",
            Self::WebNn => "WebNN",
            Self::Neutral => "neutral",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Dialect {
    type Err = Error;

    /// Parses the short names in files and flags: `onnx`, `onednn`, `openvino`, `webnn`,
    /// `neutral`.
    fn from_str(name: &str) -> Result<Self> {
        match name {
            "onnx" => Ok(Self::Onnx),
            "onednn" => Ok(Self::OneDnn),
            "openvino" => Ok(Self::OpenVino),
            "webnn" => Ok(Self::WebNn),
            "neutral" => Ok(Self::Neutral),
            _ => Err(Error::UnknownDialect { name: name.to_string() }),
        }
    }
}

/// An operator with its attributes, as a model or a golden case holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The specification.
    pub dialect: Dialect,
    /// The operator's name in the specification: `ReduceMax`, `ReduceMin`, `ArgMax`,
    /// `ArgMin`, `MaxPool`, `GlobalMaxPool`, `AdaptiveMaxPool`, `SegmentMax`,
    /// `ScatterElements`, `ScatterND`, `ScatterElementsUpdate`, `ScatterNDUpdate`,
    /// `MaxPoolBackward`, `ReduceMaxBackward`, `SegmentMaxBackward`, `MaxUnpool`; of WebNN `reduceMax`,
    /// `reduceMin`, `argMax`, `argMin`, `maxPool2d`.
    pub operator: String,
    /// The opset (ONNX) or the operator's version (OpenVINO, neutral); `None` for oneDNN Graph and
    /// WebNN.
    pub version: Option<u32>,
    /// The given attributes. The others have the specification's defaults.
    pub attributes: Attributes,
    /// The number of requested outputs. Further optional outputs are not computed.
    pub outputs: usize,
}

impl Node {
    /// The operator that the node describes for these inputs. An absent optional input is `None`,
    /// or left out at the end. `nan` overrides the dialect's treatment of NaN.
    ///
    /// Inputs that hold parameters, such as the axes of ReduceMax, are read here. The returned
    /// operator takes only the inputs before them.
    ///
    /// # Errors
    /// [`Error::UnknownOperator`], [`Error::InputCount`], [`Error::OutputCount`];
    /// [`Error::MissingVersion`] for all but oneDNN Graph and WebNN; [`Error::UnknownVersion`], also
    /// for any version of these; and the errors of the dialect's operator, such as
    /// [`onnx::MaxPool::operator`].
    pub fn operator(&self, inputs: &[Option<&Tensor>], nan: Option<Nan>) -> Result<Operator> {
        let inputs: Vec<_> = inputs.iter().map(|input| input.map(Input::Tensor)).collect();
        self.operator_for(&inputs, nan)
    }

    /// As [`Node::operator`], if only the type and shape of some inputs are known. Only the elements of
    /// inputs that hold parameters are needed.
    ///
    /// # Errors
    /// As [`Node::operator`], and [`Error::UnknownElements`].
    pub fn operator_for(&self, inputs: &[Option<Input<'_>>], nan: Option<Nan>) -> Result<Operator> {
        let extremum = match self.operator.ends_with("Min") {
            true => Extremum::Minimum,
            false => Extremum::Maximum,
        };
        let resolve = match (self.dialect, self.operator.as_str()) {
            (Dialect::Onnx, "ReduceMax" | "ReduceMin") => onnx::ReduceMax::resolve,
            (Dialect::Onnx, "ArgMax" | "ArgMin") => onnx::ArgMax::resolve,
            (Dialect::Onnx, "MaxPool") => onnx::MaxPool::resolve,
            (Dialect::Onnx, "GlobalMaxPool") => onnx::GlobalMaxPool::resolve,
            (Dialect::Onnx, "MaxUnpool") => onnx::MaxUnpool::resolve,
            (Dialect::Onnx, "ScatterElements") => onnx::ScatterElements::resolve,
            (Dialect::Onnx, "ScatterND") => onnx::ScatterND::resolve,
            (Dialect::Neutral, "ReduceMaxBackward") => neutral::reduce_max_backward,
            (Dialect::Neutral, "SegmentMaxBackward") => neutral::segment_max_backward,
            (Dialect::OneDnn, "ReduceMax" | "ReduceMin") => onednn::ReduceMax::resolve,
            (Dialect::OneDnn, "MaxPool") => onednn::MaxPool::resolve,
            (Dialect::OneDnn, "MaxPoolBackward") => onednn::MaxPoolBackward::resolve,
            (Dialect::OpenVino, "ReduceMax" | "ReduceMin") => openvino::ReduceMax::resolve,
            (Dialect::OpenVino, "MaxPool") => openvino::MaxPool::resolve,
            (Dialect::OpenVino, "AdaptiveMaxPool") => openvino::AdaptiveMaxPool::resolve,
            (Dialect::OpenVino, "SegmentMax") => openvino::SegmentMax::resolve,
            (Dialect::OpenVino, "ScatterElementsUpdate") => {
                openvino::ScatterElementsUpdate::resolve
            }
            (Dialect::WebNn, "reduceMax" | "reduceMin") => webnn::ReduceMax::resolve,
            (Dialect::WebNn, "argMax" | "argMin") => webnn::ArgMax::resolve,
            (Dialect::WebNn, "maxPool2d") => webnn::MaxPool2d::resolve,
            (Dialect::OpenVino, "ScatterNDUpdate") => openvino::ScatterNDUpdate::resolve,
            _ => {
                let (dialect, operator) = (self.dialect.name(), self.operator.clone());
                return Err(Error::UnknownOperator { dialect, operator });
            }
        } as fn(&Call<'_>) -> Result<Operator>;
        resolve(&Call { node: self, extremum, inputs, nan })
    }
}

#[cfg(test)]
mod tests;
