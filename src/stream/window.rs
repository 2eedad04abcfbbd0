//! The part of the input that a piece's windows cover; and the indices, in the whole input, of
//! positions in a piece.

use std::ops::Range;

use super::part::Part;
use crate::base::error::Result;
use crate::base::threads;
use crate::pool::{MaxPool, Window};
use crate::tensor::axes;
use crate::tensor::{Tensor, TensorDesc, Words, zeroed};

#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// The results.
    pub part: Part,
    /// The range of each window's taps along each spatial axis.
    pub taps: Vec<Range<u64>>,
    /// The windows are split: other pieces have the other taps.
    pub partial: bool,
    /// An earlier piece has other taps of the same windows.
    pub merge: bool,
}

/// How the operator's indices number the elements of the input.
pub(super) struct Indexing {
    /// The distance between the indices of neighbours along each axis; 0 for axes that indices do
    /// not count.
    strides: Vec<u64>,
    first_spatial: usize,
}

/// The indexing of one piece.
pub(super) struct PieceIndexing<'a> {
    whole: &'a Indexing,
    /// The index of the piece's first element.
    first: u64,
    /// The shape of the piece's input.
    source: Vec<usize>,
    outputs: &'a Part,
    /// The shape of `outputs`.
    sizes: Vec<usize>,
    /// For each spatial axis, which outputs have elements along it. Empty if all do.
    nonempty: Vec<Vec<bool>>,
}

impl Indexing {
    pub(super) fn new(operator: &MaxPool, input: &TensorDesc) -> Result<Self> {
        let (shape, first_spatial) = (input.shape(), operator.first_spatial());
        let mut strides = vec![0; shape.len()];
        if let Some(indices) = operator.indices
            && !input.is_empty()
        {
            let from =
                axes::normalize(&[indices.axis()], shape.len(), axes::Duplicates::Refuse)?[0];
            // The axes from the smallest stride to the largest.
            let order: Vec<usize> = match indices.is_column_major() {
                false => (from..shape.len()).rev().collect(),
                true => (first_spatial..shape.len()).chain([1, 0]).collect(),
            };
            let mut stride = 1;
            for axis in order {
                strides[axis] = stride;
                stride *= shape[axis] as u64;
            }
        }
        Ok(Self { strides, first_spatial })
    }

    /// The part of the input that the windows of a piece cover.
    pub(super) fn source(&self, windows: &[Window], piece: &Piece) -> Part {
        let mut part = piece.part.clone();
        let spatial = &mut part.0[self.first_spatial..];
        for ((range, window), taps) in spatial.iter_mut().zip(windows).zip(&piece.taps) {
            *range = window.covered(range, taps);
        }
        part
    }

    pub(super) fn of_piece<'a>(
        &'a self,
        windows: &[Window],
        piece: &'a Piece,
    ) -> PieceIndexing<'a> {
        let source = self.source(windows, piece);
        let spatial = piece.part.0[self.first_spatial..].iter().zip(&piece.taps);
        let mut nonempty: Vec<Vec<bool>> = windows
            .iter()
            .zip(spatial)
            .map(|(window, (outputs, taps))| window.nonempty(outputs, taps))
            .collect();
        if nonempty.iter().flatten().all(|&nonempty| nonempty) {
            nonempty.clear();
        }
        let starts = source.0.iter().zip(&self.strides);
        PieceIndexing {
            whole: self,
            first: starts.map(|(range, stride)| range.start as u64 * stride).sum(),
            source: source.shape(),
            outputs: &piece.part,
            sizes: piece.part.shape(),
            nonempty,
        }
    }
}

impl PieceIndexing<'_> {
    /// Whether any tap of an output's window is inside the input.
    pub(super) fn has_elements(&self, mut output: usize) -> bool {
        if self.nonempty.is_empty() {
            return true;
        }
        (0..self.sizes.len()).rev().all(|axis| {
            let at = output % self.sizes[axis];
            output /= self.sizes[axis];
            let spatial = axis.checked_sub(self.whole.first_spatial);
            spatial.and_then(|axis| self.nonempty.get(axis)).is_none_or(|nonempty| nonempty[at])
        })
    }

    /// The indices in the whole input of positions in the piece. The index of a window without
    /// elements is that of the first element of its batch and channel.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn indices(&self, local: &Tensor) -> Result<Words> {
        let local = bytemuck::cast_slice::<u8, i32>(local.bytes());
        let strides = &self.whole.strides;
        let index = |(output, &local): (usize, &i32)| {
            if !self.has_elements(output) {
                return self.first_of_plane(output);
            }
            let mut rest = local as usize;
            self.source.iter().zip(strides).rev().fold(self.first, |index, (&size, stride)| {
                let at = rest % size;
                rest /= size;
                index + at as u64 * stride
            })
        };
        let mut indices = zeroed(local.len())?;
        threads::each_chunk(&mut indices, threads::CHUNK_LEN, |chunk, indices| {
            let local = local.iter().enumerate().skip(chunk * threads::CHUNK_LEN);
            indices.iter_mut().zip(local).for_each(|(found, local)| *found = index(local));
        });
        Ok(indices)
    }

    /// The index of the first element of an output's batch and channel.
    fn first_of_plane(&self, mut output: usize) -> u64 {
        let spatial = self.whole.first_spatial..self.whole.first_spatial + self.nonempty.len();
        (0..self.sizes.len()).rev().fold(0, |index, axis| {
            let at = output % self.sizes[axis];
            output /= self.sizes[axis];
            let first = self.outputs.0[axis].start;
            match spatial.contains(&axis) {
                true => index,
                false => index + (first + at) as u64 * self.whole.strides[axis],
            }
        })
    }
}
