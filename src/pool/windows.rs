//! The attributes of a MaxPool, resolved for an input.

use std::ops::Range;

use super::drift::Drift;
use super::{Layout, MaxPool, Padding, Rounding};
use crate::base::error::{Error, Result};
use crate::tensor::axes::{self, Duplicates};
use crate::tensor::{ElementType, Outputs, TensorDesc};

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
    /// Elements that all windows have. If windows split the axis evenly, some may have one more:
    /// then `kernel` is one more.
    pub sure: u64,
    pub drift: Drift,
}

/// A MaxPool on an input: the planner's input.
pub(crate) struct Resolved<'a> {
    pub operator: &'a MaxPool,
    pub input: &'a TensorDesc,
    /// The maxima and, if requested, the indices.
    pub outputs: Outputs<TensorDesc>,
    /// The spatial axes, in order.
    pub windows: Vec<Window>,
    /// Elements of the sub-tensor in which indices count; 0 without indices.
    pub modulus: u64,
}

/// Spatial axes that column-major indices can have: as many as fit a kernel's parameters.
const MAX_COLUMN_MAJOR: usize = 8;

impl MaxPool {
    /// # Errors
    /// As [`MaxPool::infer`].
    pub(crate) fn resolve<'a>(&'a self, input: &'a TensorDesc) -> Result<Resolved<'a>> {
        self.rules(input.element_type())?;
        let windows = self.windows(input)?;
        let mut shape = input.shape().to_vec();
        for (size, window) in shape[self.first_spatial()..].iter_mut().zip(&windows) {
            *size = usize::try_from(window.output).map_err(|_| Error::ShapeOverflow {
                element_type: input.element_type(),
                shape: windows.iter().map(|w| w.output as usize).collect(),
            })?;
        }
        let values = TensorDesc::new(input.element_type(), &shape[..])?;
        let modulus = self.index_modulus(input)?;
        let indices = self.indices.map(|indices| TensorDesc::new(indices.element_type, shape));
        let outputs = Outputs::new(Some(values), indices.transpose()?, None);
        Ok(Resolved { operator: self, input, outputs, windows, modulus })
    }

    /// Planes of an input, which is not empty, and the channels within each.
    pub(crate) fn planes(&self, input: &TensorDesc) -> (u64, u64) {
        let shape = input.shape();
        let (planes, channels) = match self.layout {
            Layout::Ncx => (shape[0] * shape[1], 1),
            Layout::Nxc => (shape[0], shape[shape.len() - 1]),
        };
        (planes as u64, channels as u64)
    }

    /// Elements of the sub-tensor in which indices count.
    pub(crate) fn index_modulus(&self, input: &TensorDesc) -> Result<u64> {
        let Some(indices) = self.indices else { return Ok(0) };
        let bad = |attribute, expected, value: String| {
            Err(Error::BadAttribute { attribute, expected, value })
        };
        indices.check_type(0)?;
        indices.check_first()?;
        let axis = axes::normalize(&[indices.axis()], input.rank(), Duplicates::Refuse)?[0];
        if indices.is_column_major() {
            if self.layout == Layout::Nxc {
                let expected = "NCX if indices are column-major";
                return bad("layout", expected, "NXC".to_string());
            }
            if input.rank() > 2 + MAX_COLUMN_MAJOR {
                let expected = "row-major with more than 8 spatial axes";
                return bad("indices", expected, "column-major".to_string());
            }
        }
        // Zeros are ignored: an empty input has no element whose index could be too large.
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
        let sizes = &input.shape()[self.first_spatial()..][..spatial];
        if let Some(outputs) = &self.output_sizes {
            return self.sharing_out(outputs, sizes);
        }
        let kernel = numbers("kernel", Some(&self.kernel), spatial, 1)?;
        let strides = numbers("strides", self.strides.as_deref(), spatial, 1)?;
        let dilations = numbers("dilations", self.dilations.as_deref(), spatial, 1)?;
        let (begin, end): (&[usize], &[usize]) = match &self.padding {
            Padding::Explicit { begin, end } => (begin, end),
            _ => (&[], &[]),
        };
        let [begin, end] = [begin, end].map(|list| Some(list).filter(|list| !list.is_empty()));
        let begin = numbers("pads_begin", begin, spatial, 0)?;
        let end = numbers("pads_end", end, spatial, 0)?;
        let window = |axis: usize| {
            let (input, output, pad_begin) = (sizes[axis] as u64, 0, begin[axis]);
            let (kernel, stride, dilation) = (kernel[axis], strides[axis], dilations[axis]);
            let (sure, drift) = (kernel, Drift::NONE);
            let window = Window { input, output, kernel, stride, dilation, pad_begin, sure, drift };
            self.placed(axis, window, end[axis])
        };
        (0..spatial).map(window).collect()
    }

    /// The windows that split axes of these sizes evenly.
    fn sharing_out(&self, outputs: &[usize], sizes: &[usize]) -> Result<Vec<Window>> {
        let outputs = numbers("output_sizes", Some(outputs), sizes.len(), 0)?;
        let Self { kernel, strides, dilations, padding, rounding, .. } = Self::new([]);
        let alone = Self { kernel, strides, dilations, padding, rounding, ..self.clone() };
        if *self != alone {
            return Err(Error::BadAttribute {
                attribute: "output_sizes",
                expected: "without kernel, strides, dilations, padding and rounding",
                value: format!("{outputs:?}"),
            });
        }
        let windows = sizes.iter().zip(outputs).enumerate();
        windows.map(|(axis, (&size, outputs))| Window::sharing_out(axis, size, outputs)).collect()
    }

    /// Completes a window: the number of windows along a spatial axis, and its padding. Explicit
    /// padding is `pad_begin` of the window, and `pad_end`.
    fn placed(&self, axis: usize, window: Window, pad_end: u64) -> Result<Window> {
        let Window { input, kernel, stride, dilation, pad_begin, .. } = window;
        // The product of 64-bit attributes may exceed 64 bits.
        let extent = u128::from(kernel - 1) * u128::from(dilation) + 1;
        let (begin, end) = match self.padding {
            Padding::SameUpper | Padding::SameLower => {
                let last = match input % stride {
                    0 => stride,
                    rest => rest,
                };
                let total = extent.saturating_sub(last.into());
                let (less, more) = (total / 2, total - total / 2);
                if self.padding == Padding::SameUpper { (less, more) } else { (more, less) }
            }
            Padding::Explicit { .. } | Padding::Valid => (pad_begin.into(), pad_end.into()),
        };
        let padded = u128::from(input) + begin + end;
        let wide_stride = u128::from(stride);
        // How far a partial window may reach beyond the padded input: by less than a stride. It may
        // be the only window.
        let beyond = match self.rounding {
            Rounding::Floor => 0,
            Rounding::Ceil | Rounding::CeilTorch => wide_stride - 1,
        };
        let spare = (padded + beyond).checked_sub(extent);
        let mut output = spare.map_or(0, |spare| spare / wide_stride + 1);
        if output > 0
            && self.rounding == Rounding::CeilTorch
            && (output - 1) * wide_stride >= u128::from(input) + begin
        {
            output -= 1;
        }
        if output == 0 {
            let only_end_padding = extent <= padded;
            return Err(Error::WindowTooLarge { axis, extent, padded, only_end_padding });
        }
        let attribute = match self.padding {
            Padding::Explicit { .. } => "pads_begin and pads_end",
            _ => "kernel and dilations",
        };
        let narrow = |value| narrow(attribute, value);
        Ok(Window { output: narrow(output)?, pad_begin: narrow(begin)?, ..window })
    }
}

impl Window {
    /// `output` windows that split a spatial axis evenly. If all have the same number of elements,
    /// they are a stride apart.
    pub(super) fn sharing_out(axis: usize, size: usize, output: u64) -> Result<Self> {
        if size == 0 {
            return Err(Error::NothingToShareOut { axis });
        }
        let (input, windows) = (size as u64, output.max(1));
        let drift = Drift { rest: input % windows, windows, first: 0 };
        let (stride, is_even) = (input / windows, drift.is_none());
        let sure = if is_even { stride } else { stride + 1 };
        let kernel = sure + drift.max_extra();
        let drift = if is_even { Drift::NONE } else { drift };
        Ok(Self { input, output, kernel, stride, dilation: 1, pad_begin: 0, sure, drift })
    }

    /// The position of a tap along the input's axis. A position below 0, or at or above the axis's
    /// size, is in the padding. For a tap that the window does not have, it is the position of the
    /// tap before.
    fn position(&self, output: usize, tap: u64) -> i128 {
        let tap = tap.min(self.sure - 1 + self.drift.extra(output as u64));
        output as i128 * i128::from(self.stride)
            + i128::from(self.drift.shift(output as u64))
            + i128::from(tap) * i128::from(self.dilation)
            - i128::from(self.pad_begin)
    }

    /// The first of these taps or, if some windows do not have it, the last tap that all have.
    fn first_tap(&self, taps: &Range<u64>) -> u64 {
        taps.start.min(self.sure - 1)
    }

    /// The range of the input's axis that the given taps of the given outputs cover.
    pub(crate) fn covered(&self, outputs: &Range<usize>, taps: &Range<u64>) -> Range<usize> {
        let size = i128::from(self.input);
        let from = self.position(outputs.start, self.first_tap(taps)).clamp(0, size);
        let to = (self.position(outputs.end - 1, taps.end - 1) + 1).clamp(from, size);
        from as usize..to as usize
    }

    /// These windows for `outputs` and `taps`, over an input that holds only the range they cover.
    pub(crate) fn restrict(&self, outputs: &Range<usize>, taps: &Range<u64>) -> Self {
        let (covered, first_tap) = (self.covered(outputs, taps), self.first_tap(taps));
        let before = covered.start as i128 - self.position(outputs.start, first_tap);
        let first = outputs.start as u64;
        Self {
            input: covered.len() as u64,
            output: outputs.len() as u64,
            kernel: taps.end - first_tap,
            // Negative if all windows begin after the end of the input: then they cover no element.
            pad_begin: before.max(0) as u64 + self.drift.shift(first),
            sure: self.sure - first_tap,
            drift: self.drift.after(first),
            ..*self
        }
    }

    /// The taps without those that are in the padding for all of these outputs; at least one tap.
    pub(crate) fn trim(&self, outputs: &Range<usize>, taps: &Range<u64>) -> Range<u64> {
        let dilation = i128::from(self.dilation);
        let before = -self.position(outputs.end - 1, 0);
        let remaining = i128::from(self.input) - self.position(outputs.start, 0);
        let first = ((before + dilation - 1).div_euclid(dilation)).max(taps.start.into());
        let end = ((remaining + dilation - 1).div_euclid(dilation)).min(taps.end.into());
        if first < end { first as u64..end as u64 } else { taps.start..taps.start + 1 }
    }

    /// For each output, whether any of these taps is inside the input.
    pub(crate) fn nonempty(&self, outputs: &Range<usize>, taps: &Range<u64>) -> Vec<bool> {
        let dilation = i128::from(self.dilation);
        let any = |output| {
            let start = self.position(output, 0);
            if !self.drift.is_none() {
                return true;
            }
            let tap = (dilation - 1 - start).div_euclid(dilation).max(taps.start.into());
            tap < taps.end.into() && start + tap * dilation < self.input.into()
        };
        outputs.clone().map(any).collect()
    }
}

/// An attribute with one number of at least `min`, 0 or 1, for each spatial axis; `min` by default.
fn numbers(
    attribute: &'static str,
    given: Option<&[usize]>,
    spatial: usize,
    min: usize,
) -> Result<Vec<u64>> {
    let list = given.map_or_else(|| vec![min; spatial], <[usize]>::to_vec);
    if list.len() != spatial {
        return Err(Error::AttributeLength { attribute, expected: spatial, actual: list.len() });
    }
    if list.iter().any(|&number| number < min) {
        let value = format!("{list:?}");
        return Err(Error::BadAttribute { attribute, expected: "1 or more", value });
    }
    Ok(list.into_iter().map(|number| number as u64).collect())
}

/// A number in 64 bits. Numbers that do not fit are far beyond any tensor.
fn narrow(attribute: &'static str, value: u128) -> Result<u64> {
    u64::try_from(value).map_err(|_| Error::BadAttribute {
        attribute,
        expected: "such that positions fit 64 bits",
        value: value.to_string(),
    })
}
