//! ArgMax and ArgMin.

use super::name;
use crate::base::error::Result;
use crate::dialect::Attributes;
use crate::dialect::attributes::{Call, Name, Reader, Types, flag};
use crate::operator::{self, Indices, Operator};
use crate::tensor::axes::{self, Duplicates};
use crate::tensor::key::{Extremum, Nan};
use crate::tensor::{ElementType, TensorDesc};

/// [ArgMax](https://onnx.ai/onnx/operators/onnx__ArgMax.html) and
/// [ArgMin](https://onnx.ai/onnx/operators/onnx__ArgMin.html), opsets 1, 11, 12 and 13: all integers,
/// f16, f32 and f64, from opset 13 also bf16.
///
/// The result is `i64`, whatever the data. The operator is a [`ReduceMax`](operator::ReduceMax) of
/// one axis whose only result is positions. A reduced axis of size 0 is an error, unless the result
/// is empty. The text does not define NaN; here it propagates: the position is that of the first
/// NaN of a set, or with `select_last_index` the last.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgMax {
    /// Whether this is ArgMax or ArgMin. Default: ArgMax.
    pub extremum: Extremum,
    /// The model's opset: 1 or more.
    pub version: u32,
    /// The axis to reduce, in `-rank..rank`. Default: 0.
    pub axis: i64,
    /// Whether the reduced dimension stays with size 1 (1) or is dropped (0). Default: 1.
    pub keepdims: i64,
    /// Whether the last of equal elements counts (1) or the first one (0), from opset 12.
    /// Default: 0.
    pub select_last_index: i64,
    /// The treatment of NaN. ONNX has no attribute for it and does not define it.
    pub nan: Nan,
}

impl ArgMax {
    const VERSIONS: [u32; 4] = [1, 11, 12, 13];
    const TYPES: Types = {
        use ElementType::*;
        &[(1, &[F32, F64, F16, I8, U8, I16, U16, I32, U32, I64, U64]), (13, &[Bf16])]
    };

    /// The operator of a model of opset `version`, with the defaults of the specification.
    pub fn new(version: u32) -> Self {
        let (extremum, nan) = (Extremum::Maximum, Nan::Propagate);
        Self { extremum, version, axis: 0, keepdims: 1, select_last_index: 0, nan }
    }

    /// The operator of a model of opset `version`, with these attributes. The others have their
    /// defaults.
    ///
    /// # Errors
    /// [`UnknownVersion`] for opset 0; [`UnknownOpset`] for one that is not known yet;
    /// [`UnknownAttribute`], also for an attribute of other opsets; [`BadAttribute`] for a value of
    /// the wrong kind, or a `keepdims` or `select_last_index` that is neither 0 nor 1.
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
        reader.int("axis", &mut self.axis)?;
        reader.int("keepdims", &mut self.keepdims)?;
        // Earlier texts do not say which of equal elements counts.
        if name.is_since(12) {
            reader.int("select_last_index", &mut self.select_last_index)?;
        }
        reader.finish()?;
        flag("keepdims", self.keepdims)?;
        flag("select_last_index", self.select_last_index)?;
        Ok(self)
    }

    /// Resolves the operator for `data`.
    ///
    /// # Errors
    /// As [`ArgMax::from_attributes`];
    /// [`Error::TypeNotInDialect`](crate::Error::TypeNotInDialect) for an element type that the opset
    /// does not have; [`Error::AxisOutOfRange`](crate::Error::AxisOutOfRange), for a scalar with any
    /// axis.
    pub fn operator(&self, data: &TensorDesc) -> Result<operator::ReduceMax> {
        let name = self.name()?;
        let keep_dims = flag("keepdims", self.keepdims)?;
        let last = flag("select_last_index", self.select_last_index)?;
        name.check_absent("select_last_index", !last || name.is_since(12))?;
        name.check_type(data, Self::TYPES)?;
        let axes = axes::normalize(&[self.axis], data.rank(), Duplicates::Refuse)?;
        Ok(operator::ReduceMax::new()
            .extremum(self.extremum)
            .axes(axes.into_iter().map(|axis| axis as i64))
            .keep_dims(keep_dims)
            .nan(self.nan)
            .indices(Indices::default().last(last))
            .values(false))
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        let version = call.version(call.extremum.name_of("ArgMax", "ArgMin"))?;
        let operator = Self { extremum: call.extremum, ..Self::new(version) };
        let mut operator = operator.with_attributes(&call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        let (data, []) = call.inputs(&operator.name()?, "1 input", false)?;
        operator.operator(data).map(Into::into)
    }

    /// The name with the operator's own version, which may be older than the opset.
    fn name(&self) -> Result<Name> {
        name(self.extremum.name_of("ArgMax", "ArgMin"), &Self::VERSIONS, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::dialect::Attribute::{self, *};

    fn read(version: u32, attributes: &[(&str, Attribute)]) -> Result<ArgMax> {
        let attributes = attributes.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
        ArgMax::from_attributes(version, &attributes)
    }

    fn data(element_type: ElementType, shape: &[usize]) -> TensorDesc {
        TensorDesc::new(element_type, shape).unwrap()
    }

    #[test]
    fn attributes_are_resolved() {
        let all = [("axis", Int(-1)), ("keepdims", Int(0)), ("select_last_index", Int(1))];
        let operator = read(13, &all).unwrap().operator(&data(ElementType::I8, &[2, 3])).unwrap();
        let positions = Indices::default().last(true);
        let expected = operator::ReduceMax::new().axes([1]).indices(positions).values(false);
        assert_eq!(operator, expected);
        let outputs = operator.infer(&data(ElementType::I8, &[2, 3])).unwrap();
        assert_eq!(*outputs, [data(ElementType::I64, &[2])]);
        let default = read(1, &[]).unwrap().operator(&data(ElementType::U64, &[2, 3])).unwrap();
        let first = Indices::default();
        let expected = operator::ReduceMax::new().axes([0]).keep_dims(true);
        assert_eq!(default, expected.indices(first).values(false));
        let ignoring = ArgMax { nan: Nan::Ignore, ..ArgMax::new(13) };
        let ignoring = ignoring.operator(&data(ElementType::F32, &[2])).unwrap();
        assert_eq!(ignoring.nan, Nan::Ignore);
    }

    #[test]
    fn each_opset_has_its_attributes_and_types() {
        for version in [1, 11, 12, 13] {
            let last = read(version, &[("select_last_index", Int(1))]);
            assert_eq!(last.is_ok(), version >= 12, "{version}");
            let field = ArgMax { select_last_index: 1, ..ArgMax::new(version) };
            assert_eq!(field.operator(&data(ElementType::F32, &[2])).is_ok(), version >= 12);
            for t in ElementType::ALL {
                let taken = ArgMax::new(version).operator(&data(t, &[2])).is_ok();
                let expected = match t {
                    ElementType::Bool => false,
                    ElementType::Bf16 => version == 13,
                    _ => true,
                };
                assert_eq!(taken, expected, "{version} {t}");
            }
        }
        let error = read(13, &[("keepdims", Int(2))]).unwrap_err();
        assert!(matches!(error, Error::BadAttribute { .. }), "{error}");
    }

    #[test]
    fn an_axis_must_exist_and_have_elements() {
        let resolve = |shape: &[usize], axis| {
            let operator = ArgMax { axis, ..ArgMax::new(13) };
            let data = data(ElementType::F32, shape);
            operator.operator(&data).and_then(|operator| operator.infer(&data))
        };
        for (shape, axis) in [(&[][..], 0), (&[2, 3], 2), (&[2, 3], -3)] {
            let error = resolve(shape, axis).unwrap_err();
            assert!(matches!(error, Error::AxisOutOfRange { .. }), "{error}");
        }
        for axis in [1, -2] {
            let error = resolve(&[3, 0, 2], axis).unwrap_err();
            assert!(matches!(error, Error::EmptySet { .. }), "{error}");
        }
        assert_eq!(resolve(&[0, 0], 0).unwrap()[0].shape(), [1, 0]);
        assert_eq!(resolve(&[3, 0, 2], 0).unwrap()[0].shape(), [1, 0, 2]);
    }
}
