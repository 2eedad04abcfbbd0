//! The twin of `shaders/pool_gather.wgsl`, `shaders/pool_blocks.wgsl` and
//! `shaders/pool_runs.wgsl`, which differ in how they read and not in what they write.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::PARALLEL_FROM;
use crate::tensor::key::{Key, Keyed};

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
    pub(super) fn first(&self, window: usize) -> i64 {
        window as i64 * i64::from(self.stride) + i64::from(self.start)
    }

    /// The places of a window's taps that hold an element, in order.
    #[inline(always)]
    pub(super) fn places(&self, first: i64) -> impl Iterator<Item = usize> + use<> {
        let (size, dilation, reach) = (i64::from(self.size), i64::from(self.dilation), self.reach);
        let taps = i64::from(self.taps);
        // Only these can lie inside: of very long windows with wide padding, few do.
        let from = if first < 0 { (-first).div_euclid(dilation).min(taps - 1) } else { 0 };
        let to = if first < size { ((size - 1 - first) / dilation + 2).min(taps) } else { 0 };
        let last = if to < taps { taps - 1..taps } else { 0..0 };
        (from..to)
            .chain(last)
            .map(move |j| first + (j * dilation).min(reach.into()))
            .filter(move |&place| (0..size).contains(&place))
            .map(|place| place as usize)
    }
}

impl Params {
    /// The first elements of the rows of the last axis that a line's windows cover.
    fn rows(&self, line: usize, rows: &mut Vec<usize>) {
        let [a0, a1, _] = &self.axes;
        let rest = line / a1.outputs as usize;
        let (x1, x0) = (line % a1.outputs as usize, rest % a0.outputs as usize);
        let outer = rest / a0.outputs as usize;
        let origin = self.base as usize + outer * self.outer_pitch as usize;
        rows.clear();
        for y0 in a0.places(a0.first(x0)) {
            for y1 in a1.places(a1.first(x1)) {
                rows.push(origin + y0 * a0.pitch as usize + y1 * a1.pitch as usize);
            }
        }
    }

    /// The key of a window without elements.
    pub(super) fn empty_key<K: Key>(&self) -> K {
        K::from_words(self.empty_low, self.empty_high)
    }
}

/// Windows that an invocation of `shaders/pool_runs.wgsl` computes; its text is written for as many.
pub(crate) const RUN: u32 = 8;

/// Keys of a stretch of the source and the maxima made of them: they stay in the second cache.
const STRETCH: usize = 1 << 14;
/// Bytes of the inner axis that are worked on together: a stretch of them stays in the first cache.
const TILE: usize = 256;

/// What a thread keeps from one line to the next.
struct Work<K> {
    rows: Vec<usize>,
    keys: Vec<K>,
    next: Vec<K>,
}

/// Elements of a tile.
const fn tile<T: Keyed>() -> usize {
    TILE / size_of::<T::Bits>()
}

pub(crate) fn twin<T: Keyed>(p: &Params, source: &[T::Bits], result: &mut [T::Bits]) {
    let nan = T::Key::nan(p.nan_key);
    let (inner, windows) = (p.inner as usize, p.axes[2].outputs as usize);
    let line_length = windows * inner;
    let result = &mut result[p.result_base as usize..][..p.outputs as usize];
    let new_work = || Work { rows: Vec::new(), keys: Vec::new(), next: Vec::new() };

    let axis = &p.axes[2];
    let tile = inner.min(tile::<T>());
    let room = STRETCH.max(2 * (axis.reach as usize + 1) * tile) / tile;
    let stretch = ((room - axis.reach as usize - 1) / axis.stride as usize + 1).min(windows);
    let lines = |work: &mut Work<T::Key>, first: usize, part: &mut [T::Bits]| {
        crate::cpu::simd::dispatch(|| {
            for (i, line) in part.chunks_mut(line_length).enumerate() {
                p.rows(first + i, &mut work.rows);
                for (j, out) in line.chunks_mut(stretch * inner).enumerate() {
                    some_windows::<T>(p, source, nan, work, j * stretch, out);
                }
            }
        });
    };
    let cost = p.outputs as usize * p.axes.iter().map(|a| a.taps as usize).product::<usize>();
    if cost < PARALLEL_FROM {
        return lines(&mut new_work(), 0, result);
    }
    let threads = rayon::current_num_threads();
    if p.outputs as usize >= line_length * threads * 4 {
        let some = (PARALLEL_FROM / 4 / line_length).max(1);
        result
            .par_chunks_mut(line_length * some)
            .enumerate()
            .for_each_init(new_work, |work, (i, part)| lines(work, i * some, part));
    } else {
        let some = stretch.min(windows.div_ceil(threads * 4));
        for (line, out) in result.chunks_mut(line_length).enumerate() {
            out.par_chunks_mut(some * inner).enumerate().for_each_init(
                || {
                    let mut work = new_work();
                    p.rows(line, &mut work.rows);
                    work
                },
                |work, (j, out)| {
                    crate::cpu::simd::dispatch(|| {
                        some_windows::<T>(p, source, nan, work, j * some, out);
                    });
                },
            );
        }
    }
}

/// The results of neighbouring windows of a line, from window `first` on.
#[inline(always)]
fn some_windows<T: Keyed>(
    p: &Params,
    source: &[T::Bits],
    nan: T::Key,
    work: &mut Work<T::Key>,
    first: usize,
    out: &mut [T::Bits],
) {
    let (axis, inner) = (&p.axes[2], p.inner as usize);
    let empty = T::bits(p.empty_key());
    if work.rows.is_empty() {
        return out.fill(empty);
    }
    let (taps, stride) = (axis.taps as usize, axis.stride as usize);
    let regular = axis.reach == (axis.taps - 1) * axis.dilation;
    // Longer than the axis by far: mostly padding.
    let bounded = axis.reach as usize <= 4 * axis.size as usize + 64;
    // What a window costs when the windows of all places are made by doubling,
    // and when each tap is looked at; one column at a time is not vectorised.
    let all_places = stride * (work.rows.len() + taps.ilog2() as usize + 2);
    let each_tap = work.rows.len() * taps * if inner < 8 { 8 } else { 1 };
    let windows = out.len() / inner;
    for from in (0..inner).step_by(tile::<T>()) {
        let tile = from..inner.min(from + tile::<T>());
        if regular && bounded && all_places <= each_tap {
            by_doubling::<T>(p, source, nan, work, first, tile, out);
        } else {
            tap_by_tap::<T>(p, source, nan, work, first, tile, out);
        }
    }
    // Only windows that reach into the padding can be without elements.
    let (size, step) = (i64::from(axis.size), i64::from(axis.stride));
    let begin = axis.first(first);
    let within = (-begin).max(0).div_euclid(step) + i64::from(begin < 0);
    let behind = (size - i64::from(axis.reach) - begin).max(0) as u64;
    let behind = behind.div_ceil(step as u64) as i64;
    let count = windows as i64;
    let (within, behind) = (within.min(count), behind.clamp(within.min(count), count));
    for window in (0..within).chain(behind..count) {
        if axis.places(begin + window * step).next().is_none() {
            out[window as usize * inner..][..inner].fill(empty);
        }
    }
}

/// All windows from the first to the last, one element apart, in
/// log2(taps) steps over the whole stretch; of which every `stride`-th is wanted.
#[inline(always)]
fn by_doubling<T: Keyed>(
    p: &Params,
    source: &[T::Bits],
    nan: T::Key,
    work: &mut Work<T::Key>,
    first: usize,
    tile: std::ops::Range<usize>,
    out: &mut [T::Bits],
) {
    let (axis, inner) = (&p.axes[2], p.inner as usize);
    let (stride, width) = (axis.stride as usize, tile.len());
    let windows = out.len() / inner;
    let begin = axis.first(first);
    let span = (windows - 1) * stride + axis.reach as usize + 1;
    // The elements that there are.
    let from = begin.clamp(0, axis.size.into()) as usize;
    let to = (begin + span as i64).clamp(from as i64, axis.size.into()) as usize;
    let skipped = (from as i64 - begin) as usize;
    let Work { rows, keys, next } = work;
    keys.clear();
    keys.resize(span * width, T::Key::LOWEST);
    for &row in rows.iter() {
        if width == inner {
            let found = &source[row + from * inner..row + to * inner];
            for (k, &bits) in keys[skipped.min(span) * inner..].iter_mut().zip(found) {
                *k = T::key(bits, nan).max(*k);
            }
        } else {
            for place in from..to {
                let found = &source[row + place * inner..][tile.clone()];
                let at = (skipped + place - from) * width;
                for (k, &bits) in keys[at..at + width].iter_mut().zip(found) {
                    *k = T::key(bits, nan).max(*k);
                }
            }
        }
    }
    let taps = axis.taps as usize;
    let mut done = 1;
    while done < taps {
        let step = done.min(taps - done);
        let apart = step * axis.dilation as usize * width;
        let left = keys.len() - apart;
        next.resize(left, T::Key::LOWEST);
        for ((n, &a), &b) in next.iter_mut().zip(&keys[..left]).zip(&keys[apart..]) {
            *n = a.max(b);
        }
        std::mem::swap(keys, next);
        done += step;
    }
    match (width == inner, stride) {
        (true, 1) => out.iter_mut().zip(keys.iter()).for_each(|(o, &k)| *o = T::bits(k)),
        (true, 2) if inner == 1 => {
            // The last window may end the stretch.
            keys.push(T::Key::LOWEST);
            let pairs = keys.as_chunks::<2>().0;
            out.iter_mut().zip(pairs).for_each(|(o, k)| *o = T::bits(k[0]));
        }
        _ => {
            for (window, out) in out.chunks_mut(inner).enumerate() {
                let found = &keys[window * stride * width..][..width];
                out[tile.clone()].iter_mut().zip(found).for_each(|(o, &k)| *o = T::bits(k));
            }
        }
    }
}

/// Each window by itself.
#[inline(always)]
fn tap_by_tap<T: Keyed>(
    p: &Params,
    source: &[T::Bits],
    nan: T::Key,
    work: &Work<T::Key>,
    first: usize,
    tile: std::ops::Range<usize>,
    out: &mut [T::Bits],
) {
    let (axis, inner) = (&p.axes[2], p.inner as usize);
    let mut keys = [T::Key::LOWEST; TILE];
    let keys = &mut keys[..tile.len()];
    for (window, out) in out.chunks_mut(inner).enumerate() {
        keys.fill(T::Key::LOWEST);
        for &row in &work.rows {
            for place in axis.places(axis.first(first + window)) {
                let found = &source[row + place * inner..][tile.clone()];
                for (k, &bits) in keys.iter_mut().zip(found) {
                    *k = T::key(bits, nan).max(*k);
                }
            }
        }
        out[tile.clone()].iter_mut().zip(keys.iter()).for_each(|(o, &k)| *o = T::bits(k));
    }
}
