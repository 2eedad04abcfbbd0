//! MaxPool.

use super::NUMBERS;
use crate::base::error::{Error, Result};
use crate::dialect::attributes::{Call, Name, Reader};
use crate::dialect::pool::{Pooling, pads};
use crate::dialect::{Attributes, AutoPad, Dialect};
use crate::operator::{self, EmptySet, Indices, Numbering, Operator, Rounding};
use crate::tensor::axes::{self, Duplicates};
use crate::tensor::key::Nan;
use crate::tensor::{ElementType, TensorDesc};

/// MaxPool of any type but `bool`, versions
/// [1](https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/pooling/max-pool-1.html),
/// [8](https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/pooling/max-pool-8.html)
/// and
/// [14](https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/pooling/max-pool-14.html).
///
/// | version | new |
/// |---|---|
/// | 1 | `strides` `kernel` `pads_begin` `pads_end` `rounding_type` `auto_pad` |
/// | 8 | `dilations`; second output: indices, `index_element_type` `axis` |
/// | 14 | `ceil_torch` as a `rounding_type` |
///
/// Data is `[batch, channels, spatial...]` with 1, 2 or 3 spatial axes. Batch and channels must not
/// be 0.
///
/// Rounding applies with every `auto_pad`. For `valid`, `same_upper` and `same_lower`, the formulas
/// of the pages differ from the implementation, which this follows. With `ceil`, a window is kept
/// even if it covers only padding; it gives minus infinity, or the smallest value of an integer
/// type. A window that is larger than the padded data is refused with every rounding. NaN is
/// ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaxPool {
    /// The operator's version: 1, 8 or 14.
    pub version: u32,
    /// The stride per spatial axis. Required.
    pub strides: Vec<i64>,
    /// The size of the window per spatial axis. Required.
    pub kernel: Vec<i64>,
    /// The padding at the beginning of each spatial axis, in elements. Ignored if `auto_pad` is not
    /// [`AutoPad::Explicit`]. The pages require it; the implementation has the default 0.
    pub pads_begin: Option<Vec<i64>>,
    /// The padding at the end of each spatial axis, as `pads_begin`.
    pub pads_end: Option<Vec<i64>>,
    /// The dilation per spatial axis: the distance of neighbouring elements of a window. From
    /// version 8. Default: 1.
    pub dilations: Option<Vec<i64>>,
    /// How a partial last window is handled. [`Rounding::CeilTorch`] is allowed from version 14.
    /// Default: `floor`.
    pub rounding_type: Rounding,
    /// How the padding is determined. Default: by the pads.
    pub auto_pad: AutoPad,
    /// The element type of the indices, `i64` or `i32`. From version 8. Default: `i64`.
    pub index_element_type: ElementType,
    /// The first axis that indices count, in `-rank..rank`: they are positions in the sub-tensor of
    /// this axis and the later ones. From version 8. Default: 0, the whole tensor.
    pub axis: i64,
    /// The treatment of NaN. OpenVINO has no attribute for it and does not define it.
    pub nan: Nan,
}

impl MaxPool {
    const VERSIONS: [u32; 3] = [1, 8, 14];

    /// Version `version` of the operator, with this window, these strides and the defaults of the
    /// specification.
    pub fn new(
        version: u32,
        kernel: impl IntoIterator<Item = i64>,
        strides: impl IntoIterator<Item = i64>,
    ) -> Self {
        Self {
            version,
            strides: strides.into_iter().collect(),
            kernel: kernel.into_iter().collect(),
            pads_begin: None,
            pads_end: None,
            dilations: None,
            rounding_type: Rounding::Floor,
            auto_pad: AutoPad::Explicit,
            index_element_type: ElementType::I64,
            axis: 0,
            nan: Nan::Ignore,
        }
    }

    /// Version `version` of the operator, with these attributes. The others have their defaults.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] for a version other than 1, 8 and 14; [`Error::MissingAttribute`]
    /// without `kernel` or `strides`; [`Error::UnknownAttribute`], also for an attribute of a later
    /// version; [`Error::BadAttribute`] for a value of the wrong kind, or a name that this version
    /// does not have.
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        let mut operator = Self::new(version, [], []);
        let name = operator.name()?;
        let mut reader = Reader::new(&name, attributes);
        operator.kernel = reader.required_ints("kernel")?;
        operator.strides = reader.required_ints("strides")?;
        operator.pads_begin = reader.ints("pads_begin")?;
        operator.pads_end = reader.ints("pads_end")?;
        let (names, types) = rounding_types(&name);
        reader.text("rounding_type", names, types, &mut operator.rounding_type)?;
        let names = "explicit, same_upper, same_lower or valid";
        reader.text("auto_pad", names, &AutoPad::ALL, &mut operator.auto_pad)?;
        if has_indices(&name) {
            operator.dilations = reader.ints("dilations")?;
            let value = &mut operator.index_element_type;
            reader.text("index_element_type", INDEX_TYPE_NAMES, &INDEX_TYPES, value)?;
            reader.int("axis", &mut operator.axis)?;
        }
        reader.finish()?;
        Ok(operator)
    }

    /// Resolves the operator for `data`. `indices`: whether the second output is requested.
    ///
    /// # Errors
    /// As [`MaxPool::from_attributes`]; [`Error::OutputCount`] for indices of version 1;
    /// [`Error::TypeNotInDialect`] for `bool` data; [`Error::ShapeNotInDialect`] for a rank other
    /// than 3, 4 and 5, and for a batch or channels of 0; [`Error::AxisOutOfRange`];
    /// [`Error::AttributeLength`] for a list without one number per spatial axis;
    /// [`Error::BadAttribute`] for a window, stride or dilation below 1, or a pad below 0;
    /// [`Error::WindowTooLarge`] for a window larger than the padded data; [`Error::IndexTooLarge`]
    /// for too many elements for `i32` indices.
    pub fn operator(&self, data: &TensorDesc, indices: bool) -> Result<operator::MaxPool> {
        let name = self.name()?;
        self.check_version(&name)?;
        name.outputs(1 + usize::from(indices), has_indices(&name))?;
        name.check_type(data, NUMBERS)?;
        let shape = data.shape();
        name.check_shape(matches!(shape.len(), 3..=5), "data of rank 3, 4 or 5", shape)?;
        name.check_shape(!shape[..2].contains(&0), "a batch and channels of 1 or more", shape)?;
        // The attribute is checked even if no indices are requested.
        axes::normalize(&[self.axis], data.rank(), Duplicates::Refuse)?;

        let spatial = data.rank() - 2;
        let pooling = Pooling {
            kernel: ("kernel", &self.kernel),
            strides: Some(&self.strides),
            dilations: self.dilations.as_deref(),
            auto_pad: self.auto_pad,
        };
        let positions = Indices::new(self.index_element_type);
        let explicit = || pads(self.pads_begin.as_deref(), self.pads_end.as_deref(), spatial);
        let operator = pooling
            .operator(spatial, explicit)?
            .nan(self.nan)
            .empty_window(EmptySet::Identity)
            .indices(indices.then(|| positions.numbering(Numbering::FromAxis(self.axis))));
        // With every rounding, a window that is larger than the padded data is refused.
        operator.infer(data)?;
        let operator = operator.rounding(self.rounding_type);
        operator.infer(data)?;
        Ok(operator)
    }

    /// Checks that no field has a value that this version does not have.
    fn check_version(&self, name: &Name) -> Result<()> {
        let has_indices = has_indices(name);
        let element_type = self.index_element_type;
        name.check_absent("dilations", has_indices || self.dilations.is_none())?;
        let is_default = element_type == ElementType::I64;
        name.check_absent("index_element_type", has_indices || is_default)?;
        name.check_absent("axis", has_indices || self.axis == 0)?;
        let bad =
            |attribute, expected, value| Err(Error::BadAttribute { attribute, expected, value });
        if !INDEX_TYPES.contains(&element_type) {
            return bad("index_element_type", INDEX_TYPE_NAMES, element_type.to_string());
        }
        let (names, types) = rounding_types(name);
        match types.contains(&self.rounding_type) {
            true => Ok(()),
            false => bad("rounding_type", names, "ceil_torch".to_string()),
        }
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        let mut operator = Self::from_attributes(call.version("MaxPool")?, &call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        let name = operator.name()?;
        let (data, []) = call.inputs(&name, "1 input", has_indices(&name))?;
        operator.operator(data, call.node.outputs > 1).map(Into::into)
    }

    fn name(&self) -> Result<Name> {
        let name =
            Name { dialect: Dialect::OpenVino, operator: "MaxPool", version: Some(self.version) };
        match Self::VERSIONS.contains(&self.version) {
            true => Ok(name),
            false => Err(name.unknown_version()),
        }
    }
}

pub(super) const INDEX_TYPE_NAMES: &str = "i64 or i32";
pub(super) const INDEX_TYPES: [ElementType; 2] = [ElementType::I64, ElementType::I32];

/// The names of `rounding_type` and their values, in this version.
fn rounding_types(name: &Name) -> (&'static str, &'static [Rounding]) {
    const TYPES: &[Rounding] = &[Rounding::Floor, Rounding::Ceil, Rounding::CeilTorch];
    match name.is_since(14) {
        true => ("floor, ceil or ceil_torch", TYPES),
        false => ("floor or ceil", &TYPES[..2]),
    }
}

fn has_indices(name: &Name) -> bool {
    name.is_since(8)
}

#[cfg(test)]
mod tests;
