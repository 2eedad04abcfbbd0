//! MaxPoolBackward.

use super::MaxPool;
use crate::dialect::attributes::{Inputs, Name};
use crate::dialect::{Attributes, Dialect, Node};
use crate::error::Result;
use crate::operator;
use crate::tensor::TensorDesc;
use crate::tensor::key::Nan;

/// [MaxPoolBackward](https://uxlfoundation.github.io/oneDNN/dev_guide_op_maxpoolbackward.html)
/// of f32, bf16 and f16.
///
/// The inputs are `src`, the data, and `diff_dst`, the gradient of the maxima; the result is
/// `diff_src`. The attributes are those of [`MaxPool`] without `rounding_type`: windows are counted
/// as with `floor`. The page leaves open in which order gradients are added, and how sums are
/// rounded; [`operator::MaxPoolBackward`] says how they are here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxPoolBackward {
    /// The attributes of the pooling. Its `rounding_type` stays `floor`.
    pub pool: MaxPool,
}

impl MaxPoolBackward {
    const NAME: Name =
        Name { dialect: Dialect::OneDnn, operator: "MaxPoolBackward", version: None };

    /// The gradient of a pooling.
    pub fn new(pool: MaxPool) -> Self {
        Self { pool }
    }

    /// The operator with these attributes. The others have their defaults.
    ///
    /// # Errors
    /// As [`MaxPool::from_attributes`]; [`Error::UnknownAttribute`](crate::Error::UnknownAttribute)
    /// for `rounding_type`, too.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self> {
        Ok(Self { pool: MaxPool::read(attributes, &Self::NAME, false)? })
    }

    /// Resolves the operator for `src` and `diff_dst`.
    ///
    /// # Errors
    /// As [`MaxPool::operator`], and [`Error::WrongInput`](crate::Error::WrongInput) for a
    /// `diff_dst` of another type or shape than the maxima have.
    pub fn operator(
        &self,
        src: &TensorDesc,
        diff_dst: &TensorDesc,
    ) -> Result<operator::MaxPoolBackward> {
        let pool = self.pool.operator_of(&Self::NAME, src)?;
        let operator = operator::MaxPoolBackward::new(pool);
        operator.infer(src, diff_dst)?;
        Ok(operator)
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(
        node: &Node,
        inputs: Inputs<'_>,
        nan: Option<Nan>,
    ) -> Result<operator::MaxPoolBackward> {
        if node.version.is_some() {
            return Err(Name { version: node.version, ..Self::NAME }.unknown_version());
        }
        let mut operator = Self::from_attributes(&node.attributes)?;
        operator.pool.nan = nan.unwrap_or(operator.pool.nan);
        Self::NAME.outputs(node.outputs, false)?;
        let (src, [diff_dst]) = Self::NAME.inputs(inputs, "2 inputs")?;
        let diff_dst = diff_dst.ok_or_else(|| Self::NAME.input_count("2 inputs", 1))?;
        operator.operator(src, diff_dst.desc())
    }
}
