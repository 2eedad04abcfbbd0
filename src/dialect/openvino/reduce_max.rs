//! ReduceMax and ReduceMin.

use super::{INTEGERS, NUMBERS};
use crate::base::error::Result;
use crate::dialect::attributes::{Call, Name, Reader};
use crate::dialect::{Attributes, Dialect};
use crate::operator::{self, EmptySet, Operator};
use crate::tensor::axes::{self, AxesForm, Duplicates};
use crate::tensor::key::{Extremum, Nan};
use crate::tensor::{Tensor, TensorDesc};

/// [ReduceMax-1](https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/reduction/reduce-max-1.html)
/// and ReduceMin-1 of any type but `bool`.
///
/// Axes are the second input: a scalar or 1-D, of any integer type. An axis is in `-rank..rank`,
/// and must not be given twice. Without axes, the operator is the identity. The specification does
/// not define the maximum of an empty set; here it is the smallest finite value, and the minimum is
/// the largest one. NaN is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReduceMax {
    /// Whether this is ReduceMax or ReduceMin. Default: ReduceMax.
    pub extremum: Extremum,
    /// Whether reduced dimensions stay with size 1. Default: false.
    pub keep_dims: bool,
    /// The treatment of NaN. OpenVINO has no attribute for it and does not define it.
    pub nan: Nan,
}

impl ReduceMax {
    /// The operator with the defaults of the specification.
    pub fn new() -> Self {
        Self { extremum: Extremum::Maximum, keep_dims: false, nan: Nan::Ignore }
    }

    /// Version `version` of the operator, with these attributes. The others have their defaults.
    /// `keep_dims` may be a boolean, 0 or 1.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`](crate::Error::UnknownVersion) for a version other than 1;
    /// [`Error::UnknownAttribute`](crate::Error::UnknownAttribute);
    /// [`Error::BadAttribute`](crate::Error::BadAttribute) for a value of the wrong kind.
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        Self::new().with_attributes(version, attributes)
    }

    fn with_attributes(mut self, version: u32, attributes: &Attributes) -> Result<Self> {
        let name = self.name();
        name.check_version(Some(version))?;
        let mut reader = Reader::new(&name, attributes);
        self.keep_dims = reader.bool("keep_dims")?;
        reader.finish()?;
        Ok(self)
    }

    /// Resolves the operator for `data`, of any shape, and the second input `axes`, a scalar or
    /// 1-D. The axes of the returned operator are numbers from 0.
    ///
    /// # Errors
    /// [`Error::TypeNotInDialect`](crate::Error::TypeNotInDialect) for `bool` data;
    /// [`Error::InputCount`](crate::Error::InputCount) if `axes` is absent;
    /// [`Error::WrongElementType`](crate::Error::WrongElementType) for axes that are not integers;
    /// [`Error::AxesRank`](crate::Error::AxesRank) for axes of rank 2 or more;
    /// [`Error::AxisOutOfRange`](crate::Error::AxisOutOfRange), or
    /// [`Error::AxisTooLarge`](crate::Error::AxisTooLarge) for an axis that does not fit an `i64`;
    /// [`Error::DuplicateAxis`](crate::Error::DuplicateAxis).
    pub fn operator(
        &self,
        data: &TensorDesc,
        axes: Option<&Tensor>,
    ) -> Result<operator::ReduceMax> {
        self.name().check_type(data, NUMBERS)?;
        let axes = axes.ok_or_else(|| self.name().input_count("2 inputs", 1))?;
        let axes = AxesForm { scalar: true, types: &INTEGERS }.read(axes)?;
        let axes = axes::normalize(&axes, data.rank(), Duplicates::Refuse)?;
        Ok(operator::ReduceMax::new()
            .axes(axes.into_iter().map(|axis| axis as i64))
            .extremum(self.extremum)
            .keep_dims(self.keep_dims)
            .nan(self.nan)
            .empty_set(EmptySet::Finite))
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        let operator = Self { extremum: call.extremum, ..Self::new() };
        let name = operator.name();
        let version = call.version(name.operator)?;
        let mut operator = operator.with_attributes(version, &call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        let (data, [axes]) = call.inputs(&name, "2 inputs", false)?;
        let axes = axes.map(|axes| axes.tensor("axes")).transpose()?;
        operator.operator(data, axes).map(Into::into)
    }

    const fn name(&self) -> Name {
        let operator = self.extremum.name_of("ReduceMax", "ReduceMin");
        Name { dialect: Dialect::OpenVino, operator, version: Some(1) }
    }
}

impl Default for ReduceMax {
    /// [`ReduceMax::new`].
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Attribute::{self, *};
    use crate::tensor::ElementType;
    use crate::{Element, Error};

    fn read(version: u32, attributes: &[(&str, Attribute)]) -> Result<ReduceMax> {
        let attributes = attributes.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
        ReduceMax::from_attributes(version, &attributes)
    }

    /// The operator with default attributes, for f32 data of a shape.
    fn resolve<T: Element>(
        shape: &[usize],
        axes_shape: &[usize],
        axes: &[T],
    ) -> Result<operator::ReduceMax> {
        let data = TensorDesc::new(ElementType::F32, shape).unwrap();
        let axes = Tensor::from_slice(axes_shape, axes).unwrap();
        ReduceMax::new().operator(&data, Some(&axes))
    }

    fn expected(axes: &[i64]) -> operator::ReduceMax {
        operator::ReduceMax::new().axes(axes.to_vec()).nan(Nan::Ignore).empty_set(EmptySet::Finite)
    }

    #[test]
    fn reads_its_attributes() {
        assert_eq!(read(1, &[]).unwrap(), ReduceMax::default());
        assert!(!ReduceMax::new().keep_dims);
        assert!(read(1, &[("keep_dims", Bool(true))]).unwrap().keep_dims);
        assert!(read(1, &[("keep_dims", Int(1))]).unwrap().keep_dims);
        for value in [Int(2), Text("true".to_string())] {
            let error = read(1, &[("keep_dims", value)]);
            assert!(matches!(error, Err(Error::BadAttribute { attribute: "keep_dims", .. })));
        }
        let error = read(1, &[("axes", Ints(vec![0]))]).unwrap_err();
        assert_eq!(error.to_string(), r#"OpenVINO ReduceMax-1 has no attribute "axes""#);
        for version in [0, 2, 8] {
            assert!(matches!(read(version, &[]), Err(Error::UnknownVersion { .. })));
        }
    }

    #[test]
    fn resolves_with_its_own_defaults() {
        assert_eq!(resolve(&[2, 3, 4], &[2], &[-1i64, 0]).unwrap(), expected(&[0, 2]));
        let data = TensorDesc::new(ElementType::F32, [2]).unwrap();
        let axes = Tensor::from_slice([1], &[0i64]).unwrap();
        let own = ReduceMax { keep_dims: true, nan: Nan::Propagate, ..ReduceMax::new() };
        let own = own.operator(&data, Some(&axes)).unwrap();
        assert_eq!(own, expected(&[0]).keep_dims(true).nan(Nan::Propagate));
    }

    #[test]
    fn takes_all_types_but_bool() {
        let axes = Tensor::from_slice([1], &[0i64]).unwrap();
        for t in ElementType::ALL {
            let data = TensorDesc::new(t, [2]).unwrap();
            match ReduceMax::new().operator(&data, Some(&axes)) {
                Ok(_) => assert_ne!(t, ElementType::Bool),
                Err(Error::TypeNotInDialect { .. }) => assert_eq!(t, ElementType::Bool),
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn axes_are_a_required_input() {
        let data = TensorDesc::new(ElementType::F32, [2]).unwrap();
        let error = ReduceMax::new().operator(&data, None).unwrap_err();
        assert_eq!(error.to_string(), "OpenVINO ReduceMax-1 takes 2 inputs; given: 1");
    }

    #[test]
    fn axes_are_of_any_integer_type() {
        let shape = [2, 3];
        assert_eq!(resolve(&shape, &[1], &[-1i8]).unwrap(), expected(&[1]));
        assert_eq!(resolve(&shape, &[1], &[1u8]).unwrap(), expected(&[1]));
        assert_eq!(resolve(&shape, &[1], &[-1i16]).unwrap(), expected(&[1]));
        assert_eq!(resolve(&shape, &[1], &[1u16]).unwrap(), expected(&[1]));
        assert_eq!(resolve(&shape, &[1], &[-1i32]).unwrap(), expected(&[1]));
        assert_eq!(resolve(&shape, &[1], &[1u32]).unwrap(), expected(&[1]));
        assert_eq!(resolve(&shape, &[1], &[-1i64]).unwrap(), expected(&[1]));
        assert_eq!(resolve(&shape, &[1], &[1u64]).unwrap(), expected(&[1]));
        // The bits of -1 as an unsigned integer are not an axis.
        let wrapped = resolve(&shape, &[1], &[u64::MAX]);
        assert!(matches!(wrapped, Err(Error::AxisTooLarge { .. })));
        let wrapped = resolve(&shape, &[1], &[u8::MAX]);
        assert!(matches!(wrapped, Err(Error::AxisOutOfRange { axis: 255, .. })));

        let float = resolve(&shape, &[1], &[1f32]);
        assert!(matches!(float, Err(Error::WrongElementType { what: "axes", .. })));
        let truth = resolve(&shape, &[1], &[true]);
        assert!(matches!(truth, Err(Error::WrongElementType { what: "axes", .. })));
    }

    #[test]
    fn axes_are_a_scalar_or_1d() {
        assert_eq!(resolve(&[2, 3], &[], &[-1i32]).unwrap(), expected(&[1]));
        let table = resolve(&[2, 3], &[1, 1], &[0i32]);
        assert!(matches!(table, Err(Error::AxesRank { rank: 2, .. })));
    }

    #[test]
    fn no_axes_are_the_identity() {
        let data = TensorDesc::new(ElementType::I8, [2, 1]).unwrap();
        let axes = Tensor::from_slice([0], &[0i64; 0]).unwrap();
        for keep_dims in [false, true] {
            let operator = ReduceMax { keep_dims, ..ReduceMax::new() };
            let resolved = operator.operator(&data, Some(&axes)).unwrap();
            assert_eq!(resolved.infer(&data).unwrap()[0], data);
        }
    }

    #[test]
    fn axes_are_unique_and_in_range() {
        for axes in [[1i64, 1], [1, -2]] {
            let error = resolve(&[2, 3, 4], &[2], &axes);
            assert!(matches!(error, Err(Error::DuplicateAxis { .. })));
        }
        for (shape, axis) in [(&[2, 3][..], 2i64), (&[2, 3], -3), (&[], 0), (&[], -1)] {
            for axes_shape in [&[1][..], &[]] {
                let error = resolve(shape, axes_shape, &[axis]);
                assert!(matches!(error, Err(Error::AxisOutOfRange { .. })), "{shape:?} {axis}");
            }
        }
    }
}
