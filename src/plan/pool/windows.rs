//! Axes and their windows, which of them a launch takes together, and in which
//! pieces: the one table of how pooling is tuned.

use crate::error::{Error, Result};
use crate::kernel::pool::{self, RUN};
use crate::operator::Window;
use crate::plan::Limits;
use crate::plan::builder::{MAX_ELEMENTS, gcd};
use crate::tensor::ElementType;

/// Taps of windows over several axes that one launch looks at. More of them
/// cost more than to write the maxima along one axis and to read them again.
const FUSED: u64 = 16;
/// How much longer a window may be where an invocation computes a run of them,
/// which share what they have in common.
const IN_RUNS: u64 = 8;

/// Bytes of the rows that a window covers, for the twins to make windows of two axes at once.
const TALL: u64 = 32 << 10;
/// Taps along the first of two axes that they always take together then.
const FEW_ROWS: u64 = 3;
/// Taps along one axis that are looked at one by one for positions.
const DIRECT_INDICES: u64 = 16;
/// Windows that hardly overlap are looked at tap by tap, up to so many taps.
const DIRECT_APART: u64 = 512;
/// Taps from which on those are left out that lie in the padding.
const SPARSE: u64 = 16;
/// What a launch costs beyond its taps: to write a result and to read it again.
const BETWEEN: u64 = 3;

/// How much more a tap costs where they are looped over. On lavapipe 9 taps in a loop take 3 to 4 times as
/// long as at once.
const LOOP: u64 = 3;
/// Launches that a group may be cut into.
const MOST_PIECES: u128 = 1 << 16;

/// What decides which launches a pooling takes.
pub(super) struct Tuning {
    /// Taps over all axes of a launch.
    fused: u64,
    /// Taps along one axis; longer windows are made of shorter ones.
    direct: u64,
    direct_in_runs: u64,
    pub iterations: u64,
    /// Elements of a block of 16 bytes.
    pub block: u64,
    /// Results of an invocation of a gathering kernel, which owns whole words.
    pub slot: u64,
    /// Whether invocations share no fetches.
    pub walks: bool,
    /// Whether positions are wanted.
    pub finds: bool,
    /// Whether the twins are to run, which make long windows of shorter ones themselves.
    twins: bool,
}

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
    fn flat(&self, inner: u64) -> Self {
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
    fn fits_flat(&self, inner: u64) -> bool {
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
    fn composed(&self, taps: u64) -> (Self, Self) {
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

impl Tuning {
    pub(super) fn new(limits: &Limits, element: ElementType, indices: bool) -> Self {
        let iterations = u64::from(limits.max_iterations).max(4);
        let mut direct = u64::from(limits.window_taps).max(2);
        let twins = limits.window_taps == u32::MAX;
        if indices && !twins {
            direct = direct.min(DIRECT_INDICES);
        }
        Self {
            fused: FUSED.min(iterations),
            direct: direct.min(iterations),
            direct_in_runs: (direct * if indices { 1 } else { IN_RUNS }).min(iterations),
            iterations,
            block: 16 / element.size() as u64,
            slot: if element.size() == 8 { 2 } else { 4 },
            walks: !limits.coalesces,
            finds: indices,
            twins,
        }
    }

    /// The launches over axes that follow one another, the first outermost.
    pub(super) fn groups(&self, mut axes: Vec<Axis>) -> Vec<Group> {
        let mut groups = Vec::new();
        if axes.iter().all(Axis::is_plain) {
            // Each element is its window, wherever it lies.
            let all: u64 = axes.iter().map(|a| a.size).product();
            let inner = if all.is_multiple_of(self.block) { self.block } else { 1 };
            axes = vec![Axis::plain(all / inner), Axis::plain(inner)];
        }
        loop {
            let (first, last) = self.next(&axes);
            let group = self.group(&axes, first, last);
            self.stages(group, &mut groups);
            for axis in &mut axes[first..=last] {
                *axis = Axis::plain(axis.outputs);
            }
            if axes.iter().all(Axis::is_plain) {
                return groups;
            }
        }
    }

    /// Some of the axes as a group.
    fn group(&self, axes: &[Axis], first: usize, last: usize) -> Group {
        let outer = axes[..first].iter().map(|a| a.size).product();
        let inner = axes[last + 1..].iter().map(|a| a.size).product();
        let taken = &axes[first..=last];
        let mut group = Group { outer, axes: [Axis::plain(1); 3], inner };
        group.axes[3 - taken.len()..].copy_from_slice(taken);
        let axis = group.axes[2];
        if axis.stride == 1 && !inner.is_multiple_of(self.block) && axis.fits_flat(inner) {
            group.axes[2] = axis.flat(inner);
            group.inner = 1;
        }
        group
    }

    /// The axes that come next: as many as may be taken together, and of these
    /// the ones that leave least.
    fn next(&self, axes: &[Axis]) -> (usize, usize) {
        let mut best: Option<(usize, f64, usize, usize)> = None;
        for first in 0..axes.len() {
            for last in first..axes.len().min(first + 3) {
                let ends = [first, last].iter().all(|&i| !axes[i].is_plain());
                let taken = &axes[first..=last];
                let taps = taken.iter().try_fold(1u64, |n, a| n.checked_mul(a.taps));
                let inner = axes[last + 1..].iter().map(|a| a.size).product();
                let walks = |first| self.walk(&self.group(axes, first, last), 0, 0).is_some();
                let few = || taps.is_some_and(|taps| taps <= self.fused) || self.tall(taken, inner);
                let together = first == last || walks(first) || !walks(last) && few();
                if !ends || !together {
                    continue;
                }
                let count = taken.iter().filter(|a| !a.is_plain()).count();
                let left: f64 = taken.iter().map(|a| a.outputs as f64 / a.size as f64).product();
                if best.is_none_or(|(n, l, ..)| count > n || (count == n && left <= l)) {
                    best = Some((count, left, first, last));
                }
            }
        }
        // Nothing but plain axes: each element is its window.
        best.map_or((0, 0), |(_, _, first, last)| (first, last))
    }

    /// Whether the twins make the windows of two axes together: the rows of a window stay in the cache.
    fn tall(&self, taken: &[Axis], inner: u64) -> bool {
        let [first, last] = taken else { return false };
        let even = |axis: &Axis| {
            axis.reach == (axis.taps - 1) * axis.dilation && axis.reach <= 4 * axis.size
        };
        let row = last.size.saturating_mul(inner).saturating_mul(16 / self.block);
        let few = first.taps <= FEW_ROWS;
        let tall = first.taps > first.stride.saturating_mul(u64::from(first.taps.ilog2() + 2));
        self.twins
            && even(first)
            && even(last)
            && (few || tall)
            && (first.reach + 1).saturating_mul(row) <= TALL
    }

    /// A group as one launch, or as several where the window along its only axis is long.
    fn stages(&self, mut group: Group, groups: &mut Vec<Group>) {
        let alone = group.axes[..2].iter().all(|a| a.taps == 1);
        loop {
            let axis = group.axes[2];
            let direct = match self.walk(&group, 0, 0) {
                Some(_) => axis.taps,
                None if self.runs(&group).is_some() => self.direct_in_runs,
                None => self.direct,
            };
            // Beyond the axis's size a window has one element at most.
            if !alone || axis.taps <= direct || axis.dilation > axis.size {
                groups.push(group);
                return;
            }
            // The fewest stages, of about as many taps each.
            let mut stages = 1u32;
            while direct.saturating_pow(stages) < axis.taps {
                stages += 1;
            }
            let mut taps = 2;
            while u64::pow(taps, stages) < axis.taps {
                taps += 1;
            }
            // Shorter windows are made for every place, whether or not it is wanted.
            let made = axis.size * (taps + BETWEEN) * u64::from(stages - 1);
            let composed = made + axis.outputs * (taps + BETWEEN);
            let most = self.iterations.min(DIRECT_APART);
            let loops = if self.walks && !self.finds { LOOP } else { 1 };
            if axis.taps <= most && axis.outputs * axis.taps * loops <= composed {
                groups.push(group);
                return;
            }
            let (part, rest) = axis.composed(taps);
            let mut made = group.clone();
            made.axes[2] = part;
            groups.push(made);
            // The other axes may have strides, which are done.
            group.axes = group.axes.map(|axis| Axis::plain(axis.outputs));
            group.axes[2] = rest;
        }
    }

    /// Whether blocks can be read along an inner axis.
    pub(super) fn in_blocks(&self, inner: u64) -> bool {
        inner > 1 && inner.is_multiple_of(self.block)
    }

    /// Whether an invocation should compute a run of windows along an axis: the
    /// groups of them, from one window of a run to the next, and the same in taps.
    pub(super) fn runs(&self, group: &Group) -> Option<(u32, u32, u32)> {
        let axis = &group.axes[2];
        let alone = group.axes[..2].iter().all(|a| a.taps == 1);
        let run = u64::from(RUN);
        let common = gcd(axis.stride, axis.dilation);
        let (spacing, shift) = (axis.dilation / common, axis.stride / common);
        let even = axis.reach == (axis.taps - 1) * axis.dilation;
        let overlap = (run - 1) * shift < axis.taps;
        let work = axis.taps + 2 * (run - 1) * shift;
        // The last of them may be idle; not most.
        let filled = axis.outputs >= run * spacing;
        let groups = axis.outputs.div_ceil(run * spacing) * spacing;
        (alone
            && self.in_blocks(group.inner)
            && even
            && overlap
            && filled
            && work <= self.iterations)
            .then_some((groups as u32, spacing as u32, shift as u32))
    }
}
