//! The axes of a pooling: those of the input, or of a picture.

use wgmax::operator::Layout;
use wgmax::{Result, Tensor, TensorDesc};

/// How the axes of an input are pooled.
#[derive(Clone, Copy)]
pub struct Axes {
    pub layout: Layout,
    /// How many axes of size 1 are added before those of the input.
    added: usize,
}

impl Axes {
    /// The axes of the input as they are.
    pub const OWN: Self = Self { layout: Layout::Ncx, added: 0 };

    /// Without a layout, `[H, W]` and `[H, W, C]` with a kernel of two axes are pictures.
    pub fn new(layout: Option<Layout>, kernel: usize, rank: usize) -> Self {
        match (layout, kernel, rank) {
            (None, 2, 2) => Self { layout: Layout::Ncx, added: 2 },
            (None, 2, 3) => Self { layout: Layout::Nxc, added: 1 },
            _ => Self { layout: layout.unwrap_or(Layout::Ncx), added: 0 },
        }
    }

    /// The number of axes with windows, if an option has this many numbers. A single number stands for
    /// all spatial axes of the input.
    pub fn windows(layout: Option<Layout>, numbers: usize, rank: usize, is_picture: bool) -> usize {
        match numbers {
            1 if is_picture && layout.is_none() => 2,
            1 => rank.saturating_sub(2).max(1),
            count => count,
        }
    }

    /// The tensor that is pooled.
    pub fn pooled(self, input: &TensorDesc) -> Result<TensorDesc> {
        let shape = [&vec![1; self.added], input.shape()].concat();
        TensorDesc::new(input.element_type(), shape)
    }

    /// The axis of the pooled tensor, for an axis of an input of this rank. Axes that are out of
    /// range remain out of range.
    pub fn pooled_axis(self, axis: i64, rank: usize) -> i64 {
        let added = self.added as i64;
        match axis {
            0.. => axis.saturating_add(added),
            _ if axis < -(rank as i64) => axis.saturating_sub(added),
            _ => axis,
        }
    }

    /// The pooled tensor, or a result, with the rank of the input again.
    pub fn own(self, pooled: &Tensor) -> Result<Tensor> {
        match self.added {
            0 => Ok(pooled.clone()),
            added => pooled.reshape(&pooled.shape()[added..]),
        }
    }

    /// The type and shape of a result with the rank of the input again.
    pub fn own_desc(self, pooled: &TensorDesc) -> Result<TensorDesc> {
        TensorDesc::new(pooled.element_type(), &pooled.shape()[self.added..])
    }

    /// The axes that the input lacks for a kernel, in words, and the shape with these axes added.
    pub fn missing(self, kernel: usize, shape: &[usize]) -> Option<(&'static str, Vec<usize>)> {
        let (missing, before, after): (_, &[usize], &[usize]) =
            match ((kernel + 2).checked_sub(shape.len())?, self.layout) {
                (1, _) => ("the batch axis is", &[1], &[]),
                (2, Layout::Ncx) => ("the batch and channel axes are", &[1, 1], &[]),
                (2, Layout::Nxc) => ("the batch and channel axes are", &[1], &[1]),
                _ => return None,
            };
        Some((missing, [before, shape, after].concat()))
    }

    /// The sizes of the axes with windows.
    pub fn spatial(self, shape: &[usize]) -> &[usize] {
        match self.layout {
            Layout::Ncx => &shape[2 - self.added..],
            Layout::Nxc => &shape[1 - self.added..shape.len() - 1],
        }
    }

    /// Whether the channels of a pooled picture seem to come first: its last axis is longer than a
    /// picture has channels.
    pub fn looks_channels_first(self, pooled: &TensorDesc) -> bool {
        let shape = pooled.shape();
        self.added == 1 && shape[3] > 4
    }
}
