//! Which groups software adapters walk along (`pool_walk`), and how far an invocation does.

use super::axes::{Axis, Group};
use super::windows::Tuning;
use crate::kernel::{Over, Walk};

// Measured on lavapipe.
/// Taps along the last axis, and positions that are held from one step to the next. Windows of 31 take a fifth of
/// what it takes to gather them, and 1.4 times what windows of 13 take.
const WALK_TAPS: u64 = 32;
const WALK_HELD: usize = 32;
/// Blocks that the text reads, half as many where positions are wanted: SwiftShader takes half a second to compile 18 of
/// them, and minutes for 27.
const WALK_READS: usize = 18;
/// From one window to the next along the last axis.
const WALK_STRIDE: u64 = 4;
/// Taps along the axes before the last, and how often one element may be read along these. 5 x 5 of stride 1 at once
/// took as long as one axis after the other.
const WALK_ROWS: u64 = 9;
const WALK_AGAIN: u64 = 4;
/// Blocks that are held where an invocation walks along several beside one another: with one it took
/// twice as long as with two or four, and with eight a quarter longer.
const ABREAST_HELD: usize = 12;
/// Steps that an invocation walks, and invocations that keep all cores busy. 56 steps take 1.3 to 1.5 times as long.
const STRIP: u64 = 448;
const STRIPS: u64 = 512;

impl Tuning {
    /// How invocations walk along the lines of a group, if they can and maxima alone are wanted: for a source and
    /// a result that begin so many elements into their bindings.
    pub(super) fn walk(&self, group: &Group, base: u32, result_base: u32) -> Option<Walk> {
        if self.finds { None } else { self.walk_known(group, base, result_base) }
    }

    /// The same where positions are wanted, of elements of a word.
    pub(super) fn walk_index(&self, group: &Group, base: u32, result_base: u32) -> Option<Walk> {
        let walk = self.walk_known(group, base, result_base).filter(|_| self.block == 4)?;
        (!matches!(walk.over, Over::Elements { from_blocks: false, .. })).then_some(walk)
    }

    fn walk_known(&self, group: &Group, base: u32, result_base: u32) -> Option<Walk> {
        let [first, before, axis] = group.axes;
        let rows = first.taps.checked_mul(before.taps).filter(|&rows| rows <= WALK_ROWS)?;
        let known = self.walks
            && self.iterations >= 2 * STRIP
            && group.axes.iter().all(Axis::has_all)
            && axis.taps <= WALK_TAPS
            && axis.stride <= WALK_STRIDE
            && rows <= WALK_AGAIN * first.stride * before.stride;
        if !known {
            return None;
        }
        let block = self.block;
        let whole = |length: u64, base: u32| (length | u64::from(base)).is_multiple_of(block);
        let over = if self.in_blocks(group.inner) {
            // A plane whose positions are wanted may begin anywhere.
            if !whole(0, base) || !whole(0, result_base) {
                return None;
            }
            Over::Blocks { abreast: 1 }
        } else {
            let words = |length: u64| (length * 4).is_multiple_of(block);
            if group.inner > 1 || !words(axis.size) || !words(axis.outputs) {
                return None;
            }
            Over::Elements {
                shift: axis.start.rem_euclid(block as i64) as u8,
                from_blocks: whole(axis.size, base),
                to_blocks: whole(axis.outputs, result_base),
            }
        };
        let walk = Walk {
            rows: [first.taps as u8, before.taps as u8],
            taps: axis.taps as u8,
            stride: axis.stride as u8,
            dilation: u8::try_from(axis.dilation).ok()?,
            reach: u8::try_from(axis.reach).ok()?,
            over,
        };
        let size = 16 / block as usize;
        let most = if self.finds { WALK_READS / 2 } else { WALK_READS };
        let fits = |walk: &Walk| walk.held(size) <= WALK_HELD && walk.reads(size) <= most;
        // Neighbours fill lines of a cache; more than these do not stay in registers.
        let beside = |abreast: u8| {
            let even = (group.inner / block).is_multiple_of(abreast.into());
            let few = walk.held(size) * usize::from(abreast) <= ABREAST_HELD;
            (over == Over::Blocks { abreast: 1 } && even && few)
                .then_some(Walk { over: Over::Blocks { abreast }, ..walk })
        };
        let wider = [4, 2].into_iter().filter_map(beside).find(fits);
        wider.or(Some(walk)).filter(fits)
    }

    /// What an invocation walks along, where a line has so many steps and so many such walks are to be done in all:
    /// the steps of a stretch, and how many stretches, of lines that follow one another.
    pub(super) fn stretches(&self, steps: u64, walks: u64) -> (u64, u64) {
        let strip = (steps * walks / STRIPS).clamp(1, STRIP);
        let stretch = strip.min(steps);
        (stretch, strip / stretch)
    }
}
