//! GlobalMaxPool.

use super::{FLOATS, name};
use crate::base::error::Result;
use crate::dialect::Attributes;
use crate::dialect::attributes::{Call, Name, Reader};
use crate::operator::{self, EmptySet, Operator};
use crate::tensor::TensorDesc;
use crate::tensor::key::Nan;

/// [GlobalMaxPool](https://onnx.ai/onnx/operators/onnx__GlobalMaxPool.html),
/// opsets 1 and 22: f32, f64 and f16, from opset 22 also bf16.
///
/// Data is `[batch, channels, spatial...]` with one or more spatial axes. The operator has no
/// attributes. It is a [`ReduceMax`](operator::ReduceMax) of all spatial axes, which stay with size
/// 1. NaN and empty sets are treated as in [`MaxPool`](super::MaxPool).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GlobalMaxPool {
    /// The model's opset: 1 or more.
    pub version: u32,
    /// The treatment of NaN. ONNX has no attribute for it and does not define it.
    pub nan: Nan,
}

impl GlobalMaxPool {
    const VERSIONS: [u32; 2] = [1, 22];

    /// The operator of a model of opset `version`.
    pub fn new(version: u32) -> Self {
        Self { version, nan: Nan::Ignore }
    }

    /// The operator of a model of opset `version`. `attributes` must be empty.
    ///
    /// # Errors
    /// [`UnknownVersion`] for opset 0, [`UnknownOpset`] for one that is not known yet,
    /// [`UnknownAttribute`].
    ///
    /// [`UnknownVersion`]: crate::Error::UnknownVersion
    /// [`UnknownOpset`]: crate::Error::UnknownOpset
    /// [`UnknownAttribute`]: crate::Error::UnknownAttribute
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        let operator = Self::new(version);
        Reader::new(&operator.name()?, attributes).finish()?;
        Ok(operator)
    }

    /// Resolves the operator for `data`.
    ///
    /// # Errors
    /// [`UnknownVersion`] for opset 0, [`UnknownOpset`] for one that is not known yet,
    /// [`TypeNotInDialect`] for an element type that the opset does not have, [`ShapeNotInDialect`]
    /// for data without a spatial axis.
    ///
    /// [`UnknownVersion`]: crate::Error::UnknownVersion
    /// [`UnknownOpset`]: crate::Error::UnknownOpset
    /// [`TypeNotInDialect`]: crate::Error::TypeNotInDialect
    /// [`ShapeNotInDialect`]: crate::Error::ShapeNotInDialect
    pub fn operator(&self, data: &TensorDesc) -> Result<operator::ReduceMax> {
        let name = self.name()?;
        name.check_type(data, FLOATS)?;
        name.check_shape(data.rank() >= 3, "data of rank 3 or more", data.shape())?;
        Ok(operator::ReduceMax::new()
            .axes(2..data.rank() as i64)
            .keep_dims(true)
            .nan(self.nan)
            .empty_set(EmptySet::Identity))
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        let version = call.version("GlobalMaxPool")?;
        let mut operator = Self::from_attributes(version, &call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        let (data, []) = call.inputs(&operator.name()?, "1 input", false)?;
        operator.operator(data).map(Into::into)
    }

    fn name(&self) -> Result<Name> {
        name("GlobalMaxPool", &Self::VERSIONS, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::dialect::{Attribute, Dialect, Input, Node};
    use crate::tensor::ElementType;

    fn data(element_type: ElementType, shape: &[usize]) -> TensorDesc {
        TensorDesc::new(element_type, shape).unwrap()
    }

    #[test]
    fn it_reduces_all_spatial_axes_and_keeps_them() {
        for (shape, axes) in
            [(&[2, 3, 4][..], 2..3), (&[2, 3, 4, 5], 2..4), (&[1, 1, 0, 2, 2], 2..5)]
        {
            let data = data(ElementType::F32, shape);
            let operator = GlobalMaxPool::new(11).operator(&data).unwrap();
            let expected = operator::ReduceMax::new().axes(axes).keep_dims(true).nan(Nan::Ignore);
            assert_eq!(operator, expected);
            let mut reduced = vec![1; shape.len()];
            reduced[..2].copy_from_slice(&shape[..2]);
            assert_eq!(operator.infer(&data).unwrap()[0].shape(), reduced);
        }
    }

    #[test]
    fn types_and_ranks_are_those_of_the_opset() {
        for t in ElementType::ALL {
            for opset in [1, 21, 22, 28] {
                let allowed = match t {
                    ElementType::F32 | ElementType::F64 | ElementType::F16 => true,
                    ElementType::Bf16 => opset >= 22,
                    _ => false,
                };
                let result = GlobalMaxPool::new(opset).operator(&data(t, &[1, 2, 3]));
                match result {
                    Ok(_) => assert!(allowed, "{t} {opset}"),
                    Err(Error::TypeNotInDialect { .. }) => assert!(!allowed, "{t} {opset}"),
                    Err(error) => panic!("{error}"),
                }
            }
        }
        for shape in [&[][..], &[1], &[1, 2]] {
            let error = GlobalMaxPool::new(1).operator(&data(ElementType::F32, shape));
            assert!(matches!(error, Err(Error::ShapeNotInDialect { .. })), "{shape:?}");
        }
    }

    #[test]
    fn a_node_has_no_attributes_one_input_and_one_output() {
        let node = Node {
            dialect: Dialect::Onnx,
            operator: "GlobalMaxPool".to_string(),
            version: Some(15),
            attributes: Attributes::new(),
            outputs: 1,
        };
        let data = data(ElementType::F16, &[1, 2, 3]);
        let resolve = |node: &Node, nan| node.operator_for(&[Some(Input::Desc(&data))], nan);
        let Operator::ReduceMax(operator) = resolve(&node, Some(Nan::Propagate)).unwrap() else {
            panic!("no ReduceMax")
        };
        assert_eq!(operator.nan, Nan::Propagate);

        let two = Node { outputs: 2, ..node.clone() };
        assert!(matches!(resolve(&two, None), Err(Error::OutputCount { .. })));
        let zero = Node { version: Some(0), ..node.clone() };
        assert!(matches!(resolve(&zero, None), Err(Error::UnknownVersion { .. })));
        assert!(matches!(node.operator(&[None], None), Err(Error::InputCount { .. })));
        let kernel = ("kernel_shape".to_string(), Attribute::Ints(vec![2]));
        let odd = Node { attributes: Attributes::from([kernel]), ..node };
        assert!(matches!(resolve(&odd, None), Err(Error::UnknownAttribute { .. })));
    }
}
