//! AdaptiveMaxPool.

use super::max_pool::{INDEX_TYPE_NAMES, INDEX_TYPES};
use crate::base::error::{Error, Result};
use crate::dialect::attributes::{Call, Name, Reader, Types};
use crate::dialect::{Attributes, Dialect};
use crate::operator::{self, Indices, Numbering, Operator};
use crate::tensor::key::Nan;
use crate::tensor::{ElementType, Tensor, TensorDesc};

/// [AdaptiveMaxPool-8](https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/pooling/adaptive-max-pool-8.html)
/// of `f32`, `f64`, `f16` or `bf16`.
///
/// Data is `[batch, channels, spatial...]` with 1, 2 or 3 spatial axes. The second input, 1-D of `i32` or `i64`,
/// has the number of windows along each of them. Indices are positions in the plane of a batch and a channel. The
/// ends of windows are exact here. OpenVINO computes them in `f32`, and so reads beyond planes if products of
/// sizes exceed 2^24. NaN is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdaptiveMaxPool {
    /// The element type of the indices, `i64` or `i32`. Default: `i64`.
    pub index_element_type: ElementType,
    /// The treatment of NaN. OpenVINO has no attribute for it and does not define it.
    pub nan: Nan,
}

impl AdaptiveMaxPool {
    const NAME: Name =
        Name { dialect: Dialect::OpenVino, operator: "AdaptiveMaxPool", version: Some(8) };

    /// The operator with the defaults of the specification.
    pub fn new() -> Self {
        Self { index_element_type: ElementType::I64, nan: Nan::Ignore }
    }

    /// Version `version` of the operator, with these attributes.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] for a version other than 8; [`Error::UnknownAttribute`];
    /// [`Error::BadAttribute`] for an `index_element_type` other than `i64` and `i32`.
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        Self::NAME.check_version(Some(version))?;
        let (mut operator, mut reader) = (Self::new(), Reader::new(&Self::NAME, attributes));
        let value = &mut operator.index_element_type;
        reader.text("index_element_type", INDEX_TYPE_NAMES, &INDEX_TYPES, value)?;
        reader.finish()?;
        Ok(operator)
    }

    /// Resolves the operator for `data` and `output_shape`. `indices`: whether the second output is
    /// requested.
    ///
    /// # Errors
    /// [`Error::TypeNotInDialect`] for data of integers; [`Error::ShapeNotInDialect`] for a rank other than 3, 4
    /// and 5, and for an `output_shape` that is not 1-D; [`Error::WrongElementType`] for an `output_shape` that is
    /// neither `i32` nor `i64`; [`Error::AttributeLength`] if it has not one number per spatial axis;
    /// [`Error::BadAttribute`] for a negative number, or indices of another type; [`Error::NothingToShareOut`] for
    /// a spatial axis of size 0; [`Error::IndexTooLarge`] if `i32` indices cannot number a plane.
    pub fn operator(
        &self,
        data: &TensorDesc,
        output_shape: &Tensor,
        indices: bool,
    ) -> Result<operator::MaxPool> {
        let (bad, shape) = (
            |attribute, expected, value| Err(Error::BadAttribute { attribute, expected, value }),
            data.shape(),
        );
        Self::NAME.check_type(data, TYPES)?;
        Self::NAME.check_shape(matches!(shape.len(), 3..=5), "data of rank 3, 4 or 5", shape)?;
        if !INDEX_TYPES.contains(&self.index_element_type) {
            let value = self.index_element_type.to_string();
            return bad("index_element_type", INDEX_TYPE_NAMES, value);
        }
        let sizes = sizes(output_shape)?;
        let outputs: Vec<usize> = sizes.iter().filter_map(|&n| usize::try_from(n).ok()).collect();
        if outputs.len() < sizes.len() {
            return bad("output_shape", "0 or more", format!("{sizes:?}"));
        }
        let positions = Indices::new(self.index_element_type).numbering(Numbering::FromAxis(2));
        let operator = operator::MaxPool::adaptive(outputs)
            .nan(self.nan)
            .indices(indices.then_some(positions));
        operator.infer(data)?;
        Ok(operator)
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        const COUNT: &str = "2 inputs";
        let version = call.version("AdaptiveMaxPool")?;
        let mut operator = Self::from_attributes(version, &call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        let (data, [output_shape]) = call.inputs(&Self::NAME, COUNT, true)?;
        let output_shape = output_shape.ok_or_else(|| call.input_count(&Self::NAME, COUNT))?;
        let output_shape = output_shape.tensor("output_shape")?;
        operator.operator(data, output_shape, call.node.outputs > 1).map(Into::into)
    }
}

impl Default for AdaptiveMaxPool {
    /// [`AdaptiveMaxPool::new`].
    fn default() -> Self {
        Self::new()
    }
}

const TYPES: Types = {
    use ElementType::*;
    &[(8, &[F32, F64, F16, Bf16])]
};

/// The numbers of a 1-D tensor.
fn sizes(output_shape: &Tensor) -> Result<Vec<i64>> {
    let sizes = match output_shape.element_type() {
        ElementType::I32 => output_shape.as_slice::<i32>()?.iter().map(|&n| n.into()).collect(),
        ElementType::I64 => output_shape.as_slice::<i64>()?.to_vec(),
        actual => {
            let expected = "i32 or i64".to_string();
            return Err(Error::WrongElementType { what: "output_shape", expected, actual });
        }
    };
    let shape = output_shape.shape();
    AdaptiveMaxPool::NAME.check_shape(shape.len() == 1, "a 1-D output_shape", shape)?;
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Attribute;

    #[test]
    fn refuses_what_the_page_forbids() {
        let data = |t, shape: &[usize]| TensorDesc::new(t, shape).unwrap();
        let outputs = Tensor::from_slice([1], &[3i32]).unwrap();
        let resolve = |data: TensorDesc, outputs: &Tensor| {
            AdaptiveMaxPool::new().operator(&data, outputs, true)
        };
        let plane = || data(ElementType::F32, &[1, 2, 7]);
        let found = resolve(plane(), &outputs).unwrap();
        let indices = Indices::new(ElementType::I64).numbering(Numbering::FromAxis(2));
        assert_eq!(found, operator::MaxPool::adaptive([3]).nan(Nan::Ignore).indices(indices));
        assert_eq!(found.infer(&plane()).unwrap()[0].shape(), [1, 2, 3]);
        let integers = resolve(data(ElementType::I32, &[1, 2, 7]), &outputs);
        assert!(matches!(integers, Err(Error::TypeNotInDialect { .. })));
        let empty = resolve(data(ElementType::F32, &[0, 2, 0]), &outputs);
        assert!(matches!(empty, Err(Error::NothingToShareOut { axis: 0 })));
        let flat = resolve(data(ElementType::F32, &[2, 7]), &outputs);
        assert!(matches!(flat, Err(Error::ShapeNotInDialect { .. })));
        let with = |outputs: Result<Tensor>| resolve(plane(), &outputs.unwrap());
        let negative = with(Tensor::from_slice([1], &[-1i64]));
        assert!(matches!(negative, Err(Error::BadAttribute { attribute: "output_shape", .. })));
        let two = with(Tensor::from_slice([2], &[1i64, 2]));
        assert!(matches!(two, Err(Error::AttributeLength { attribute: "output_sizes", .. })));
        let matrix = with(Tensor::from_slice([1, 1], &[1i64]));
        assert!(matches!(matrix, Err(Error::ShapeNotInDialect { .. })));
        let small = with(Tensor::from_slice([1], &[1i16]));
        assert!(matches!(small, Err(Error::WrongElementType { what: "output_shape", .. })));
        let none = with(Tensor::from_slice([1], &[0i64])).unwrap();
        assert_eq!(none.infer(&plane()).unwrap()[1].shape(), [1, 2, 0]);
        let mut attributes = Attributes::new();
        assert!(AdaptiveMaxPool::from_attributes(7, &attributes).is_err());
        let u8 = Attribute::Text("u8".to_string());
        attributes.insert("index_element_type".to_string(), u8);
        assert!(AdaptiveMaxPool::from_attributes(8, &attributes).is_err());
    }
}
