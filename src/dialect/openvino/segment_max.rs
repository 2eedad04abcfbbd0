//! SegmentMax.

use crate::dialect::attributes::{Inputs, Name, Reader};
use crate::dialect::{Attributes, Dialect, Node};
use crate::error::{Error, Result};
use crate::operator::{self, EmptySegment};
use crate::tensor::key::Nan;
use crate::tensor::{ElementType, Tensor, TensorDesc};

/// [SegmentMax-16](https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/arithmetic/segment-max-16.html)
/// of any type but `bool`.
///
/// Data is [rows, ...]. The second input has an id for each row: `i32` or `i64`,
/// ascending and not negative. The third, which may be absent, is the number of
/// segments: an `i32` or `i64` scalar. Without it there are as many as the largest id plus 1,
/// and none where there are no rows, which the specification leaves undefined. Rows of segments
/// beyond it are left out. NaN is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentMax {
    /// What a segment without rows gives: [`EmptySegment::Zero`] or
    /// [`EmptySegment::Lowest`]. Required.
    pub fill_mode: EmptySegment,
    /// What a NaN does. No attribute of OpenVINO, which does not define it.
    pub nan: Nan,
}

impl SegmentMax {
    const NAME: Name =
        Name { dialect: Dialect::OpenVino, operator: "SegmentMax", version: Some(16) };

    /// The operator with this fill and the defaults of the specification.
    pub fn new(fill_mode: EmptySegment) -> Self {
        Self { fill_mode, nan: Nan::Ignore }
    }

    /// Version `version` of the operator, with these attributes.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] unless it is 16; [`Error::MissingAttribute`] without `fill_mode`;
    /// [`Error::UnknownAttribute`]; [`Error::BadAttribute`] for a `fill_mode` other than
    /// `ZERO` and `LOWEST`, in upper case, lower case or both.
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        if Some(version) != Self::NAME.version {
            return Err(Name { version: Some(version), ..Self::NAME }.unknown_version());
        }
        let mut reader = Reader::new(attributes);
        let fill_mode = reader.text_of_any_case("fill_mode", FILL_MODES, &NAMES)?;
        reader.finish(&Self::NAME)?;
        Ok(Self::new(fill_mode.ok_or_else(|| Self::NAME.missing_attribute("fill_mode"))?))
    }

    /// What the attributes mean for `data`, `segment_ids` and, where it is given,
    /// `num_segments`. The operator returned takes the first two.
    ///
    /// It has a number of segments only if one is given: otherwise, and for what is wrong with
    /// ids, the ids have to be looked at, as [`operator::SegmentMax::checked`] does.
    ///
    /// # Errors
    /// [`Error::BadAttribute`] for [`EmptySegment::NegativeInfinity`] and for a negative
    /// `num_segments`, [`Error::TypeNotInDialect`] for `bool` data,
    /// [`Error::SegmentDataRank`] for a scalar,
    /// [`Error::WrongElementType`] for ids and a `num_segments` of other types than `i32` and
    /// `i64`, [`Error::SegmentIdsRank`] and [`Error::SegmentIdsLength`] for ids that are not
    /// 1-D or not as many as rows, [`Error::ShapeNotInDialect`] for a `num_segments` that is
    /// no scalar, [`Error::ShapeOverflow`].
    pub fn operator(
        &self,
        data: &TensorDesc,
        segment_ids: &TensorDesc,
        num_segments: Option<&Tensor>,
    ) -> Result<operator::SegmentMax> {
        // Filled in by hand, it may be what the specification does not have.
        if NAMES.iter().all(|&(_, fill_mode)| fill_mode != self.fill_mode) {
            return Err(Error::BadAttribute {
                attribute: "fill_mode",
                expected: FILL_MODES,
                value: "minus infinity".to_string(),
            });
        }
        if data.element_type() == ElementType::Bool {
            return Err(Self::NAME.wrong_type(ElementType::Bool));
        }
        let operator = operator::SegmentMax::sorted()
            .num_segments(num_segments.map(scalar).transpose()?)
            .empty_segment(self.fill_mode)
            .nan(self.nan);
        match operator.infer(data, segment_ids) {
            Ok(_) | Err(Error::SegmentCountUnknown) => Ok(operator),
            Err(error) => Err(error),
        }
    }

    /// What a node means for its inputs.
    pub(in crate::dialect) fn resolve(
        node: &Node,
        inputs: Inputs<'_>,
        nan: Option<Nan>,
    ) -> Result<operator::SegmentMax> {
        const COUNT: &str = "2 or 3 inputs";
        let version = node.version("SegmentMax")?;
        let mut operator = Self::from_attributes(version, &node.attributes)?;
        operator.nan = nan.unwrap_or(operator.nan);
        Self::NAME.outputs(node.outputs, false)?;
        let (data, [ids, num_segments]) = Self::NAME.inputs(inputs, COUNT)?;
        let given = 1 + usize::from(num_segments.is_some());
        let ids = ids.ok_or_else(|| Self::NAME.input_count(COUNT, given))?;
        operator.operator(data, ids.desc(), num_segments)
    }
}

const FILL_MODES: &str = "ZERO or LOWEST";

const NAMES: [(&str, EmptySegment); 2] =
    [("ZERO", EmptySegment::Zero), ("LOWEST", EmptySegment::Lowest)];

/// The number in the input `num_segments`.
fn scalar(num_segments: &Tensor) -> Result<i64> {
    let number: i64 = match num_segments.element_type() {
        ElementType::I32 => num_segments.as_slice::<i32>()?.first().copied().unwrap_or(0).into(),
        ElementType::I64 => num_segments.as_slice::<i64>()?.first().copied().unwrap_or(0),
        actual => {
            let expected = "i32 or i64".to_string();
            return Err(Error::WrongElementType { what: "num_segments", expected, actual });
        }
    };
    match num_segments.shape() {
        [] => Ok(number),
        shape => Err(SegmentMax::NAME.wrong_shape("num_segments as a scalar", shape)),
    }
}

#[cfg(test)]
mod tests;
