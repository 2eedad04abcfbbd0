//! Windows over small planes: all lines of a plane at once. If lines have few vectors, starting each
//! line would cost as much as the work on it. Windows are computed at all elements; of those, the
//! results are picked.
//!
//! Windows along lines reach into the neighbouring lines. A mask sets the keys that they find there
//! to 0, the identity.

use std::iter;

use bytemuck::Zeroable;

use super::runs::{BLOCK, results_of_a_part};
use crate::base::threads;
use crate::pool::params::{Axis, Windows};
use crate::tensor::key::{Key, KeyOrder, Lane};
use crate::vector::{Loop, PARALLEL_FROM, dispatch, whole, windows};

/// Maximum bytes of a line, and of all masks.
const MAX_LINE: usize = 512;
/// Maximum bytes and elements of a line of which only some elements have results: these are picked one by one.
const MAX_PICKED_BYTES: usize = 128;
const MAX_PICKED: usize = 64;
const MAX_MASKS: usize = 16 << 10;

/// Planes in which each window has an element of its own among its taps.
struct Planes<'a, K> {
    w: &'a Windows,
    /// Elements of a line and of a plane.
    line: usize,
    plane: usize,
    /// The windows' own elements in a plane, if these are not all elements.
    picks: Option<Vec<u32>>,
    /// The results of a plane.
    outputs: usize,
    /// Keys between two planes: as many as windows reach beyond the first and the last lines.
    gap: usize,
    /// For each tap along lines, a mask for each element of a plane.
    masks: Vec<K>,
}

/// The distance from the start of a window to its own element, in elements of the axis: the first
/// window's is the first element. `None` if no tap of a window is its own element.
fn before(axis: &Axis) -> Option<usize> {
    let before = u32::try_from(-i64::from(axis.start)).ok()?;
    let own = before.is_multiple_of(axis.dilation) && before <= axis.reach;
    let last = axis.outputs.checked_sub(1)? as usize * axis.stride as usize;
    (own && axis.is_even() && last < axis.size as usize).then_some(before as usize)
}

impl<'a, K: Key> Planes<'a, K> {
    /// The planes of a launch; `None` if it is faster to process the lines one by one.
    fn new(w: &'a Windows) -> Option<Self> {
        let [outer, down, along] = &w.axes;
        let line = along.size as usize * w.inner as usize;
        let plane = down.size as usize * line;
        let (above, left) = (before(down)?, before(along)?);
        // With taps along the outer axis, a plane is the maximum of some.
        before(outer)?;
        let dense = down.pitch as usize == line
            && (outer.size == 1 || outer.pitch as usize == plane)
            && w.outer_pitch as usize == outer.size as usize * plane;
        let same = |axis: &Axis| axis.stride == 1 && axis.outputs == axis.size;
        // Windows that reach farther are mostly padding.
        let near = |axis: &Axis, before: usize| {
            before.max(axis.reach as usize - before) <= axis.size as usize
        };
        let all = same(down) && same(along);
        // Windows that leave out much would read it here.
        let covered = |axis: &Axis| {
            4 * u64::from(axis.outputs) * u64::from(axis.taps) >= 3 * u64::from(axis.size)
        };
        let picked = line <= MAX_PICKED && covered(down) && covered(along) && covered(outer);
        let max_line = match (all, picked) {
            (true, _) => MAX_LINE,
            (_, true) => MAX_PICKED_BYTES,
            _ => 0,
        };
        let small = near(down, above)
            && near(along, left)
            && line * size_of::<K>() <= max_line
            && plane * size_of::<K>() <= BLOCK / 2
            && plane * size_of::<K>() * along.taps as usize <= MAX_MASKS;
        let outputs = down.outputs as usize * w.line();
        let even = plane > 0 && (w.outputs as usize).is_multiple_of(outputs);
        if !(dense && small && even) {
            return None;
        }
        let gap = above.max(down.reach as usize - above) * line;
        let space = whole::<K>(plane) - plane;
        let mut masks = Vec::with_capacity(plane * along.taps as usize + space);
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
        masks.resize(masks.len() + space, K::LOWEST);
        let inner = w.inner as usize;
        let picks = (!all).then(|| {
            let lines = (0..down.outputs as usize).map(|y| y * down.stride as usize * line);
            let places = (0..along.outputs as usize).map(|x| x * along.stride as usize * inner);
            let picks = lines.flat_map(|y| places.clone().map(move |x| y + x));
            picks.flat_map(|first| first as u32..(first + inner) as u32).collect()
        });
        Some(Self { w, line, plane, picks, outputs, gap, masks })
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
    let Planes { plane, outputs, gap, .. } = planes;
    let volumes = (out.len() / outputs).div_ceil(w.axes[0].outputs as usize);
    let source = &source[w.base as usize..][..volumes * w.axes[0].size as usize * plane];
    let some = (BLOCK / size_of::<O::Key>() / (plane + gap)).max(1);
    let work = |buffers: &mut [Vec<O::Key>; 2], first: usize, out: &mut [O::Key]| {
        for (i, out) in out.chunks_mut(some * outputs).enumerate() {
            let (planes, first) = (&planes, first + i * some);
            dispatch(Block { order, planes, source, first, buffers: &mut *buffers, out });
        }
    };
    if w.work() < PARALLEL_FROM {
        work(&mut Default::default(), 0, out);
    } else {
        let part = some * results_of_a_part(w).div_ceil(some * outputs);
        let parts = out.chunks_mut(part * outputs).enumerate().collect();
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
    /// The number of the first one.
    first: usize,
    buffers: &'a mut [Vec<O::Key>; 2],
    out: &'a mut [O::Key],
}

impl<O: KeyOrder> Loop for Block<'_, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { order, planes, source, first: number, buffers: [keys, next], out } = self;
        let Planes { w, line, plane, picks, outputs, gap, masks } = planes;
        let [outer, down, along] = &w.axes;
        let (inner, count) = (w.inner as usize, out.len() / outputs);
        let left = -along.start as usize * inner;
        let right = along.reach as usize * inner - left;
        // Keys beyond the first and the last plane.
        let first = left.max(*gap);
        let needed = first + count * (plane + gap) + right.max(*gap);
        // Loops over whole vectors reach into the gap and the next plane, which are written later, or masked.
        let whole = whole::<O::Key>(*plane);
        let space = needed + whole - plane;
        if keys.len() < space {
            keys.resize(space, Zeroable::zeroed());
            next.resize(space, Zeroable::zeroed());
        }
        let begins = (0..count).map(|i| first + i * (plane + gap));
        let depth = outer.outputs as usize;
        let (mut volume, mut window) = (number / depth, number % depth);
        for begin in begins.clone() {
            let row = |place: usize| {
                let source = &source[(volume * outer.size as usize + place) * plane..];
                &source[..if source.len() < whole { *plane } else { whole }]
            };
            let mut others = (outer.taps > 1).then(|| outer.places(window));
            let place = match &mut others {
                Some(places) => places.next().unwrap_or(0),
                None => window * outer.stride as usize,
            };
            for (key, &item) in keys[begin..].iter_mut().zip(row(place)) {
                *key = order.key(item);
            }
            for place in others.into_iter().flatten() {
                for (key, &item) in keys[begin..].iter_mut().zip(row(place)) {
                    *key = order.key(item).max(*key);
                }
            }
            window += 1;
            if window == depth {
                (volume, window) = (volume + 1, 0);
            }
        }
        // Windows along the lines.
        let taps = along.taps as usize;
        let apart = along.dilation as usize * inner;
        for begin in begins.clone() {
            next[begin - gap..begin].fill(O::Key::LOWEST);
            let own = &mut next[begin..][..whole];
            // The last tap may be read twice.
            let masked = |tap: usize| {
                let tap = tap.min(taps - 1);
                keys[begin - left + tap * apart..][..whole]
                    .iter()
                    .zip(&masks[tap * plane..][..whole])
            };
            let rows = own.iter_mut().zip(masked(0)).zip(masked(1)).zip(masked(2));
            for (((own, (&a, &p)), (&b, &q)), (&c, &r)) in rows {
                *own = (a & p).max(b & q).max(c & r);
            }
            for tap in (3..taps).step_by(2) {
                let rows = own.iter_mut().zip(masked(tap)).zip(masked(tap + 1));
                for ((own, (&a, &p)), (&b, &q)) in rows {
                    *own = (*own).max(a & p).max(b & q);
                }
            }
        }
        let after = first + count * (plane + gap) - gap;
        next[after..needed].fill(O::Key::LOWEST);
        next[..first].fill(O::Key::LOWEST);
        let above = -down.start as usize * line;
        let taps = down.taps as usize;
        let (found, _) = windows(next, keys, needed, taps, down.dilation as usize * line);
        for (begin, i) in begins.zip((0..out.len()).step_by(*outputs)) {
            let found = &found[begin - above..][..whole];
            match picks {
                None => {
                    let out = &mut out[i..];
                    let count = if out.len() < whole { *outputs } else { whole };
                    for (out, &key) in out[..count].iter_mut().zip(found) {
                        *out = order.bits(key);
                    }
                }
                Some(picks) => {
                    for (out, &pick) in out[i..].iter_mut().zip(picks) {
                        *out = found[pick as usize];
                    }
                }
            }
        }
        if picks.is_some() {
            for out in out {
                *out = order.bits(*out);
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

    /// An axis whose windows begin `before` their own elements, which are `stride` apart.
    fn axis(size: u32, taps: u32, [dilation, stride]: [u32; 2], before: u32, pitch: usize) -> Axis {
        let (reach, start) = ((taps - 1) * dilation, -(before as i32));
        let (outputs, pitch) = (size.div_ceil(stride), pitch as u32);
        Axis { size, outputs, taps, stride, dilation, reach, start, pitch, ..Axis::NONE }
    }

    fn launch(volumes: u32, axes: [Axis; 3], inner: u32) -> Windows {
        let elements: u32 = axes.iter().map(|axis| axis.size).product();
        let outputs: u32 = axes.iter().map(|axis| axis.outputs).product();
        Windows {
            base: 3,
            outer_pitch: elements * inner,
            inner,
            outputs: volumes * outputs * inner,
            axes,
            ..Zeroable::zeroed()
        }
    }

    fn check<O: KeyOrder>(order: O, volumes: u32, w: &Windows) {
        let hash = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
        let source: Vec<O::Key> = (0..u64::from(w.base + volumes * w.outer_pitch))
            .map(|i| Key::narrow(hash(i)))
            .collect();
        let mut found = vec![O::Key::LOWEST; w.outputs as usize];
        assert!(run(order, w, &source, &mut found));
        let mut expected = vec![O::Key::LOWEST; w.outputs as usize];
        let out = Maxima { out: &mut expected, order, empty: O::Key::LOWEST };
        lines::run(w, Elements(order), &source, out);
        assert!(found == expected, "{w:?}");
    }

    #[test]
    fn planes_are_as_lines_one_by_one() {
        let types = [ElementType::I8, ElementType::F16, ElementType::F32, ElementType::I64];
        let mut tried = [0; 2];
        for (height, width) in [(1, 1), (1, 7), (5, 1), (3, 4), (6, 9), (13, 20)] {
            for (taps, dilation, before) in [
                (1, 1, 0),
                (2, 1, 1),
                (3, 1, 1),
                (4, 1, 1),
                (3, 2, 4),
                (5, 1, 0),
                (5, 1, 4),
                (9, 1, 4),
            ] {
                for (i, [inner, volumes]) in [[1, 1], [1, 300], [3, 40]].into_iter().enumerate() {
                    for strides in [[1, 1], [2, 2], [1, 3]] {
                        let line = (width * inner) as usize;
                        let [down, along] = strides.map(|stride| [dilation, stride]);
                        let down = axis(height, taps, down, before, line);
                        let mut along = axis(width, taps, along, before, inner as usize);
                        // The last window may be missing.
                        along.outputs -= u32::from(along.outputs > 1 && i == 1);
                        let outer = match tried[1] % 3 {
                            0 => axis(5, 3, [1, 2], 1, height as usize * line),
                            1 => axis(4, 2, [2, 1], 0, height as usize * line),
                            _ => axis(1, 1, [1; 2], 0, height as usize * line),
                        };
                        let w = launch(volumes, [outer, down, along], inner);
                        if let Some(planes) = Planes::<u64>::new(&w) {
                            let t = types[tried.iter().sum::<usize>() % types.len()];
                            let ranking = Ranking { nan_above: u32::MAX, ..Ranking::MAXIMUM };
                            with_order!(t, ranking, order => check(order, volumes, &w));
                            tried[usize::from(planes.picks.is_some())] += 1;
                        }
                    }
                }
            }
        }
        assert!(tried[0] > 50 && tried[1] > 80, "{tried:?}");
    }

    #[test]
    fn windows_that_reach_far_are_left_to_lines() {
        let far = |dilation| axis(4, 3, [dilation, 1], dilation, 4);
        let planes = |down, along| {
            let w = launch(1, [axis(1, 1, [1; 2], 0, 16), far(down), far(along)], 1);
            Planes::<u32>::new(&w).is_some()
        };
        assert!(planes(2, 2));
        assert!(!planes(2, 700_000_000));
        assert!(!planes(700_000_000, 2));
    }
}
