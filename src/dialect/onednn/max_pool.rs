//! MaxPool.

use crate::dialect::attributes::{Inputs, Name, Reader};
use crate::dialect::{Attributes, AutoPad, Dialect, Node, pool};
use crate::error::{Error, Result};
use crate::operator::{self, EmptySet, Layout, Rounding};
use crate::tensor::key::Nan;
use crate::tensor::{ElementType, TensorDesc};

/// [MaxPool](https://uxlfoundation.github.io/oneDNN/dev_guide_op_maxpool.html)
/// of f32, bf16 and f16.
///
/// Data has 1, 2 or 3 spatial axes. Its channels are last, unless `data_format` says otherwise.
///
/// Where the page and the implementation differ, the implementation is followed. Padding is not an
/// element, although the page speaks of zeros. A dilation of 1 means neighbouring elements; the
/// formula on the page, which adds 1, is that of another interface. Rounding applies with every
/// `auto_pad`. With `ceil`, a window is kept even if it covers only padding; it gives the smallest
/// finite value; and data that the window is larger than, by less than a stride, has one window. NaN
/// is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxPool {
    /// The stride per spatial axis. Required.
    pub strides: Vec<i64>,
    /// The size of the window per spatial axis. Required.
    pub kernel: Vec<i64>,
    /// The padding at the begin of each spatial axis, in elements. Required, even if `auto_pad`
    /// overrides it.
    pub pads_begin: Vec<i64>,
    /// The padding at the end of each spatial axis, in elements. Required, even if `auto_pad`
    /// overrides it.
    pub pads_end: Vec<i64>,
    /// The dilation per spatial axis: the distance of neighbouring elements of a window. Default:
    /// 1.
    pub dilations: Option<Vec<i64>>,
    /// How a partial last window is handled: `floor` drops it, `ceil` keeps it.
    /// [`Rounding::CeilTorch`] is not allowed. Default: `floor`.
    pub rounding_type: Rounding,
    /// How the padding is determined. Default: by the pads.
    pub auto_pad: AutoPad,
    /// The position of the channels. Default: `NXC`.
    pub data_format: Layout,
    /// The treatment of NaN. oneDNN has no attribute for it and does not define it.
    pub nan: Nan,
}

impl MaxPool {
    const NAME: Name = Name { dialect: Dialect::OneDnn, operator: "MaxPool", version: None };

    /// The operator with the required attributes and the defaults of the specification.
    pub fn new(
        kernel: impl IntoIterator<Item = i64>,
        strides: impl IntoIterator<Item = i64>,
        pads_begin: impl IntoIterator<Item = i64>,
        pads_end: impl IntoIterator<Item = i64>,
    ) -> Self {
        Self {
            strides: strides.into_iter().collect(),
            kernel: kernel.into_iter().collect(),
            pads_begin: pads_begin.into_iter().collect(),
            pads_end: pads_end.into_iter().collect(),
            dilations: None,
            rounding_type: Rounding::Floor,
            auto_pad: AutoPad::Explicit,
            data_format: Layout::Nxc,
            nan: Nan::Ignore,
        }
    }

    /// The operator with these attributes. The others have their defaults. `auto_pad` may have the
    /// names of oneDNN's interface, or those of the page, in lower case.
    ///
    /// # Errors
    /// [`Error::UnknownAttribute`]; [`Error::MissingAttribute`] without `kernel`, `strides`,
    /// `pads_begin` or `pads_end`; [`Error::BadAttribute`] for a value of the wrong kind or an
    /// unknown name.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self> {
        Self::read(attributes, &Self::NAME, true)
    }

    /// The same for an operator of another name, which may be without `rounding_type`.
    pub(super) fn read(attributes: &Attributes, name: &Name, rounds: bool) -> Result<Self> {
        let mut reader = Reader::new(attributes);
        let kernel = reader.ints("kernel")?;
        let strides = reader.ints("strides")?;
        let pads_begin = reader.ints("pads_begin")?;
        let pads_end = reader.ints("pads_end")?;
        let dilations = reader.ints("dilations")?;
        let rounding_type = match rounds {
            true => reader.text("rounding_type", "floor or ceil", &ROUNDING_TYPES)?,
            false => None,
        };
        let expected = "None, SAME_UPPER, SAME_LOWER or VALID";
        let auto_pad = reader.text("auto_pad", expected, &AUTO_PADS)?;
        let data_format = reader.text("data_format", "NCX or NXC", &DATA_FORMATS)?;
        reader.finish(name)?;

        let required = |attribute, list: Option<Vec<i64>>| {
            list.ok_or_else(|| name.missing_attribute(attribute))
        };
        let mut operator = Self::new(
            required("kernel", kernel)?,
            required("strides", strides)?,
            required("pads_begin", pads_begin)?,
            required("pads_end", pads_end)?,
        );
        operator.dilations = dilations;
        operator.rounding_type = rounding_type.unwrap_or(operator.rounding_type);
        operator.auto_pad = auto_pad.unwrap_or(operator.auto_pad);
        operator.data_format = data_format.unwrap_or(operator.data_format);
        Ok(operator)
    }

    /// Resolves the operator for `data`. `indices`: whether a second output is requested, which
    /// oneDNN does not have.
    ///
    /// # Errors
    /// [`Error::OutputCount`] for indices; [`Error::TypeNotInDialect`] for another element type;
    /// [`Error::ShapeNotInDialect`] unless the rank is 3, 4 or 5; [`Error::AttributeLength`] for a
    /// list without one number per spatial axis; [`Error::BadAttribute`] for a window, stride or
    /// dilation below 1, a pad below 0, or [`Rounding::CeilTorch`]; [`Error::WindowTooLarge`] for a
    /// window larger than the padded data, with `ceil` by a stride or more.
    pub fn operator(&self, data: &TensorDesc, indices: bool) -> Result<operator::MaxPool> {
        Self::NAME.outputs(1 + usize::from(indices), false)?;
        self.operator_of(&Self::NAME, data)
    }

    /// The pooling of an operator of any name.
    pub(super) fn operator_of(&self, name: &Name, data: &TensorDesc) -> Result<operator::MaxPool> {
        use ElementType::{Bf16, F16, F32};
        if !matches!(data.element_type(), F32 | Bf16 | F16) {
            return Err(name.wrong_type(data.element_type()));
        }
        if !matches!(data.rank(), 3..=5) {
            return Err(name.wrong_shape("data of rank 3, 4 or 5", data.shape()));
        }
        if self.rounding_type == Rounding::CeilTorch {
            return Err(Error::BadAttribute {
                attribute: "rounding_type",
                expected: "floor or ceil",
                value: "ceil_torch".to_string(),
            });
        }

        let spatial = data.rank() - 2;
        let padding = self.auto_pad.padding(|| {
            let begin = pool::list("pads_begin", Some(&self.pads_begin), spatial, 0)?;
            let end = pool::list("pads_end", Some(&self.pads_end), spatial, 0)?;
            Ok((begin, end))
        })?;
        let operator =
            operator::MaxPool::new(pool::list("kernel", Some(&self.kernel), spatial, 1)?)
                .strides(pool::list("strides", Some(&self.strides), spatial, 1)?)
                .dilations(pool::list("dilations", self.dilations.as_deref(), spatial, 1)?)
                .padding(padding)
                .rounding(self.rounding_type)
                .layout(self.data_format)
                .nan(self.nan)
                .empty_window(EmptySet::Lowest);
        operator.infer(data)?;
        Ok(operator)
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(
        node: &Node,
        inputs: Inputs<'_>,
        nan: Option<Nan>,
    ) -> Result<operator::MaxPool> {
        if node.version.is_some() {
            return Err(Name { version: node.version, ..Self::NAME }.unknown_version());
        }
        let mut operator = Self::from_attributes(&node.attributes)?;
        operator.nan = nan.unwrap_or(operator.nan);
        Self::NAME.outputs(node.outputs, false)?;
        let (data, []) = Self::NAME.inputs(inputs, "1 input")?;
        operator.operator(data, false)
    }
}

const ROUNDING_TYPES: [(&str, Rounding); 2] =
    [("floor", Rounding::Floor), ("ceil", Rounding::Ceil)];

/// The names of oneDNN's interface, then those of the page, which the interface does not accept.
const AUTO_PADS: [(&str, AutoPad); 8] = [
    ("None", AutoPad::Explicit),
    ("SAME_UPPER", AutoPad::SameUpper),
    ("SAME_LOWER", AutoPad::SameLower),
    ("VALID", AutoPad::Valid),
    ("none", AutoPad::Explicit),
    ("same_upper", AutoPad::SameUpper),
    ("same_lower", AutoPad::SameLower),
    ("valid", AutoPad::Valid),
];

const DATA_FORMATS: [(&str, Layout); 2] = [("NCX", Layout::Ncx), ("NXC", Layout::Nxc)];

#[cfg(test)]
mod tests;
