//! MaxPool.

use crate::dialect::attributes::{Inputs, Name, Reader};
use crate::dialect::{Attributes, AutoPad, Dialect, Node, pool};
use crate::error::{Error, Result};
use crate::operator::{self, EmptySet, Indices, Order, Rounding};
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
/// Rounding applies with every `auto_pad`. The formulas of the pages for `valid`, `same_upper` and
/// `same_lower` differ from the implementation, which is followed here. With `ceil`, a window is
/// kept even if it covers only padding; it gives minus infinity, or the smallest value of an
/// integer type. A window that is larger than the padded data is refused with every rounding. NaN is
/// ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxPool {
    /// The operator's version: 1, 8 or 14.
    pub version: u32,
    /// The stride per spatial axis. Required.
    pub strides: Vec<i64>,
    /// The size of the window per spatial axis. Required.
    pub kernel: Vec<i64>,
    /// The padding at the begin of each spatial axis, in elements. Ignored if `auto_pad` is not
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
        let mut reader = Reader::new(attributes);
        let kernel = reader.ints("kernel")?;
        let strides = reader.ints("strides")?;
        operator.pads_begin = reader.ints("pads_begin")?;
        operator.pads_end = reader.ints("pads_end")?;
        let (expected, names) = rounding_types(&name);
        operator.rounding_type =
            reader.text("rounding_type", expected, names)?.unwrap_or(operator.rounding_type);
        let expected = "explicit, same_upper, same_lower or valid";
        operator.auto_pad =
            reader.text("auto_pad", expected, &AUTO_PADS)?.unwrap_or(operator.auto_pad);
        if has_indices(&name) {
            operator.dilations = reader.ints("dilations")?;
            let types = [("i64", ElementType::I64), ("i32", ElementType::I32)];
            operator.index_element_type = reader
                .text("index_element_type", INDEX_TYPES, &types)?
                .unwrap_or(operator.index_element_type);
            operator.axis = reader.int("axis")?.unwrap_or(operator.axis);
        }
        reader.finish(&name)?;
        operator.kernel = kernel.ok_or_else(|| name.missing_attribute("kernel"))?;
        operator.strides = strides.ok_or_else(|| name.missing_attribute("strides"))?;
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
        if data.element_type() == ElementType::Bool {
            return Err(name.wrong_type(ElementType::Bool));
        }
        if !matches!(data.rank(), 3..=5) {
            return Err(name.wrong_shape("data of rank 3, 4 or 5", data.shape()));
        }
        if data.shape()[..2].contains(&0) {
            return Err(name.wrong_shape("a batch and channels of 1 or more", data.shape()));
        }
        // The attribute is checked even if no indices are requested.
        axes::normalize(&[self.axis], data.rank(), Duplicates::Refuse)?;

        let spatial = data.rank() - 2;
        let padding = self.auto_pad.padding(|| {
            let begin = pool::list("pads_begin", self.pads_begin.as_deref(), spatial, 0)?;
            let end = pool::list("pads_end", self.pads_end.as_deref(), spatial, 0)?;
            Ok((begin, end))
        })?;
        let numbering = Indices {
            element_type: self.index_element_type,
            order: Order::RowMajor,
            axis: self.axis,
        };
        let operator =
            operator::MaxPool::new(pool::list("kernel", Some(&self.kernel), spatial, 1)?)
                .strides(pool::list("strides", Some(&self.strides), spatial, 1)?)
                .dilations(pool::list("dilations", self.dilations.as_deref(), spatial, 1)?)
                .padding(padding)
                .nan(self.nan)
                .empty_window(EmptySet::NegativeInfinity)
                .indices(indices.then_some(numbering));
        // With every rounding, a window that is larger than the padded data is refused.
        operator.infer(data)?;
        let operator = operator.rounding(self.rounding_type);
        operator.infer(data)?;
        Ok(operator)
    }

    /// Checks that no field has a value that this version does not have.
    fn check_version(&self, name: &Name) -> Result<()> {
        if !has_indices(name) {
            if self.dilations.is_some() {
                return Err(name.unknown_attribute("dilations"));
            }
            if self.index_element_type != ElementType::I64 {
                return Err(name.unknown_attribute("index_element_type"));
            }
            if self.axis != 0 {
                return Err(name.unknown_attribute("axis"));
            }
        }
        let bad =
            |attribute, expected, value| Err(Error::BadAttribute { attribute, expected, value });
        if !matches!(self.index_element_type, ElementType::I64 | ElementType::I32) {
            return bad("index_element_type", INDEX_TYPES, self.index_element_type.to_string());
        }
        let (expected, names) = rounding_types(name);
        if names.iter().all(|&(_, rounding)| rounding != self.rounding_type) {
            return bad("rounding_type", expected, "ceil_torch".to_string());
        }
        Ok(())
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(
        node: &Node,
        inputs: Inputs<'_>,
        nan: Option<Nan>,
    ) -> Result<operator::MaxPool> {
        let version = node.version("MaxPool")?;
        let mut operator = Self::from_attributes(version, &node.attributes)?;
        operator.nan = nan.unwrap_or(operator.nan);
        let name = operator.name()?;
        name.outputs(node.outputs, has_indices(&name))?;
        let (data, []) = name.inputs(inputs, "1 input")?;
        operator.operator(data, node.outputs > 1)
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

const AUTO_PADS: [(&str, AutoPad); 4] = [
    ("explicit", AutoPad::Explicit),
    ("same_upper", AutoPad::SameUpper),
    ("same_lower", AutoPad::SameLower),
    ("valid", AutoPad::Valid),
];

const INDEX_TYPES: &str = "i64 or i32";

/// The names of `rounding_type` and their values, in this version.
fn rounding_types(name: &Name) -> (&'static str, &'static [(&'static str, Rounding)]) {
    match name.version >= Some(14) {
        true => (
            "floor, ceil or ceil_torch",
            &[
                ("floor", Rounding::Floor),
                ("ceil", Rounding::Ceil),
                ("ceil_torch", Rounding::CeilTorch),
            ],
        ),
        false => ("floor or ceil", &[("floor", Rounding::Floor), ("ceil", Rounding::Ceil)]),
    }
}

fn has_indices(name: &Name) -> bool {
    name.version >= Some(8)
}

#[cfg(test)]
mod tests;
