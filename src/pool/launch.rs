//! Launches of a pooling: the kernel for the windows of a group, and its parameters.

use bytemuck::Zeroable;

use super::groups::Group;
use super::params::{BlockParams, Gather, GatherParams, Numbering, Params, TileParams, Windows};
use super::sliding;
use super::tile::Tile;
use super::tuning::Tuning;
use super::{BLOCKS, GATHER, TILE};
use crate::base::error::Result;
use crate::plan::{Builder, LaunchDesc, Range, divisor};

/// A plan under construction, and what all launches of a pooling share.
pub(super) struct Planner<'a> {
    pub builder: Builder<'a>,
    pub tuning: &'a Tuning,
    /// The key of a window without elements.
    pub empty: [u32; 2],
    /// Whether positions are returned.
    pub indices: bool,
}

/// The source and the result of a launch, with the first element and the first result.
pub(super) struct Bindings {
    pub sources: Vec<Range>,
    pub base: u32,
    pub results: Vec<Range>,
    pub result_base: u32,
}

impl Planner<'_> {
    /// Adds the launch of a group, by the kernel that suits it best. With a numbering it finds
    /// positions: of the elements, or of candidates in a second source (positions that an earlier
    /// launch found). The result is indices or, with `to_positions`, positions for a later launch.
    pub(super) fn launch(
        &mut self,
        purpose: &'static str,
        group: &Group,
        bindings: Bindings,
        numbering: Option<Numbering>,
        to_positions: bool,
    ) -> Result<()> {
        let Bindings { sources, base, results, result_base } = bindings;
        let pool = self.params(group, base, result_base)?;
        let builder = &self.builder;
        let (indices, from_positions) = (numbering.is_some(), sources.len() > 1);
        let alone = !from_positions && !to_positions;
        let sliding = self.tuning.sliding.filter(|_| alone);
        let sliding = sliding.and_then(|of| of.launch(builder, group, &pool, numbering.as_ref()));
        let whole = u64::from(result_base).is_multiple_of(builder.per_word());
        let fits = |tile: &Tile| alone && (whole || tile.one_by_one);
        let numbering = numbering.unwrap_or(Numbering::zeroed());
        let block = builder.block();
        if let Some(sliding::Launch { shader, params, invocations }) = sliding {
            let launch = LaunchDesc { purpose, shader, params: &params, sources, results };
            self.builder.push(launch, invocations)
        } else if let Some(tile) = self.tile(group).filter(fits) {
            let pool = self.params(&tile.group, base, result_base)?;
            let (tiles, groups) = tile.params(builder);
            let (doubling, gather) = (tile.doubling(), Gather::new(&tile.group));
            let params = &TileParams { pool, numbering, tiles, doubling, gather };
            let shader = builder.shader(&TILE).with("indices", indices);
            let shader = shader.with("doubled", tile.is_doubled());
            let shader = shader.with("one_by_one", tile.one_by_one);
            let shader = shader.with("shared_out", group.shares_out());
            self.builder
                .push_groups(LaunchDesc { purpose, shader, params, sources, results }, groups)
        } else if !indices && group.inner.is_multiple_of(block) && !group.is_sparse() {
            let [low, high] = self.empty.map(u64::from);
            // Multiplying by this repeats an element in all of the 64 bits.
            let repeat = u64::MAX / (u64::MAX >> (64 - 8 * builder.item()));
            let empty = (high << 32 | low).wrapping_mul(repeat);
            let params = &BlockParams {
                pool,
                empty_block: [empty, empty >> 32, empty, empty >> 32].map(|word| word as u32),
                by_line_blocks: divisor(group.line_results() / block),
                by_blocks: divisor(group.inner / block),
            };
            let invocations = group.results() / block;
            let shader = builder.shader(&BLOCKS).with("shared_out", group.shares_out());
            self.builder.push(LaunchDesc { purpose, shader, params, sources, results }, invocations)
        } else {
            // One output vector for each invocation.
            let vector = builder.vector();
            let skipped = u64::from(result_base) % vector;
            // Whether the results of a vector are in one line, and their elements too.
            let contiguous = group.line_results().is_multiple_of(vector) && skipped == 0;
            let contiguous = contiguous && group.inner == 1 && group.axes[2].stride == 1;
            let contiguous = contiguous && !group.shares_out();
            let shader = builder.shader(&GATHER).with("contiguous", contiguous && !indices);
            let shader = shader.with("indices", indices).with("from_positions", from_positions);
            let shader = shader.with("to_positions", to_positions);
            let shader = shader.with("shared_out", group.shares_out());
            let params = &GatherParams { pool, numbering, gather: Gather::new(group) };
            let invocations = (skipped + group.results()).div_ceil(vector);
            self.builder.push(LaunchDesc { purpose, shader, params, sources, results }, invocations)
        }
    }

    /// The first parameters of all kernels.
    fn params(&self, group: &Group, base: u32, result_base: u32) -> Result<Params> {
        let windows = Windows::new(group, group.results(), base)?;
        let [empty_low, empty_high] = self.empty;
        let (ranking, padding) = (self.builder.ranking, [0; 3]);
        Ok(Params { ranking, empty_low, empty_high, result_base, padding, windows })
    }
}
