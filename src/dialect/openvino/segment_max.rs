//! SegmentMax.

use super::NUMBERS;
use crate::base::error::{Error, Result};
use crate::dialect::attributes::{Call, Name, Reader};
use crate::dialect::{Attributes, Dialect};
use crate::operator::{self, EmptySet, Operator};
use crate::tensor::key::Nan;
use crate::tensor::{ElementType, Tensor, TensorDesc};

/// [SegmentMax-16](https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/arithmetic/segment-max-16.html)
/// of any type but `bool`.
///
/// Data is `[rows, ...]`. The second input is 1-D with an id for each row: `i32` or `i64`,
/// ascending and not negative. The optional third input is the number of segments: a scalar, `i32`
/// or `i64`. Its default is the largest id plus 1, and 0 if there are no rows, which the
/// specification does not define. Rows with larger ids are ignored. NaN is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentMax {
    /// The value of a segment without rows: [`EmptySet::Zero`] or [`EmptySet::Finite`].
    /// Required.
    pub fill_mode: EmptySet,
    /// The treatment of NaN. OpenVINO has no attribute for it and does not define it.
    pub nan: Nan,
}

impl SegmentMax {
    const NAME: Name =
        Name { dialect: Dialect::OpenVino, operator: "SegmentMax", version: Some(16) };

    /// The operator with this fill mode.
    pub fn new(fill_mode: EmptySet) -> Self {
        Self { fill_mode, nan: Nan::Ignore }
    }

    /// Version `version` of the operator, with these attributes.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] for a version other than 16; [`Error::MissingAttribute`] without
    /// `fill_mode`; [`Error::UnknownAttribute`]; [`Error::BadAttribute`] for a `fill_mode` other
    /// than `ZERO` and `LOWEST`, in upper or lower case.
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        Self::NAME.check_version(Some(version))?;
        let mut reader = Reader::new(&Self::NAME, attributes);
        let same = str::eq_ignore_ascii_case;
        let fill_mode = reader.text_as("fill_mode", FILL_MODE_NAMES, &FILL_MODES, same)?;
        reader.finish()?;
        Ok(Self::new(fill_mode.ok_or_else(|| Self::NAME.missing_attribute("fill_mode"))?))
    }

    /// Resolves the operator for `data`, `segment_ids` and the optional `num_segments`. The returned operator takes
    /// the first two as inputs.
    ///
    /// The values of the ids are not read here. [`operator::SegmentMax::checked`] checks them, and
    /// derives the number of segments if `num_segments` is absent.
    ///
    /// # Errors
    /// [`Error::BadAttribute`] for [`EmptySet::Identity`] and for a negative `num_segments`;
    /// [`Error::TypeNotInDialect`] for `bool` data; [`Error::SegmentDataRank`] for a scalar;
    /// [`Error::WrongElementType`] for ids or a `num_segments` that are neither `i32` nor `i64`;
    /// [`Error::SegmentIdsRank`] for ids that are not 1-D; [`Error::SegmentIdsLength`] if there is not one id for
    /// each row; [`Error::ShapeNotInDialect`] for a `num_segments` that is not a scalar; [`Error::ShapeOverflow`].
    pub fn operator(
        &self,
        data: &TensorDesc,
        segment_ids: &TensorDesc,
        num_segments: Option<&Tensor>,
    ) -> Result<operator::SegmentMax> {
        // The field may hold a value that the specification does not have.
        if !FILL_MODES.contains(&self.fill_mode) {
            return Err(Error::BadAttribute {
                attribute: "fill_mode",
                expected: FILL_MODE_NAMES,
                value: format!("{:?}", self.fill_mode),
            });
        }
        Self::NAME.check_type(data, NUMBERS)?;
        let actual = segment_ids.element_type();
        if !matches!(actual, ElementType::I32 | ElementType::I64) {
            let (what, expected) = ("segment_ids", "i32 or i64".to_string());
            return Err(Error::WrongElementType { what, expected, actual });
        }
        let operator = operator::SegmentMax::sorted()
            .num_segments(num_segments.map(scalar).transpose()?)
            .empty_segment(self.fill_mode)
            .nan(self.nan);
        match operator.infer([data, segment_ids]) {
            Ok(_) | Err(Error::SegmentCountUnknown) => Ok(operator),
            Err(error) => Err(error),
        }
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        const COUNT: &str = "2 or 3 inputs";
        let version = call.version("SegmentMax")?;
        let mut operator = Self::from_attributes(version, &call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        let (data, [ids, num_segments]) = call.inputs(&Self::NAME, COUNT, false)?;
        let ids = ids.ok_or_else(|| call.input_count(&Self::NAME, COUNT))?;
        let num_segments = num_segments.map(|number| number.tensor("num_segments")).transpose()?;
        operator.operator(data, ids.desc(), num_segments).map(Into::into)
    }
}

const FILL_MODE_NAMES: &str = "ZERO or LOWEST";
const FILL_MODES: [EmptySet; 2] = [EmptySet::Zero, EmptySet::Finite];

/// The number in the input `num_segments`.
fn scalar(num_segments: &Tensor) -> Result<usize> {
    let number: i64 = match num_segments.element_type() {
        ElementType::I32 => num_segments.as_slice::<i32>()?.first().copied().unwrap_or(0).into(),
        ElementType::I64 => num_segments.as_slice::<i64>()?.first().copied().unwrap_or(0),
        actual => {
            let expected = "i32 or i64".to_string();
            return Err(Error::WrongElementType { what: "num_segments", expected, actual });
        }
    };
    let shape = num_segments.shape();
    SegmentMax::NAME.check_shape(shape.is_empty(), "num_segments as a scalar", shape)?;
    let (attribute, expected) = ("num_segments", "0 or more");
    let bad = |_| Error::BadAttribute { attribute, expected, value: number.to_string() };
    usize::try_from(number).map_err(bad)
}

#[cfg(test)]
mod tests;
