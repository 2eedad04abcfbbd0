//! MaxPool.

use super::FLOATS;
use crate::base::error::{Error, Result};
use crate::dialect::attributes::{Call, Name, Reader};
use crate::dialect::pool::{Pooling, pads};
use crate::dialect::{Attributes, AutoPad, Dialect};
use crate::operator::{self, EmptySet, Layout, Operator, Rounding};
use crate::tensor::TensorDesc;
use crate::tensor::key::Nan;

/// [MaxPool](https://uxlfoundation.github.io/oneDNN/dev_guide_op_maxpool.html)
/// of f32, bf16 and f16.
///
/// Data has 1, 2 or 3 spatial axes. Its channels are last, unless `data_format` says otherwise.
///
/// If the page and the implementation differ, this follows the implementation. Padding is not an
/// element, although the page mentions zeros. A dilation of 1 means neighbouring elements; the
/// page's formula, which adds 1, belongs to another interface. Rounding applies with every
/// `auto_pad`. With `ceil`, a window that covers only padding is kept, and its maximum is the
/// smallest finite value. With `ceil`, a window that is larger than the data by less than a stride
/// is the only window. NaN is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaxPool {
    /// The stride per spatial axis. Required.
    pub strides: Vec<i64>,
    /// The size of the window per spatial axis. Required.
    pub kernel: Vec<i64>,
    /// The padding at the beginning of each spatial axis, in elements. Required, even if `auto_pad`
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

    /// The same for an operator of another name, which need not have `rounding_type`.
    pub(super) fn read(attributes: &Attributes, name: &Name, rounds: bool) -> Result<Self> {
        let mut reader = Reader::new(name, attributes);
        let mut operator = Self::new(
            reader.required_ints("kernel")?,
            reader.required_ints("strides")?,
            reader.required_ints("pads_begin")?,
            reader.required_ints("pads_end")?,
        );
        operator.dilations = reader.ints("dilations")?;
        if rounds {
            let types = [Rounding::Floor, Rounding::Ceil];
            reader.text("rounding_type", ROUNDING_TYPES, &types, &mut operator.rounding_type)?;
        }
        // The names of oneDNN's interface, also in lower case, which the interface does not accept.
        let names = "None, SAME_UPPER, SAME_LOWER or VALID";
        let same = |name: &str, text: &str| name == text || name.to_ascii_lowercase() == text;
        let auto_pad = reader.text_as("auto_pad", names, &AutoPad::ALL, same)?;
        operator.auto_pad = auto_pad.unwrap_or(operator.auto_pad);
        let layouts = [Layout::Ncx, Layout::Nxc];
        reader.text("data_format", "NCX or NXC", &layouts, &mut operator.data_format)?;
        reader.finish()?;
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
        name.check_type(data, FLOATS)?;
        let shape = data.shape();
        name.check_shape(matches!(shape.len(), 3..=5), "data of rank 3, 4 or 5", shape)?;
        if self.rounding_type == Rounding::CeilTorch {
            return Err(Error::BadAttribute {
                attribute: "rounding_type",
                expected: ROUNDING_TYPES,
                value: "ceil_torch".to_string(),
            });
        }
        let pooling = Pooling {
            kernel: ("kernel", &self.kernel),
            strides: Some(&self.strides),
            dilations: self.dilations.as_deref(),
            auto_pad: self.auto_pad,
        };
        let spatial = shape.len() - 2;
        // They are required, and checked, also where `auto_pad` replaces them.
        let pads = pads(Some(&self.pads_begin), Some(&self.pads_end), spatial)?;
        let operator = pooling
            .operator(spatial, || Ok(pads))?
            .rounding(self.rounding_type)
            .layout(self.data_format)
            .nan(self.nan)
            .empty_window(EmptySet::Finite);
        operator.infer(data)?;
        Ok(operator)
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        Self::NAME.check_version(call.node.version)?;
        let mut operator = Self::from_attributes(&call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        let (data, []) = call.inputs(&Self::NAME, "1 input", false)?;
        operator.operator(data, false).map(Into::into)
    }
}

const ROUNDING_TYPES: &str = "floor or ceil";

#[cfg(test)]
mod tests;
