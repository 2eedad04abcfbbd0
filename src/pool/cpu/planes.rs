//! Windows of stride 1 over small planes, as pyramids of poolings have them: all lines of a plane
//! at once. If lines have few vectors, starting each line would cost as much as the work on it.
//!
//! Windows along lines reach into the neighbouring lines. A mask sets the keys that they find there
//! to 0, the identity.

use std::iter;

use bytemuck::Zeroable;

use super::runs::{BLOCK, results_of_a_part};
use crate::base::threads;
use crate::pool::params::{Axis, Windows};
use crate::tensor::key::{Key, KeyOrder, Lane};
use crate::vector::{Loop, PARALLEL_FROM, dispatch, windows};

/// Maximum bytes of a line, and of all masks.
const MAX_LINE: usize = 512;
const MAX_MASKS: usize = 16 << 10;

/// Planes with as many windows as elements. Each window has its own element among its taps.
struct Planes<'a, K> {
    w: &'a Windows,
    /// Elements of a line and of a plane.
    line: usize,
    plane: usize,
    /// Keys between two planes: as many as windows reach beyond the first and the last lines.
    gap: usize,
    /// For each tap along lines, a mask for each element of a plane.
    masks: Vec<K>,
}

/// The distance from the start of a window to its own element, in elements of the axis; `None` if
/// there are not as many windows as elements, or no tap of a window is its own element.
fn before(axis: &Axis) -> Option<usize> {
    let before = u32::try_from(-i64::from(axis.start)).ok()?;
    let own = before.is_multiple_of(axis.dilation) && before <= axis.reach;
    let same = axis.stride == 1 && axis.outputs == axis.size && axis.is_even();
    (own && same).then_some(before as usize)
}

impl<'a, K: Key> Planes<'a, K> {
    /// The planes of a launch; `None` if it is faster to process the lines one by one.
    fn new(w: &'a Windows) -> Option<Self> {
        let [outer, down, along] = &w.axes;
        let line = along.size as usize * w.inner as usize;
        let plane = down.size as usize * line;
        let (above, left) = (before(down)?, before(along)?);
        let dense = down.pitch as usize == line
            && (outer.size == 1 || outer.pitch as usize == plane)
            && w.outer_pitch as usize == outer.size as usize * plane;
        let alone = outer.taps == 1 && before(outer) == Some(0);
        // Windows that reach farther are mostly padding.
        let near = |axis: &Axis, before: usize| {
            before.max(axis.reach as usize - before) <= axis.size as usize
        };
        let small = near(down, above)
            && near(along, left)
            && line * size_of::<K>() <= MAX_LINE
            && plane * size_of::<K>() <= BLOCK / 2
            && plane * size_of::<K>() * along.taps as usize <= MAX_MASKS;
        let whole = plane > 0 && (w.outputs as usize).is_multiple_of(plane);
        if !(dense && alone && small && whole) {
            return None;
        }
        let gap = above.max(down.reach as usize - above) * line;
        let mut masks = Vec::with_capacity(plane * along.taps as usize);
        for tap in 0..along.taps as usize {
            let first = masks.len();
            let begin = tap * along.dilation as usize;
            for place in begin..begin + along.size as usize {
                let inside = (left..left + along.size as usize).contains(&place);
                let mask = K::narrow(if inside { u64::MAX } else { 0 });
                masks.extend(iter::repeat_n(mask, w.inner as usize));
            }
            for _ in 1..down.size {
                masks.extend_from_within(first..first + line);
            }
        }
        Some(Self { w, line, plane, gap, masks })
    }
}

/// Pools all planes of a launch, if they are small; otherwise nothing is written.
pub(super) fn run<O: KeyOrder>(
    order: O,
    w: &Windows,
    source: &[O::Key],
    out: &mut [O::Key],
) -> bool {
    let Some(planes) = Planes::new(w) else { return false };
    let source = &source[w.base as usize..][..out.len()];
    let some = (BLOCK / size_of::<O::Key>() / (planes.plane + planes.gap)).max(1) * planes.plane;
    let work = |buffers: &mut [Vec<O::Key>; 2], first: usize, out: &mut [O::Key]| {
        for (i, out) in out.chunks_mut(some).enumerate() {
            let source = &source[first + i * some..][..out.len()];
            dispatch(Block { order, planes: &planes, source, buffers: &mut *buffers, out });
        }
    };
    if w.work() < PARALLEL_FROM {
        work(&mut Default::default(), 0, out);
    } else {
        let part = some * results_of_a_part(w).div_ceil(some);
        let parts = out.chunks_mut(part).enumerate().collect();
        threads::each_with(parts, Default::default, |buffers, (i, out): (usize, &mut [O::Key])| {
            work(buffers, i * part, out);
        });
    }
    true
}

/// Some planes.
struct Block<'a, O: KeyOrder> {
    order: O,
    planes: &'a Planes<'a, O::Key>,
    source: &'a [O::Key],
    buffers: &'a mut [Vec<O::Key>; 2],
    out: &'a mut [O::Key],
}

impl<O: KeyOrder> Loop for Block<'_, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { order, planes, source, buffers: [keys, next], out } = self;
        let Planes { w, line, plane, gap, masks } = planes;
        let [_, down, along] = &w.axes;
        let inner = w.inner as usize;
        let left = -along.start as usize * inner;
        let right = along.reach as usize * inner - left;
        // Keys beyond the first and the last plane.
        let first = left.max(*gap);
        let needed = first + source.len() / plane * (plane + gap) + right.max(*gap);
        if keys.len() < needed {
            keys.resize(needed, Zeroable::zeroed());
            next.resize(needed, Zeroable::zeroed());
        }
        let begins = (first..).step_by(plane + gap);
        for (begin, source) in begins.clone().zip(source.chunks_exact(*plane)) {
            for (key, &item) in keys[begin..].iter_mut().zip(source) {
                *key = order.key(item);
            }
        }
        // Windows along the lines, two taps at a time; an odd one is read twice.
        let taps = along.taps as usize;
        let apart = along.dilation as usize * inner;
        for (begin, _) in begins.clone().zip(source.chunks_exact(*plane)) {
            next[begin - gap..begin].fill(O::Key::LOWEST);
            let own = &mut next[begin..][..*plane];
            own.copy_from_slice(&keys[begin..][..*plane]);
            for tap in (0..taps).step_by(2) {
                let other = (tap + 1).min(taps - 1);
                let keys = |tap: usize| &keys[begin - left + tap * apart..][..*plane];
                let mask = |tap: usize| &masks[tap * plane..][..*plane];
                let a = keys(tap).iter().zip(mask(tap));
                let b = keys(other).iter().zip(mask(other));
                for ((own, (&a, &p)), (&b, &q)) in own.iter_mut().zip(a).zip(b) {
                    *own = (*own).max(a & p).max(b & q);
                }
            }
        }
        let after = first + source.len() / plane * (plane + gap) - gap;
        next[after..needed].fill(O::Key::LOWEST);
        next[..first].fill(O::Key::LOWEST);
        let above = -down.start as usize * line;
        let taps = down.taps as usize;
        let (found, _) = windows(next, keys, needed, taps, down.dilation as usize * line);
        for (begin, out) in begins.zip(out.chunks_exact_mut(*plane)) {
            for (out, &key) in out.iter_mut().zip(&found[begin - above..]) {
                *out = order.bits(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::adapters::Maxima;
    use super::super::lines;
    use super::*;
    use crate::tensor::ElementType;
    use crate::tensor::key::{Ranking, with_order};
    use crate::vector::Elements;

    /// An axis with as many windows as elements; each window begins `before` its own element.
    fn axis(size: u32, taps: u32, dilation: u32, before: u32, pitch: usize) -> Axis {
        let (reach, start) = ((taps - 1) * dilation, -(before as i32));
        let pitch = pitch as u32;
        Axis { size, outputs: size, taps, stride: 1, dilation, reach, start, pitch, ..Axis::NONE }
    }

    fn launch(outer: u32, down: Axis, along: Axis, inner: u32) -> Windows {
        let plane = down.size * along.size * inner;
        Windows {
            outer_pitch: plane,
            inner,
            outputs: outer * plane,
            axes: [axis(1, 1, 1, 0, plane as usize), down, along],
            ..Zeroable::zeroed()
        }
    }

    fn check<O: KeyOrder>(order: O, w: &Windows) {
        let count = w.outputs as usize;
        let hash = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
        let source: Vec<O::Key> = (0..count as u64).map(|i| Key::narrow(hash(i))).collect();
        let mut found = vec![O::Key::LOWEST; count];
        assert!(run(order, w, &source, &mut found));
        let mut expected = vec![O::Key::LOWEST; count];
        let out = Maxima { out: &mut expected, order, empty: O::Key::LOWEST };
        lines::run(w, Elements(order), &source, out);
        assert!(found == expected, "{w:?}");
    }

    #[test]
    fn planes_are_as_lines_one_by_one() {
        let types = [ElementType::I8, ElementType::F16, ElementType::F32, ElementType::I64];
        let mut tried = 0;
        for (height, width) in [(1, 1), (1, 7), (5, 1), (3, 4), (6, 9), (13, 20)] {
            for (taps, dilation, before) in
                [(1, 1, 0), (2, 1, 1), (3, 1, 1), (4, 1, 1), (3, 2, 4), (5, 1, 0), (5, 1, 4)]
            {
                for (inner, outer) in [(1, 1), (1, 300), (3, 40)] {
                    let line = (width * inner) as usize;
                    let down = axis(height, taps, dilation, before, line);
                    let along = axis(width, taps, dilation, before, inner as usize);
                    let w = launch(outer, down, along, inner);
                    if Planes::<u64>::new(&w).is_some() {
                        let t = types[tried % types.len()];
                        let ranking = Ranking { nan_above: u32::MAX, ..Ranking::MAXIMUM };
                        with_order!(t, ranking, order => check(order, &w));
                        tried += 1;
                    }
                }
            }
        }
        assert!(tried > 60, "{tried}");
    }

    #[test]
    fn windows_that_reach_far_are_left_to_lines() {
        let far = |dilation| axis(4, 3, dilation, dilation, 4);
        assert!(Planes::<u32>::new(&launch(1, far(2), far(2), 1)).is_some());
        assert!(Planes::<u32>::new(&launch(1, far(2), far(700_000_000), 1)).is_none());
        assert!(Planes::<u32>::new(&launch(1, far(700_000_000), far(2), 1)).is_none());
    }
}
