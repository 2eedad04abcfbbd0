//! Windows of lanes: down rows of them, and along rows.

use super::Axis;
use crate::cpu::fold::{self, vector};
use crate::cpu::simd::Loop;
use crate::tensor::key::Lane;

/// The windows of neighbouring lanes, `apart` from one another, of the first so many; they are in one
/// buffer or the other.
pub(super) struct Down<'a, L> {
    pub taps: usize,
    pub apart: usize,
    pub keys: usize,
    pub lanes: &'a mut [L],
    pub next: &'a mut [L],
}

impl<L: Lane> Loop for Down<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        fold::windows(&mut self.lanes[..self.keys], self.next, self.taps, self.apart);
    }
}

/// Windows along an axis of `count` rows of lanes, `pitch` from one to the next. Gives the
/// windows of each row after one another, and from one row's to the next row's.
pub(super) struct Along<'a, L> {
    pub axis: &'a Axis,
    pub windows: usize,
    /// Lanes of a place.
    pub width: usize,
    pub pitch: usize,
    pub count: usize,
    pub lanes: &'a mut [L],
    pub next: &'a mut [L],
}

impl<'a, L: Lane> Loop for Along<'a, L> {
    type Output = (&'a [L], usize);
    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { axis, windows, width, pitch, count, lanes, next } = self;
        let (taps, stride) = (axis.taps as usize, axis.stride as usize);
        let total = count * pitch;
        if stride == 1 {
            let (found, _) = everywhere(axis, width, lanes, total, next);
            return (found, pitch);
        }
        let even = axis.reach == (axis.taps - 1) * axis.dilation;
        if stride == 2 && width == 1 && even && (axis.dilation == 1 || taps > 3) {
            let needed = (count - 1) * (pitch / 2) + windows;
            if taps > 3 {
                let (found, next) = everywhere(axis, width, lanes, total, next);
                pairs(found, &mut next[..needed], |pair, _| L::first(pair));
                return (next, pitch / 2);
            }
            match taps {
                1 => pairs(lanes, &mut next[..needed], |pair, _| L::first(pair)),
                2 => pairs(lanes, &mut next[..needed], |pair, _| L::most(pair)),
                _ => pairs(lanes, &mut next[..needed], |pair, more| {
                    L::most(pair).max(L::first(more))
                }),
            }
            return (next, pitch / 2);
        }
        // Each window by itself costs its taps; the windows of all places cost about two a step.
        let line = windows * width;
        if taps <= 3 || !even || taps <= 2 * stride * (taps.ilog2() as usize + 1) {
            each(axis, windows, width, pitch, count, lanes, next, taps);
            return (next, line);
        }
        let (found, next) = everywhere(axis, width, lanes, total, next);
        each(axis, windows, width, pitch, count, found, next, 1);
        (next, line)
    }
}

/// Makes something of each two neighbours and the two behind them.
#[inline(always)]
fn pairs<L: Lane>(lanes: &[L], next: &mut [L], what: impl Fn(L::Pair, L::Pair) -> L) {
    let pairs = lanes.as_chunks::<2>().0;
    let last = next.len().min(pairs.len().saturating_sub(1));
    for ((next, &pair), &more) in next[..last].iter_mut().zip(pairs).zip(&pairs[1..]) {
        *next = what(bytemuck::cast(pair), bytemuck::cast(more));
    }
}

/// Every window by itself, of `taps` taps. Vectors may reach beyond a window, where the next one comes later.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "it is one loop's body")]
fn each<L: Lane>(
    axis: &Axis,
    windows: usize,
    width: usize,
    pitch: usize,
    count: usize,
    lanes: &[L],
    next: &mut [L],
    taps: usize,
) {
    let (line, stride) = (windows * width, axis.stride as usize);
    let offset = |tap: usize| (tap * axis.dilation as usize).min(axis.reach as usize) * width;
    let (one, two) = (offset(1), offset(2));
    for row in 0..count {
        let lanes = &lanes[row * pitch..];
        let next = &mut next[row * line..];
        if width == 1 {
            for (window, next) in next[..windows].iter_mut().enumerate() {
                let lanes = &lanes[window * stride..];
                let mut most = lanes[0];
                for tap in 1..taps {
                    most = most.max(lanes[offset(tap)]);
                }
                *next = most;
            }
            continue;
        }
        // Whole vectors, but for the last ones of all, which may have no room.
        let vector = vector::<L>();
        let whole = width.next_multiple_of(vector);
        for window in 0..windows {
            let lanes = &lanes[window * stride * width..];
            let next = &mut next[window * width..];
            let room = next.len().min(lanes.len() - offset(taps - 1));
            let count = if whole <= room { whole } else { width };
            let (next, first) = (&mut next[..count], &lanes[..count]);
            match taps {
                1 => next.copy_from_slice(first),
                2 => {
                    for ((next, &a), &b) in next.iter_mut().zip(first).zip(&lanes[one..]) {
                        *next = a.max(b);
                    }
                }
                _ => {
                    let rows = first.iter().zip(&lanes[one..]).zip(&lanes[two..]);
                    for (next, ((&a, &b), &c)) in next.iter_mut().zip(rows) {
                        *next = a.max(b).max(c);
                    }
                    for tap in 3..taps {
                        most(next, &lanes[offset(tap)..]);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn most<L: Lane>(lanes: &mut [L], others: &[L]) {
    for (lane, &other) in lanes.iter_mut().zip(others) {
        *lane = other.max(*lane);
    }
}

/// The windows from every place on, and the other buffer.
#[inline(always)]
fn everywhere<'a, L: Lane>(
    axis: &Axis,
    width: usize,
    lanes: &'a mut [L],
    total: usize,
    next: &'a mut [L],
) -> (&'a mut [L], &'a mut [L]) {
    let (taps, apart) = (axis.taps as usize, axis.dilation as usize * width);
    let reach = axis.reach as usize * width;
    let left = total - reach;
    if reach == (taps - 1) * apart {
        fold::windows(&mut lanes[..total], next, taps, apart);
        // Whole buffers go back, so that vectors may reach beyond what was found.
        if fold::steps(taps).is_multiple_of(2) {
            return (lanes, next);
        }
    } else {
        next[..left].copy_from_slice(&lanes[..left]);
        for tap in 1..taps {
            most(&mut next[..left], &lanes[(tap * apart).min(reach)..]);
        }
    }
    (next, lanes)
}
