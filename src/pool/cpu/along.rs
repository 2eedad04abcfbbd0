//! Windows of keys: down rows of them, and along rows.

use super::runs::Block;
use crate::pool::params::Axis;
use crate::tensor::key::Lane;
use crate::vector::{self, Loop, vector};

/// Windows down an axis, over `count` rows of keys. Returns the buffer that has them, and the other
/// one.
pub(super) struct Down<'a, L> {
    pub axis: &'a Axis,
    pub count: usize,
    /// The distance from one row to the next.
    pub pitch: usize,
    pub keys: &'a mut [L],
    pub next: &'a mut [L],
}

impl<'a, L: Lane> Loop for Down<'a, L> {
    type Output = (&'a mut [L], &'a mut [L]);
    const VECTORS: bool = L::VECTORS;
    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { axis, count, pitch, keys, next } = self;
        let (taps, apart) = (axis.taps as usize, axis.dilation as usize * pitch);
        vector::windows(keys, next, count * pitch, taps, apart)
    }
}

/// Windows along the last axis, of `count` rows of keys of a block. Returns the windows of each row
/// after one another, and the distance from one row's to the next row's.
pub(super) struct Along<'a, L> {
    pub block: &'a Block<'a>,
    pub count: usize,
    /// Keys of a place, and the distance from one row to the next.
    pub width: usize,
    pub pitch: usize,
    pub keys: &'a mut [L],
    pub next: &'a mut [L],
}

impl<'a, L: Lane> Loop for Along<'a, L> {
    type Output = (&'a [L], usize);
    const VECTORS: bool = L::VECTORS;
    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { block, count, width, pitch, keys, next } = self;
        let (axis, windows) = (&block.w.axes[2], block.strip.windows);
        let (taps, stride) = (axis.taps as usize, axis.stride as usize);
        let total = count * pitch;
        if axis.is_shared_out() {
            each_of_its_own(block, width, pitch, count, keys, next);
            return (next, windows * width);
        }
        if stride == 1 {
            let (found, _) = everywhere(axis, width, keys, total, next);
            return (found, pitch);
        }
        let even = axis.is_even();
        if stride == 2 && width == 1 && even && (axis.dilation == 1 || taps > 3) {
            let needed = (count - 1) * (pitch / 2) + windows;
            if taps > 3 {
                let (found, next) = everywhere(axis, width, keys, total, next);
                pairs(found, &mut next[..needed], |pair, _| L::first(pair));
                return (next, pitch / 2);
            }
            match taps {
                1 => pairs(keys, &mut next[..needed], |pair, _| L::first(pair)),
                2 => pairs(keys, &mut next[..needed], |pair, _| L::pair_max(pair)),
                _ => pairs(keys, &mut next[..needed], |pair, more| {
                    L::pair_max(pair).max(L::first(more))
                }),
            }
            return (next, pitch / 2);
        }
        // A window by itself costs an operation for each tap, without vectors if places have one key.
        // The windows of all places cost about two vector operations for each doubling.
        let line = windows * width;
        let alone = if width == 1 && L::VECTORS { taps * vector::<L>() } else { taps };
        if taps == 1 || !even || alone <= 2 * stride * (taps.ilog2() as usize + 1) {
            each(axis, windows, width, pitch, count, keys, next, taps);
            return (next, line);
        }
        let (found, next) = everywhere(axis, width, keys, total, next);
        each(axis, windows, width, pitch, count, found, next, 1);
        (next, line)
    }
}

/// Combines each pair of neighbours with the pair after it.
#[inline(always)]
fn pairs<L: Lane>(keys: &[L], next: &mut [L], what: impl Fn(L::Pair, L::Pair) -> L) {
    let pairs = keys.as_chunks::<2>().0;
    let last = next.len().min(pairs.len().saturating_sub(1));
    for ((next, &pair), &more) in next[..last].iter_mut().zip(pairs).zip(&pairs[1..]) {
        *next = what(bytemuck::cast(pair), bytemuck::cast(more));
    }
}

/// Every window by itself, of `taps` taps. Vectors may reach beyond a window, into the space of the
/// next one, which is stored later.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "it is one loop's body")]
fn each<L: Lane>(
    axis: &Axis,
    windows: usize,
    width: usize,
    pitch: usize,
    count: usize,
    keys: &[L],
    next: &mut [L],
    taps: usize,
) {
    let (line, stride) = (windows * width, axis.stride as usize);
    let dilation = axis.dilation as usize;
    let offset = |tap: usize| (tap * dilation).min(axis.reach as usize) * width;
    let (one, two) = (offset(1), offset(2));
    for row in 0..count {
        let keys = &keys[row * pitch..];
        let next = &mut next[row * line..];
        if width == 1 {
            for (window, next) in next[..windows].iter_mut().enumerate() {
                let keys = &keys[window * stride..];
                let mut max = keys[0];
                for tap in 1..taps {
                    max = max.max(keys[offset(tap)]);
                }
                *next = max;
            }
            continue;
        }
        // Whole vectors, except at the end of all, which may have no space after it.
        let vector = vector::<L>();
        let whole = width.next_multiple_of(vector);
        for window in 0..windows {
            let keys = &keys[window * stride * width..];
            let next = &mut next[window * width..];
            let space = next.len().min(keys.len() - offset(taps - 1));
            let count = if whole <= space { whole } else { width };
            let (next, first) = (&mut next[..count], &keys[..count]);
            match taps {
                1 => next.copy_from_slice(first),
                2 => {
                    for ((next, &a), &b) in next.iter_mut().zip(first).zip(&keys[one..]) {
                        *next = a.max(b);
                    }
                }
                _ => {
                    let rows = first.iter().zip(&keys[one..]).zip(&keys[two..]);
                    for (next, ((&a, &b), &c)) in next.iter_mut().zip(rows) {
                        *next = a.max(b).max(c);
                    }
                    for tap in 3..taps {
                        merge_keys(next, &keys[offset(tap)..]);
                    }
                }
            }
        }
    }
}

/// Every window by itself, for windows that split the axis evenly: they hardly overlap.
#[inline(always)]
fn each_of_its_own<L: Lane>(
    block: &Block<'_>,
    width: usize,
    pitch: usize,
    count: usize,
    keys: &[L],
    next: &mut [L],
) {
    let (axis, strip) = (&block.w.axes[2], block.strip);
    let (line, begin) = (strip.windows * width, axis.first(strip.first));
    for window in 0..strip.windows {
        let number = strip.first + window;
        let first = (axis.first(number) - begin) as usize * width;
        let taps = (axis.reach(number) as usize).div_ceil(axis.dilation as usize) + 1;
        let reach = axis.reach(number) as usize * width;
        for row in 0..count {
            let keys = &keys[row * pitch + first..][..reach + width];
            let next = &mut next[row * line + window * width..][..width];
            next.copy_from_slice(&keys[..width]);
            for tap in 1..taps {
                merge_keys(next, &keys[(tap * axis.dilation as usize * width).min(reach)..]);
            }
        }
    }
}

/// Maxima, place by place.
#[inline(always)]
fn merge_keys<L: Lane>(keys: &mut [L], others: &[L]) {
    for (key, &other) in keys.iter_mut().zip(others) {
        *key = other.max(*key);
    }
}

/// The windows from every place on. Returns the buffer that has them, and the other one.
#[inline(always)]
fn everywhere<'a, L: Lane>(
    axis: &Axis,
    width: usize,
    keys: &'a mut [L],
    total: usize,
    next: &'a mut [L],
) -> (&'a mut [L], &'a mut [L]) {
    let (taps, apart) = (axis.taps as usize, axis.dilation as usize * width);
    let reach = axis.reach as usize * width;
    let left = total - reach;
    if reach == (taps - 1) * apart {
        return vector::windows(keys, next, total, taps, apart);
    }
    next[..left].copy_from_slice(&keys[..left]);
    for tap in 1..taps {
        merge_keys(&mut next[..left], &keys[(tap * apart).min(reach)..]);
    }
    (next, keys)
}
