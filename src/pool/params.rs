//! The parameters of the kernels.

use super::axes::{self, POSITION, positions};
use super::drift::{Drift, scaled};
use super::groups::Group;
use crate::base::error::Result;
use crate::plan::{Placement, divisor};
use crate::tensor::key::{Key, Ranking};
use crate::wgsl::params;

params! {
    /// An axis of the source, and the windows along it.
    pub(crate) struct Axis {
        /// Elements along the axis.
        pub size: u32,
        /// Windows along the axis.
        pub outputs: u32,
        /// Elements of a window.
        pub taps: u32,
        /// The distance from one window to the next.
        pub stride: u32,
        /// The distance from one tap to the next, and from the first tap of a window to the last one,
        /// which is at most `(taps - 1) * dilation`.
        pub dilation: u32,
        pub reach: u32,
        /// The start of the first window; before the first element if there is padding.
        pub start: i32,
        /// The distance from one element of the axis to the next, in elements of the source.
        pub pitch: u32,
        /// If windows split the axis evenly, else 0: the fraction of an element by which the distance
        /// of two windows exceeds a stride, in units of 2^-64. Then the number of the first window, and
        /// how many windows the whole axis has.
        pub ratio_low: u32,
        pub ratio_high: u32,
        pub first_window: u32,
        pub all_windows: u32,
    }

    /// The layout of elements and windows.
    pub(crate) struct Windows {
        /// The offset of the first element of the source.
        pub base: u32,
        /// The distance from one element of the outer axis to the next.
        pub outer_pitch: u32,
        /// Elements of the inner axis.
        pub inner: u32,
        /// Results.
        pub outputs: u32,
        pub axes: [Axis; 3],
        /// Divisors (see common/divide): the results of a line, the windows of axis 1 and of axis
        /// 0.
        pub by_line: [u32; 4],
        pub by_axis1: [u32; 4],
        pub by_axis0: [u32; 4],
    }

    /// The first parameters of all pools.
    pub(crate) struct Params: inline {
        pub ranking: Ranking,
        /// The key of a window without elements, and its high word in 64-bit types.
        pub empty_low: u32,
        pub empty_high: u32,
        /// The offset of the first result, in elements.
        pub result_base: u32,
        pub padding: [u32; 3],
        pub windows: Windows,
    }

    /// The parameters of kernels that gather the elements of each result.
    pub(super) struct Gather {
        /// 1 if windows are mostly in the padding, so that kernels read only the taps that may have
        /// an element; else 0.
        pub sparse: u32,
        pub padding: [u32; 3],
        /// Divisors: the inner axis, and the dilation of each axis.
        pub by_inner: [u32; 4],
        pub by_dilation: [[u32; 4]; 3],
    }

    pub(super) struct GatherParams {
        pub pool: Params,
        /// Used only with `indices`.
        pub numbering: Numbering,
        pub gather: Gather,
    }

    pub(super) struct BlockParams {
        pub pool: Params,
        /// The key of a window without elements, repeated to fill a block.
        pub empty_block: [u32; 4],
        /// Divisors: the blocks of a line of results, and of the inner axis.
        pub by_line_blocks: [u32; 4],
        pub by_blocks: [u32; 4],
    }

    /// The layout of tiles.
    pub(crate) struct Tiles {
        /// Windows of a tile along each axis, and the words of results that those of axis 2 fill; with
        /// `one_by_one` their results instead of words.
        pub windows: [u32; 4],
        /// Elements that a tile covers along each axis, and the blocks that may hold those along
        /// axis 2.
        pub cover: [u32; 4],
        /// Divisors: the tiles of axis 2, 1 and 0. Then small ones: the blocks of a row and the rows
        /// of axis 1 that a tile covers; the words of a row of results and the rows of axis 1 of its
        /// results.
        pub by_tiles2: [u32; 4],
        pub by_tiles1: [u32; 4],
        pub by_tiles0: [u32; 4],
        pub by_blocks: [u32; 4],
        pub by_cover1: [u32; 4],
        pub by_words: [u32; 4],
        pub by_windows1: [u32; 4],
    }

    /// How keys become the maxima of windows whose length is a power of two.
    pub(crate) struct Doubling {
        /// How often the length doubles along each axis.
        pub passes: [u32; 4],
        /// The distance from a key to the next one of a window along each axis, in keys of the tile.
        pub steps: [u32; 4],
        /// The distance from the first such maximum of a window to the last one, in keys.
        pub last: [u32; 4],
    }

    pub(super) struct TileParams {
        pub pool: Params,
        /// Used only with `indices`.
        pub numbering: Numbering,
        pub tiles: Tiles,
        /// Used only with `doubled`.
        pub doubling: Doubling,
        /// Used only with `one_by_one`, and elements of 8 or 16 bits.
        pub gather: Gather,
    }

    /// A level of a pyramid.
    pub(super) struct Level {
        /// Rows and columns of a plane of its maxima.
        pub rows: u32,
        pub columns: u32,
        /// Elements of a window along both axes, and the distances from one window to the next.
        pub taps0: u32,
        pub taps1: u32,
        pub stride0: u32,
        pub stride1: u32,
        /// The part that a workgroup owns and stores.
        pub own_rows: u32,
        pub own_columns: u32,
        /// The offset of its first key in workgroup memory, and the rows that are computed at once.
        pub first: u32,
        pub made_rows: u32,
        /// The number of its result, the offset of the first maximum, and the distances from one plane
        /// and one row to the next.
        pub result: u32,
        pub result_base: u32,
        pub plane_pitch: u32,
        pub row_pitch: u32,
        pub padding: [u32; 2],
        /// Small divisors: columns that a workgroup computes, and words of a row that it owns.
        pub by_columns: [u32; 4],
        pub by_words: [u32; 4],
    }

    pub(super) struct PyramidParams {
        pub pool: Params,
        pub tiles: Tiles,
        /// The number of levels, and how often rows for level 1 are loaded.
        pub levels: u32,
        pub strips: u32,
        pub unused: [u32; 2],
        pub level: [Level; 6],
    }

    /// How indices count.
    pub(crate) struct Numbering {
        /// Words of an index, and where the first index is stored, in indices.
        pub index_words: u32,
        pub index_base: u32,
        /// The first plane's first element: its position in the source, and its index.
        pub plane_base: u32,
        pub offset_low: u32,
        pub offset_high: u32,
        /// The period of indices; 0 if they do not begin anew.
        pub modulus_low: u32,
        pub modulus_high: u32,
        /// The position of a window without elements is the first element of its plane and channel:
        /// `plane_outputs` results are a plane, which begins `plane_pitch` elements after the one
        /// before, and `channels` are interleaved. The first result has the channel
        /// `first_channel`.
        pub plane_outputs: u32,
        pub plane_pitch: u32,
        pub channels: u32,
        pub first_channel: u32,
        /// Column-major order: how many spatial axes there are, else 0; and their sizes.
        pub columns: u32,
        pub sizes: [[u32; 4]; 2],
        /// Divisors: the results of a plane, the channels and the modulus.
        pub by_plane: [u32; 4],
        pub by_channels: [u32; 4],
        pub by_modulus: [u32; 4],
    }
}

impl Axis {
    /// An axis without windows.
    pub(crate) const NONE: Self = Self {
        size: 1,
        outputs: 1,
        taps: 1,
        stride: 1,
        dilation: 1,
        reach: 0,
        start: 0,
        pitch: 0,
        ratio_low: 0,
        ratio_high: 0,
        first_window: 0,
        all_windows: 1,
    };

    /// The axis as kernels know it.
    ///
    /// # Errors
    /// [`Error::OverLimit`](crate::Error::OverLimit) for positions that do not fit 32 bits.
    pub(crate) fn new(axis: &axes::Axis, pitch: u64) -> Result<Self> {
        let [_, last] = axis.ends(axis.outputs - 1);
        // Kernels subtract the start of a window from the last place of the axis.
        let farthest = axis.size as i64 - 1 - axis.start;
        let needed = last.max(farthest).max((axis.taps * axis.dilation) as i64);
        if needed > i64::from(i32::MAX) {
            return Err(positions(POSITION, needed as u64));
        }
        let (drift, ratio) = (axis.drift, axis.drift.ratio());
        Ok(Self {
            size: axis.size as u32,
            outputs: axis.outputs as u32,
            taps: axis.taps as u32,
            stride: axis.stride as u32,
            dilation: axis.dilation as u32,
            reach: axis.reach as u32,
            start: axis.start as i32,
            pitch: pitch as u32,
            ratio_low: ratio as u32,
            ratio_high: (ratio >> 32) as u32,
            first_window: drift.first as u32,
            all_windows: drift.windows as u32,
        })
    }

    fn ratio(&self) -> u64 {
        u64::from(self.ratio_high) << 32 | u64::from(self.ratio_low)
    }

    /// The drift of windows that split the axis evenly.
    pub(crate) fn drift(&self) -> Drift {
        Drift::of_ratio(self.ratio(), self.all_windows.into(), self.first_window.into())
    }

    /// Whether windows split the axis evenly.
    pub(crate) fn is_shared_out(&self) -> bool {
        self.ratio() > 0
    }

    /// The place of the first tap of a window.
    pub(super) fn first(&self, window: usize) -> i64 {
        let shift = scaled(u64::from(self.first_window) + window as u64, self.ratio());
        window as i64 * i64::from(self.stride) + i64::from(self.start) + shift as i64
    }

    /// The distance from the first tap of a window to its last one.
    pub(super) fn reach(&self, window: usize) -> u32 {
        if !self.is_shared_out() {
            return self.reach;
        }
        let window = u64::from(self.first_window) + window as u64;
        let extra = scaled(window + 1, self.ratio() - 1) - scaled(window, self.ratio());
        (self.reach + extra as u32).min((self.taps - 1) * self.dilation)
    }

    /// Whether every tap but the first is `dilation` from the one before.
    pub(super) fn is_even(&self) -> bool {
        !self.is_shared_out() && self.reach == (self.taps - 1) * self.dilation
    }

    /// The places of a window's taps that hold an element, in order.
    #[inline(always)]
    pub(super) fn places(&self, window: usize) -> impl Iterator<Item = usize> + use<> {
        let (size, dilation) = (i64::from(self.size), i64::from(self.dilation));
        let (first, reach) = (self.first(window), self.reach(window));
        let taps = i64::from(self.taps);
        let inside = first >= 0 && first + i64::from(reach) < size;
        // Only taps `from..to` and the last one can be inside: few, if a very long window has wide
        // padding.
        let from = if first < 0 { (-first).div_euclid(dilation).min(taps - 1) } else { 0 };
        let to = match () {
            () if inside => taps,
            () if first < size => ((size - 1 - first) / dilation + 2).min(taps),
            () => 0,
        };
        let last = if to < taps { taps - 1..taps } else { 0..0 };
        (from..to)
            .chain(last)
            .map(move |j| first + (j * dilation).min(reach.into()))
            .filter(move |&place| (0..size).contains(&place))
            .map(|place| place as usize)
    }
}

impl Group {
    /// The axes as kernels know them.
    ///
    /// # Errors
    /// [`Error::OverLimit`](crate::Error::OverLimit) for positions that do not fit 32 bits.
    pub(crate) fn axis_params(&self) -> Result<[Axis; 3]> {
        let mut axes = [Axis::NONE; 3];
        let mut pitch = self.inner;
        for (params, axis) in axes.iter_mut().zip(&self.axes).rev() {
            *params = Axis::new(axis, pitch)?;
            pitch *= axis.size;
        }
        Ok(axes)
    }
}

impl Gather {
    pub fn new(group: &Group) -> Self {
        Self {
            sparse: group.is_sparse().into(),
            padding: [0; 3],
            by_inner: divisor(group.inner),
            by_dilation: group.axes.map(|axis| divisor(axis.dilation)),
        }
    }
}

impl Windows {
    /// The windows of a group, `results` of them, whose source begins at `base`.
    ///
    /// # Errors
    /// [`Error::OverLimit`](crate::Error::OverLimit) for positions that do not fit 32 bits.
    pub(crate) fn new(group: &Group, results: u64, base: u32) -> Result<Self> {
        let axes = group.axis_params()?;
        Ok(Self {
            base,
            outer_pitch: group.unit_elements() as u32,
            inner: group.inner as u32,
            outputs: results as u32,
            by_line: divisor(group.line_results()),
            by_axis1: divisor(axes[1].outputs.into()),
            by_axis0: divisor(axes[0].outputs.into()),
            axes,
        })
    }

    /// The windows over the elements of a view, if each axis has a pitch and lines have no gaps.
    pub(super) fn placed(&self, view: &Placement) -> Option<Self> {
        let [a, b, c] = self.axes.map(|axis| axis.size as usize);
        let line = c * self.inner as usize;
        let outer = view.len().checked_div(a * b * line)?;
        let (base, pitches) = view.pitches(&[outer, a, b, line])?;
        let (&[outer_pitch, first, second, 1], 0) = (&pitches[..], self.base) else { return None };
        let word = |pitch: usize| u32::try_from(pitch).ok();
        let mut axes = self.axes;
        (axes[0].pitch, axes[1].pitch) = (word(first)?, word(second)?);
        Some(Self { base: word(base)?, outer_pitch: word(outer_pitch)?, axes, ..*self })
    }

    /// How many elements all windows read, to decide whether threads are worth it.
    pub(super) fn work(&self) -> usize {
        self.outputs as usize * self.taps()
    }

    /// Elements of a window.
    pub(super) fn taps(&self) -> usize {
        self.axes.iter().map(|axis| axis.taps as usize).product()
    }

    /// Results of a line.
    pub(super) fn line(&self) -> usize {
        self.axes[2].outputs as usize * self.inner as usize
    }
}

/// The result of a level that is not stored.
pub(super) const NO_RESULT: u32 = u32::MAX;

impl PyramidParams {
    pub const MAX_LEVELS: usize = 6;
}

impl Level {
    /// The windows of this level, over the `elements` of the one above.
    pub fn windows(&self, above: &Self, elements: u32) -> Windows {
        let axis = |size, outputs, taps, stride, pitch| {
            let (dilation, reach, start) = (1, taps - 1, 0);
            Axis { size, outputs, taps, stride, dilation, reach, start, pitch, ..Axis::NONE }
        };
        let plane = above.rows * above.columns;
        let (outputs, by) = (elements / plane * self.rows * self.columns, [0; 4]);
        let rows = axis(above.rows, self.rows, self.taps0, self.stride0, above.columns);
        let columns = axis(above.columns, self.columns, self.taps1, self.stride1, 1);
        let axes = [Axis { pitch: plane, ..Axis::NONE }, rows, columns];
        let (base, outer_pitch, inner) = (0, plane, 1);
        Windows { base, outer_pitch, inner, outputs, axes, by_line: by, by_axis1: by, by_axis0: by }
    }
}

impl Params {
    /// The key of a window without elements.
    pub(super) fn empty_key<K: Key>(&self) -> K {
        K::from_words(self.empty_low, self.empty_high)
    }
}

impl Numbering {
    /// Whether indices are distances in memory.
    pub(crate) fn are_distances(&self) -> bool {
        self.columns == 0 && self.modulus_low | self.modulus_high == 0
    }
}
