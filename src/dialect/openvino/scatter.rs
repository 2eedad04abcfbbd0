//! ScatterElementsUpdate and ScatterNDUpdate.

use super::INTEGERS;
#[expect(unused_imports, reason = "named in documentation")]
use crate::base::error::Error;
use crate::base::error::Result;
use crate::dialect::attributes::{Call, Name, Reader, Types};
use crate::dialect::{Attributes, Dialect, scatter};
use crate::operator::{Operator, ScatterMax};
use crate::tensor::axes::AxesForm;
use crate::tensor::key::{Extremum, Nan};
use crate::tensor::{ElementType, Tensor, TensorDesc};

/// [ScatterElementsUpdate-12](https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/scatter-elements-update-12.html)
/// with the `reduction` `max` or `min`, of all types. Other reductions are refused.
///
/// The inputs are data, indices (any integer type), updates and the axis (any integer type; a scalar or one
/// element). An index that names no element is an error. Without `use_init_val`, a maximum is that of the updates
/// alone; the implementations also compare them with the lowest finite value. NaN is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScatterElementsUpdate {
    /// The attribute `reduction`. Required.
    pub reduction: Extremum,
    /// Whether the data takes part in the maxima. Default: true.
    pub use_init_val: bool,
    /// The treatment of NaN. OpenVINO has no attribute for it and does not define it.
    pub nan: Nan,
}

/// [ScatterNDUpdate-15](https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/scatter-nd-update-15.html)
/// with the `reduction` `max` or `min`, of all types. Other reductions are refused.
///
/// The inputs are data, indices (`i32` or `i64`) and updates. If a single element is updated, the updates may be
/// one element of any shape. An index that names no element is an error. NaN is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScatterNDUpdate {
    /// The attribute `reduction`. Required.
    pub reduction: Extremum,
    /// The treatment of NaN. OpenVINO has no attribute for it and does not define it.
    pub nan: Nan,
}

impl ScatterElementsUpdate {
    const NAME: Name =
        Name { dialect: Dialect::OpenVino, operator: "ScatterElementsUpdate", version: Some(12) };

    /// The operator with the defaults of the specification.
    pub fn new(reduction: Extremum) -> Self {
        Self { reduction, use_init_val: true, nan: Nan::Ignore }
    }

    /// Version `version` of the operator, with these attributes.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] for a version other than 12; [`Error::BadAttribute`] for a `reduction`
    /// other than `max` and `min`, also for its default, `none`; [`Error::UnknownAttribute`].
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        Self::NAME.check_version(Some(version))?;
        let mut reader = Reader::new(&Self::NAME, attributes);
        let mut operator = Self::new(scatter::reduction(&mut reader)?);
        operator.use_init_val = reader.bool_or("use_init_val", true)?;
        reader.finish()?;
        Ok(operator)
    }

    /// Resolves the operator for data, indices, updates and the axis.
    ///
    /// # Errors
    /// [`Error::WrongElementType`] for indices or an axis that are not integers, [`Error::ShapeNotInDialect`] for
    /// an axis that does not have one element; the errors of [`ScatterMax::infer`].
    pub fn operator(
        &self,
        data: &TensorDesc,
        indices: &TensorDesc,
        updates: &TensorDesc,
        axis: &Tensor,
    ) -> Result<ScatterMax> {
        let axes = AxesForm { scalar: true, types: &INTEGERS }.read(axis)?;
        Self::NAME.check_shape(axes.len() == 1, "an axis of one element", axis.shape())?;
        let operator = ScatterMax::along(axes[0])
            .extremum(self.reduction)
            .include_data(self.use_init_val)
            .nan(self.nan);
        scatter::fitting(operator, [data, indices, updates])
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        let version = call.version(Self::NAME.operator)?;
        let mut operator = Self::from_attributes(version, &call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        let ([data, indices, updates], [axis]) = scatter::inputs(call, &Self::NAME, "4 inputs")?;
        operator.operator(data, indices, updates, axis.tensor("axis")?).map(Into::into)
    }
}

impl ScatterNDUpdate {
    const NAME: Name =
        Name { dialect: Dialect::OpenVino, operator: "ScatterNDUpdate", version: Some(15) };

    /// The operator with the defaults of the specification.
    pub fn new(reduction: Extremum) -> Self {
        Self { reduction, nan: Nan::Ignore }
    }

    /// Version `version` of the operator, with these attributes.
    ///
    /// # Errors
    /// As [`ScatterElementsUpdate::from_attributes`], for a version other than 15.
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        Self::NAME.check_version(Some(version))?;
        let mut reader = Reader::new(&Self::NAME, attributes);
        let operator = Self::new(scatter::reduction(&mut reader)?);
        reader.finish()?;
        Ok(operator)
    }

    /// Resolves the operator for data, indices and updates.
    ///
    /// # Errors
    /// [`Error::TypeNotInDialect`] for indices of another type than `i32` and `i64`; those of
    /// [`ScatterMax::infer`].
    pub fn operator(
        &self,
        data: &TensorDesc,
        indices: &TensorDesc,
        updates: &TensorDesc,
    ) -> Result<ScatterMax> {
        Self::NAME.check_type(indices, INDICES)?;
        let operator = ScatterMax::by_vectors().extremum(self.reduction).nan(self.nan);
        scatter::fitting(operator, [data, indices, updates])
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        let version = call.version(Self::NAME.operator)?;
        let mut operator = Self::from_attributes(version, &call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        let ([data, indices, updates], []) = scatter::inputs(call, &Self::NAME, "3 inputs")?;
        operator.operator(data, indices, updates).map(Into::into)
    }
}

const INDICES: Types = &[(1, &[ElementType::I32, ElementType::I64])];
