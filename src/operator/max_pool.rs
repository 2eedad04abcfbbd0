//! MaxPool: the maximum of windows.

use super::axes::{self, Duplicates};
use super::{EmptySet, Operator};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::plan::{Limits, Plan};
use crate::tensor::key::Nan;
use crate::tensor::{ElementType, Tensor, TensorDesc};

/// Where the channels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// [batch, channels, spatial...].
    Ncx,
    /// [batch, spatial..., channels].
    Nxc,
}

/// How the padding of the spatial axes comes about. Padding is never a value:
/// a window's maximum is that of the elements that it covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Padding {
    /// So many positions before and behind each spatial axis; 0 everywhere if a list is empty.
    Explicit {
        /// Positions before the first element.
        begin: Vec<i64>,
        /// Positions behind the last element.
        end: Vec<i64>,
    },
    /// As many positions as let ceil(size / stride) windows fit, the odd one behind.
    SameUpper,
    /// As [`Padding::SameUpper`], the odd one before.
    SameLower,
    /// None.
    Valid,
}

/// What becomes of a last window that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// It is left out.
    Floor,
    /// It counts, even where it lies wholly in the padding. oneDNN Graph, OpenVINO.
    Ceil,
    /// It counts, unless it would start behind the last element. ONNX, PyTorch, OpenVINO 14.
    CeilTorch,
}

/// The order in which positions of a spatial plane are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last axis fastest, as in memory.
    RowMajor,
    /// The first spatial axis fastest; batch and channels stay outermost. ONNX `storage_order` 1.
    ColumnMajor,
}

/// The second result: for each window, the position of its maximum in the
/// unpadded input, the first of equal ones in row-major order. +0 and -0 are
/// equal, and so are NaNs. A window without elements has the index of the first
/// element of its batch and channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Indices {
    /// `i32` or `i64`.
    pub element_type: ElementType,
    /// How positions are numbered.
    pub order: Order,
    /// The index counts from the start of the sub-tensor of the axes from this one on: 0 for the
    /// whole tensor. Negative counts from the back. Row-major order only.
    pub axis: i64,
}

impl Default for Indices {
    /// `i64`, row-major, in the whole tensor.
    fn default() -> Self {
        Self { element_type: ElementType::I64, order: Order::RowMajor, axis: 0 }
    }
}

/// The maximum of each window of a tensor of shape [batch, channels, spatial...]
/// or [batch, spatial..., channels], of any element type, with one spatial axis or more.
///
/// With the input's size I along a spatial axis, window k, stride s and dilation
/// d, the window covers E = (k - 1) d + 1 positions, and there are
/// (I + pads - E) / s + 1 of them, rounded as [`Rounding`] says. Position j of
/// window o is the element o s - pads_begin + j d.
///
/// ```
/// use wgmax::operator::MaxPool;
/// use wgmax::{ElementType, TensorDesc};
///
/// let picture = TensorDesc::new(ElementType::U8, [1, 3, 224, 224])?;
/// let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1], [1, 1]);
/// assert_eq!(pool.infer(&picture)?[0].shape(), [1, 3, 112, 112]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MaxPool {
    kernel: Vec<i64>,
    strides: Option<Vec<i64>>,
    dilations: Option<Vec<i64>>,
    padding: Padding,
    rounding: Rounding,
    layout: Layout,
    nan: Nan,
    empty_window: EmptySet,
    indices: Option<Indices>,
}

/// One spatial axis, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Elements of the input.
    pub input: u64,
    /// Windows.
    pub output: u64,
    /// Elements of a window.
    pub kernel: u64,
    /// From one window to the next.
    pub stride: u64,
    /// From one element of a window to the next.
    pub dilation: u64,
    /// Positions before the first element.
    pub pad_begin: u64,
}

impl MaxPool {
    /// Windows of so many elements along each spatial axis, one from every place
    /// where it fits: strides and dilations of 1, no padding. [`Self::strides`] equal to the
    /// kernel lay them side by side. Rounded down; [`Layout::Ncx`]; NaN propagates; a
    /// window without elements gives [`EmptySet::NegativeInfinity`].
    pub fn new(kernel: impl IntoIterator<Item = i64>) -> Self {
        Self {
            kernel: kernel.into_iter().collect(),
            strides: None,
            dilations: None,
            padding: Padding::Explicit { begin: Vec::new(), end: Vec::new() },
            rounding: Rounding::Floor,
            layout: Layout::Ncx,
            nan: Nan::Propagate,
            empty_window: EmptySet::NegativeInfinity,
            indices: None,
        }
    }

    /// From one window to the next, per spatial axis. 1 by default.
    pub fn strides(mut self, strides: impl IntoIterator<Item = i64>) -> Self {
        self.strides = Some(strides.into_iter().collect());
        self
    }

    /// From one element of a window to the next, per spatial axis; 1 is dense, and the default.
    pub fn dilations(mut self, dilations: impl IntoIterator<Item = i64>) -> Self {
        self.dilations = Some(dilations.into_iter().collect());
        self
    }

    /// Padding before and behind each spatial axis. None by default.
    pub fn pads(
        self,
        begin: impl IntoIterator<Item = i64>,
        end: impl IntoIterator<Item = i64>,
    ) -> Self {
        let (begin, end) = (begin.into_iter().collect(), end.into_iter().collect());
        self.padding(Padding::Explicit { begin, end })
    }

    /// How the padding comes about.
    pub fn padding(mut self, padding: Padding) -> Self {
        self.padding = padding;
        self
    }

    /// What becomes of a last window that does not fit.
    pub fn rounding(mut self, rounding: Rounding) -> Self {
        self.rounding = rounding;
        self
    }

    /// Where the channels are.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// What a NaN does. It propagates by default.
    pub fn nan(mut self, nan: Nan) -> Self {
        self.nan = nan;
        self
    }

    /// What a window gives that covers no element at all.
    pub fn empty_window(mut self, empty_window: EmptySet) -> Self {
        self.empty_window = empty_window;
        self
    }

    /// Adds a second result, the positions of the maxima; `None` leaves it out, as by default.
    pub fn indices(mut self, indices: impl Into<Option<Indices>>) -> Self {
        self.indices = indices.into();
        self
    }

    /// The window, per spatial axis.
    pub fn get_kernel(&self) -> &[i64] {
        &self.kernel
    }

    /// From one window to the next; `None` for 1 everywhere.
    pub fn get_strides(&self) -> Option<&[i64]> {
        self.strides.as_deref()
    }

    /// From one element of a window to the next; `None` for 1 everywhere.
    pub fn get_dilations(&self) -> Option<&[i64]> {
        self.dilations.as_deref()
    }

    /// How the padding comes about.
    pub fn get_padding(&self) -> &Padding {
        &self.padding
    }

    /// What becomes of a last window that does not fit.
    pub fn get_rounding(&self) -> Rounding {
        self.rounding
    }

    /// Where the channels are.
    pub fn get_layout(&self) -> Layout {
        self.layout
    }

    /// The second result, if there is one.
    pub fn get_indices(&self) -> Option<Indices> {
        self.indices
    }

    /// The types and shapes of the results: the maxima, of the input's type, and
    /// the indices, if they are wanted, of the same shape.
    ///
    /// # Errors
    /// [`Error::PoolRank`] for an input without spatial axes,
    /// [`Error::AttributeLength`] for a list that has not one number for each of them,
    /// [`Error::BadAttribute`] for a window, stride or dilation below 1, a negative pad, or an
    /// index type other than `i32` and `i64`, [`Error::WindowTooLarge`] for a window that
    /// extends beyond the padded input, [`Error::AxisOutOfRange`] and [`Error::IndexTooLarge`]
    /// for indices, [`Error::ShapeOverflow`].
    pub fn infer(&self, input: &TensorDesc) -> Result<Vec<TensorDesc>> {
        let windows = self.windows(input)?;
        let mut shape = input.shape().to_vec();
        let first = self.first_spatial();
        for (size, window) in shape[first..].iter_mut().zip(&windows) {
            *size = usize::try_from(window.output).map_err(|_| Error::ShapeOverflow {
                element_type: input.element_type(),
                shape: windows.iter().map(|w| w.output as usize).collect(),
            })?;
        }
        let mut outputs = vec![TensorDesc::new(input.element_type(), shape)?];
        if let Some(indices) = self.indices {
            self.index_modulus(input)?;
            let shape = outputs[0].shape().to_vec();
            outputs.push(TensorDesc::new(indices.element_type, shape)?);
        }
        Ok(outputs)
    }

    /// The launches that compute the operator within a device's limits.
    ///
    /// # Errors
    /// As [`MaxPool::infer`], and [`Error::OverLimit`].
    pub fn plan(&self, input: &TensorDesc, limits: &Limits) -> Result<Plan> {
        let outputs = self.infer(input)?;
        let windows = self.windows(input)?;
        crate::plan::pool::plan(self, input, outputs, &windows, limits)
    }

    /// Uploads a tensor, runs the operator on a device, and downloads the maxima
    /// and, if they are wanted, the indices.
    ///
    /// # Errors
    /// As [`MaxPool::plan`], and what the device reports.
    pub fn run(&self, device: &Device, input: &Tensor) -> Result<Vec<Tensor>> {
        Operator::from(self.clone()).run(device, &[input])
    }

    /// What a NaN does.
    pub fn get_nan(&self) -> Nan {
        self.nan
    }

    /// What a window gives that covers no element at all.
    pub fn get_empty_window(&self) -> EmptySet {
        self.empty_window
    }

    /// The same with another window.
    #[cfg(feature = "oracle")]
    pub(crate) fn with_kernel(&self, kernel: Vec<i64>) -> Self {
        Self { kernel, ..self.clone() }
    }

    /// The axis of the input that is the first spatial one.
    pub(crate) fn first_spatial(&self) -> usize {
        match self.layout {
            Layout::Ncx => 2,
            Layout::Nxc => 1,
        }
    }

    /// How many elements the sub-tensor has in which indices count.
    pub(crate) fn index_modulus(&self, input: &TensorDesc) -> Result<u64> {
        let Some(indices) = self.indices else { return Ok(0) };
        if !matches!(indices.element_type, ElementType::I32 | ElementType::I64) {
            return Err(Error::BadAttribute {
                attribute: "index_element_type",
                expected: "i32 or i64",
                value: indices.element_type.to_string(),
            });
        }
        let axis = axes::normalize(&[indices.axis], input.rank(), Duplicates::Refuse)?[0];
        if indices.order == Order::ColumnMajor && axis != 0 {
            return Err(Error::BadAttribute {
                attribute: "axis",
                expected: "0 where indices are column-major",
                value: indices.axis.to_string(),
            });
        }
        if indices.order == Order::ColumnMajor {
            if self.layout == Layout::Nxc {
                return Err(Error::BadAttribute {
                    attribute: "layout",
                    expected: "NCX where indices are column-major",
                    value: "NXC".to_string(),
                });
            }
            // As many as fit a kernel's parameters.
            if input.rank() > 2 + 8 {
                return Err(Error::BadAttribute {
                    attribute: "kernel",
                    expected: "of at most 8 spatial axes where indices are column-major",
                    value: format!("{:?}", self.kernel),
                });
            }
        }
        // Zeros aside: an empty input has no element whose index could be too large.
        let modulus = match input.is_empty() {
            true => 0,
            false => input.shape()[axis..].iter().map(|&d| d as u64).product(),
        };
        if indices.element_type == ElementType::I32 && modulus > 1 << 31 {
            return Err(Error::IndexTooLarge { elements: modulus });
        }
        Ok(modulus)
    }

    /// The spatial axes, in order.
    pub(crate) fn windows(&self, input: &TensorDesc) -> Result<Vec<Window>> {
        let rank = input.rank();
        if rank < 3 {
            return Err(Error::PoolRank { rank });
        }
        let spatial = rank - 2;
        let list = |attribute: &'static str, list: &[i64], least: i64| -> Result<Vec<u64>> {
            if list.len() != spatial {
                return Err(Error::AttributeLength {
                    attribute,
                    expected: spatial,
                    actual: list.len(),
                });
            }
            let expected = if least == 0 { "0 or more" } else { "1 or more" };
            let bad = || Error::BadAttribute { attribute, expected, value: format!("{list:?}") };
            list.iter().map(|&v| if v < least { Err(bad()) } else { Ok(v as u64) }).collect()
        };
        let or = |given: &Option<Vec<i64>>| given.clone().unwrap_or_else(|| vec![1; spatial]);
        let kernel = list("kernel", &self.kernel, 1)?;
        let strides = list("strides", &or(&self.strides), 1)?;
        let dilations = list("dilations", &or(&self.dilations), 1)?;
        let pads = match &self.padding {
            Padding::Explicit { begin, end } => {
                let or = |given: &[i64]| match given {
                    [] => vec![0; spatial],
                    _ => given.to_vec(),
                };
                Some((list("pads_begin", &or(begin), 0)?, list("pads_end", &or(end), 0)?))
            }
            _ => None,
        };
        let sizes = &input.shape()[self.first_spatial()..][..spatial];
        (0..spatial)
            .map(|i| {
                let pads = pads.as_ref().map(|(begin, end)| (begin[i], end[i]));
                self.window(i, sizes[i] as u64, kernel[i], strides[i], dilations[i], pads)
            })
            .collect()
    }

    fn window(
        &self,
        axis: usize,
        input: u64,
        kernel: u64,
        stride: u64,
        dilation: u64,
        pads: Option<(u64, u64)>,
    ) -> Result<Window> {
        // 64-bit attributes overflow 64 bits together.
        let extent = u128::from(kernel - 1) * u128::from(dilation) + 1;
        let (begin, end) = match (&self.padding, pads) {
            (Padding::Explicit { .. }, Some((begin, end))) => (begin.into(), end.into()),
            (Padding::SameUpper | Padding::SameLower, _) => {
                let last = match input % stride {
                    0 => stride,
                    rest => rest,
                };
                let total = extent.saturating_sub(last.into());
                let (less, more) = (total / 2, total - total / 2);
                if self.padding == Padding::SameUpper { (less, more) } else { (more, less) }
            }
            _ => (0u128, 0u128),
        };
        let padded = u128::from(input) + begin + end;
        let too_large = Error::WindowTooLarge { axis, extent, padded };
        let Some(room) = padded.checked_sub(extent) else { return Err(too_large) };
        let stride_wide = u128::from(stride);
        let mut output = match self.rounding {
            Rounding::Floor => room / stride_wide,
            Rounding::Ceil | Rounding::CeilTorch => room.div_ceil(stride_wide),
        } + 1;
        if self.rounding == Rounding::CeilTorch
            && (output - 1) * stride_wide >= u128::from(input) + begin
        {
            output -= 1;
        }
        if output == 0 {
            return Err(too_large);
        }
        // What does not fit 64 bits is far beyond what any tensor holds.
        let narrow = |value: u128| u64::try_from(value).map_err(|_| too_large_value(value));
        Ok(Window {
            input,
            output: narrow(output)?,
            kernel,
            stride,
            dilation,
            pad_begin: narrow(begin)?,
        })
    }
}

fn too_large_value(value: u128) -> Error {
    Error::BadAttribute {
        attribute: "pads_begin and pads_end",
        expected: "such that positions fit 64 bits",
        value: value.to_string(),
    }
}
