//! Axes with their windows, and the groups and pieces that launches take of them.

use crate::error::{Error, Result};
use crate::kernel::pool;
use crate::operator::Window;
use crate::plan::builder::MAX_ELEMENTS;

/// Taps from which on those are left out that lie in the padding.
const SPARSE: u64 = 16;
/// Launches that a group may be cut into.
const MOST_PIECES: u128 = 1 << 16;

/// An axis of the source and the windows along it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub size: u64,
    pub outputs: u64,
    pub taps: u64,
    pub stride: u64,
    pub dilation: u64,
    /// From the first tap to the last one, which may be nearer than taps and dilation make it.
    pub reach: u64,
    /// Where the first window begins.
    pub start: i64,
}

/// Axes that launches take together.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub outer: u64,
    pub axes: [Axis; 3],
    pub inner: u64,
}

/// A part of a group that one launch does, numbered in elements of the group's source and result.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub group: Group,
    /// The first element that it may look at, and how many follow.
    pub first: u64,
    pub elements: u64,
    pub first_result: u64,
    pub results: u64,
}

impl Axis {
    /// An axis without windows.
    pub(super) const fn plain(size: u64) -> Self {
        Self { size, outputs: size, taps: 1, stride: 1, dilation: 1, reach: 0, start: 0 }
    }

    /// # Errors
    /// [`Error::OverLimit`] for positions that do not fit 32 bits.
    pub(super) fn new(window: &Window) -> Result<Self> {
        let mut taps = window.kernel;
        let (size, dilation) = (i128::from(window.input), i128::from(window.dilation));
        let mut start = -i128::from(window.pad_begin);
        let mut stride = window.stride;
        if window.output == 1 {
            // Of the only window, what lies in the padding can be left out.
            stride = 1;
            let from = if start < 0 { (-start + dilation - 1) / dilation } else { 0 };
            let to = if start < size { (size - 1 - start) / dilation + 1 } else { 0 };
            let to = to.min(taps.into());
            if from < to {
                start += from * dilation;
                taps = (to - from) as u64;
            } else {
                (start, taps) = (size, 1);
            }
        }
        let dilation = if taps == 1 { 1 } else { window.dilation };
        let reach = u128::from(taps - 1) * u128::from(dilation);
        let last = start + i128::from(window.output - 1) * i128::from(stride) + reach as i128;
        let most = i128::from(i32::MAX);
        let needed = last.max(-start).max(reach as i128).max(stride.into());
        if reach > i32::MAX as u128 || needed > most {
            return Err(positions(u64::try_from(needed.max(reach as i128)).unwrap_or(u64::MAX)));
        }
        Ok(Self {
            size: window.input,
            outputs: window.output,
            taps,
            stride,
            dilation,
            reach: reach as u64,
            start: start as i64,
        })
    }

    /// Whether each window is an element, and the other way round.
    pub(super) fn is_plain(&self) -> bool {
        *self == Self::plain(self.size)
    }

    /// Whether every window has an element for certain.
    pub(super) fn has_all(&self) -> bool {
        let last = self.start + (self.outputs - 1) as i64 * self.stride as i64;
        self.start + self.reach as i64 >= 0 && last < self.size as i64 && self.dilation <= self.size
    }

    /// Whether all elements are the one window.
    pub(super) fn is_whole(&self) -> bool {
        self.outputs == 1
            && self.size > 1
            && self.start == 0
            && self.reach + 1 == self.taps
            && self.taps == self.size
    }

    /// The axis as kernels are told it.
    ///
    /// # Errors
    /// [`Error::OverLimit`] for positions that do not fit 32 bits.
    pub(super) fn params(&self, pitch: u64) -> Result<pool::Axis> {
        let last = self.start + (self.outputs - 1) as i64 * self.stride as i64 + self.reach as i64;
        let needed = last.max(-self.start).max((self.taps * self.dilation) as i64);
        if needed > i64::from(i32::MAX) {
            return Err(positions(needed as u64));
        }
        Ok(pool::Axis {
            size: self.size as u32,
            outputs: self.outputs as u32,
            taps: self.taps as u32,
            stride: self.stride as u32,
            dilation: self.dilation as u32,
            reach: self.reach as u32,
            start: self.start as i32,
            pitch: pitch as u32,
        })
    }

    /// The axis and `inner` behind it as one axis, where windows lie next to one
    /// another: then the neighbours of an element have the neighbouring windows.
    pub(super) fn flat(&self, inner: u64) -> Self {
        Self {
            size: self.size * inner,
            outputs: self.outputs * inner,
            dilation: self.dilation * inner,
            reach: self.reach * inner,
            start: self.start * inner as i64,
            ..*self
        }
    }

    /// Whether positions fit 32 bits in [`Axis::flat`].
    pub(super) fn fits_flat(&self, inner: u64) -> bool {
        let most = i128::from(MAX_ELEMENTS) / i128::from(inner) - 1;
        let last = i128::from(self.start) + i128::from(self.outputs + self.reach);
        let ends = [self.size.into(), self.outputs.into(), (-self.start).into(), last];
        ends.into_iter().all(|end| end < most) && i128::from(self.reach + self.dilation) < most
    }

    /// The axis cut into parts of so many windows: the first window of each, the first
    /// place that its windows look at, and the part as an axis.
    ///
    /// # Errors
    /// [`Error::OverLimit`] for more launches than a plan may hold.
    pub(super) fn cuts(&self, fit: u64) -> Result<Vec<(u64, u64, Self)>> {
        few_enough(self.outputs.div_ceil(fit).into())?;
        let cut = |done: u64| {
            let outputs = fit.min(self.outputs - done);
            let start = self.start + (done * self.stride) as i64;
            let end = start + ((outputs - 1) * self.stride + self.reach) as i64 + 1;
            // At least one element, if only to bind something.
            let from = start.clamp(0, self.size as i64 - 1);
            let to = end.clamp(from + 1, self.size as i64);
            let part = Self { size: (to - from) as u64, outputs, start: start - from, ..*self };
            (done, from as u64, part)
        };
        Ok((0..self.outputs).step_by(fit as usize).map(cut).collect())
    }

    /// Windows of `taps` one element apart, of which the windows of this axis are
    /// made, and these windows among them. Each has an element as long as
    /// dilation is at most the axis's size.
    pub(super) fn composed(&self, taps: u64) -> (Self, Self) {
        let reach = (taps - 1) * self.dilation;
        let last = self.start
            + (self.outputs - 1) as i64 * self.stride as i64
            + (self.reach - reach) as i64;
        let from = self.start.max(-(reach as i64));
        // Windows may all lie in the padding.
        let to = last.min(self.size as i64 - 1).max(from);
        let part = Self {
            size: self.size,
            outputs: (to - from + 1) as u64,
            taps,
            stride: 1,
            dilation: self.dilation,
            reach,
            start: from,
        };
        let rest = Self {
            size: part.outputs,
            taps: self.taps.div_ceil(taps),
            dilation: self.dilation * taps,
            reach: self.reach - reach,
            start: self.start - from,
            ..*self
        };
        (part, rest)
    }
}

fn positions(needed: u64) -> Error {
    Error::OverLimit {
        what: "a window's position in its axis",
        needed,
        limit: "32-bit position",
        allowed: i32::MAX as u64,
    }
}

/// # Errors
/// [`Error::OverLimit`] for more launches than a plan may hold.
fn few_enough(pieces: u128) -> Result<()> {
    if pieces <= MOST_PIECES {
        return Ok(());
    }
    Err(Error::OverLimit {
        what: "a pooling, a binding at a time,",
        needed: u64::try_from(pieces).unwrap_or(u64::MAX),
        limit: "launches",
        allowed: MOST_PIECES as u64,
    })
}

impl Group {
    /// Whether windows lie in the padding for the most part, so that few of their taps are inside.
    pub(super) fn is_sparse(&self) -> bool {
        self.axes.iter().any(|a| a.taps > a.size.div_ceil(a.dilation) + 1 && a.taps > SPARSE)
    }

    /// Elements of one place along the outer axis.
    pub(super) fn unit_elements(&self) -> u64 {
        self.axes.iter().map(|a| a.size).product::<u64>() * self.inner
    }

    /// Results of one place along the outer axis.
    pub(super) fn unit_outputs(&self) -> u64 {
        self.axes.iter().map(|a| a.outputs).product::<u64>() * self.inner
    }

    /// Results in all.
    pub(super) fn results(&self) -> u64 {
        self.outer * self.unit_outputs()
    }

    /// The launches of the group: so many elements of the source and of the result fit a binding.
    ///
    /// # Errors
    /// [`Error::OverLimit`] where one place along the first axis does not fit;
    /// `allowed` are elements.
    pub(super) fn pieces(&self, room: u64, result_room: u64) -> Result<Vec<Piece>> {
        let (unit, unit_results) = (self.unit_elements(), self.unit_outputs());
        // Before anything is made for each of them.
        let least = (u128::from(self.outer) * u128::from(unit)).div_ceil(room.max(1).into());
        let results = u128::from(self.outer) * u128::from(unit_results);
        let least = least.max(results.div_ceil(result_room.max(1).into()));
        few_enough(least)?;
        let fit = (room / unit).min(result_room / unit_results);
        let mut pieces = Vec::new();
        let mut done = 0;
        while fit > 0 && done < self.outer {
            let outer = fit.min(self.outer - done);
            pieces.push(Piece {
                group: Self { outer, ..self.clone() },
                first: done * unit,
                elements: outer * unit,
                first_result: done * unit_results,
                results: outer * unit_results,
            });
            done += outer;
        }
        while done < self.outer {
            self.cut(done, room, result_room, &mut pieces)?;
            done += 1;
        }
        Ok(pieces)
    }

    /// One place along the outer axis in pieces along the first axis.
    fn cut(&self, outer: u64, room: u64, result_room: u64, pieces: &mut Vec<Piece>) -> Result<()> {
        let at = self.axes.iter().position(|a| a.size > 1 || a.outputs > 1).unwrap_or(2);
        let axis = &self.axes[at];
        let (pitch, result_pitch) =
            (self.unit_elements() / axis.size, self.unit_outputs() / axis.outputs);
        // Elements that so many windows look at: (windows - 1) * stride + reach + 1.
        let most = (room / pitch).saturating_sub(axis.reach + 1) / axis.stride + 1;
        let fit = most.min(result_room / result_pitch);
        if fit == 0 || (axis.reach + 1).min(axis.size) * pitch > room {
            return Err(Error::OverLimit {
                what: "one window of every column, in elements,",
                needed: ((axis.reach + 1).min(axis.size) * pitch).max(result_pitch),
                limit: "max_storage_buffer_binding_size",
                allowed: room.min(result_room),
            });
        }
        few_enough((pieces.len() as u64 + axis.outputs / fit).into())?;
        for (done, from, axis) in axis.cuts(fit)? {
            let mut axes = self.axes;
            axes[at] = axis;
            pieces.push(Piece {
                group: Self { outer: 1, axes, inner: self.inner },
                first: outer * self.unit_elements() + from * pitch,
                elements: axis.size * pitch,
                first_result: outer * self.unit_outputs() + done * result_pitch,
                results: axis.outputs * result_pitch,
            });
        }
        Ok(())
    }
}
