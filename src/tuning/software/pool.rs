//! Pools on software adapters: which windows slide along lines, and how far an invocation slides.

use bytemuck::{Zeroable, bytes_of, pod_collect_to_vec};

use super::sliding_window::{SLIDING_WINDOW, SlidingParams, SlidingWindow, Strips};
use crate::plan::{Builder, Kernel, Shader, divisor};
use crate::pool::{Axis, Group, HARDWARE, Numbering, Params, SpecialLaunch, Tuning};

/// The kernels for pools.
pub(super) static KERNELS: [&Kernel; 1] = [&SLIDING_WINDOW];

/// On lavapipe 9 taps in a loop take 3 to 4 times as long as in a specialised text.
pub(super) const TUNING: Tuning = Tuning {
    loop_cost: 3,
    max_tile_taps: 0,
    max_gradient_taps: 0,
    // On lavapipe eight levels of 1080 x 1920 f32 take 54 ms by two launches of tiles, and 1.9 ms
    // by eight launches of sliding windows.
    max_pyramid_levels: 0,
    special: Some(launch),
    ..HARDWARE
};

// Measured on lavapipe, except `MAX_READS`.
/// Maximum taps along the last axis, and positions that are held from one step to the next. Windows
/// of 31 take a fifth of the time of gathering them, and 1.4 times that of windows of 13.
const MAX_TAPS: u64 = 32;
const MAX_HELD: usize = 32;
/// Maximum blocks that the text reads; half as many with positions. SwiftShader takes half a second
/// to compile 18 of them, and minutes for 27.
const MAX_READS: usize = 18;
/// Maximum distance from one window to the next along the last axis.
const MAX_STRIDE: u64 = 4;
/// Maximum taps along the axes before the last, and how often one element may be read along these.
/// 5 x 5 of stride 1 at once took as long as one axis after the other.
const MAX_ROWS: u64 = 9;
const MAX_REREADS: u64 = 4;
/// Maximum blocks that are held, if an invocation slides along several blocks side by side: along
/// one it took twice as long as along two or four, and along eight a quarter longer.
const MAX_HELD_BESIDE: usize = 12;
/// Maximum steps of an invocation, and invocations that keep all cores busy. 56 steps take 1.3 to
/// 1.5 times as long.
const STEPS: u64 = 448;
const INVOCATIONS: u64 = 512;

/// The kernel has indices only if an element is a word and lines are whole blocks; they are
/// distances in memory.
fn launch(
    builder: &Builder<'_>,
    group: &Group,
    params: &Params,
    numbering: Option<&Numbering>,
) -> Option<SpecialLaunch> {
    let max_reads = if numbering.is_some() { MAX_READS / 2 } else { MAX_READS };
    let (window, [unaligned_source, unaligned_result]) = choose(builder, group, params, max_reads)?;
    let finds = builder.item() == 4 && !unaligned_source;
    if numbering.is_some_and(|numbering| !finds || !numbering.are_distances()) {
        return None;
    }
    let (strips, invocations) = strips(builder, group, &window);
    let shader = builder
        .shader(&SLIDING_WINDOW)
        .with("unaligned_source", unaligned_source)
        .with("unaligned_result", unaligned_result)
        .with("indices", numbering.is_some())
        .with("wide", numbering.is_some_and(|numbering| numbering.index_words == 2));
    let shader = Shader { attributes: window.attributes(), ..shader };
    let numbering = numbering.copied().unwrap_or(Numbering::zeroed());
    let params = SlidingParams { pool: *params, numbering, strips };
    Some(SpecialLaunch { shader, params: pod_collect_to_vec(bytes_of(&params)), invocations })
}

/// The sliding window for the lines of a group, if it can have one, and if its text reads at most
/// so many blocks; and whether the lines of the source and of the result begin within blocks.
fn choose(
    builder: &Builder<'_>,
    group: &Group,
    params: &Params,
    max_reads: usize,
) -> Option<(SlidingWindow, [bool; 2])> {
    let [first, before, axis] = group.axes;
    let rows = first.taps.checked_mul(before.taps).filter(|&rows| rows <= MAX_ROWS)?;
    let suits = builder.max_iterations() >= 2 * STEPS
        && group.axes.iter().all(Axis::has_all)
        && axis.taps <= MAX_TAPS
        && axis.stride <= MAX_STRIDE
        && rows <= MAX_REREADS * first.stride * before.stride;
    if !suits {
        return None;
    }
    let (block, item) = (builder.block(), builder.item() as usize);
    let over_blocks = group.inner > 1 && group.inner.is_multiple_of(block);
    // A plane with positions may begin anywhere, a piece of a tensor within a word.
    let length = |elements: u64| if over_blocks { 0 } else { elements };
    let lines = [(axis.size, params.windows.base), (axis.outputs, params.result_base)];
    let lines = lines.map(|(elements, base)| length(elements) | u64::from(base));
    let unaligned = lines.map(|line| !line.is_multiple_of(block));
    let words = lines.iter().all(|line| (line * 4).is_multiple_of(block)) && group.inner == 1;
    if !words && (!over_blocks || unaligned != [false; 2]) {
        return None;
    }
    let window = SlidingWindow {
        rows: [first.taps as u8, before.taps as u8],
        taps: axis.taps as u8,
        stride: axis.stride as u8,
        dilation: u8::try_from(axis.dilation).ok()?,
        reach: u8::try_from(axis.reach).ok()?,
        shift: if over_blocks { 0 } else { axis.start.rem_euclid(block as i64) as u8 },
        breadth: over_blocks.into(),
    };
    let fits =
        |window: &SlidingWindow| window.held(item) <= MAX_HELD && window.reads(item) <= max_reads;
    // Neighbours fill lines of a cache; more than these do not stay in registers.
    let beside = |breadth: u8| {
        let even = (group.inner / block).is_multiple_of(breadth.into());
        let few = window.held(item) * usize::from(breadth) <= MAX_HELD_BESIDE;
        (over_blocks && even && few).then_some(SlidingWindow { breadth, ..window })
    };
    let wider = [4, 2].into_iter().filter_map(beside).find(fits);
    Some((wider.or(Some(window)).filter(fits)?, unaligned))
}

/// How the lines of a group are divided into strips, and the invocations that slide along them.
fn strips(builder: &Builder<'_>, group: &Group, window: &SlidingWindow) -> (Strips, u64) {
    // The planner may ask about groups far larger than a launch.
    let [first, before, axis] = &group.axes;
    let lines = group.outer.saturating_mul(first.outputs).saturating_mul(before.outputs);
    let beside = (group.inner / builder.block() / window.beside() as u64).max(1);
    let per_position = window.per_position(builder.item() as usize) as u64;
    let line_steps = axis.outputs.div_ceil(per_position);
    let all_steps = line_steps.saturating_mul(lines).saturating_mul(beside);
    let own_steps = (all_steps / INVOCATIONS).clamp(1, STEPS);
    let steps = own_steps.min(line_steps);
    let (per_line, per_invocation) = (line_steps.div_ceil(steps), own_steps / steps);
    let count = lines.saturating_mul(per_line);
    let strips = Strips {
        count: count as u32,
        per_line: per_line as u32,
        steps: steps as u32,
        per_invocation: per_invocation as u32,
        by_per_line: divisor(per_line),
        by_inner: divisor(beside),
    };
    (strips, count.div_ceil(per_invocation).saturating_mul(beside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Limits, Target};
    use crate::pool::{self, MaxPool};
    use crate::reduce;
    use crate::tensor::{ElementType, TensorDesc};

    /// Windows slide along whole words. Pieces of a tensor, with small bindings, may begin within a
    /// word; then the general kernels compute them.
    #[test]
    fn lines_begin_with_words() {
        let wgpu = wgpu::Limits::default();
        let limits = Limits { max_binding_size: 512, ..Limits::from_wgpu(&wgpu) };
        let target = Target { limits: &limits, parallelism: 4096, words_per_fill: 8 };
        let operator = MaxPool::new([1, 1]).pads([0, 0], [0, 3]);
        let (mut slide, mut gather) = (0, 0);
        for size in 200..400 {
            let input = TensorDesc::new(ElementType::U8, [1, 1, 5, size]).unwrap();
            let resolved = operator.resolve(&input).unwrap();
            let plan = pool::plan(resolved, target, &TUNING, &reduce::HARDWARE);
            for launch in plan.unwrap().launches() {
                if launch.shader().kernel != &SLIDING_WINDOW {
                    gather += 1;
                    continue;
                }
                let params: &SlidingParams =
                    bytemuck::from_bytes(bytemuck::cast_slice(launch.params()));
                assert_eq!(params.pool.windows.base % 4, 0);
                assert_eq!(params.pool.result_base % 4, 0);
                slide += 1;
            }
        }
        assert!(slide > 0 && gather > 0, "{slide} {gather}");
    }
}
