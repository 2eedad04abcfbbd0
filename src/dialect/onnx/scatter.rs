//! ScatterElements and ScatterND.

use super::name;
use crate::base::error::Result;
use crate::dialect::attributes::{Call, Name, Reader, Types};
use crate::dialect::{Attributes, scatter};
use crate::operator::{Operator, ScatterMax};
use crate::tensor::TensorDesc;
use crate::tensor::key::{Extremum, Nan};

/// [ScatterElements](https://onnx.ai/onnx/operators/onnx__ScatterElements.html) with the `reduction`
/// `max` or `min`, from opset 18 on, of all types. Other reductions are refused.
///
/// The inputs are `data`, `indices` (`i32` or `i64`) and `updates`. An index that names no element is an
/// error. NaN propagates.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScatterElements {
    /// The model's opset: 18 or more.
    pub version: u32,
    /// The axis that indices count along. Default: 0.
    pub axis: i64,
    /// The attribute `reduction`. Required.
    pub reduction: Extremum,
}

/// [ScatterND](https://onnx.ai/onnx/operators/onnx__ScatterND.html) with the `reduction` `max` or `min`,
/// from opset 18 on, of all types. Other reductions are refused.
///
/// The inputs are `data`, `indices` (`i64`) and `updates`. An index that names no element is an error.
/// NaN propagates.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScatterND {
    /// The model's opset: 18 or more.
    pub version: u32,
    /// The attribute `reduction`. Required.
    pub reduction: Extremum,
}

impl ScatterElements {
    /// The operator of a model of opset `version`, along axis 0.
    pub fn new(version: u32, reduction: Extremum) -> Self {
        Self { version, axis: 0, reduction }
    }

    /// The operator of a model of opset `version`, with these attributes.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`](crate::Error::UnknownVersion) for an opset below 18,
    /// [`Error::UnknownOpset`](crate::Error::UnknownOpset) for one that is not known yet;
    /// [`Error::BadAttribute`](crate::Error::BadAttribute) for a `reduction` other than `max` and `min`,
    /// also for its default, `none`; [`Error::UnknownAttribute`](crate::Error::UnknownAttribute).
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        let name = name("ScatterElements", &VERSIONS, version)?;
        let (mut axis, mut reader) = (0, Reader::new(&name, attributes));
        reader.int("axis", &mut axis)?;
        let reduction = scatter::reduction(&mut reader)?;
        reader.finish()?;
        Ok(Self { version, axis, reduction })
    }

    /// Resolves the operator for `data`, `indices` and `updates`.
    ///
    /// # Errors
    /// As [`ScatterElements::from_attributes`];
    /// [`Error::TypeNotInDialect`](crate::Error::TypeNotInDialect) for indices of another type; those of
    /// [`ScatterMax::infer`].
    pub fn operator(
        &self,
        data: &TensorDesc,
        indices: &TensorDesc,
        updates: &TensorDesc,
    ) -> Result<ScatterMax> {
        name("ScatterElements", &VERSIONS, self.version)?.check_type(indices, INDICES)?;
        let operator = ScatterMax::along(self.axis).extremum(self.reduction);
        scatter::fitting(operator, [data, indices, updates])
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        let version = call.version("ScatterElements")?;
        let operator = Self::from_attributes(version, &call.node.attributes)?;
        let name = name("ScatterElements", &VERSIONS, version)?;
        resolved(call, &name, |[data, indices, updates]| operator.operator(data, indices, updates))
    }
}

impl ScatterND {
    /// The operator of a model of opset `version`.
    pub fn new(version: u32, reduction: Extremum) -> Self {
        Self { version, reduction }
    }

    /// The operator of a model of opset `version`, with these attributes.
    ///
    /// # Errors
    /// As [`ScatterElements::from_attributes`].
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        let name = name("ScatterND", &VERSIONS, version)?;
        let mut reader = Reader::new(&name, attributes);
        let reduction = scatter::reduction(&mut reader)?;
        reader.finish()?;
        Ok(Self { version, reduction })
    }

    /// Resolves the operator for `data`, `indices` and `updates`.
    ///
    /// # Errors
    /// As [`ScatterND::from_attributes`]; [`Error::TypeNotInDialect`](crate::Error::TypeNotInDialect)
    /// for indices of another type than `i64`;
    /// [`Error::ShapeNotInDialect`](crate::Error::ShapeNotInDialect) for data or indices of rank 0, and for
    /// updates of another rank if a single element is updated; the errors of [`ScatterMax::infer`].
    pub fn operator(
        &self,
        data: &TensorDesc,
        indices: &TensorDesc,
        updates: &TensorDesc,
    ) -> Result<ScatterMax> {
        let name = name("ScatterND", &VERSIONS, self.version)?;
        name.check_type(indices, I64)?;
        for (of, expected) in
            [(data, "data of rank 1 or more"), (indices, "indices of rank 1 or more")]
        {
            name.check_shape(of.rank() > 0, expected, of.shape())?;
        }
        let is_one = indices.shape() == [data.rank()];
        let expected = "updates of rank 0 for a single vector";
        name.check_shape(!is_one || updates.rank() == 0, expected, updates.shape())?;
        let operator = ScatterMax::by_vectors().extremum(self.reduction);
        scatter::fitting(operator, [data, indices, updates])
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        let version = call.version("ScatterND")?;
        let operator = Self::from_attributes(version, &call.node.attributes)?;
        let name = name("ScatterND", &VERSIONS, version)?;
        resolved(call, &name, |[data, indices, updates]| operator.operator(data, indices, updates))
    }
}

/// The operator of a node for its inputs.
fn resolved(
    call: &Call<'_>,
    name: &Name,
    operator: impl FnOnce([&TensorDesc; 3]) -> Result<ScatterMax>,
) -> Result<Operator> {
    let (inputs, []) = scatter::inputs(call, name, "3 inputs")?;
    Ok(operator(inputs)?.nan(call.nan.unwrap_or(Nan::Propagate)).into())
}

/// The first opset whose scatters have the reductions `max` and `min`.
const VERSIONS: [u32; 1] = [18];

const INDICES: Types = {
    use crate::tensor::ElementType::*;
    &[(1, &[I32, I64])]
};
const I64: Types = &[(1, &[crate::tensor::ElementType::I64])];
