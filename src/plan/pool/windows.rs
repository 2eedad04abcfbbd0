//! Which axes a launch takes together: the one table of how pooling is tuned.

use super::axes::{Axis, Group};
use crate::kernel::pool::RUN;
use crate::plan::Limits;
use crate::plan::builder::gcd;
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
/// What a launch costs beyond its taps: to write a result and to read it again.
const BETWEEN: u64 = 3;

/// How much more a tap costs where they are looped over. On lavapipe 9 taps in a loop take 3 to 4 times as
/// long as at once.
const LOOP: u64 = 3;

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
