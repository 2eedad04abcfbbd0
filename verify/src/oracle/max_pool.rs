//! MaxPool: for each window, reads each of its elements.

use wgmax::internals::reserved;
use wgmax::operator::{Indices, Layout, MaxPool, Numbering, Padding, Rounding};
use wgmax::{Result, Tensor};

use super::value::{bits_at, empty_bits};
use super::{Best, coordinates, flatten, tensor};

/// A spatial axis and its windows, in integers so wide that no attributes overflow them.
pub(crate) struct Axis {
    pub size: i128,
    pub kernel: i128,
    pub stride: i128,
    pub dilation: i128,
    pub begin: i128,
    end: i128,
    /// How many windows split the axis evenly, if any.
    pub outputs: Option<i128>,
}

pub(super) fn run(op: &MaxPool, input: &Tensor) -> Result<Vec<Tensor>> {
    let (t, shape) = (input.element_type(), input.shape());
    let mut out_shape = Vec::new();
    let (mut values, mut indices) = (Vec::new(), Vec::new());
    each_window(op, input, &mut out_shape, |plane, best, results| {
        if values.capacity() == 0 {
            values = reserved(results)?;
            indices = reserved(results)?;
        }
        let found = best.found(t, op.nan, op.indices.is_some());
        let empty = empty_bits(t, op.empty_window, op.extremum);
        values.push(found.map_or(empty, |(bits, _)| bits));
        let flat = found.map_or(plane, |(_, flat)| flat);
        if let Some(counting) = op.indices.filter(|_| !input.is_empty()) {
            indices.push(index(counting, flat, shape) as u64);
        } else {
            indices.push(0);
        }
        Ok(())
    })?;
    let mut results = vec![tensor(t, &out_shape, values.into_iter())?];
    if let Some(counting) = op.indices {
        results.push(tensor(counting.element_type, &out_shape, indices.into_iter())?);
    }
    Ok(results)
}

/// The element that each window selects, the first of equal ones, and the shape of the results. A window
/// without elements has `None`.
pub(super) fn picked(op: &MaxPool, input: &Tensor) -> Result<(Vec<Option<usize>>, Vec<usize>)> {
    let (mut picked, mut shape) = (Vec::new(), Vec::new());
    each_window(op, input, &mut shape, |_, best, _| {
        picked.push(best.found(input.element_type(), op.nan, true).map(|(_, flat)| flat));
        Ok(())
    })?;
    Ok((picked, shape))
}

/// Sets `out_shape` and visits all windows in row-major order. `each` gets the first element of the
/// window's plane, the element that the window selects, and the number of windows.
fn each_window(
    op: &MaxPool,
    input: &Tensor,
    out_shape: &mut Vec<usize>,
    mut each: impl FnMut(usize, Best, usize) -> Result<()>,
) -> Result<()> {
    let (t, shape) = (input.element_type(), input.shape());
    let (first, axes) = (first_spatial(op), axes(op, shape));
    *out_shape = shape.to_vec();
    for (size, axis) in out_shape[first..].iter_mut().zip(&axes) {
        *size = axis.windows(op.rounding) as usize;
    }
    let window: Vec<usize> = axes.iter().map(|axis| axis.kernel as usize).collect();
    let results = out_shape.iter().product::<usize>();
    for number in 0..results {
        let at = coordinates(number, out_shape);
        let mut best = Best::new(op.extremum).joined_by(t, op.initial);
        let mut element = at.clone();
        'taps: for tap in 0..window.iter().product::<usize>() {
            let mut rest = tap;
            for (i, axis) in axes.iter().enumerate().rev() {
                let within = (rest % window[i]) as i128;
                rest /= window[i];
                match axis.place(at[first + i] as i128, within) {
                    Some(place) => element[first + i] = place as usize,
                    None => continue 'taps,
                }
            }
            let flat = flatten(&element, shape);
            best.add(t, bits_at(input, flat), flat);
        }
        let mut plane = at;
        plane[first..first + axes.len()].fill(0);
        each(flatten(&plane, shape), best, results)?;
    }
    Ok(())
}

/// The index of an element, as the operator numbers them.
fn index(counting: Indices, flat: usize, shape: &[usize]) -> usize {
    match counting.numbering {
        Numbering::FromAxis(axis) => {
            let axis = axis.rem_euclid(shape.len() as i64) as usize;
            flat % shape[axis..].iter().product::<usize>()
        }
        Numbering::ColumnMajor => {
            let at = coordinates(flat, shape);
            let plane = at[0] * shape[1] + at[1];
            let spatial = (2..shape.len()).rev();
            spatial.fold(plane, |index, axis| index * shape[axis] + at[axis])
        }
        _ => flat,
    }
}

/// The first spatial axis.
pub(crate) fn first_spatial(op: &MaxPool) -> usize {
    if op.layout == Layout::Nxc { 1 } else { 2 }
}

/// The spatial axes of data.
pub(crate) fn axes(op: &MaxPool, shape: &[usize]) -> Vec<Axis> {
    match &op.output_sizes {
        None => (0..op.kernel.len()).map(|i| axis(op, i, shape[first_spatial(op) + i])).collect(),
        Some(outputs) => {
            let sizes = outputs.iter().zip(&shape[first_spatial(op)..]);
            sizes.map(|(&outputs, &size)| Axis::split(size as i128, outputs as i128)).collect()
        }
    }
}

fn axis(op: &MaxPool, i: usize, size: usize) -> Axis {
    let at = |list: &Option<Vec<usize>>| list.as_ref().map_or(1, |list| list[i] as i128);
    let mut axis = Axis {
        size: size as i128,
        kernel: op.kernel[i] as i128,
        stride: at(&op.strides),
        dilation: at(&op.dilations),
        begin: 0,
        end: 0,
        outputs: None,
    };
    let (smaller, larger) = axis.same_padding();
    (axis.begin, axis.end) = match &op.padding {
        Padding::Explicit { begin, end } => {
            let at = |list: &[usize]| list.get(i).map_or(0, |&pad| pad as i128);
            (at(begin), at(end))
        }
        Padding::SameUpper => (smaller, larger),
        Padding::SameLower => (larger, smaller),
        _ => (0, 0),
    };
    axis
}

impl Axis {
    /// The axis of an AdaptiveMaxPool. No window has more than `kernel` elements.
    fn split(size: i128, outputs: i128) -> Self {
        let kernel = if outputs > 0 { (size / outputs + 2).min(size) } else { 0 };
        let (stride, dilation, begin, end) = (1, 1, 0, 0);
        Self { size, kernel, stride, dilation, begin, end, outputs: Some(outputs) }
    }

    /// The place of a tap of a window; `None` in the padding.
    pub fn place(&self, window: i128, tap: i128) -> Option<i128> {
        if let Some(outputs) = self.outputs {
            let begin = window * self.size / outputs;
            let end = ((window + 1) * self.size + outputs - 1) / outputs;
            return Some(begin + tap).filter(|&place| place < end);
        }
        let place = window * self.stride - self.begin + tap * self.dilation;
        Some(place).filter(|&place| (0..self.size).contains(&place))
    }

    fn extent(&self) -> i128 {
        (self.kernel - 1) * self.dilation + 1
    }

    /// The number of windows, found by placing them one after the other.
    pub fn windows(&self, rounding: Rounding) -> i128 {
        if let Some(outputs) = self.outputs {
            return outputs;
        }
        let padded = self.begin + self.size + self.end;
        let (mut windows, mut start) = (0, 0);
        while start + self.extent() <= padded {
            windows += 1;
            start += self.stride;
        }
        // The next window begins within the padded axis, or is the only one and larger than that.
        let covered = start - self.stride + self.extent();
        if covered < padded && rounding != Rounding::Floor {
            windows += 1;
            start += self.stride;
        }
        let last = start - self.stride;
        if windows > 0 && rounding == Rounding::CeilTorch && last >= self.begin + self.size {
            windows -= 1;
        }
        windows
    }

    /// The padding that gives ceil(size / stride) windows, as two halves, the smaller one first.
    fn same_padding(&self) -> (i128, i128) {
        let (mut windows, mut covered) = (0, 0);
        while covered < self.size {
            windows += 1;
            covered += self.stride;
        }
        let total = ((windows - 1) * self.stride + self.extent() - self.size).max(0);
        (total / 2, total - total / 2)
    }
}
