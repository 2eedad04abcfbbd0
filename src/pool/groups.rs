//! Groups of axes that one launch takes together, and the pieces of them that bindings hold.

use super::axes::{Axis, few_enough};
use crate::base::error::Result;
use crate::plan::Builder;

/// From this number of taps on, a kernel skips taps in the padding.
const SPARSE: u64 = 16;

/// Axes that launches take together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub outer: u64,
    pub axes: [Axis; 3],
    pub inner: u64,
}

/// A part of a group for one launch, numbered in elements of the group's source and result.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub group: Group,
    /// The first element that it may read.
    pub first: u64,
    pub first_result: u64,
}

impl Group {
    /// Whether windows are mostly in the padding, so that few of their taps have elements.
    pub(super) fn is_sparse(&self) -> bool {
        self.axes.iter().any(|a| a.taps > a.size.div_ceil(a.dilation) + 1 && a.taps > SPARSE)
    }

    /// Whether windows split an axis evenly.
    pub(crate) fn shares_out(&self) -> bool {
        self.axes.iter().any(|axis| !axis.drift.is_none())
    }

    /// Elements of a window; `None` if the number does not fit 64 bits.
    pub(super) fn taps(&self) -> Option<u64> {
        self.axes.iter().try_fold(1u64, |taps, axis| taps.checked_mul(axis.taps))
    }

    /// Elements in all.
    pub(crate) fn elements(&self) -> u64 {
        self.outer * self.unit_elements()
    }

    /// Elements of one place along the outer axis.
    pub(crate) fn unit_elements(&self) -> u64 {
        self.axes.iter().map(|a| a.size).product::<u64>() * self.inner
    }

    /// Results of one place along the outer axis.
    pub(crate) fn unit_results(&self) -> u64 {
        self.axes.iter().map(|a| a.outputs).product::<u64>() * self.inner
    }

    /// Results in all.
    pub(crate) fn results(&self) -> u64 {
        self.outer * self.unit_results()
    }

    /// Results of a line: of one place along the outer axis and the first two others.
    pub(crate) fn line_results(&self) -> u64 {
        self.axes[2].outputs * self.inner
    }

    /// The launches of the group, each within a binding.
    ///
    /// # Errors
    /// [`Error::OverLimit`](crate::Error::OverLimit) if one place along the first axis does not
    /// fit.
    pub(super) fn pieces(&self, builder: &Builder<'_>) -> Result<Vec<Piece>> {
        let capacity = builder.capacity(builder.item());
        let (unit, unit_results) = (self.unit_elements(), self.unit_results());
        // Checked before pieces are allocated.
        let larger = u128::from(self.outer) * u128::from(unit.max(unit_results));
        few_enough(larger.div_ceil(capacity.max(1).into()))?;
        let fit = (capacity / unit).min(capacity / unit_results);
        let mut pieces = Vec::new();
        if fit == 0 {
            (0..self.outer).try_for_each(|outer| self.cut(outer, builder, &mut pieces))?;
            return Ok(pieces);
        }
        for done in (0..self.outer).step_by(fit as usize) {
            let group = Self { outer: fit.min(self.outer - done), ..self.clone() };
            pieces.push(Piece { group, first: done * unit, first_result: done * unit_results });
        }
        Ok(pieces)
    }

    /// One place along the outer axis in pieces along the first axis.
    fn cut(&self, outer: u64, builder: &Builder<'_>, pieces: &mut Vec<Piece>) -> Result<()> {
        let capacity = builder.capacity(builder.item());
        let at = self.axes.iter().position(|a| a.size > 1 || a.outputs > 1).unwrap_or(2);
        let axis = &self.axes[at];
        let (pitch, result_pitch) =
            (self.unit_elements() / axis.size, self.unit_results() / axis.outputs);
        // `windows` windows read (windows - 1) * stride + reach + 1 elements.
        let (extent, stride) = (axis.max_reach() + 1, axis.max_stride());
        let windows = (capacity / pitch).saturating_sub(extent) / stride + 1;
        let fit = windows.min(capacity / result_pitch);
        if fit == 0 || extent.min(axis.size) * pitch > capacity {
            let elements = (extent.min(axis.size) * pitch).max(result_pitch);
            let bytes = elements * builder.item();
            return Err(builder.over_binding("a binding of one window of every column", bytes));
        }
        few_enough((pieces.len() as u64 + axis.outputs / fit).into())?;
        for cut in axis.cuts(fit)? {
            let mut axes = self.axes;
            axes[at] = cut.axis;
            pieces.push(Piece {
                group: Self { outer: 1, axes, inner: self.inner },
                first: outer * self.unit_elements() + cut.first_element * pitch,
                first_result: outer * self.unit_results() + cut.first_window * result_pitch,
            });
        }
        Ok(())
    }
}
