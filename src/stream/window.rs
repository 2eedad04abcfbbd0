//! What the windows of a piece look at, and where in the whole input the positions lie that it finds.

use std::ops::Range;

use rayon::prelude::*;

use super::boxes::Part;
use super::pool::Piece;
use crate::error::Result;
use crate::operator::{MaxPool, Order, Window, axes};
use crate::tensor::{Tensor, TensorDesc};

impl Window {
    /// The position of an element of a window; before 0 and from the input's size on it lies in the padding.
    fn position(&self, output: usize, tap: u64) -> i128 {
        output as i128 * i128::from(self.stride) + i128::from(tap) * i128::from(self.dilation)
            - i128::from(self.pad_begin)
    }

    /// From the first to the last position of some elements of some windows, without those in the padding.
    fn span(&self, outputs: &Range<usize>, taps: &Range<u64>) -> Range<usize> {
        let size = i128::from(self.input);
        let from = self.position(outputs.start, taps.start).clamp(0, size);
        let to = (self.position(outputs.end - 1, taps.end - 1) + 1).clamp(from, size);
        from as usize..to as usize
    }

    /// The same windows over their span alone.
    pub(super) fn part(&self, outputs: &Range<usize>, taps: &Range<u64>) -> Self {
        let span = self.span(outputs, taps);
        let before = span.start as i128 - self.position(outputs.start, taps.start);
        Self {
            input: span.len() as u64,
            output: outputs.len() as u64,
            kernel: taps.end - taps.start,
            // Windows that begin behind the input have no span, and no place in it.
            pad_begin: before.max(0) as u64,
            ..*self
        }
    }

    /// The taps without those that lie in the padding in all of these windows; at least one.
    pub(super) fn trim(&self, outputs: &Range<usize>, taps: &Range<u64>) -> Range<u64> {
        let dilation = i128::from(self.dilation);
        let before = -self.position(outputs.end - 1, 0);
        let room = i128::from(self.input) - self.position(outputs.start, 0);
        let first = ((before + dilation - 1).div_euclid(dilation)).max(taps.start.into());
        let end = ((room + dilation - 1).div_euclid(dilation)).min(taps.end.into());
        if first < end { first as u64..end as u64 } else { taps.start..taps.start + 1 }
    }

    /// Of each of these windows, whether any of these elements is in the input.
    fn inside(&self, outputs: &Range<usize>, taps: &Range<u64>) -> Vec<bool> {
        let dilation = i128::from(self.dilation);
        let any = |output| {
            let start = self.position(output, 0);
            let tap = (dilation - 1 - start).div_euclid(dilation).max(taps.start.into());
            tap < taps.end.into() && start + tap * dilation < self.input.into()
        };
        outputs.clone().map(any).collect()
    }
}

/// How places of the input are numbered.
pub(super) struct Places {
    /// What an index grows by along each axis of the input.
    weights: Vec<u64>,
    first_spatial: usize,
}

/// The places of a piece.
pub(super) struct Located<'a> {
    places: &'a Places,
    /// The index of the piece's first element.
    first: u64,
    source: Vec<usize>,
    outputs: &'a Part,
    sizes: Vec<usize>,
    /// Of each spatial axis, which windows have elements; none if all of all axes have.
    inside: Vec<Vec<bool>>,
}

impl Places {
    pub(super) fn new(operator: &MaxPool, input: &TensorDesc) -> Result<Self> {
        let (shape, first_spatial) = (input.shape(), operator.first_spatial());
        let mut weights = vec![0; shape.len()];
        if let Some(indices) = operator.get_indices()
            && !input.is_empty()
        {
            let from = axes::normalize(&[indices.axis], shape.len(), axes::Duplicates::Refuse)?[0];
            // Axes, those of neighbouring numbers first.
            let order: Vec<usize> = match indices.order {
                Order::RowMajor => (from..shape.len()).rev().collect(),
                Order::ColumnMajor => (first_spatial..shape.len()).chain([1, 0]).collect(),
            };
            let mut weight = 1;
            for axis in order {
                weights[axis] = weight;
                weight *= shape[axis] as u64;
            }
        }
        Ok(Self { weights, first_spatial })
    }

    /// What the windows of a piece look at.
    pub(super) fn source(&self, windows: &[Window], piece: &Piece) -> Part {
        let mut part = piece.part.clone();
        let spatial = &mut part.0[self.first_spatial..];
        for ((range, window), taps) in spatial.iter_mut().zip(windows).zip(&piece.taps) {
            *range = window.span(range, taps);
        }
        part
    }

    pub(super) fn of<'a>(&'a self, windows: &[Window], piece: &'a Piece) -> Located<'a> {
        let source = self.source(windows, piece);
        let spatial = piece.part.0[self.first_spatial..].iter().zip(&piece.taps);
        let mut inside: Vec<Vec<bool>> = windows
            .iter()
            .zip(spatial)
            .map(|(window, (outputs, taps))| window.inside(outputs, taps))
            .collect();
        if inside.iter().flatten().all(|&inside| inside) {
            inside.clear();
        }
        let starts = source.0.iter().zip(&self.weights);
        Located {
            places: self,
            first: starts.map(|(range, weight)| range.start as u64 * weight).sum(),
            source: source.shape(),
            outputs: &piece.part,
            sizes: piece.part.shape(),
            inside,
        }
    }
}

impl Located<'_> {
    /// Whether a window has an element in the input.
    pub(super) fn is_inside(&self, mut output: usize) -> bool {
        if self.inside.is_empty() {
            return true;
        }
        (0..self.sizes.len()).rev().all(|axis| {
            let at = output % self.sizes[axis];
            output /= self.sizes[axis];
            let spatial = axis.checked_sub(self.places.first_spatial);
            spatial.and_then(|axis| self.inside.get(axis)).is_none_or(|inside| inside[at])
        })
    }

    /// The indices of positions in the piece. A window without elements has that of the first element of
    /// its batch and channel.
    pub(super) fn positions(&self, local: &Tensor) -> Vec<u64> {
        let local = bytemuck::cast_slice::<u8, i32>(local.bytes());
        let weights = &self.places.weights;
        let index = |(output, &local): (usize, &i32)| {
            if !self.is_inside(output) {
                return self.plane(output);
            }
            let mut rest = local as usize;
            self.source.iter().zip(weights).rev().fold(self.first, |index, (&size, weight)| {
                let at = rest % size;
                rest /= size;
                index + at as u64 * weight
            })
        };
        local.par_iter().enumerate().map(index).collect()
    }

    fn plane(&self, mut output: usize) -> u64 {
        let spatial = self.places.first_spatial..self.places.first_spatial + self.inside.len();
        (0..self.sizes.len()).rev().fold(0, |index, axis| {
            let at = output % self.sizes[axis];
            output /= self.sizes[axis];
            let first = self.outputs.0[axis].start;
            match spatial.contains(&axis) {
                true => index,
                false => index + (first + at) as u64 * self.places.weights[axis],
            }
        })
    }
}
