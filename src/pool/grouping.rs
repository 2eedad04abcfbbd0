//! Which axes a launch takes together, and how long windows are computed from shorter ones.

use bytemuck::Zeroable;

use super::axes::Axis;
use super::groups::Group;
use super::launch::Planner;
use super::params::Params;
use super::sliding::Sliding;
use super::tile::Tile;

impl Planner<'_> {
    /// The launches over neighbouring axes, the first of which is the outermost.
    pub(super) fn groups(&self, mut axes: Vec<Axis>) -> Vec<Group> {
        let mut groups = Vec::new();
        if axes.iter().all(Axis::is_plain) {
            // Each element is its own window, so its place does not matter.
            let all: u64 = axes.iter().map(|a| a.size).product();
            let block = self.builder.block();
            let inner = if all.is_multiple_of(block) { block } else { 1 };
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
        let blocks = inner.is_multiple_of(self.builder.block());
        if axis.stride == 1 && axis.drift.is_none() && !blocks && axis.fits_flat(inner) {
            let mut flat = group.clone();
            flat.axes[2] = axis.flat(inner);
            flat.inner = 1;
            let cost = |tile: Tile| tile.cost(&self.builder);
            let keeps = |tile: Tile| {
                !tile.one_by_one || self.tile(&flat).is_none_or(|flat| cost(flat) >= cost(tile))
            };
            if self.slides(&flat) || !self.tile(&group).is_some_and(keeps) {
                return flat;
            }
        }
        group
    }

    /// The next axes that are taken together: as many with windows as possible; among equally many,
    /// those that leave the fewest elements.
    fn next(&self, axes: &[Axis]) -> (usize, usize) {
        let ends = (0..axes.len()).flat_map(|i| (i..axes.len().min(i + 3)).map(move |j| (i, j)));
        let ends = ends.filter(|&(first, last)| {
            !axes[first].is_plain() && !axes[last].is_plain() && self.together(axes, first, last)
        });
        let left = |&(first, last): &(usize, usize)| {
            let taken = axes[first..=last].iter();
            let left: f64 = taken.clone().map(|a| a.outputs as f64 / a.size as f64).product();
            (taken.filter(|a| !a.is_plain()).count(), left)
        };
        let ends = ends.max_by(|a, b| {
            let (a, b) = (left(a), left(b));
            a.0.cmp(&b.0).then(b.1.total_cmp(&a.1))
        });
        // All axes are plain.
        ends.unwrap_or((0, 0))
    }

    /// Whether one launch may take these axes together.
    fn together(&self, axes: &[Axis], first: usize, last: usize) -> bool {
        let group = self.group(axes, first, last);
        if first == last || self.slides(&group) {
            return true;
        }
        let max_taps = self.taps_at_once(&group, self.tuning.max_fused_taps);
        let inner = axes[last + 1..].iter().map(|a| a.size).product();
        // Without tiles a window that slides along the last axis alone is faster than a loop over all taps.
        let alone = self.tuning.max_tile_taps == 0 && self.slides(&self.group(axes, last, last));
        !alone
            && (group.taps().is_some_and(|taps| taps <= max_taps)
                || self.together_on_cpu(&axes[first..=last], inner))
    }

    /// Maximum taps of a window in one launch of a group: any number if it slides or has tiles, or
    /// else `untiled`, which are read one by one.
    fn taps_at_once(&self, group: &Group, untiled: u64) -> u64 {
        if self.slides(group) || self.tile(group).is_some() {
            return u64::MAX;
        }
        untiled.min(self.builder.max_iterations())
    }

    /// Whether the windows of a group slide.
    fn slides(&self, group: &Group) -> bool {
        let sliding = self.tuning.sliding.filter(|_| !self.indices);
        let launch = |s: Sliding| s.launch(&self.builder, group, &Params::zeroed(), None);
        sliding.and_then(launch).is_some()
    }

    /// Whether the CPU kernel computes the windows of two axes together.
    fn together_on_cpu(&self, taken: &[Axis], inner: u64) -> bool {
        let (Some(cpu), [first, last]) = (self.tuning.cpu, taken) else { return false };
        let shared = |axis: &Axis| !axis.drift.is_none();
        let bounded = |axis: &Axis| (axis.is_even() || shared(axis)) && axis.reach <= 4 * axis.size;
        let row = last.size.saturating_mul(inner).saturating_mul(self.builder.item());
        // Windows that split an axis evenly hardly overlap.
        let few = first.taps <= cpu.few_rows || shared(first);
        let tripled = first.taps > first.stride.saturating_mul(u64::from(first.taps.ilog2() + 2));
        bounded(first)
            && bounded(last)
            && (few || tripled)
            && (first.reach + 1).saturating_mul(row) <= cpu.max_bytes
    }

    /// A group as one launch, or as several if the window along its only axis is long.
    fn stages(&self, mut group: Group, groups: &mut Vec<Group>) {
        let alone = group.axes[..2].iter().all(|a| a.taps == 1);
        loop {
            let axis = group.axes[2];
            let index_taps = if self.indices { self.tuning.max_index_taps } else { u64::MAX };
            let max_taps = self.tuning.max_taps.max(2).min(index_taps);
            let max_taps = self.taps_at_once(&group, max_taps);
            // If the dilation exceeds the axis's size, a window has at most one element.
            if !alone || axis.taps <= max_taps || axis.dilation > axis.size {
                groups.push(group);
                return;
            }
            // The fewest stages, with about equally many taps each.
            let enough = |taps: u64, stages: u32| taps.saturating_pow(stages) >= axis.taps;
            let stages = (1..64).find(|&stages| enough(max_taps, stages)).unwrap_or(64);
            let taps = (2..max_taps).find(|&taps| enough(taps, stages)).unwrap_or(max_taps);
            if self.is_cheaper_at_once(&axis, taps, stages) {
                groups.push(group);
                return;
            }
            let (part, rest) = axis.composed(taps);
            let mut made = group.clone();
            made.axes[2] = part;
            groups.push(made);
            // The other axes may have strides, which the first stage has applied.
            group.axes = group.axes.map(|axis| Axis::plain(axis.outputs));
            group.axes[2] = rest;
        }
    }

    /// Whether windows hardly overlap, so that stages of `taps` taps cost more than reading all
    /// taps.
    fn is_cheaper_at_once(&self, axis: &Axis, taps: u64, stages: u32) -> bool {
        // Shorter windows are computed for every place, whether or not it is used.
        let each = taps + self.tuning.launch_cost;
        let staged = axis.size * each * u64::from(stages - 1) + axis.outputs * each;
        let loop_cost = if self.indices { 1 } else { self.tuning.loop_cost };
        let max_taps = self.tuning.max_apart_taps.min(self.builder.max_iterations());
        axis.taps <= max_taps && axis.outputs * axis.taps * loop_cost <= staged
    }

    /// The tiles of a group in workgroup memory, if its kernel uses tiles.
    pub(super) fn tile(&self, group: &Group) -> Option<Tile> {
        // Windows that split axes evenly hardly overlap. There are few of them for each element, so
        // they may have twice the taps.
        let factor = if group.shares_out() { 2 } else { 1 };
        let (taps, max_taps) = (group.taps()?, factor * self.tuning.max_tile_taps);
        // Longer windows may double, unless a group is cut: pieces may have tiles that read each tap.
        let capacity = self.builder.capacity(self.builder.item());
        let may_double = !self.indices && group.elements().max(group.results()) <= capacity;
        // Windows of one element share nothing.
        if taps < 2 || max_taps == 0 || taps > max_taps && !may_double {
            return None;
        }
        let tile = Tile::new(&self.builder, group, self.indices)?;
        (taps <= max_taps || tile.is_doubled()).then_some(tile)
    }
}
