//! MaxPool.

use super::name;
use crate::base::error::{Error, Result};
use crate::dialect::attributes::{Call, Name, Reader, Types, flag};
use crate::dialect::pool::{Pooling, list};
use crate::dialect::{Attributes, AutoPad};
use crate::operator::{self, EmptySet, Indices, Numbering, Operator, Rounding};
use crate::tensor::key::Nan;
use crate::tensor::{ElementType, TensorDesc};

/// [MaxPool](https://onnx.ai/onnx/operators/onnx__MaxPool.html), opsets 1, 8,
/// 10, 11, 12 and 22.
///
/// | opset | new attributes and outputs | new element types |
/// |---|---|---|
/// | 1 | `kernel_shape` `strides` `pads` `auto_pad` | f32 f64 f16 |
/// | 8 | `storage_order`, second output: indices, `i64` | |
/// | 10 | `dilations` `ceil_mode` | |
/// | 11 | | |
/// | 12 | | i8 u8 |
/// | 22 | | bf16 |
///
/// Data is `[batch, channels, spatial...]` with one or more spatial axes.
///
/// In every opset, a last window that would start in the end padding is dropped; only the text of
/// opset 22 says so. The padding of `SAME_UPPER` and `SAME_LOWER` takes dilation into account, and
/// `ceil_mode` has no effect with it. `VALID` with `ceil_mode` rounds up, as shape inference and
/// runtimes do, although the formula in the text rounds down. With `ceil_mode` 1, a window that is
/// larger than the data by less than a stride is the only window.
///
/// The text does not define NaN; here it is ignored. A window that covers only padding gives minus
/// infinity, or the smallest value of an integer type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaxPool {
    /// The model's opset: 1 or more.
    pub version: u32,
    /// The size of the window per spatial axis.
    pub kernel_shape: Vec<i64>,
    /// The stride per spatial axis. Default: 1.
    pub strides: Option<Vec<i64>>,
    /// The padding at the beginning of each spatial axis, then at the end of each, in elements.
    /// Default: 0. With an `auto_pad` other than `NOTSET`, it must be absent or 0.
    pub pads: Option<Vec<i64>>,
    /// The dilation per spatial axis: the distance of neighbouring elements of a window. From opset
    /// 10. Default: 1.
    pub dilations: Option<Vec<i64>>,
    /// How the padding is determined. Default: by `pads`.
    pub auto_pad: AutoPad,
    /// How a partial last window is handled: 0 drops it, 1 keeps it. From opset 10. Default: 0.
    pub ceil_mode: i64,
    /// The order in which indices number the elements of a plane: 0 is row-major, with the last
    /// axis innermost; 1 is column-major, with the first spatial axis innermost. From opset 8.
    /// Default: 0.
    pub storage_order: i64,
    /// The treatment of NaN. ONNX has no attribute for it and does not define it.
    pub nan: Nan,
}

impl MaxPool {
    const VERSIONS: [u32; 6] = [1, 8, 10, 11, 12, 22];
    const TYPES: Types = {
        use ElementType::*;
        &[(1, &[F32, F64, F16]), (12, &[I8, U8]), (22, &[Bf16])]
    };

    /// The operator of a model of opset `version`, with this window and the defaults of the
    /// specification.
    pub fn new(version: u32, kernel_shape: impl IntoIterator<Item = i64>) -> Self {
        Self {
            version,
            kernel_shape: kernel_shape.into_iter().collect(),
            strides: None,
            pads: None,
            dilations: None,
            auto_pad: AutoPad::Explicit,
            ceil_mode: 0,
            storage_order: 0,
            nan: Nan::Ignore,
        }
    }

    /// The operator of a model of opset `version`, with these attributes. The others have their
    /// defaults.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] for opset 0; [`Error::UnknownOpset`] for one that is not
    /// known yet; [`Error::MissingAttribute`] without `kernel_shape`;
    /// [`Error::UnknownAttribute`], also for an attribute of a later opset; [`Error::BadAttribute`]
    /// for a value of the wrong kind, an unknown `auto_pad`, or a `ceil_mode` or `storage_order`
    /// that is neither 0 nor 1.
    pub fn from_attributes(version: u32, attributes: &Attributes) -> Result<Self> {
        let mut operator = Self::new(version, []);
        let name = operator.name()?;
        let mut reader = Reader::new(&name, attributes);
        operator.kernel_shape = reader.required_ints("kernel_shape")?;
        operator.strides = reader.ints("strides")?;
        operator.pads = reader.ints("pads")?;
        let names = "NOTSET, SAME_UPPER, SAME_LOWER or VALID";
        reader.text("auto_pad", names, &AutoPad::ALL, &mut operator.auto_pad)?;
        if has_indices(&name) {
            reader.int("storage_order", &mut operator.storage_order)?;
        }
        if has_dilations(&name) {
            operator.dilations = reader.ints("dilations")?;
            reader.int("ceil_mode", &mut operator.ceil_mode)?;
        }
        reader.finish()?;
        flag("ceil_mode", operator.ceil_mode)?;
        flag("storage_order", operator.storage_order)?;
        Ok(operator)
    }

    /// Resolves the operator for `data`. `indices`: whether the second output is requested.
    ///
    /// # Errors
    /// As [`MaxPool::from_attributes`]; [`Error::OutputCount`] for indices before opset 8;
    /// [`Error::TypeNotInDialect`] for an element type that the opset does not have;
    /// [`Error::ShapeNotInDialect`] for data without a spatial axis; [`Error::AttributeLength`] for
    /// a list whose length does not match the spatial axes; [`Error::BadAttribute`] for a window,
    /// stride or dilation below 1, a pad below 0, or pads with an `auto_pad`;
    /// [`Error::WindowTooLarge`] for a window larger than the padded data, with `ceil_mode` 1 by a
    /// stride or more.
    pub fn operator(&self, data: &TensorDesc, indices: bool) -> Result<operator::MaxPool> {
        let name = self.name()?;
        let ceil = flag("ceil_mode", self.ceil_mode)?;
        let numbering = match flag("storage_order", self.storage_order)? {
            false => Numbering::Natural,
            true => Numbering::ColumnMajor,
        };
        name.check_absent("dilations", self.dilations.is_none() || has_dilations(&name))?;
        name.check_absent("ceil_mode", !ceil || has_dilations(&name))?;
        let is_default = numbering == Numbering::Natural;
        name.check_absent("storage_order", is_default || has_indices(&name))?;
        name.outputs(1 + usize::from(indices), has_indices(&name))?;
        name.check_type(data, Self::TYPES)?;
        name.check_shape(data.rank() >= 3, "data of rank 3 or more", data.shape())?;

        let spatial = data.rank() - 2;
        let mut begin = list("pads", self.pads.as_deref(), 2 * spatial, 0)?;
        if self.auto_pad != AutoPad::Explicit && begin.iter().any(|&pad| pad != 0) {
            return Err(Error::BadAttribute {
                attribute: "pads",
                expected: "absent or 0 if auto_pad is not NOTSET",
                value: format!("{begin:?}"),
            });
        }
        let end = begin.split_off(spatial);
        let same = matches!(self.auto_pad, AutoPad::SameUpper | AutoPad::SameLower);
        let rounding = if ceil && !same { Rounding::CeilTorch } else { Rounding::Floor };

        let pooling = Pooling {
            kernel: ("kernel_shape", &self.kernel_shape),
            strides: self.strides.as_deref(),
            dilations: self.dilations.as_deref(),
            auto_pad: self.auto_pad,
        };
        let operator = pooling
            .operator(spatial, || Ok((begin, end)))?
            .rounding(rounding)
            .nan(self.nan)
            .empty_window(EmptySet::Identity)
            .indices(indices.then(|| Indices::default().numbering(numbering)));
        operator.infer(data)?;
        Ok(operator)
    }

    /// Resolves a node for its inputs.
    pub(in crate::dialect) fn resolve(call: &Call<'_>) -> Result<Operator> {
        let mut operator = Self::from_attributes(call.version("MaxPool")?, &call.node.attributes)?;
        operator.nan = call.nan.unwrap_or(operator.nan);
        let name = operator.name()?;
        let (data, []) = call.inputs(&name, "1 input", has_indices(&name))?;
        operator.operator(data, call.node.outputs > 1).map(Into::into)
    }

    /// The name with the operator's own version, which may be older than the opset.
    fn name(&self) -> Result<Name> {
        name("MaxPool", &Self::VERSIONS, self.version)
    }
}

fn has_indices(name: &Name) -> bool {
    name.is_since(8)
}

fn has_dilations(name: &Name) -> bool {
    name.is_since(10)
}

#[cfg(test)]
mod tests;
