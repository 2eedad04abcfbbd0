//! ReduceMax and ReduceMin.

use super::name;
use crate::base::error::Result;
use crate::dialect::Attributes;
use crate::dialect::attributes::{Call, Name, Reader, Types, flag};
use crate::operator::{self, EmptySet, Operator};
use crate::tensor::axes::{self, AxesForm, Duplicates};
use crate::tensor::key::{Extremum, Nan};
use crate::tensor::{ElementType, Tensor, TensorDesc};

/// [ReduceMax](https://onnx.ai/onnx/operators/onnx__ReduceMax.html) and
/// [ReduceMin](https://onnx.ai/onnx/operators/onnx__ReduceMin.html), opsets 1, 11, 12, 13, 18 and 20.
///
/// | opset | axes | new element types |
/// |---|---|---|
/// | 1, 11 | attribute | f32 f64 f16 i32 i64 u32 u64 |
/// | 12 | attribute | i8 u8 |
/// | 13 | attribute | bf16 |
/// | 18 | optional second input, 1-D `i64` | |
/// | 20 | optional second input, 1-D `i64` | bool |
///
/// An axis is in `-rank..rank`; opset 1 does not say so, and is read like the others. An axis given
/// twice counts once. A scalar has no axes. The maximum of an empty set is minus infinity, the
/// smallest value of an integer type, or false; the minimum is plus infinity, the largest value, or
/// true. NaN propagates.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReduceMax {
    /// Whether this is ReduceMax or ReduceMin. Default: ReduceMax.
    pub extremum: Extremum,
    /// The model's opset: 1 or more.
    pub version: u32,
    /// The axes to reduce, before opset 18. Absent or empty: all axes.
    pub axes: Option<Vec<i64>>,
    /// Whether reduced dimensions stay with size 1 (1) or are dropped (0). Default: 1.
    pub keepdims: i64,
    /// The meaning of absent or empty axes, from opset 18: 0 reduces all axes, 1 reduces none.
    /// Default: 0.
    pub noop_with_empty_axes: i64,
    /// The treatment of NaN. ONNX has no attribute for it; by its text, NaN propagates.
    pub nan: Nan,
}

impl ReduceMax {
    const VERSIONS: [u32; 6] = [1, 11, 12, 13, 18, 20];
    const TYPES: Types = {
        use ElementType::*;
        const FIRST: &[ElementType] = &[F32, F64, F16, I32, I64, U32, U64];
        &[(1, FIRST), (12, &[I8, U8]), (13, &[Bf16]), (20, &[Bool])]
    };

    /// The operator of a model of opset `version`, with the defaults of the specification.
    pub fn new(version: u32) -> Self {
        Self {
            extremum: Extremum::Maximum,
            version,
            axes: None,
            keepdims: 1,
            noop_with_empty_axes: 0,
            nan: Nan::Propagate,
        }
    }

    /// The operator of a model of opset `version`, with these attributes. The others have their
    /// defaults.
    ///
    /// # Errors
    /// [`UnknownVersion`] for opset 0; [`UnknownOpset`] for one that is not known yet;
    /// [`UnknownAttribute`], also for an attribute of other opsets; [`BadAttribute`] for a value of
    /// the wrong kind, or a `keepdims` or `noop_with_empty_axes` that is neither 0 nor 1.
    ///
    /// [`UnknownVersion`]: crate::Error::UnknownVersion
    /// [`UnknownOpset`]: crate::Error::UnknownOpset
    /// [`UnknownAttribute`]: crate::Error::UnknownAttribute
    /// [`BadAttribute`]: crate::Error::BadAttribute
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        Self::new(version).with_attributes(attributes)
    }

    fn with_attributes(mut self, attributes: &Attributes) -> Result<Self> {
        let name = self.name()?;
        let mut reader = Reader::new(&name, attributes);
        if axes_are_an_input(&name) {
            reader.int("noop_with_empty_axes", &mut self.noop_with_empty_axes)?;
        } else {
            self.axes = reader.ints("axes")?;
        }
        reader.int("keepdims", &mut self.keepdims)?;
        reader.finish()?;
        flag("keepdims", self.keepdims)?;
        flag("noop_with_empty_axes", self.noop_with_empty_axes)?;
        Ok(self)
    }

    /// Resolves the operator for `data`, of any shape, and the second input `axes`, 1-D `i64`. The
    /// returned operator has each axis once, as a number from 0.
    ///
    /// # Errors
    /// As [`ReduceMax::from_attributes`];
    /// [`Error::TypeNotInDialect`](crate::Error::TypeNotInDialect) for an element type that the
    /// opset does not have; [`Error::InputCount`](crate::Error::InputCount) for an axes input
    /// before opset 18; [`Error::WrongElementType`](crate::Error::WrongElementType) and
    /// [`Error::AxesRank`](crate::Error::AxesRank) for axes that are not 1-D `i64`;
    /// [`Error::AxisOutOfRange`](crate::Error::AxisOutOfRange).
    pub fn operator(
        &self,
        data: &TensorDesc,
        axes: Option<&Tensor>,
    ) -> Result<operator::ReduceMax> {
        let name = self.name()?;
        let keep_dims = flag("keepdims", self.keepdims)?;
        let noop = flag("noop_with_empty_axes", self.noop_with_empty_axes)?;
        let is_input = axes_are_an_input(&name);
        name.check_absent("axes", self.axes.is_none() || !is_input)?;
        name.check_absent("noop_with_empty_axes", !noop || is_input)?;
        name.check_type(data, Self::TYPES)?;

        let axes = match axes {
            None => self.axes.clone().unwrap_or_default(),
            Some(_) if !is_input => return Err(name.input_count("1 input", 2)),
            Some(axes) => AxesForm { scalar: false, types: &[ElementType::I64] }.read(axes)?,
        };
        let axes = axes::normalize(&axes, data.rank(), Duplicates::Merge)?;

        let operator = operator::ReduceMax::new()
            .extremum(self.extremum)
            .keep_dims(keep_dims)
            .nan(self.nan)
            .empty_set(EmptySet::Identity);
        Ok(match (axes.is_empty(), noop) {
            (true, false) => operator.all_axes(),
            // Without axes, `noop` makes it the identity: a reduction of no axes.
            _ => operator.axes(axes.into_iter().map(|axis| axis as i64)),
        })
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        let version = call.version(call.extremum.name_of("ReduceMax", "ReduceMin"))?;
        let operator = Self { extremum: call.extremum, ..Self::new(version) };
        let mut operator = operator.with_attributes(&call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        let name = operator.name()?;
        let (data, [axes]) = if axes_are_an_input(&name) {
            call.inputs(&name, "1 or 2 inputs", false)?
        } else {
            let (data, []) = call.inputs(&name, "1 input", false)?;
            (data, [None])
        };
        let axes = axes.map(|axes| axes.tensor("axes")).transpose()?;
        operator.operator(data, axes).map(Into::into)
    }

    /// The name with the operator's own version, which may be older than the opset.
    fn name(&self) -> Result<Name> {
        name(self.extremum.name_of("ReduceMax", "ReduceMin"), &Self::VERSIONS, self.version)
    }
}

fn axes_are_an_input(name: &Name) -> bool {
    name.is_since(18)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::dialect::Attribute::{self, *};

    const EVERY_VERSION: [u32; 6] = ReduceMax::VERSIONS;

    fn read(version: u32, attributes: &[(&str, Attribute)]) -> Result<ReduceMax> {
        let attributes = attributes.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
        ReduceMax::from_attributes(version, &attributes)
    }

    fn data(shape: &[usize]) -> TensorDesc {
        TensorDesc::new(ElementType::F32, shape).unwrap()
    }

    fn list(axes: &[i64]) -> Tensor {
        Tensor::from_slice([axes.len()], axes).unwrap()
    }

    /// The shape that an operator gives for f32 data.
    fn shape(operator: &ReduceMax, input: &[usize], axes: Option<&[i64]>) -> Vec<usize> {
        let axes = axes.map(list);
        let input = data(input);
        let resolved = operator.operator(&input, axes.as_ref()).unwrap();
        resolved.infer(&input).unwrap()[0].shape().to_vec()
    }

    #[test]
    fn an_opset_has_the_newest_version_up_to_it() {
        let version = |opset| ReduceMax::new(opset).name().unwrap().version.unwrap();
        let opsets = [1, 5, 10, 11, 12, 13, 17, 18, 19, 20, 21, 27, 28];
        let versions = [1, 1, 1, 11, 12, 13, 13, 18, 18, 20, 20, 20, 20];
        assert_eq!(opsets.map(version), versions);

        assert!(matches!(read(0, &[]), Err(Error::UnknownVersion { .. })));
        let error = ReduceMax::new(0).operator(&data(&[2]), None).unwrap_err();
        assert_eq!(error.to_string(), "ONNX has no ReduceMax-0");

        for opset in [29, 9999, u32::MAX] {
            assert!(matches!(read(opset, &[]), Err(Error::UnknownOpset { newest: 28, .. })));
        }
        let error = ReduceMax::new(9999).operator(&data(&[2]), None).unwrap_err().to_string();
        assert!(error.contains("9999") && error.contains("28"), "{error}");
    }

    #[test]
    fn the_element_types_grow_with_the_opset() {
        use ElementType as T;
        let old = vec![T::F32, T::F64, T::F16, T::I32, T::U32, T::I64, T::U64];
        let mut added = vec![(1, old), (11, vec![]), (12, vec![T::I8, T::U8])];
        added.extend([(13, vec![T::Bf16]), (18, vec![]), (20, vec![T::Bool])]);
        let mut allowed = Vec::new();
        for (version, types) in added {
            allowed.extend(types);
            for t in T::ALL {
                let data = TensorDesc::new(t, [2]).unwrap();
                let result = ReduceMax::new(version).operator(&data, None);
                match result {
                    Ok(_) => assert!(allowed.contains(&t), "{version} {t}"),
                    Err(Error::TypeNotInDialect { element_type, .. }) => {
                        assert!(element_type == t && !allowed.contains(&t), "{version} {t}");
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }

    #[test]
    fn the_defaults_reduce_all_and_keep_the_dimensions() {
        for version in EVERY_VERSION {
            let operator = read(version, &[]).unwrap();
            assert_eq!(operator, ReduceMax::new(version));
            let resolved = operator.operator(&data(&[2, 3]), None).unwrap();
            let expected = operator::ReduceMax::new().keep_dims(true);
            assert_eq!(resolved, expected, "opset {version}");
            assert_eq!(resolved.nan, Nan::Propagate);
            assert_eq!(resolved.empty_set, EmptySet::Identity);
        }
    }

    #[test]
    fn nan_is_the_callers_choice() {
        let operator = ReduceMax { nan: Nan::Ignore, ..ReduceMax::new(20) };
        assert_eq!(operator.operator(&data(&[2]), None).unwrap().nan, Nan::Ignore);
    }

    #[test]
    fn axes_are_an_attribute_before_18() {
        for version in [1, 11, 12, 13, 17] {
            let operator = read(version, &[("axes", Ints(vec![-1, 0]))]).unwrap();
            assert_eq!(shape(&operator, &[2, 3, 4], None), [1, 3, 1]);
            let operator = read(version, &[("axes", Ints(vec![]))]).unwrap();
            assert_eq!(shape(&operator, &[2, 3, 4], None), [1, 1, 1]);

            let noop = read(version, &[("noop_with_empty_axes", Int(0))]);
            assert!(matches!(noop, Err(Error::UnknownAttribute { .. })));
            let noop = ReduceMax { noop_with_empty_axes: 1, ..ReduceMax::new(version) };
            let error = noop.operator(&data(&[2]), None);
            assert!(matches!(error, Err(Error::UnknownAttribute { .. })));
            let error = operator.operator(&data(&[2]), Some(&list(&[0])));
            assert!(matches!(error, Err(Error::InputCount { actual: 2, .. })));
        }
    }

    #[test]
    fn axes_are_an_input_from_18() {
        for version in [18, 19, 20, 27] {
            let operator = read(version, &[("keepdims", Int(0))]).unwrap();
            assert_eq!(shape(&operator, &[2, 3, 4], Some(&[-1, 0])), [3]);

            let attribute = read(version, &[("axes", Ints(vec![0]))]);
            assert!(matches!(attribute, Err(Error::UnknownAttribute { .. })));
            for axes in [vec![], vec![0]] {
                let attribute = ReduceMax { axes: Some(axes), ..ReduceMax::new(version) };
                let error = attribute.operator(&data(&[2]), None);
                assert!(matches!(error, Err(Error::UnknownAttribute { .. })));
            }
        }
        let error = read(19, &[("axes", Ints(vec![0]))]).unwrap_err();
        assert_eq!(error.to_string(), r#"ONNX ReduceMax-18 has no attribute "axes""#);
    }

    #[test]
    fn the_flag_chooses_the_meaning_of_no_axes() {
        for keepdims in [0, 1] {
            let all = ReduceMax { keepdims, ..ReduceMax::new(18) };
            let none = ReduceMax { noop_with_empty_axes: 1, ..all.clone() };
            for axes in [None, Some(&[][..])] {
                assert_eq!(shape(&all, &[2, 1], axes), vec![1; 2 * keepdims as usize]);
                assert_eq!(shape(&none, &[2, 1], axes), [2, 1]);
                assert_eq!(shape(&all, &[], axes), [0usize; 0]);
                assert_eq!(shape(&none, &[], axes), [0usize; 0]);
            }
            // Given axes are reduced with either flag.
            assert_eq!(shape(&none, &[2, 3], Some(&[0])), shape(&all, &[2, 3], Some(&[0])));
        }
    }

    #[test]
    fn the_axes_input_is_1d_and_i64() {
        let resolve = |axes: Tensor| ReduceMax::new(18).operator(&data(&[2, 3]), Some(&axes));
        let scalar = resolve(Tensor::from_slice([], &[0i64]).unwrap());
        assert!(matches!(scalar, Err(Error::AxesRank { rank: 0, .. })));
        let table = resolve(Tensor::from_slice([0, 1], &[0i64; 0]).unwrap());
        assert!(matches!(table, Err(Error::AxesRank { rank: 2, .. })));
        let narrow = resolve(Tensor::from_slice([1], &[0i32]).unwrap());
        assert!(matches!(narrow, Err(Error::WrongElementType { what: "axes", .. })));
    }

    #[test]
    fn axes_are_checked_against_the_rank() {
        let resolve =
            |shape: &[usize], axis| ReduceMax::new(18).operator(&data(shape), Some(&list(&[axis])));
        for axis in [-2, 1] {
            assert!(resolve(&[2, 3], axis).is_ok());
        }
        for (shape, axis) in [(&[2, 3][..], 2), (&[2, 3], -3), (&[], 0), (&[], -1)] {
            let error = resolve(shape, axis);
            assert!(matches!(error, Err(Error::AxisOutOfRange { .. })), "{shape:?} {axis}");
        }
        let attribute = ReduceMax { axes: Some(vec![0]), ..ReduceMax::new(13) };
        let error = attribute.operator(&data(&[]), None);
        assert!(matches!(error, Err(Error::AxisOutOfRange { rank: 0, .. })));
    }

    #[test]
    fn duplicates_merge() {
        for axes in [[0, 0], [0, -3], [-3, 0]] {
            assert_eq!(shape(&ReduceMax::new(18), &[2, 3, 4], Some(&axes)), [1, 3, 4]);
            let attribute = ReduceMax { axes: Some(axes.to_vec()), ..ReduceMax::new(13) };
            assert_eq!(shape(&attribute, &[2, 3, 4], None), [1, 3, 4]);
        }
    }

    #[test]
    fn a_zero_is_a_dimension_like_any_other() {
        assert_eq!(shape(&ReduceMax::new(20), &[2, 0, 4], Some(&[1])), [2, 1, 4]);
        assert_eq!(shape(&ReduceMax::new(20), &[2, 0, 4], Some(&[0])), [1, 0, 4]);
    }

    #[test]
    fn attributes_have_their_kind_and_range() {
        for (name, value) in [
            ("keepdims", Int(2)),
            ("keepdims", Int(-1)),
            ("keepdims", Bool(true)),
            ("keepdims", Ints(vec![1])),
            ("noop_with_empty_axes", Int(2)),
            ("noop_with_empty_axes", Text("1".to_string())),
        ] {
            let error = read(18, &[(name, value)]);
            assert!(
                matches!(error, Err(Error::BadAttribute { attribute, .. }) if attribute == name)
            );
        }
        let error = read(13, &[("axes", Int(1))]).unwrap_err();
        assert_eq!(error.to_string(), "attribute axes must be a list of integers, but is 1");
        let error = read(13, &[("keep_dims", Int(1))]);
        assert!(matches!(error, Err(Error::UnknownAttribute { .. })));

        // The same holds for fields filled in by hand.
        for operator in [
            ReduceMax { keepdims: 2, ..ReduceMax::new(18) },
            ReduceMax { noop_with_empty_axes: -1, ..ReduceMax::new(18) },
        ] {
            let error = operator.operator(&data(&[2]), None);
            assert!(matches!(error, Err(Error::BadAttribute { expected: "0 or 1", .. })));
        }
    }
}
