//! Windows with their taps in the text of the shader: which windows have such texts, and how far an
//! invocation slides along a line.

mod text;
mod window;

use bytemuck::Zeroable;

use super::axes::Axis;
use super::groups::Group;
use super::params::{Numbering, Params};
use crate::plan::{Builder, Shader, divisor};
pub(super) use window::SLIDING_WINDOW;
use window::{SlidingParams, SlidingWindow, Strips};

/// Which windows slide, and how far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sliding {
    /// Maximum taps along the last axis, and distance from one window to the next.
    pub max_taps: u64,
    pub max_stride: u64,
    /// Maximum taps along the axes before the last, and how often one element may be read along these.
    pub max_rows: u64,
    pub max_rereads: u64,
    /// Maximum slices that are held from one step to the next, and blocks that the text reads: half
    /// as many blocks if it finds indices.
    pub max_held: usize,
    pub max_reads: usize,
    /// Maximum blocks that the first step of a strip reads for each line.
    pub max_first_reads: usize,
    /// Maximum lines that an invocation slides along at once. There are several only if as many
    /// invocations as fill the device then read `in_flight` bytes each.
    pub max_height: u8,
    pub in_flight: u64,
    /// How many blocks of an inner axis an invocation may slide along side by side, best first; else
    /// one.
    pub breadths: &'static [u8],
    /// Maximum blocks that are held if there are several side by side.
    pub max_held_beside: usize,
    /// Maximum steps of an invocation, and invocations that keep all cores busy.
    pub steps: u64,
    pub invocations: u64,
}

/// A launch by this kernel: the shader, its parameters, and its invocations.
pub(super) struct Launch {
    pub shader: Shader,
    pub params: SlidingParams,
    pub invocations: u64,
}

impl Sliding {
    /// The launch for the windows of a group, if they may slide; with a numbering also for indices.
    ///
    /// The kernel has indices only if an element is a word and lines of the source are whole blocks;
    /// they are distances in memory.
    pub(super) fn launch(
        &self,
        builder: &Builder<'_>,
        group: &Group,
        params: &Params,
        numbering: Option<&Numbering>,
    ) -> Option<Launch> {
        let (window, [unaligned_source, unaligned_result]) =
            self.choose(builder, group, params, numbering.is_some())?;
        let can_find = builder.item() == 4 && !unaligned_source;
        if numbering.is_some_and(|numbering| !can_find || !numbering.are_distances()) {
            return None;
        }
        let (strips, invocations) = self.strips(builder, group, &window);
        let shader = builder
            .shader(&SLIDING_WINDOW)
            .with("unaligned_source", unaligned_source)
            .with("unaligned_result", unaligned_result)
            .with("indices", numbering.is_some())
            .with("wide", numbering.is_some_and(|numbering| numbering.index_words == 2));
        let shader = Shader { attributes: window.attributes(), ..shader };
        let numbering = numbering.copied().unwrap_or(Numbering::zeroed());
        Some(Launch {
            shader,
            params: SlidingParams { pool: *params, numbering, strips },
            invocations,
        })
    }

    /// The sliding window for the lines of a group, if it can have one; and whether the lines of the
    /// source and of the result begin within blocks.
    fn choose(
        &self,
        builder: &Builder<'_>,
        group: &Group,
        params: &Params,
        finds: bool,
    ) -> Option<(SlidingWindow, [bool; 2])> {
        let [first, before, axis] = group.axes;
        let rows = first.taps.checked_mul(before.taps).filter(|&rows| rows <= self.max_rows)?;
        // A strip begins with a loop over what it holds. Pieces that begin within words are gathered, tap
        // by tap.
        let iterations = (2 * self.steps).max(self.max_held as u64);
        let iterations = iterations.max(rows.saturating_mul(axis.taps));
        let suits = builder.max_iterations() >= iterations
            && group.axes.iter().all(Axis::has_all)
            && axis.taps <= self.max_taps
            && axis.stride <= self.max_stride
            && rows <= self.max_rereads.saturating_mul(first.stride).saturating_mul(before.stride);
        if !suits {
            return None;
        }
        let max_reads = if finds { self.max_reads / 2 } else { self.max_reads };
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
            height: 1,
            row_stride: 1,
            row_dilation: u8::try_from(before.dilation).ok()?,
            row_reach: u8::try_from(before.reach).ok()?,
        };
        let fits = |window: &SlidingWindow| {
            window.held(item) <= self.max_held
                && window.reads(item) <= max_reads
                && window.first_reads(item) / usize::from(window.height) <= self.max_first_reads
        };
        let wider = |window: SlidingWindow, breadth: u8| {
            let even = (group.inner / block).is_multiple_of(breadth.into());
            let few = window.held(item) * usize::from(breadth) <= self.max_held_beside;
            (over_blocks && even && few).then_some(SlidingWindow { breadth, ..window })
        };
        let results = group.results() / block;
        let windows = (1..=self.max_height).filter_map(|height| {
            let row_stride = if height == 1 { 1 } else { u8::try_from(before.stride).ok()? };
            let window = SlidingWindow { height, row_stride, ..window };
            let all = self.breadths.iter().filter_map(|&breadth| wider(window, breadth));
            let window = all.chain([window]).find(fits)?;
            // Several lines, if their windows share rows and enough bytes stay in flight. Positions are
            // found line by line.
            let lines = u64::from(height);
            let shared = window.row_distances().len() < height as usize * before.taps as usize;
            let bytes = (results / lines).saturating_mul(16 * window.first_reads(item) as u64);
            let enough = bytes >= self.in_flight * u64::from(builder.target.parallelism);
            (lines == 1 || !finds && shared && enough).then_some(window)
        });
        let in_all = |window: &SlidingWindow| {
            let bands = before.outputs.div_ceil(window.height.into());
            bands.saturating_mul(window.first_reads(item) as u64)
        };
        Some((windows.min_by_key(in_all)?, unaligned))
    }

    /// How the lines of a group are divided into strips, and the invocations that slide along them.
    fn strips(
        &self,
        builder: &Builder<'_>,
        group: &Group,
        window: &SlidingWindow,
    ) -> (Strips, u64) {
        // The planner may ask about groups far larger than a launch.
        let [first, before, axis] = &group.axes;
        let bands = before.outputs.div_ceil(window.height.into());
        let lines = group.outer.saturating_mul(first.outputs).saturating_mul(bands);
        let inner = (group.inner / builder.block() / window.beside() as u64).max(1);
        let per_slice = window.per_slice(builder.item() as usize) as u64;
        let line_steps = axis.outputs.div_ceil(per_slice);
        let all_steps = line_steps.saturating_mul(lines).saturating_mul(inner);
        let own_steps = (all_steps / self.invocations).clamp(1, self.steps);
        let steps = own_steps.min(line_steps);
        let (per_line, per_invocation) = (line_steps.div_ceil(steps), own_steps / steps);
        let count = lines.saturating_mul(per_line);
        let strips = Strips {
            count: count as u32,
            steps: steps as u32,
            per_invocation: per_invocation as u32,
            padding: 0,
            by_per_line: divisor(per_line),
            by_bands: divisor(bands),
            by_inner: divisor(inner),
        };
        (strips, count.div_ceil(per_invocation).saturating_mul(inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Limits, Target};
    use crate::pool::{self, HARDWARE, MaxPool};
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
            let plan = pool::plan(resolved, target, &HARDWARE, &reduce::HARDWARE);
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
