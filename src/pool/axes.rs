//! Axes with their windows.

use super::drift::Drift;
use super::windows::Window;
use crate::base::error::{Error, Result};
use crate::plan::MAX_ELEMENTS;

/// What errors call a position that does not fit 32 bits.
pub(super) const POSITION: &str = "a window's position in its axis";

/// The maximum number of launches that a group is cut into.
const MAX_PIECES: u128 = 1 << 16;

/// An axis of the source and the windows along it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    pub size: u64,
    pub outputs: u64,
    pub taps: u64,
    pub stride: u64,
    pub dilation: u64,
    /// The distance from the first tap to the last one, at most `(taps - 1) * dilation`.
    pub reach: u64,
    /// The place of the first tap of the first window.
    pub start: i64,
    /// How windows that split the axis evenly differ from this.
    pub drift: Drift,
}

/// Some of the windows of an axis, and the elements that they read.
pub(super) struct Cut {
    pub first_window: u64,
    pub first_element: u64,
    /// The windows, along an axis of these elements alone.
    pub axis: Axis,
}

impl Axis {
    /// An axis without windows.
    pub(crate) const fn plain(size: u64) -> Self {
        Self {
            size,
            outputs: size,
            taps: 1,
            stride: 1,
            dilation: 1,
            reach: 0,
            start: 0,
            drift: Drift::NONE,
        }
    }

    /// A spatial axis.
    ///
    /// # Errors
    /// [`Error::OverLimit`] for positions that do not fit 32 bits.
    pub(crate) fn new(window: &Window) -> Result<Self> {
        let mut taps = window.kernel;
        let (size, dilation) = (i128::from(window.input), i128::from(window.dilation));
        let mut start = -i128::from(window.pad_begin);
        let (mut stride, mut sure, mut drift) = (window.stride, window.sure, window.drift);
        if window.output == 1 {
            taps = taps.min(sure + drift.extra(0));
            start += i128::from(drift.shift(0));
            (sure, drift) = (taps, Drift::NONE);
            // Leave out the taps of the only window that are in the padding.
            stride = 1;
            let inside = window.trim(&(0..1), &(0..taps));
            taps = inside.end - inside.start;
            start += i128::from(inside.start) * dilation;
            if !(0..size).contains(&start) {
                start = size;
            }
        }
        let dilation = if taps == 1 { 1 } else { window.dilation };
        let reach = u128::from(taps.min(sure) - 1) * u128::from(dilation);
        let last = start + i128::from(window.output - 1) * i128::from(stride) + reach as i128;
        let last = last + i128::from(drift.shift(window.output - 1));
        let needed = last.max(-start).max(reach as i128).max(stride.into());
        let needed = needed.max(drift.windows.into());
        if reach > i32::MAX as u128 || needed > i128::from(i32::MAX) {
            let needed = u64::try_from(needed.max(reach as i128)).unwrap_or(u64::MAX);
            return Err(positions(POSITION, needed));
        }
        Ok(Self {
            size: window.input,
            outputs: window.output,
            taps,
            stride,
            dilation,
            reach: reach as u64,
            start: start as i64,
            drift,
        })
    }

    /// The places of the first and the last tap of a window.
    pub(crate) fn ends(&self, window: u64) -> [i64; 2] {
        let begin = self.start + (window * self.stride + self.drift.shift(window)) as i64;
        let reach = (self.reach + self.drift.extra(window)).min((self.taps - 1) * self.dilation);
        [begin, begin + reach as i64]
    }

    /// The inverse of this axis: its elements are this axis's windows, and its windows this
    /// axis's elements. Only for axes that windows split evenly, or whose windows are adjacent.
    pub(crate) fn turned(&self) -> Self {
        let Drift { rest, windows, first } = self.drift;
        let (size, windows) = match rest {
            0 => (self.taps, 1),
            rest => (self.stride * windows + rest, windows),
        };
        let before = (first * self.stride) as i64 - self.start;
        let stride = windows / size;
        let drift = match windows % size {
            0 => Drift::NONE,
            rest => Drift { rest, windows: size, first: before as u64 },
        };
        let reach = stride - u64::from(drift.is_none() && stride > 0);
        Self {
            size: self.outputs,
            outputs: self.size,
            taps: reach + 1 + drift.max_extra(),
            stride,
            dilation: 1,
            reach,
            start: before * stride as i64 - first as i64,
            drift,
        }
    }

    /// The maximum distances from one window to the next and from the first tap to the last one.
    pub(super) fn max_stride(&self) -> u64 {
        self.stride + u64::from(!self.drift.is_none())
    }

    pub(super) fn max_reach(&self) -> u64 {
        self.reach + self.drift.max_extra()
    }

    /// Whether each element is a window.
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::plain(self.size)
    }

    /// If windows are adjacent and cover the axis: an axis of the windows, and one of a window's elements,
    /// all of which are one window.
    pub(super) fn split(&self) -> Option<[Self; 2]> {
        let adjacent = self.stride == self.taps && self.reach + 1 == self.taps && self.start == 0;
        let covers = self.drift.is_none() && self.outputs * self.taps == self.size;
        let whole = Self { size: self.taps, outputs: 1, stride: 1, ..*self };
        (adjacent && covers).then_some([Self::plain(self.outputs), whole])
    }

    /// Whether every tap but the first is `dilation` from the one before.
    pub(super) fn is_even(&self) -> bool {
        self.drift.is_none() && self.reach == (self.taps - 1) * self.dilation
    }

    /// Whether it is certain that windows are a stride apart, and that every one has an element.
    pub(crate) fn has_all(&self) -> bool {
        if !self.drift.is_none() {
            return false;
        }
        let last = self.start + (self.outputs - 1) as i64 * self.stride as i64;
        self.start + self.reach as i64 >= 0 && last < self.size as i64 && self.dilation <= self.size
    }

    /// Whether there is one window, of all elements.
    pub(super) fn is_whole(&self) -> bool {
        self.outputs == 1
            && self.size > 1
            && self.start == 0
            && self.reach + 1 == self.taps
            && self.taps == self.size
    }

    /// The axis and `inner` after it as one axis, if the stride is 1: then the neighbours of an
    /// element are in the neighbouring windows.
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
        let max = i128::from(MAX_ELEMENTS) / i128::from(inner) - 1;
        let last = i128::from(self.start) + i128::from(self.outputs + self.reach);
        let ends = [self.size.into(), self.outputs.into(), (-self.start).into(), last];
        ends.into_iter().all(|end| end < max) && i128::from(self.reach + self.dilation) < max
    }

    /// The axis cut into parts of `fit` windows.
    ///
    /// # Errors
    /// [`Error::OverLimit`] for more launches than a plan may hold.
    pub(super) fn cuts(&self, fit: u64) -> Result<Vec<Cut>> {
        few_enough(self.outputs.div_ceil(fit).into())?;
        let cut = |done: u64| {
            let outputs = fit.min(self.outputs - done);
            let ([start, _], [_, last]) = (self.ends(done), self.ends(done + outputs - 1));
            // At least one element, because a binding may not be empty.
            let from = start.clamp(0, self.size as i64 - 1);
            let to = (last + 1).clamp(from + 1, self.size as i64);
            let (size, drift) = ((to - from) as u64, self.drift.after(done));
            let start = self.start + (done * self.stride) as i64 - from;
            let axis = Self { size, outputs, start, drift, ..*self };
            Cut { first_window: done, first_element: from as u64, axis }
        };
        Ok((0..self.outputs).step_by(fit as usize).map(cut).collect())
    }

    /// Two axes: one with windows of `taps` taps and stride 1, and one with the windows of this axis
    /// over their maxima. Each of the former has an element if the dilation is at most the axis's size.
    pub(super) fn composed(&self, taps: u64) -> (Self, Self) {
        let reach = (taps - 1) * self.dilation;
        let last = self.ends(self.outputs - 1)[1] - reach as i64;
        let from = self.start.max(-(reach as i64));
        // All windows may be in the padding.
        let to = last.min(self.size as i64 - 1).max(from);
        let part = Self {
            size: self.size,
            outputs: (to - from + 1) as u64,
            taps,
            stride: 1,
            dilation: self.dilation,
            reach,
            start: from,
            drift: Drift::NONE,
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

/// The error for positions that need more than 32 bits.
pub(super) fn positions(what: &'static str, needed: u64) -> Error {
    Error::OverLimit { what, needed, limit: "32-bit position", allowed: i32::MAX as u64 }
}

/// # Errors
/// [`Error::OverLimit`] for more launches than a plan may hold.
pub(super) fn few_enough(pieces: u128) -> Result<()> {
    if pieces <= MAX_PIECES {
        return Ok(());
    }
    let (what, needed) =
        ("a pooling with small bindings", u64::try_from(pieces).unwrap_or(u64::MAX));
    Err(Error::OverLimit { what, needed, limit: "launches", allowed: MAX_PIECES as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only windows that are adjacent and cover the axis are sets of a reduction.
    #[test]
    fn adjacent_windows_are_split() {
        let axis = |size, outputs, taps, stride, dilation| {
            let reach = (taps - 1) * dilation;
            Axis { size, outputs, taps, stride, dilation, reach, ..Axis::plain(size) }
        };
        let [windows, whole] = axis(12, 4, 3, 3, 1).split().unwrap();
        assert_eq!((windows, whole.size), (Axis::plain(4), 3));
        assert!(whole.is_whole());
        // A partial window, overlapping windows, gaps, dilation, padding.
        let others = [
            axis(13, 4, 3, 3, 1),
            axis(11, 4, 3, 3, 1),
            axis(5, 4, 2, 1, 1),
            axis(12, 4, 2, 3, 1),
            axis(12, 4, 3, 3, 2),
            Axis { start: -1, ..axis(12, 4, 3, 3, 1) },
        ];
        assert!(others.iter().all(|axis| axis.split().is_none()));
    }

    /// `turned` gives the windows that have an element, also for a part of an axis's windows.
    #[test]
    fn elements_know_their_windows() {
        let sizes = (1..14).flat_map(|size| (1..14).map(move |outputs| (size, outputs)));
        for (size, outputs) in sizes.chain([(4101, 4095), (70_001, 65_539)]) {
            let window = Window::sharing_out(0, size as usize, outputs).unwrap();
            let axis = Axis::new(&window).unwrap();
            let cuts = axis.cuts(outputs.div_ceil(3).min(700)).unwrap();
            for Cut { axis, .. } in cuts.iter().take(9).chain(cuts.last()) {
                let (turned, mut spans) = (axis.turned(), vec![None; axis.size as usize]);
                for window in 0..axis.outputs {
                    let [begin, last] = axis.ends(window);
                    assert!(0 <= begin && begin <= last && last < axis.size as i64, "{axis:?}");
                    for span in &mut spans[begin as usize..=last as usize] {
                        *span = Some([
                            span.map_or(window as i64, |[first, _]: [i64; 2]| first),
                            window as i64,
                        ]);
                    }
                }
                for (element, span) in spans.into_iter().enumerate() {
                    let [first, last] = turned.ends(element as u64);
                    // Windows of other cuts have it, too.
                    let last = last.min(axis.outputs as i64 - 1);
                    assert_eq!(Some([first.max(0), last]), span, "{axis:?} {element}");
                }
            }
        }
    }
}
