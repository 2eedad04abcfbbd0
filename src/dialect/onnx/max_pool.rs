//! MaxPool.

use super::name;
use crate::dialect::attributes::{Inputs, Name, Reader, flag};
use crate::dialect::{Attributes, AutoPad, Node, pool};
use crate::error::{Error, Result};
use crate::operator::{self, EmptySet, Indices, Order, Rounding};
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
/// In every opset, a last window that would start in the padding at the end is dropped; only the
/// text of opset 22 says so. The padding of `SAME_UPPER` and `SAME_LOWER` takes dilation into
/// account, and `ceil_mode` has no effect with it. `VALID` with `ceil_mode` rounds up, as shape
/// inference and runtimes do, although the formula in the text rounds down. With `ceil_mode` 1, data
/// that the window is larger than, by less than a stride, has one window.
///
/// The text does not define NaN; here it is ignored. A window that covers only padding gives minus
/// infinity, or the smallest value of an integer type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxPool {
    /// The model's opset: 1 or more.
    pub version: u32,
    /// The size of the window per spatial axis.
    pub kernel_shape: Vec<i64>,
    /// The stride per spatial axis. Default: 1.
    pub strides: Option<Vec<i64>>,
    /// The padding at the begin of each spatial axis, then at the end of each, in elements.
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
        let mut reader = Reader::new(attributes);
        let kernel_shape = reader.ints("kernel_shape")?;
        operator.strides = reader.ints("strides")?;
        operator.pads = reader.ints("pads")?;
        let expected = "NOTSET, SAME_UPPER, SAME_LOWER or VALID";
        operator.auto_pad =
            reader.text("auto_pad", expected, &AUTO_PADS)?.unwrap_or(operator.auto_pad);
        if has_indices(&name)
            && let Some(storage_order) = reader.int("storage_order")?
        {
            operator.storage_order = storage_order;
        }
        if has_dilations(&name) {
            operator.dilations = reader.ints("dilations")?;
            operator.ceil_mode = reader.int("ceil_mode")?.unwrap_or(operator.ceil_mode);
        }
        reader.finish(&name)?;
        flag("ceil_mode", operator.ceil_mode)?;
        flag("storage_order", operator.storage_order)?;
        operator.kernel_shape =
            kernel_shape.ok_or_else(|| name.missing_attribute("kernel_shape"))?;
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
        let order = match flag("storage_order", self.storage_order)? {
            false => Order::RowMajor,
            true => Order::ColumnMajor,
        };
        if !has_dilations(&name) {
            if self.dilations.is_some() {
                return Err(name.unknown_attribute("dilations"));
            }
            if ceil {
                return Err(name.unknown_attribute("ceil_mode"));
            }
        }
        if !has_indices(&name) && order == Order::ColumnMajor {
            return Err(name.unknown_attribute("storage_order"));
        }
        name.outputs(1 + usize::from(indices), has_indices(&name))?;
        if !takes(&name, data.element_type()) {
            return Err(name.wrong_type(data.element_type()));
        }
        if data.rank() < 3 {
            return Err(name.wrong_shape("data of rank 3 or more", data.shape()));
        }

        let spatial = data.rank() - 2;
        let kernel = pool::list("kernel_shape", Some(&self.kernel_shape), spatial, 1)?;
        let strides = pool::list("strides", self.strides.as_deref(), spatial, 1)?;
        let dilations = pool::list("dilations", self.dilations.as_deref(), spatial, 1)?;
        let mut begin = pool::list("pads", self.pads.as_deref(), 2 * spatial, 0)?;
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
        let numbering = Indices { element_type: ElementType::I64, order, axis: 0 };

        let operator = operator::MaxPool::new(kernel)
            .strides(strides)
            .dilations(dilations)
            .padding(self.auto_pad.padding(|| Ok((begin, end)))?)
            .rounding(rounding)
            .nan(self.nan)
            .empty_window(EmptySet::NegativeInfinity)
            .indices(indices.then_some(numbering));
        operator.infer(data)?;
        Ok(operator)
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

    /// The name with the operator's own version, which may be older than the opset.
    fn name(&self) -> Result<Name> {
        name("MaxPool", &Self::VERSIONS, self.version)
    }
}

const AUTO_PADS: [(&str, AutoPad); 4] = [
    ("NOTSET", AutoPad::Explicit),
    ("SAME_UPPER", AutoPad::SameUpper),
    ("SAME_LOWER", AutoPad::SameLower),
    ("VALID", AutoPad::Valid),
];

fn has_indices(name: &Name) -> bool {
    name.version >= Some(8)
}

fn has_dilations(name: &Name) -> bool {
    name.version >= Some(10)
}

fn takes(name: &Name, element_type: ElementType) -> bool {
    use ElementType as T;
    match element_type {
        T::F32 | T::F64 | T::F16 => true,
        T::I8 | T::U8 => name.version >= Some(12),
        T::Bf16 => name.version >= Some(22),
        T::Bool | T::I16 | T::U16 | T::I32 | T::U32 | T::I64 | T::U64 => false,
    }
}

#[cfg(test)]
mod tests;
