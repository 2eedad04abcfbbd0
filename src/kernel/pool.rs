//! The twins of the pooling shaders, `shaders/pool_*.wgsl`, which differ in how they read and not in
//! what they write: maxima, or positions (`shaders/index/`).

mod along;
mod ends;
mod lines;
mod rows;

use std::marker::PhantomData;

use bytemuck::{Pod, Zeroable};

use super::Elements;
use crate::tensor::key::{Key, Keyed};
use ends::{Earlier, Indices, Maxima, Places, Positions, Sink};

/// As the `Axis` of `shaders/pool.wgsl`, field for field.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Axis {
    pub size: u32,
    pub outputs: u32,
    pub taps: u32,
    pub stride: u32,
    pub dilation: u32,
    pub reach: u32,
    pub start: i32,
    pub pitch: u32,
}

/// As the `Params` of `shaders/pool.wgsl`, field for field.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Params {
    pub base: u32,
    pub outer_pitch: u32,
    pub inner: u32,
    pub outputs: u32,
    pub result_base: u32,
    pub nan_key: u32,
    pub empty_low: u32,
    pub empty_high: u32,
    pub axes: [Axis; 3],
    pub runs: u32,
    pub spacing: u32,
    pub shift: u32,
    pub index_words: u32,
    pub plane_base: u32,
    pub offset_low: u32,
    pub offset_high: u32,
    pub modulus_low: u32,
    pub modulus_high: u32,
    pub index_base: u32,
    pub plane_outputs: u32,
    pub plane_pitch: u32,
    pub channels: u32,
    pub columns: u32,
    pub lines: u32,
    pub first_channel: u32,
    pub sizes: [[u32; 4]; 2],
    pub by_line: [u32; 4],
    pub by_axis1: [u32; 4],
    pub by_axis0: [u32; 4],
    pub by_inner: [u32; 4],
    pub by_runs: [u32; 4],
    pub by_blocks: [u32; 4],
    pub by_spacing: [u32; 4],
    pub by_plane: [u32; 4],
    pub by_channels: [u32; 4],
    pub by_modulus: [u32; 4],
    pub by_dilation: [[u32; 4]; 3],
}

impl Axis {
    /// An axis that nothing is done along.
    pub(crate) const NONE: Self =
        Self { size: 1, outputs: 1, taps: 1, stride: 1, dilation: 1, reach: 0, start: 0, pitch: 0 };

    /// Where a window begins.
    fn first(&self, window: usize) -> i64 {
        window as i64 * i64::from(self.stride) + i64::from(self.start)
    }

    /// The places of a window's taps that hold an element, in order.
    #[inline(always)]
    fn places(&self, first: i64) -> impl Iterator<Item = usize> + use<> {
        let (size, dilation, reach) = (i64::from(self.size), i64::from(self.dilation), self.reach);
        let taps = i64::from(self.taps);
        let inside = first >= 0 && first + i64::from(reach) < size;
        // Only these can lie inside: of very long windows with wide padding, few do.
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

impl Params {
    /// The key of a window without elements.
    fn empty_key<K: Key>(&self) -> K {
        K::from_words(self.empty_low, self.empty_high)
    }
}

/// Windows that an invocation of `shaders/pool_runs.wgsl` computes; its text is written for as many.
pub(crate) const RUN: u32 = 8;

/// The maxima of windows.
pub(crate) fn twin<T: Keyed>(p: &Params, source: &[T::Bits], result: &mut [T::Bits]) {
    let read = Elements::<T> { nan: T::Key::nan(p.nan_key) };
    let out = &mut result[p.result_base as usize..][..p.outputs as usize];
    lines::twin(p, read, source, Maxima { out, write: read, empty: p.empty_key() });
}

/// The first positions of the maxima, for a later launch.
pub(crate) fn positions<T: Keyed>(
    p: &Params,
    source: &[T::Bits],
    earlier: Option<&[u32]>,
    result: &mut [u32],
) {
    let out = &mut result[p.result_base as usize..][..p.outputs as usize];
    find::<T, _>(p, source, earlier, Places::<T::Key>(out, PhantomData));
}

/// The elements found and their indices, of one or two words each.
pub(crate) fn finish<T: Keyed>(
    p: &Params,
    source: &[T::Bits],
    earlier: Option<&[u32]>,
    values: &mut [T::Bits],
    indices: &mut [u32],
) {
    let (outputs, words) = (p.outputs as usize, p.index_words as usize);
    let values = &mut values[p.result_base as usize..][..outputs];
    let indices = &mut indices[p.index_base as usize * words..][..outputs * words];
    let nan = T::Key::nan(p.nan_key);
    find::<T, _>(p, source, earlier, Indices::<T> { p, source, nan, first: 0, values, indices });
}

fn find<T: Keyed, S: Sink<Lane = <T::Key as Key>::Found>>(
    p: &Params,
    source: &[T::Bits],
    earlier: Option<&[u32]>,
    sink: S,
) {
    let elements = Elements::<T> { nan: T::Key::nan(p.nan_key) };
    match earlier {
        None => lines::twin(p, Positions(elements), source, sink),
        Some(positions) => lines::twin(p, Earlier(elements, source), positions, sink),
    }
}
