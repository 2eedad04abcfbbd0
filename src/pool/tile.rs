//! Boxes of windows that a workgroup computes from elements in its own memory.

use bytemuck::Zeroable;

use super::axes::Axis;
use super::drift::Drift;
use super::groups::Group;
use super::params::{Doubling, Tiles};
use crate::plan::{Builder, SMALL, divisor, small_divisor};
use crate::tensor::ElementType;

/// Bytes of keys that a workgroup holds. All devices allow it.
const BYTES: u64 = 4032 * 4;
/// The cost of reading a tap, and of joining a key with another one when windows double: about the
/// number of accesses of workgroup memory (one and three), plus half that of other operations.
const TAP: u64 = 2;
const PASS: u64 = 5;
/// The cost of taking one axis after the other, in taps for each result: the maxima along one axis are
/// written to memory and read again. By data sheets, 8 bytes of memory take as long as 12 (H200) to 80
/// (RTX 4090) accesses of workgroup memory.
const LAUNCH: u64 = 32;
/// The fewest invocations of a workgroup whose windows double: each keeps its share of the keys in
/// registers meanwhile.
const MIN_WORKGROUP: u64 = 128;

/// A box of windows: along each axis the windows, and the elements that they cover.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    /// The group without an inner axis.
    pub group: Group,
    /// Whether results are found one by one: words of results are not parts of lines, or windows
    /// split an axis evenly. Then the results of a tile are neighbours.
    pub one_by_one: bool,
    /// How often windows double along each axis, if they do.
    doublings: Option<[u32; 3]>,
    windows: [u64; 3],
    cover: [u64; 3],
}

impl Tile {
    /// How many keys a workgroup holds.
    pub(super) const fn keys(element: ElementType) -> u64 {
        BYTES / if element.size() > 4 { 8 } else { 4 }
    }

    /// The tiles of least cost for the windows of a group, if it can have tiles.
    ///
    /// Small elements share words, so a tile has whole words of results, unless words span lines. Then
    /// a tile must load fewer bytes than windows that load their elements one by one.
    pub fn new(builder: &Builder<'_>, group: &Group, indices: bool) -> Option<Self> {
        let group = group.flat()?;
        let per_store = builder.per_word();
        let outputs = group.axes.map(|axis| axis.outputs);
        if !group.axes.iter().all(|axis| !axis.drift.is_none() || axis.has_all()) {
            return None;
        }
        // All windows along axis 2, or a half, a quarter and so on, down to a few sectors.
        let along2 = (0..32).map(|n| outputs[2] >> n).take_while(|&n| n >= outputs[2].min(16));
        let one_by_one = group.shares_out() || !outputs[2].is_multiple_of(per_store);
        let along2 = along2.map(|n| if one_by_one { n } else { n.next_multiple_of(per_store) });
        let tiles = along2.flat_map(|n2| Self::with_rows(builder, &group, one_by_one, n2));
        let tiles = tiles.map(|tile| Self { doublings: tile.doublings(builder, indices), ..tile });
        // The elements of a tile do not bound the number of windows that have none of their own.
        let tiles = tiles.filter(|tile| tile.windows.iter().product::<u64>() <= SMALL);
        let tiles = tiles.filter(|tile| tile.iterations(builder) <= builder.max_iterations());
        let cost = |tile: &Self| tile.cost(builder);
        let apart = group.taps()? as f64 * builder.item().max(4) as f64;
        let tiles = tiles.filter(|tile| !one_by_one || cost(tile) < apart);
        tiles.min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    /// Tiles for a number of windows along axis 2: with as many along axis 1 as fit, half as
    /// many, and so on; each with as many along axis 0 as then fit.
    fn with_rows(
        builder: &Builder<'_>,
        group: &Group,
        one_by_one: bool,
        windows2: u64,
    ) -> impl Iterator<Item = Self> {
        let axes = group.axes;
        let keys = Self::keys(builder.element);
        let cover2 = covered(&axes[2], windows2);
        let rows = keys.checked_div(cover2).unwrap_or(0);
        let max_windows1 = max_windows(&axes[1], rows / covered(&axes[0], 1));
        let along1 = (0..).map_while(move |n| Some(max_windows1? >> n).filter(|&n| n > 0)).take(32);
        along1.filter_map(move |windows1| {
            let windows1 = balanced(&axes[1], windows1);
            let cover1 = covered(&axes[1], windows1);
            let mut windows0 = balanced(&axes[0], max_windows(&axes[0], rows / cover1)?);
            if one_by_one {
                // Neighbouring results: whole planes, lines of one plane, or a part of a line.
                let is_whole = [windows1, windows2] == [axes[1].outputs, axes[2].outputs];
                windows0 = if is_whole { windows0 } else { 1 };
                if windows1 > 1 && windows2 < axes[2].outputs {
                    return None;
                }
            }
            let windows = [windows0, windows1, windows2];
            let cover = [covered(&axes[0], windows0), cover1, cover2];
            Some(Self { group: group.clone(), one_by_one, doublings: None, windows, cover })
        })
    }

    /// Iterations of an invocation.
    fn iterations(&self, builder: &Builder<'_>) -> u64 {
        let each = |all: u64| all.div_ceil(builder.workgroup());
        let (passes, taps) = match self.doublings {
            Some(passes) => (passes.iter().sum::<u32>().into(), self.parts()),
            None => (0, self.group.axes.iter().map(|axis| axis.taps).product()),
        };
        let words = self.windows.iter().product::<u64>().div_ceil(builder.per_word());
        // An invocation gathers an output vector that tiles share.
        let shares = self.one_by_one && builder.per_word() > 1;
        let gathered = if shares { builder.vector() } else { 0 };
        // Each pass has two loops over all keys that a workgroup can hold.
        let joined = 2 * passes * each(Self::keys(builder.element));
        let found = (each(words) * builder.per_word() + gathered) * taps;
        each(self.cover.iter().product()) + joined + found
    }

    /// How often windows double along each axis, if that costs clearly less than reading each tap, and
    /// than taking one axis after the other. Keys are replaced by the maxima of windows of 2, 4, 8, ...
    /// elements; two of the last ones along each axis are joined.
    fn doublings(&self, builder: &Builder<'_>, indices: bool) -> Option<[u32; 3]> {
        let axes = &self.group.axes;
        let alone = indices || self.one_by_one || builder.workgroup() < MIN_WORKGROUP;
        if alone || !axes.iter().all(Axis::is_even) {
            return None;
        }
        let passes = axes.map(|axis| axis.taps.ilog2());
        let [keys, results] = [self.cover, self.windows].map(|of| of.iter().product::<u64>());
        let joins: u64 = passes.iter().sum::<u32>().into();
        let doubled = keys * PASS * joins + results * TAP * self.parts();
        let apart = axes.iter().map(|axis| axis.taps).sum::<u64>() + LAUNCH;
        let each = results * TAP * self.group.taps()?.min(apart);
        (5 * doubled < 4 * each).then_some(passes)
    }

    /// Whether windows double.
    pub fn is_doubled(&self) -> bool {
        self.doublings.is_some()
    }

    /// How many maxima are joined for a window, if windows double.
    fn parts(&self) -> u64 {
        1 << self.group.axes.iter().filter(|axis| axis.taps > 1).count()
    }

    /// The elements of an axis that a tile covers at most.
    fn within(&self, axis: usize) -> u64 {
        self.cover[axis].min(self.group.axes[axis].size)
    }

    /// The parameters by which windows double.
    pub fn doubling(&self) -> Doubling {
        let Some(passes) = self.doublings else { return Doubling::zeroed() };
        let pitches = [self.cover[1] * self.cover[2], self.cover[2], 1];
        let steps = [0, 1, 2].map(|i: usize| self.group.axes[i].dilation * pitches[i]);
        let last =
            [0, 1, 2].map(|i: usize| (self.group.axes[i].taps - (1 << passes[i])) * steps[i]);
        let four = |[a, b, c]: [u64; 3]| [a as u32, b as u32, c as u32, 0];
        Doubling { passes: four(passes.map(u64::from)), steps: four(steps), last: four(last) }
    }

    /// Bytes that are loaded for each result, plus the cost of a workgroup: a tenth more if its keys
    /// leave no space for another one.
    pub fn cost(&self, builder: &Builder<'_>) -> f64 {
        // Rows begin and end within sectors.
        let row = self.within(2) * builder.item() + 28;
        let results: u64 = self.windows.iter().product();
        let idle = builder.workgroup() as f64 * 2.0;
        let keys: u64 = self.cover.iter().product();
        let crowding = if keys * builder.item().max(4) > BYTES / 2 { 1.1 } else { 1.0 };
        ((self.within(0) * self.within(1) * row) as f64 + idle) * crowding / results as f64
    }

    /// The parameters of a launch, and its workgroups.
    pub fn params(&self, builder: &Builder<'_>) -> (Tiles, u64) {
        let Self { group: Group { outer, axes, .. }, windows, cover, .. } = *self;
        let tiles = [0, 1, 2].map(|i: usize| axes[i].outputs.div_ceil(windows[i]));
        let per_word = if self.one_by_one { 1 } else { builder.per_word() };
        let words = windows[2].div_ceil(per_word);
        let params = Tiles::new(builder, windows, cover, tiles, words);
        (params, outer * tiles.iter().product::<u64>())
    }
}

impl Tiles {
    /// The layout of tiles, from the windows of a tile along each axis, the elements that they
    /// cover, the words that they fill, and the number of tiles along each axis.
    pub(crate) fn new(
        builder: &Builder<'_>,
        windows: [u64; 3],
        cover: [u64; 3],
        tiles: [u64; 3],
        words: u64,
    ) -> Self {
        let blocks = (cover[2] + builder.block() - 2) / builder.block() + 1;
        let sizes = |[a, b, c]: [u64; 3], d: u64| [a, b, c, d].map(|size| size as u32);
        Self {
            windows: sizes(windows, words),
            cover: sizes(cover, blocks),
            by_tiles2: divisor(tiles[2]),
            by_tiles1: divisor(tiles[1]),
            by_tiles0: divisor(tiles[0]),
            by_blocks: small_divisor(blocks),
            by_cover1: small_divisor(cover[1]),
            by_words: small_divisor(words),
            by_windows1: small_divisor(windows[1]),
        }
    }
}

impl Group {
    /// The group without an inner axis, and without an outer one if an axis is free.
    pub(crate) fn flat(&self) -> Option<Self> {
        let mut flat = self.clone();
        if flat.inner > 1 {
            if flat.axes[0] != Axis::plain(1) {
                return None;
            }
            flat.axes = [flat.axes[1], flat.axes[2], Axis::plain(flat.inner)];
            flat.inner = 1;
        }
        if flat.axes[0] == Axis::plain(1) {
            flat.axes[0] = Axis::plain(flat.outer);
            flat.outer = 1;
        }
        Some(flat)
    }
}

/// The elements that neighbouring windows cover at most, gaps included.
pub(crate) fn covered(axis: &Axis, windows: u64) -> u64 {
    let last = (windows - 1) * axis.stride + axis.drift.max_shift(windows - 1);
    let covered = last + axis.max_reach() + 1;
    // Windows that split an axis evenly are all within it.
    if axis.drift.is_none() { covered } else { covered.min(axis.size) }
}

/// The largest number of windows of an axis that cover at most `elements` elements; `None` if not
/// even one does.
fn max_windows(axis: &Axis, elements: u64) -> Option<u64> {
    if elements >= covered(axis, axis.outputs) {
        return Some(axis.outputs);
    }
    let capacity = elements.checked_sub(axis.max_reach() + 1)?;
    let Drift { rest, windows, .. } = axis.drift;
    Some((capacity * windows / (axis.stride * windows + rest) + 1).min(axis.outputs))
}

/// The number of windows that divides an axis most evenly among its tiles, so that the last one is
/// not small.
fn balanced(axis: &Axis, windows: u64) -> u64 {
    axis.outputs.div_ceil(axis.outputs.div_ceil(windows))
}
