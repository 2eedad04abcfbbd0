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
/// Data has 1, 2 or 3 spatial axes and, unless `data_format` says otherwise, its
/// channels last. Padding is not a value, though the page speaks of zeros. A
/// dilation of 1 is dense: the page's formula, which adds 1, is that of another
/// interface. Rounding applies with every `auto_pad`. With `ceil` a window
/// counts even if it lies wholly in the padding; such a window gives the smallest
/// finite value. NaN is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxPool {
    /// From one window to the next, per spatial axis. Required.
    pub strides: Vec<i64>,
    /// The window, per spatial axis. Required.
    pub kernel: Vec<i64>,
    /// Positions before the first element, per spatial axis. Required, even where
    /// `auto_pad` has it ignored.
    pub pads_begin: Vec<i64>,
    /// Positions behind the last element, per spatial axis. Required, even where
    /// `auto_pad` has it ignored.
    pub pads_end: Vec<i64>,
    /// From one element of a window to the next, per spatial axis. Default: 1.
    pub dilations: Option<Vec<i64>>,
    /// What becomes of a last window that does not fit: `floor` or `ceil`, so not
    /// [`Rounding::CeilTorch`]. Default `floor`.
    pub rounding_type: Rounding,
    /// How the padding comes about. Default: as the pads say.
    pub auto_pad: AutoPad,
    /// Where the channels are. Default `NXC`.
    pub data_format: Layout,
    /// What a NaN does. No attribute of oneDNN, which does not define it.
    pub nan: Nan,
}

impl MaxPool {
    const NAME: Name = Name { dialect: Dialect::OneDnn, operator: "MaxPool", version: None };

    /// The operator with what the specification requires and its defaults for the rest.
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

    /// The operator with these attributes and the defaults of the others.
    ///
    /// # Errors
    /// [`Error::UnknownAttribute`]; [`Error::MissingAttribute`] without `kernel`,
    /// `strides`, `pads_begin` or `pads_end`; [`Error::BadAttribute`] for one of
    /// another kind or an unknown name. The names of `auto_pad` may be those of
    /// the interface or, in lower case, those of the page.
    pub fn from_attributes(attributes: &Attributes) -> Result<Self> {
        let mut reader = Reader::new(attributes);
        let kernel = reader.ints("kernel")?;
        let strides = reader.ints("strides")?;
        let pads_begin = reader.ints("pads_begin")?;
        let pads_end = reader.ints("pads_end")?;
        let dilations = reader.ints("dilations")?;
        let rounding_type = reader.text("rounding_type", "floor or ceil", &ROUNDING_TYPES)?;
        let expected = "None, SAME_UPPER, SAME_LOWER or VALID";
        let auto_pad = reader.text("auto_pad", expected, &AUTO_PADS)?;
        let data_format = reader.text("data_format", "NCX or NXC", &DATA_FORMATS)?;
        reader.finish(&Self::NAME)?;

        let required = |attribute, list: Option<Vec<i64>>| {
            list.ok_or_else(|| Self::NAME.missing_attribute(attribute))
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

    /// What the attributes mean for `data`. There are no `indices`.
    ///
    /// # Errors
    /// [`Error::OutputCount`] if indices are wanted,
    /// [`Error::TypeNotInDialect`] for data of another type,
    /// [`Error::ShapeNotInDialect`] unless its rank is 3, 4 or 5,
    /// [`Error::AttributeLength`] for a list that has not one number for each
    /// spatial axis, [`Error::BadAttribute`] for a window, stride or dilation
    /// below 1, a pad below 0, or [`Rounding::CeilTorch`],
    /// [`Error::WindowTooLarge`] for a window beyond the padded data.
    pub fn operator(&self, data: &TensorDesc, indices: bool) -> Result<operator::MaxPool> {
        use ElementType::{Bf16, F16, F32};
        Self::NAME.outputs(1 + usize::from(indices), false)?;
        if !matches!(data.element_type(), F32 | Bf16 | F16) {
            return Err(Self::NAME.wrong_type(data.element_type()));
        }
        if !matches!(data.rank(), 3..=5) {
            return Err(Self::NAME.wrong_shape("data of rank 3, 4 or 5", data.shape()));
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

    /// What a node means for its inputs.
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

/// The interface's names and then those of the page, which the library refuses.
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
