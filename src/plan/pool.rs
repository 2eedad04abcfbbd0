//! MaxPool as launches over neighbouring axes of [outer, axes..., inner].
//!
//! The maximum of a window is separable: axes are done together where the
//! windows are small, and one after the other where they are not; and the
//! windows of an axis that are long are made of shorter ones, which overlap,
//! so that the cost of a result grows with the logarithm of the window.

mod axes;
mod indices;
mod walks;
mod windows;

use super::builder::{Builder, Region};
use super::reduce::merge;
use super::{Limits, Plan};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Params, Shader, Walk, divisor, pool};
use crate::operator::{Layout, MaxPool, Window};
use crate::tensor::TensorDesc;
use crate::tensor::key::key_words;
use axes::{Axis, Group, Piece};
use indices::Numbering;
use windows::Tuning;

/// The plan of a MaxPool; `outputs` are the maxima and, if they are wanted, the indices.
pub(crate) fn plan(
    operator: &MaxPool,
    input: &TensorDesc,
    outputs: Vec<TensorDesc>,
    windows: &[Window],
    limits: &Limits,
) -> Result<Plan> {
    let empty = operator.get_empty_window().bits(input.element_type());
    let mut builder = Builder::new(&[input], outputs.clone(), operator.get_nan(), limits);
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
    let shape = input.shape();
    let (planes, channels) = match operator.get_layout() {
        Layout::Ncx => (shape[0] * shape[1], 1),
        Layout::Nxc => (shape[0], shape[shape.len() - 1]),
    };
    let mut axes = vec![Axis::plain(planes as u64)];
    for window in windows {
        axes.push(Axis::new(window)?);
    }
    axes.push(Axis::plain(channels as u64));
    let pool = Pool {
        empty: key_words(input.element_type(), empty),
        tuning: Tuning::new(limits, input.element_type(), outputs.len() > 1),
    };
    if outputs.len() == 1 {
        pool.values(&mut builder, axes)?;
    } else {
        let indices = operator.get_indices().unwrap_or_default();
        let modulus = operator.index_modulus(input)?;
        let numbering = Numbering::new(&indices, modulus, input, planes as u64, windows)?;
        pool.indices(&mut builder, &axes, &outputs, &numbering)?;
    }
    Ok(builder.finish())
}

/// What all launches of a pooling share.
struct Pool {
    /// The key of a window without elements.
    empty: [u32; 2],
    tuning: Tuning,
}

impl Pool {
    /// The maxima alone.
    fn values(&self, builder: &mut Builder<'_>, mut axes: Vec<Axis>) -> Result<()> {
        let mut source = Region::elements(0);
        let target = Region::elements(1);
        // Axes that are one window as a whole are reduced, which knows how to share the work.
        if axes.iter().any(Axis::is_whole) {
            let sizes: Vec<usize> = axes.iter().map(|a| a.size as usize).collect();
            let whole: Vec<bool> = axes.iter().map(Axis::is_whole).collect();
            axes.retain(|axis| !axis.is_whole());
            let last = axes.iter().all(Axis::is_plain);
            let left = axes.iter().map(|a| a.size).product();
            let reduced = if last { target } else { builder.scratch(left, false) };
            builder.series(source, reduced, &merge(&sizes, &whole))?;
            if last {
                return Ok(());
            }
            source = reduced;
        }
        let groups = self.tuning.groups(axes);
        for (i, group) in groups.iter().enumerate() {
            let result = match i + 1 == groups.len() {
                true => target,
                false => builder.scratch(group.results(), false),
            };
            let room = builder.room(builder.item(false));
            for piece in group.pieces(room, room)? {
                self.launch(builder, source, result, &piece)?;
            }
            source = result;
        }
        Ok(())
    }

    fn launch(
        &self,
        builder: &mut Builder<'_>,
        source: Region,
        target: Region,
        piece: &Piece,
    ) -> Result<()> {
        let (range, base) = builder.range(source.after(piece.first), piece.elements);
        let (result, result_base) = builder.range(target.after(piece.first_result), piece.results);
        let mut params = self.params(builder, &piece.group, piece.results)?;
        params.base = base;
        params.result_base = result_base;
        let group = &piece.group;
        let block = self.tuning.block;
        let line = u64::from(params.axes[2].outputs) * group.inner;
        if let Some(walk) = self.tuning.walk(group, base, result_base) {
            let invocations = self.walk_along(&mut params, &walk, group);
            let shader = self.shader(builder, Kernel::PoolWalk(walk), false, false);
            let params = Params::Pool(Box::new(params));
            return builder.push(shader, params, vec![range], vec![result], invocations);
        }
        let in_blocks = self.tuning.in_blocks(group.inner) && !group.is_sparse();
        let (kernel, invocations) = if in_blocks {
            let runs = self.tuning.runs(group);
            let kernel = if runs.is_some() { Kernel::PoolRuns } else { Kernel::PoolBlocks };
            (params.runs, params.spacing, params.shift) =
                runs.unwrap_or((params.axes[2].outputs, 1, 0));
            let blocks = group.inner / block;
            let in_line = u64::from(params.runs) * blocks;
            params.lines = (piece.results / line) as u32;
            params.by_runs = divisor(in_line);
            params.by_blocks = divisor(blocks);
            params.by_spacing = divisor(params.spacing.into());
            (kernel, piece.results / line * in_line)
        } else {
            let kernel = match self.across(&params) {
                _ if group.is_sparse() => Kernel::PoolSparse,
                true => Kernel::PoolAcross,
                false if group.inner == 1 && params.axes[2].stride == 1 => Kernel::PoolRow,
                false => Kernel::PoolLanes,
            };
            (kernel, self.slots(result_base, piece.results))
        };
        let shader = self.shader(builder, kernel, false, false);
        builder.push(shader, Params::Pool(Box::new(params)), vec![range], vec![result], invocations)
    }

    /// The parameters of a walk along the lines of a group, and its invocations.
    fn walk_along(&self, params: &mut pool::Params, walk: &Walk, group: &Group) -> u64 {
        let (block, axis) = (self.tuning.block, &group.axes[2]);
        let lines = group.results() / (axis.outputs * group.inner);
        let beside = (group.inner / block / walk.abreast() as u64).max(1);
        let steps = axis.outputs.div_ceil(walk.per(16 / block as usize) as u64);
        let (stretch, spacing) = self.tuning.stretches(steps, lines * beside);
        let runs = steps.div_ceil(stretch);
        (params.runs, params.spacing, params.shift) = (runs as u32, spacing as u32, stretch as u32);
        params.lines = (lines * runs) as u32;
        params.by_runs = divisor(runs);
        params.by_blocks = divisor(beside);
        (lines * runs).div_ceil(spacing) * beside
    }

    /// Whether the results of a slot may lie in several lines.
    fn across(&self, params: &pool::Params) -> bool {
        let slot = self.tuning.slot as u32;
        let line = params.axes[2].outputs * params.inner;
        !line.is_multiple_of(slot) || !params.result_base.is_multiple_of(slot)
    }

    /// Invocations that own a slot each.
    fn slots(&self, result_base: u32, results: u64) -> u64 {
        (u64::from(result_base) % self.tuning.slot + results).div_ceil(self.tuning.slot)
    }

    fn shader(&self, builder: &Builder<'_>, kernel: Kernel, from: bool, to: bool) -> Shader {
        Shader {
            kernel,
            element: builder.element,
            from_scratch: from,
            to_scratch: to,
            words: false,
            shared: false,
            workgroup: builder.limits.workgroup_size,
        }
    }

    fn params(&self, builder: &Builder<'_>, group: &Group, results: u64) -> Result<pool::Params> {
        let mut axes = [pool::Axis::NONE; 3];
        let mut pitch = group.inner;
        for (params, axis) in axes.iter_mut().zip(&group.axes).rev() {
            *params = axis.params(pitch)?;
            pitch *= axis.size;
        }
        Ok(pool::Params {
            outer_pitch: pitch as u32,
            inner: group.inner as u32,
            outputs: results as u32,
            nan_key: builder.nan_key,
            empty_low: self.empty[0],
            empty_high: self.empty[1],
            by_line: divisor(u64::from(axes[2].outputs) * group.inner),
            by_axis1: divisor(axes[1].outputs.into()),
            by_axis0: divisor(axes[0].outputs.into()),
            by_inner: divisor(group.inner),
            by_dilation: axes.map(|axis| divisor(axis.dilation.into())),
            axes,
            ..bytemuck::Zeroable::zeroed()
        })
    }
}

fn over_binding(builder: &Builder<'_>, elements: u64) -> Error {
    Error::OverLimit {
        what: "pooling, in pieces that cannot be smaller,",
        needed: elements * builder.item(false),
        limit: "max_storage_buffer_binding_size",
        allowed: builder.limits.max_binding_size,
    }
}
