//! MaxPoolBackward.

use super::MaxPool;
use crate::base::error::Result;
use crate::dialect::attributes::{Call, Name};
use crate::dialect::{Attributes, Dialect};
use crate::operator::{self, Operator};
use crate::tensor::TensorDesc;

/// [MaxPoolBackward](https://uxlfoundation.github.io/oneDNN/dev_guide_op_maxpoolbackward.html)
/// of f32, bf16 and f16.
///
/// The inputs are `src`, the data, and `diff_dst`, the gradient of the maxima; the result is
/// `diff_src`. The attributes are those of [`MaxPool`] without `rounding_type`: windows are counted
/// as with `floor`. The page does not define the order of additions or their rounding;
/// [`operator::MaxPoolBackward`] does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
        operator.infer([src, diff_dst])?;
        Ok(operator)
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        Self::NAME.check_version(call.node.version)?;
        let mut operator = Self::from_attributes(&call.node.attributes)?;
        operator.pool.nan = call.nan.unwrap_or(operator.pool.nan);
        let (src, [diff_dst]) = call.inputs(&Self::NAME, "2 inputs", false)?;
        let diff_dst = diff_dst.ok_or_else(|| call.input_count(&Self::NAME, "2 inputs"))?;
        operator.operator(src, diff_dst.desc()).map(Into::into)
    }
}
