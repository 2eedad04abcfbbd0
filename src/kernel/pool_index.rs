//! The twin of `shaders/pool_gather.wgsl` where it looks for positions (`shaders/index/`).

use rayon::prelude::*;

use super::PARALLEL_FROM;
use super::pool::Params;
use crate::tensor::key::{Key, Keyed};

/// The position of nothing.
const NONE: u32 = u32::MAX;

/// Results that a thread takes at a time.
const SOME: usize = 4096;

/// Positions, for a later launch.
pub(crate) fn positions<T: Keyed>(
    p: &Params,
    source: &[T::Bits],
    earlier: Option<&[u32]>,
    result: &mut [u32],
) {
    let result = &mut result[p.result_base as usize..][..p.outputs as usize];
    let some = |i: usize, part: &mut [u32]| {
        for (j, out) in part.iter_mut().enumerate() {
            *out = find::<T>(p, source, earlier, i * SOME + j);
        }
    };
    if is_small(p) {
        result.chunks_mut(SOME).enumerate().for_each(|(i, part)| some(i, part));
    } else {
        result.par_chunks_mut(SOME).enumerate().for_each(|(i, part)| some(i, part));
    }
}

/// The elements found and their indices, of one or two words each.
pub(crate) fn finish<T: Keyed>(
    p: &Params,
    source: &[T::Bits],
    earlier: Option<&[u32]>,
    values: &mut [T::Bits],
    indices: &mut [u32],
) {
    let nan = T::Key::nan(p.nan_key);
    let words = p.index_words as usize;
    let values = &mut values[p.result_base as usize..][..p.outputs as usize];
    let indices = &mut indices[p.index_base as usize * words..][..p.outputs as usize * words];
    let some = |i: usize, values: &mut [T::Bits], indices: &mut [u32]| {
        for (j, (value, index)) in values.iter_mut().zip(indices.chunks_mut(words)).enumerate() {
            let number = i * SOME + j;
            let at = find::<T>(p, source, earlier, number);
            let (key, distance) = match at {
                NONE => {
                    let plane = number as u32 / p.plane_outputs;
                    let channel = (number as u32 + p.first_channel) % p.channels;
                    (p.empty_key(), plane * p.plane_pitch + channel)
                }
                // A piece of a plane begins behind the plane's first element.
                at => (T::key(source[at as usize], nan), at.wrapping_sub(p.plane_base)),
            };
            *value = T::bits(key);
            let found = index_of(p, distance);
            index[0] = found as u32;
            if let Some(high) = index.get_mut(1) {
                *high = (found >> 32) as u32;
            }
        }
    };
    if is_small(p) {
        let both = values.chunks_mut(SOME).zip(indices.chunks_mut(SOME * words));
        both.enumerate().for_each(|(i, (v, x))| some(i, v, x));
    } else {
        let both = values.par_chunks_mut(SOME).zip(indices.par_chunks_mut(SOME * words));
        both.enumerate().for_each(|(i, (v, x))| some(i, v, x));
    }
}

fn is_small(p: &Params) -> bool {
    let taps: usize = p.axes.iter().map(|a| a.taps as usize).product();
    p.outputs as usize * taps < PARALLEL_FROM
}

/// The first position of the largest element of a window.
fn find<T: Keyed>(p: &Params, source: &[T::Bits], earlier: Option<&[u32]>, number: usize) -> u32 {
    let nan = T::Key::nan(p.nan_key);
    let [a0, a1, a2] = &p.axes;
    let inner = p.inner as usize;
    let (place, rest) = (number / inner, number % inner);
    let (x2, place) = (place % a2.outputs as usize, place / a2.outputs as usize);
    let (x1, place) = (place % a1.outputs as usize, place / a1.outputs as usize);
    let (x0, outer) = (place % a0.outputs as usize, place / a0.outputs as usize);
    let origin = p.base as usize + outer * p.outer_pitch as usize + rest;
    let mut best = T::Key::LOWEST;
    let mut best_at = NONE;
    for y0 in a0.places(a0.first(x0)) {
        for y1 in a1.places(a1.first(x1)) {
            let line = origin + y0 * a0.pitch as usize + y1 * a1.pitch as usize;
            for y2 in a2.places(a2.first(x2)) {
                let at = line + y2 * a2.pitch as usize;
                let at = earlier.map_or(at as u32, |positions| positions[at]);
                if at == NONE {
                    continue;
                }
                let key = T::rank(T::key(source[at as usize], nan));
                if key > best || (key == best && at < best_at) {
                    (best, best_at) = (key, at);
                }
            }
        }
    }
    best_at
}

/// The index of the element at a distance from the first plane's first element.
fn index_of(p: &Params, distance: u32) -> u64 {
    let wide = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    let mut from_offset = distance;
    if p.columns > 0 {
        let mut rest = distance % p.plane_pitch;
        from_offset = distance - rest;
        let mut weight = p.plane_pitch;
        for &size in p.sizes.as_flattened()[..p.columns as usize].iter().rev() {
            weight /= size;
            from_offset += rest % size * weight;
            rest /= size;
        }
    }
    let index = wide(p.offset_low, p.offset_high) + u64::from(from_offset);
    match wide(p.modulus_low, p.modulus_high) {
        0 => index,
        modulus => index % modulus,
    }
}
