//! Windows of keys: down rows of them, and along rows.

use super::adapters::Keys;
use super::runs::{Block, Shape};
use super::store::{Apart, Found, Places, store_last};
use crate::pool::params::Axis;
use crate::tensor::key::Lane;
use crate::vector::{self, Loop, Step, vector};

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

/// Windows along the last axis, of `count` rows of keys of a block.
pub(super) struct Along<'a, L> {
    pub block: &'a Block<'a>,
    pub count: usize,
    /// Keys of a place, and the distance from one row to the next.
    pub width: usize,
    pub pitch: usize,
    pub keys: &'a mut [L],
    pub next: &'a mut [L],
}

/// Bytes of the keys of a line's results from which on the last step is done while they are stored. Shorter
/// lines are too few vectors for a loop each.
const LONG_LINE: usize = 192;

impl<'a, L: Lane> Loop for Along<'a, L> {
    type Output = Found<'a, L>;
    const VECTORS: bool = L::VECTORS;
    #[inline(always)]
    fn run(self) -> Self::Output {
        let (width, line) = (self.width, self.block.strip.windows * self.width);
        let total = self.count * self.pitch;
        let (found, next) = self.but_last();
        let Found { keys, pitch, stride, last } = found;
        if line * size_of::<L>() >= LONG_LINE || matches!((stride, last), (1, Step::One)) {
            return found;
        }
        let (space, pitch) = match stride {
            1 => (total - last.reach(), pitch),
            2 if width == 1 => (total / 2, pitch / 2),
            _ => return found,
        };
        // As one line.
        let (shape, apart) = (Shape::row_each(1), Apart { line: 0, window: 0, key: 0 });
        let places =
            Places { keys, pitch: 0, shape, windows: 1, count: space, at: 0, apart, space };
        store_last(&mut Keys(next), places, stride, last);
        Found { keys: next, pitch, stride: 1, last: Step::One }
    }
}

impl<'a, L: Lane> Along<'a, L> {
    /// The windows before their last step, and the other buffer.
    #[inline(always)]
    fn but_last(self) -> (Found<'a, L>, &'a mut [L]) {
        let Self { block, count, width, pitch, keys, next } = self;
        let (axis, windows) = (&block.w.axes[2], block.strip.windows);
        let (taps, stride) = (axis.taps as usize, axis.stride as usize);
        let line = windows * width;
        if axis.is_shared_out() {
            each_of_its_own(block, width, pitch, count, keys, next);
            return (Found { keys: next, pitch: line, stride: 1, last: Step::One }, keys);
        }
        let offset = |tap: usize| (tap * axis.dilation as usize).min(axis.reach as usize) * width;
        let few = match taps {
            1 => Some(Step::One),
            2 => Some(Step::Two(offset(1))),
            3 => Some(Step::Three(offset(1), offset(2))),
            _ => None,
        };
        let in_pairs = stride == 2 && width == 1;
        // A window by itself costs an operation for each tap, without vectors if places have one key.
        // The windows of all places cost about two vector operations for each doubling.
        let alone = if width == 1 && L::VECTORS { taps * vector::<L>() } else { taps };
        let each = stride > 1
            && (taps == 1 || !axis.is_even() || alone <= 2 * stride * (taps.ilog2() as usize + 1));
        if each && few.is_none() {
            tap_by_tap(axis, windows, width, pitch, count, keys, next);
            return (Found { keys: next, pitch: line, stride: 1, last: Step::One }, keys);
        }
        let (mut keys, mut next, mut last) = match few {
            Some(last) if each || stride == 1 || in_pairs && last.is_in_pairs() => {
                (keys, next, last)
            }
            _ => everywhere(axis, width, keys, count * pitch, next),
        };
        // The loop that stores does the last step only of neighbours and of pairs.
        if width == 1 && stride > 1 && last.reach() > 0 && !(in_pairs && last.is_in_pairs()) {
            last.run(keys, &mut next[..count * pitch - last.reach()]);
            (keys, next, last) = (next, keys, Step::One);
        }
        (Found { keys, pitch, stride, last }, next)
    }
}

/// Every window by itself, of more than three taps. Vectors may reach beyond a window, into the space
/// of the next one, which is stored later.
#[inline(always)]
fn tap_by_tap<L: Lane>(
    axis: &Axis,
    windows: usize,
    width: usize,
    pitch: usize,
    count: usize,
    keys: &[L],
    next: &mut [L],
) {
    let (line, stride) = (windows * width, axis.stride as usize);
    let (taps, dilation) = (axis.taps as usize, axis.dilation as usize);
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

/// The windows from every place on, but their last step. Returns the buffer that has them, and the other
/// one.
#[inline(always)]
fn everywhere<'a, L: Lane>(
    axis: &Axis,
    width: usize,
    keys: &'a mut [L],
    total: usize,
    next: &'a mut [L],
) -> (&'a mut [L], &'a mut [L], Step) {
    let (taps, apart) = (axis.taps as usize, axis.dilation as usize * width);
    let reach = axis.reach as usize * width;
    if reach == (taps - 1) * apart {
        return vector::windows_but_last(keys, next, total, taps, apart);
    }
    let left = total - reach;
    next[..left].copy_from_slice(&keys[..left]);
    for tap in 1..taps {
        merge_keys(&mut next[..left], &keys[(tap * apart).min(reach)..]);
    }
    (next, keys, Step::One)
}
