//! MaxPool as launches over neighbouring axes of [outer, axes..., inner].
//!
//! The maximum of a window is separable: axes are done together where the windows are small, and
//! one after the other where they are not. The windows of an axis that are long are made of shorter
//! ones, which overlap, so that the cost of a result grows with the logarithm of the window.

use bytemuck::Zeroable;

use super::axes::Axis;
use super::groups::Piece;
use super::indices::IndexRules;
use super::launch::{Planner, gather_params, is_contiguous, output_vectors, push_special};
use super::params::{BlockParams, GatherParams, Numbering, TileParams};
use super::tuning::Tuning;
use super::windows::Resolved;
use super::{BLOCKS, GATHER, TILE};
use crate::error::Result;
use crate::plan::{Builder, New, Plan, Region, Target, divisor};
use crate::reduce;
use crate::tensor::key::{Ranking, key_words};

/// The plan of a MaxPool.
///
/// # Errors
/// [`Error::OverLimit`](crate::Error::OverLimit).
pub(crate) fn plan(
    resolved: Resolved<'_>,
    target: Target<'_>,
    tuning: &Tuning,
    reduce: &reduce::Tuning,
) -> Result<Plan> {
    let Resolved { operator, input, outputs, windows, modulus } = resolved;
    let (element, extremum) = (input.element_type(), operator.get_extremum());
    let empty = operator.get_empty_window().bits(element, extremum);
    let ranking = Ranking::new(element, operator.get_nan(), extremum);
    let mut builder = Builder::new(&[input], outputs.clone(), ranking, target);
    if outputs[0].is_empty() {
        return Ok(builder.finish());
    }
    if input.is_empty() {
        // Windows, but no elements.
        builder.fill(1, empty)?;
        if outputs.len() > 1 {
            builder.fill(2, 0)?;
        }
        return Ok(builder.finish());
    }
    let (planes, channels) = operator.planes(input);
    let mut axes = vec![Axis::plain(planes)];
    for window in &windows {
        axes.push(Axis::new(window)?);
    }
    axes.push(Axis::plain(channels));
    let indices = operator.get_indices();
    let empty = key_words(element, ranking, empty);
    let planner = Planner { empty, tuning, reduce, indices: indices.is_some() };
    match indices {
        None => planner.maxima(&mut builder, axes)?,
        Some(indices) => {
            let rules = IndexRules::new(&indices, modulus, input, planes, &windows)?;
            let results = outputs[0].len() as u64;
            planner.indices(&mut builder, &axes, results, &rules)?;
        }
    }
    Ok(builder.finish())
}

impl Planner<'_> {
    /// The maxima alone.
    fn maxima(&self, builder: &mut Builder<'_>, mut axes: Vec<Axis>) -> Result<()> {
        let mut source = Region::all(0);
        let target = Region::all(1);
        // Axes that are one window as a whole are reduced, which knows how to share the work.
        if axes.iter().any(Axis::is_whole) {
            let sizes: Vec<usize> = axes.iter().map(|a| a.size as usize).collect();
            let whole: Vec<bool> = axes.iter().map(Axis::is_whole).collect();
            axes.retain(|axis| !axis.is_whole());
            let last = axes.iter().all(Axis::is_plain);
            let left = axes.iter().map(|a| a.size).product();
            let reduced = if last { target } else { builder.scratch(left) };
            let merged = reduce::merge(&sizes, &whole);
            reduce::series(builder, self.reduce, source, reduced, &merged)?;
            if last {
                return Ok(());
            }
            source = reduced;
        }
        let groups = self.grouping(builder).groups(axes);
        for (i, group) in groups.iter().enumerate() {
            let last = i + 1 == groups.len();
            let result = if last { target } else { builder.scratch(group.results()) };
            let purpose = if last { "maxima of windows" } else { "maxima of parts of windows" };
            for piece in group.pieces(builder)? {
                self.launch(builder, purpose, source, result, &piece)?;
            }
            source = result;
        }
        Ok(())
    }

    fn launch(
        &self,
        builder: &mut Builder<'_>,
        purpose: &'static str,
        source: Region,
        target: Region,
        piece: &Piece,
    ) -> Result<()> {
        let group = &piece.group;
        let (source, base) = builder.range(source.after(piece.first), piece.elements);
        let (result, result_base) = builder.range(target.after(piece.first_result), piece.results);
        let pool = self.params(builder, group, piece.results, base, result_base)?;
        let (sources, results) = (vec![source], vec![result]);
        let special = self.tuning.special.and_then(|s| (s.launch)(builder, group, &pool, None));
        if let Some(special) = special {
            return push_special(builder, purpose, special, sources, results);
        }
        let grouping = self.grouping(builder);
        let whole = u64::from(result_base).is_multiple_of(builder.per_word());
        if let Some(tile) = grouping.tile(group).filter(|_| whole) {
            let pool = self.params(builder, &tile.group, piece.results, base, result_base)?;
            let (tiles, groups) = tile.params(builder, &pool);
            let params = TileParams { pool, tiles, numbering: Numbering::zeroed() };
            let shader = builder.shader(&TILE);
            let launch = New { purpose, shader, params: &params, sources, results };
            return builder.push_groups(launch, groups);
        }
        if grouping.in_blocks(group) && !group.is_sparse() {
            let block = builder.block();
            let params = BlockParams {
                pool,
                by_line_blocks: divisor(group.line_results() / block),
                by_blocks: divisor(group.inner / block),
            };
            let shader = builder.shader(&BLOCKS);
            let launch = New { purpose, shader, params: &params, sources, results };
            return builder.push(launch, piece.results / block);
        }
        let shader = builder.shader(&GATHER).with("contiguous", is_contiguous(builder, &pool));
        let params =
            GatherParams { pool, gather: gather_params(group), numbering: Numbering::zeroed() };
        let invocations = output_vectors(builder, &pool);
        let launch = New { purpose, shader, params: &params, sources, results };
        builder.push(launch, invocations)
    }
}
