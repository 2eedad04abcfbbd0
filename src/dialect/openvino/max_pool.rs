//! MaxPool.

use crate::dialect::attributes::{Inputs, Name, Reader};
use crate::dialect::{Attributes, AutoPad, Dialect, Node, pool};
use crate::error::{Error, Result};
use crate::operator::axes::{self, Duplicates};
use crate::operator::{self, EmptySet, Indices, Order, Rounding};
use crate::tensor::key::Nan;
use crate::tensor::{ElementType, TensorDesc};

/// MaxPool of any type but `bool`, versions
/// [1](https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/pooling/max-pool-1.html),
/// [8](https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/pooling/max-pool-8.html) and
/// [14](https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/pooling/max-pool-14.html).
///
/// | version | new |
/// |---|---|
/// | 1 | `strides` `kernel` `pads_begin` `pads_end` `rounding_type` `auto_pad` |
/// | 8 | `dilations`; second output: indices, `index_element_type` `axis` |
/// | 14 | `ceil_torch` as a `rounding_type` |
///
/// Data is [batch, channels, spatial...] with 1, 2 or 3 spatial axes and neither
/// a batch nor channels of 0. Rounding applies with every `auto_pad`: where the
/// pages' formulas for `valid`, `same_upper` and `same_lower` part from the
/// implementation, the implementation counts. With `ceil` a window counts even if
/// it lies wholly in the padding; such a window gives minus infinity or an
/// integer type's smallest value. NaN is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxPool {
    /// The operator's version: 1, 8 or 14.
    pub version: u32,
    /// From one window to the next, per spatial axis. Required.
    pub strides: Vec<i64>,
    /// The window, per spatial axis. Required.
    pub kernel: Vec<i64>,
    /// Positions before the first element, per spatial axis; ignored if
    /// `auto_pad` is not [`AutoPad::Explicit`]. The pages require it, the
    /// implementation has a default: 0.
    pub pads_begin: Option<Vec<i64>>,
    /// Positions behind the last element, as `pads_begin`.
    pub pads_end: Option<Vec<i64>>,
    /// From one element of a window to the next, per spatial axis, from version 8. Default: 1.
    pub dilations: Option<Vec<i64>>,
    /// What becomes of a last window that does not fit; [`Rounding::CeilTorch`]
    /// from version 14. Default `floor`.
    pub rounding_type: Rounding,
    /// How the padding comes about. Default: as the pads say.
    pub auto_pad: AutoPad,
    /// The type of the indices, from version 8: `i64` or `i32`. Default `i64`.
    pub index_element_type: ElementType,
    /// Indices count from the start of the sub-tensor of the axes from this one
    /// on, from version 8: in `-rank..rank`. Default 0, the whole tensor.
    pub axis: i64,
    /// What a NaN does. No attribute of OpenVINO, which does not define it.
    pub nan: Nan,
}

impl MaxPool {
    const VERSIONS: [u32; 3] = [1, 8, 14];

    /// Version `version` of the operator, with this window, these strides, and the
    /// defaults of the specification.
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

    /// Version `version` of the operator, with these attributes and the
    /// defaults of the others.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] unless it is 1, 8 or 14;
    /// [`Error::MissingAttribute`] without `kernel` or `strides`;
    /// [`Error::UnknownAttribute`], also for one that only later versions have;
    /// [`Error::BadAttribute`] for one of another kind, or a name that is unknown
    /// to this version.
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        let mut operator = Self::new(version, [], []);
        let name = operator.name()?;
        let mut reader = Reader::new(attributes);
        let kernel = reader.ints("kernel")?;
        let strides = reader.ints("strides")?;
        operator.pads_begin = reader.ints("pads_begin")?;
        operator.pads_end = reader.ints("pads_end")?;
        let (expected, names) = rounding_types(&name);
        if let Some(rounding_type) = reader.text("rounding_type", expected, names)? {
            operator.rounding_type = rounding_type;
        }
        let expected = "explicit, same_upper, same_lower or valid";
        if let Some(auto_pad) = reader.text("auto_pad", expected, &AUTO_PADS)? {
            operator.auto_pad = auto_pad;
        }
        if has_indices(&name) {
            operator.dilations = reader.ints("dilations")?;
            let types = [("i64", ElementType::I64), ("i32", ElementType::I32)];
            if let Some(t) = reader.text("index_element_type", INDEX_TYPES, &types)? {
                operator.index_element_type = t;
            }
            if let Some(axis) = reader.int("axis")? {
                operator.axis = axis;
            }
        }
        reader.finish(&name)?;
        operator.kernel = kernel.ok_or_else(|| name.missing_attribute("kernel"))?;
        operator.strides = strides.ok_or_else(|| name.missing_attribute("strides"))?;
        Ok(operator)
    }

    /// What the attributes mean for `data`, and whether `indices` are wanted, the
    /// second output.
    ///
    /// # Errors
    /// As [`MaxPool::from_attributes`], and [`Error::OutputCount`] for indices of
    /// version 1, [`Error::TypeNotInDialect`] for `bool` data,
    /// [`Error::ShapeNotInDialect`] for a rank other than 3, 4 and 5, and a batch
    /// or channels of 0, [`Error::AxisOutOfRange`], [`Error::AttributeLength`] for
    /// a list that has not one number for each spatial axis,
    /// [`Error::BadAttribute`] for a window, stride or dilation below 1, or a pad
    /// below 0, [`Error::WindowTooLarge`] for a window beyond the padded data,
    /// [`Error::IndexTooLarge`] for `i32` indices of more elements than they can number.
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
        // Also where no index is wanted, as the version has them all the same.
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
                .rounding(self.rounding_type)
                .nan(self.nan)
                .empty_window(EmptySet::NegativeInfinity)
                .indices(indices.then_some(numbering));
        operator.infer(data)?;
        Ok(operator)
    }

    /// Fields that are filled in by hand may hold what the version does not have.
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

    /// What a node means for its inputs.
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

/// The names of `rounding_type`, and what they stand for.
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
