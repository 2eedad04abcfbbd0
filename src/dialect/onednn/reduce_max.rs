//! ReduceMax and ReduceMin.

use super::FLOATS;
use crate::base::error::{Error, Result};
use crate::dialect::attributes::{Call, Name, Reader};
use crate::dialect::{Attributes, Dialect};
use crate::operator::{self, EmptySet, Operator};
use crate::tensor::axes::{self, AxesForm, Duplicates};
use crate::tensor::key::{Extremum, Nan};
use crate::tensor::{ElementType, Tensor, TensorDesc};

/// [ReduceMax](https://uxlfoundation.github.io/oneDNN/dev_guide_op_reducemax.html)
/// and ReduceMin of f32, bf16 and f16.
///
/// Axes are given either as the attribute or as the second input, and not as both. An empty
/// attribute counts as given. Without axes, the operator is the identity. An axis is in
/// `-rank..rank`, and must not be given twice. The maximum of an empty set is the smallest finite
/// value, the minimum the largest one. NaN is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReduceMax {
    /// Whether this is ReduceMax or ReduceMin. Default: ReduceMax.
    pub extremum: Extremum,
    /// The axes to reduce; absent if the second input has them. Default: absent.
    pub axes: Option<Vec<i64>>,
    /// Whether reduced dimensions stay with size 1. Default: false.
    pub keep_dims: bool,
    /// The treatment of NaN. oneDNN has no attribute for it and does not define it.
    pub nan: Nan,
}

impl ReduceMax {
    /// The operator with the defaults of the specification.
    pub fn new() -> Self {
        Self { extremum: Extremum::Maximum, axes: None, keep_dims: false, nan: Nan::Ignore }
    }

    /// The operator with these attributes. The others have their defaults. `keep_dims` may be a
    /// boolean, 0 or 1.
    ///
    /// # Errors
    /// [`Error::UnknownAttribute`]; [`Error::BadAttribute`] for a value of the wrong kind.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self> {
        Self::new().with_attributes(attributes)
    }

    fn with_attributes(mut self, attributes: &Attributes) -> Result<Self> {
        let mut reader = Reader::new(&self.name(), attributes);
        self.axes = reader.ints("axes")?;
        self.keep_dims = reader.bool("keep_dims")?;
        reader.finish()?;
        Ok(self)
    }

    /// Resolves the operator for `data`, of any shape, and the second input `axes`, 1-D `i32`. The
    /// axes of the returned operator are numbers from 0.
    ///
    /// # Errors
    /// [`Error::TypeNotInDialect`] for another element type; [`Error::AxesSource`] if attribute and
    /// input are both given, or neither; [`Error::WrongElementType`] and [`Error::AxesRank`] for
    /// axes that are not 1-D `i32`; [`Error::AxisOutOfRange`]; [`Error::DuplicateAxis`].
    pub fn operator(
        &self,
        data: &TensorDesc,
        axes: Option<&Tensor>,
    ) -> Result<operator::ReduceMax> {
        let name = self.name();
        name.check_type(data, FLOATS)?;
        let (dialect, operator) = (name.dialect.name(), name.operator);
        let source = |given| Error::AxesSource { dialect, operator, given };
        let axes = match (&self.axes, axes) {
            (Some(axes), None) => axes.clone(),
            (None, Some(axes)) => {
                AxesForm { scalar: false, types: &[ElementType::I32] }.read(axes)?
            }
            (Some(_), Some(_)) => return Err(source("both were given")),
            (None, None) => return Err(source("neither was given")),
        };
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
        name.check_version(call.node.version)?;
        let mut operator = operator.with_attributes(&call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        let (data, [axes]) = call.inputs(&name, "1 or 2 inputs", false)?;
        let axes = axes.map(|axes| axes.tensor("axes")).transpose()?;
        operator.operator(data, axes).map(Into::into)
    }

    const fn name(&self) -> Name {
        let operator = self.extremum.name_of("ReduceMax", "ReduceMin");
        Name { dialect: Dialect::OneDnn, operator, version: None }
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

    fn read(attributes: &[(&str, Attribute)]) -> Result<ReduceMax> {
        let attributes = attributes.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
        ReduceMax::from_attributes(&attributes)
    }

    fn data(shape: &[usize]) -> TensorDesc {
        TensorDesc::new(ElementType::F32, shape).unwrap()
    }

    fn with_axes(axes: &[i64]) -> ReduceMax {
        ReduceMax { axes: Some(axes.to_vec()), ..ReduceMax::new() }
    }

    fn list(axes: &[i32]) -> Tensor {
        Tensor::from_slice([axes.len()], axes).unwrap()
    }

    #[test]
    fn reads_its_attributes() {
        assert_eq!(read(&[]).unwrap(), ReduceMax::default());
        assert!(!ReduceMax::new().keep_dims);
        let read_all = read(&[("axes", Ints(vec![-1])), ("keep_dims", Bool(true))]).unwrap();
        assert_eq!(read_all, ReduceMax { keep_dims: true, ..with_axes(&[-1]) });
        assert!(read(&[("keep_dims", Int(1))]).unwrap().keep_dims);
        assert!(!read(&[("keep_dims", Int(0))]).unwrap().keep_dims);

        for (name, value) in [("axes", Int(0)), ("keep_dims", Int(2)), ("keep_dims", Ints(vec![]))]
        {
            let error = read(&[(name, value)]);
            assert!(
                matches!(error, Err(Error::BadAttribute { attribute, .. }) if attribute == name)
            );
        }
        let error = read(&[("keepdims", Int(1))]).unwrap_err();
        assert_eq!(error.to_string(), r#"oneDNN Graph ReduceMax has no attribute "keepdims""#);
    }

    #[test]
    fn resolves_with_its_own_defaults() {
        let data = data(&[2, 3, 4]);
        let resolved = with_axes(&[-1, 0]).operator(&data, None).unwrap();
        let expected =
            operator::ReduceMax::new().axes([0, 2]).nan(Nan::Ignore).empty_set(EmptySet::Finite);
        assert_eq!(resolved, expected);
        let propagating = ReduceMax { nan: Nan::Propagate, ..with_axes(&[0]) };
        assert_eq!(propagating.operator(&data, None).unwrap().nan, Nan::Propagate);
    }

    #[test]
    fn takes_three_float_types() {
        let allowed = [ElementType::F32, ElementType::F16, ElementType::Bf16];
        for t in ElementType::ALL {
            let result = with_axes(&[0]).operator(&TensorDesc::new(t, [2]).unwrap(), None);
            match result {
                Ok(_) => assert!(allowed.contains(&t), "{t}"),
                Err(Error::TypeNotInDialect { element_type, .. }) => {
                    assert!(element_type == t && !allowed.contains(&t), "{t}");
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn axes_have_exactly_one_source() {
        let data = data(&[2, 3]);
        let input = list(&[-1]);
        let by_attribute = with_axes(&[-1]).operator(&data, None).unwrap();
        let by_input = ReduceMax::new().operator(&data, Some(&input)).unwrap();
        assert_eq!(by_attribute, by_input);

        let neither = ReduceMax::new().operator(&data, None);
        assert!(matches!(neither, Err(Error::AxesSource { given: "neither was given", .. })));
        for attribute in [&[-1][..], &[]] {
            let both = with_axes(attribute).operator(&data, Some(&input));
            assert!(matches!(both, Err(Error::AxesSource { given: "both were given", .. })));
        }
    }

    #[test]
    fn no_axes_are_the_identity() {
        let data = data(&[2, 1]);
        for keep_dims in [false, true] {
            let attribute = ReduceMax { keep_dims, ..with_axes(&[]) };
            let output = attribute.operator(&data, None).unwrap().infer(&data).unwrap()[0].clone();
            assert_eq!(output, data);
            let input = ReduceMax { keep_dims, ..ReduceMax::new() };
            let output =
                input.operator(&data, Some(&list(&[]))).unwrap().infer(&data).unwrap()[0].clone();
            assert_eq!(output, data);
        }
    }

    #[test]
    fn the_axes_input_is_1d_and_i32() {
        let resolve = |axes: Tensor| ReduceMax::new().operator(&data(&[2, 3]), Some(&axes));
        let wide = resolve(Tensor::from_slice([1], &[0i64]).unwrap());
        assert!(matches!(wide, Err(Error::WrongElementType { what: "axes", .. })));
        let scalar = resolve(Tensor::from_slice([], &[0i32]).unwrap());
        assert!(matches!(scalar, Err(Error::AxesRank { rank: 0, .. })));
    }

    #[test]
    fn axes_are_unique_and_in_range() {
        for axes in [[1, 1], [1, -2]] {
            let error = with_axes(&axes).operator(&data(&[2, 3, 4]), None);
            assert!(matches!(error, Err(Error::DuplicateAxis { .. })));
        }
        for (shape, axis) in [(&[2, 3][..], 2), (&[2, 3], -3), (&[], 0), (&[], -1)] {
            let error = with_axes(&[axis]).operator(&data(shape), None);
            assert!(matches!(error, Err(Error::AxisOutOfRange { .. })), "{shape:?} {axis}");
        }
    }

    #[test]
    fn shapes_go_by_axis_and_not_by_size() {
        let shape = |axis, shape: &[usize]| {
            let data = data(shape);
            let resolved = with_axes(&[axis]).operator(&data, None).unwrap();
            resolved.infer(&data).unwrap()[0].shape().to_vec()
        };
        assert_eq!(shape(0, &[4, 0]), [0]);
        assert_eq!(shape(2, &[2, 0, 3]), [2, 0]);
        assert_eq!(shape(0, &[1, 6]), [6]);
    }
}
