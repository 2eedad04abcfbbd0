//! MaxPool as launches over neighbouring axes of [outer, axes..., inner].
//!
//! The maximum of a window is separable: axes are done together where the
//! windows are small, and one after the other where they are not; and the
//! windows of an axis that are long are made of shorter ones, which overlap,
//! so that the cost of a result grows with the logarithm of the window.

mod walks;
mod windows;

use super::builder::{Builder, Region};
use super::reduce::merge;
use super::{Limits, Plan};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Params, Shader, Walk, divisor, pool};
use crate::operator::{Indices, Layout, MaxPool, Order, Window};
use crate::tensor::TensorDesc;
use crate::tensor::key::key_words;
use windows::{Axis, Group, Piece, Tuning};

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
        let numbering = numbering(&indices, modulus, input, planes as u64, windows)?;
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

/// How positions become indices.
struct Numbering {
    /// Elements of a plane: of a batch and channel, or of a batch with its channels.
    plane: u64,
    channels: u64,
    /// Where indices begin anew; 0: nowhere.
    modulus: u64,
    /// The spatial axes in column-major order; none in row-major order.
    columns: Vec<u32>,
    /// Words of an index.
    words: u64,
}

fn numbering(
    indices: &Indices,
    modulus: u64,
    input: &TensorDesc,
    planes: u64,
    windows: &[Window],
) -> Result<Numbering> {
    let plane = input.len() as u64 / planes;
    if plane > i32::MAX as u64 {
        return Err(Error::OverLimit {
            what: "a plane whose positions are wanted",
            needed: plane,
            limit: "32-bit position",
            allowed: i32::MAX as u64,
        });
    }
    let columns = match indices.order {
        Order::ColumnMajor => windows.iter().map(|w| w.input as u32).collect(),
        Order::RowMajor => Vec::new(),
    };
    Ok(Numbering {
        plane,
        channels: windows.iter().fold(plane, |rest, w| rest / w.input),
        modulus: if modulus == input.len() as u64 { 0 } else { modulus },
        columns,
        words: indices.element_type.size() as u64 / 4,
    })
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

    /// The maxima and their indices.
    fn indices(
        &self,
        builder: &mut Builder<'_>,
        axes: &[Axis],
        outputs: &[TensorDesc],
        numbering: &Numbering,
    ) -> Result<()> {
        let planes = axes[0].size;
        let mut one_plane = axes.to_vec();
        one_plane[0] = Axis::plain(1);
        let groups = self.tuning.groups(one_plane);
        let plane_outputs = outputs[0].len() as u64 / planes;
        let source_room = builder.room(builder.item(false));
        let result_room = builder.room(4 * numbering.words).min(builder.room(4)).min(source_room);
        // What a plane takes at most, on its way and in the end.
        let widest = groups.iter().map(Group::results).max().unwrap_or(1);
        let fit = (source_room / numbering.plane).min(result_room / widest);
        if fit == 0 {
            return self.cut_planes(builder, axes, plane_outputs, numbering);
        }
        let fit = fit.min(planes);
        let scratch: Vec<Region> = groups[..groups.len() - 1]
            .iter()
            .map(|group| builder.scratch_words(fit * group.results()))
            .collect();
        for first in (0..planes).step_by(fit as usize) {
            let count = fit.min(planes - first);
            let many = |group: &Group| Group { outer: group.outer * count, ..group.clone() };
            let groups: Vec<Group> = groups.iter().map(many).collect();
            let place =
                Place { plane_first: first * numbering.plane, plane_outputs: plane_outputs as u32 };
            let piece = Piece {
                first: first * numbering.plane,
                elements: count * numbering.plane,
                first_result: first * plane_outputs,
                results: 0,
                group: groups[0].clone(),
            };
            self.index_launches(builder, &groups, piece, &scratch, &place, numbering)?;
        }
        Ok(())
    }

    /// Planes that are larger than a binding: one after the other, each in parts along its first
    /// axis that take all launches by themselves.
    fn cut_planes(
        &self,
        builder: &mut Builder<'_>,
        axes: &[Axis],
        plane_outputs: u64,
        numbering: &Numbering,
    ) -> Result<()> {
        let parts = self.parts(builder, axes, numbering)?;
        let stages = parts.iter().map(|part| part.groups.len() - 1).max().unwrap_or(0);
        let scratch: Vec<Region> = (0..stages)
            .map(|i| {
                let results = |part: &Part| part.groups.get(i).map_or(0, Group::results);
                builder.scratch_words(parts.iter().map(results).max().unwrap_or(0))
            })
            .collect();
        for plane in 0..axes[0].size {
            // All results belong to this plane.
            let place = Place { plane_first: plane * numbering.plane, plane_outputs: u32::MAX };
            for part in &parts {
                let piece = Piece {
                    first: plane * numbering.plane + part.first,
                    elements: part.elements,
                    first_result: plane * plane_outputs + part.first_result,
                    results: 0,
                    group: part.groups[0].clone(),
                };
                self.index_launches(builder, &part.groups, piece, &scratch, &place, numbering)?;
            }
        }
        Ok(())
    }

    /// The parts of a plane that bindings hold, what lies between their launches included.
    fn parts(
        &self,
        builder: &Builder<'_>,
        axes: &[Axis],
        numbering: &Numbering,
    ) -> Result<Vec<Part>> {
        let source_room = builder.room(builder.item(false));
        let last_room = builder.room(4 * numbering.words).min(source_room);
        let mut plane = axes.to_vec();
        plane[0] = Axis::plain(1);
        let at = plane.iter().position(|a| a.size > 1 || a.outputs > 1).unwrap_or(1);
        let axis = plane[at];
        let pitch: u64 = plane[at + 1..].iter().map(|a| a.size).product();
        let result_pitch: u64 = plane[at + 1..].iter().map(|a| a.outputs).product();
        let mut most = (last_room / result_pitch).min(axis.outputs);
        while most > 0 {
            let cuts = axis.cuts(most)?;
            let parts = cuts.into_iter().map(|(done, from, axis)| {
                let (elements, outputs) = (axis.size * pitch, axis.outputs * result_pitch);
                plane[at] = axis;
                let groups = self.tuning.groups(plane.clone());
                let between = groups[..groups.len() - 1].iter().map(Group::results).max();
                let fits = elements <= source_room
                    && outputs <= last_room
                    && between.is_none_or(|results| results <= builder.room(4));
                let (first, first_result) = (from * pitch, done * result_pitch);
                fits.then_some(Part { groups, first, elements, first_result })
            });
            if let Some(parts) = parts.collect::<Option<Vec<_>>>() {
                return Ok(parts);
            }
            most /= 2;
        }
        Err(over_binding(builder, (axis.reach + 1).min(axis.size) * pitch))
    }

    /// All launches of a pooling with indices, from the elements of `piece` on.
    fn index_launches(
        &self,
        builder: &mut Builder<'_>,
        groups: &[Group],
        mut piece: Piece,
        scratch: &[Region],
        place: &Place,
        numbering: &Numbering,
    ) -> Result<()> {
        let mut earlier = None;
        for (i, group) in groups.iter().enumerate() {
            piece.group = group.clone();
            piece.results = group.results();
            let target = if i + 1 == groups.len() { None } else { scratch.get(i).copied() };
            self.index_launch(builder, &piece, earlier, target, place, numbering)?;
            earlier = target;
        }
        Ok(())
    }

    fn index_launch(
        &self,
        builder: &mut Builder<'_>,
        piece: &Piece,
        earlier: Option<Region>,
        scratch: Option<Region>,
        place: &Place,
        numbering: &Numbering,
    ) -> Result<()> {
        let mut params = self.params(builder, &piece.group, piece.results)?;
        let (source, base) = builder.range(Region::elements(0).after(piece.first), piece.elements);
        params.base = base;
        let mut sources = vec![source];
        if let Some(positions) = earlier {
            let count = piece.group.outer * piece.group.unit_elements();
            let (range, base) = builder.range_of(positions.buffer, 0, count, 4);
            params.base = base;
            sources.push(range);
        }
        // A piece of a plane begins behind the plane's first element, whose position may be
        // before the binding: distances wrap around to come out right.
        params.plane_base = base.wrapping_sub((piece.first - place.plane_first) as u32);
        let offset = match numbering.modulus {
            0 => place.plane_first,
            modulus => place.plane_first % modulus,
        };
        (params.offset_low, params.offset_high) = words(offset);
        (params.modulus_low, params.modulus_high) = words(numbering.modulus);
        params.index_words = numbering.words as u32;
        params.plane_outputs = place.plane_outputs;
        params.by_plane = divisor(place.plane_outputs.into());
        params.by_channels = divisor(numbering.channels);
        params.by_modulus = divisor(numbering.modulus.max(1));
        params.plane_pitch = numbering.plane as u32;
        params.channels = numbering.channels as u32;
        params.first_channel = (piece.first_result % numbering.channels) as u32;
        params.columns = numbering.columns.len() as u32;
        params.sizes.as_flattened_mut()[..numbering.columns.len()]
            .copy_from_slice(&numbering.columns);
        let results = match scratch {
            Some(region) => vec![builder.range_of(region.buffer, 0, piece.results, 4).0],
            None => {
                let first = piece.first_result;
                let (values, base) = builder.range(Region::elements(1).after(first), piece.results);
                params.result_base = base;
                let (indices, base) =
                    builder.range_of(2, first, piece.results, 4 * numbering.words);
                params.index_base = base;
                vec![values, indices]
            }
        };
        let plain = numbering.modulus == 0 && numbering.columns.is_empty();
        let at_once = earlier.is_none() && scratch.is_none() && plain;
        let walk = self.tuning.walk_index(&piece.group, params.base, params.result_base);
        let (kernel, invocations) = match walk.filter(|_| at_once) {
            Some(walk) => {
                let invocations = self.walk_along(&mut params, &walk, &piece.group);
                (Kernel::PoolWalkIndex(walk, numbering.words == 2), invocations)
            }
            None => {
                let kernel = match self.across(&params) {
                    _ if piece.group.is_sparse() => Kernel::PoolIndexSparse,
                    true => Kernel::PoolIndexAcross,
                    false => Kernel::PoolIndex,
                };
                (kernel, self.slots(params.result_base, piece.results))
            }
        };
        let shader = self.shader(builder, kernel, earlier.is_some(), scratch.is_some());
        builder.push(shader, Params::Pool(Box::new(params)), sources, results, invocations)
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

/// A part of a plane, with the launches that compute it.
struct Part {
    groups: Vec<Group>,
    /// Where it begins in the plane, in elements, and how many follow.
    first: u64,
    elements: u64,
    first_result: u64,
}

/// Where the results of a launch lie among the planes.
struct Place {
    /// The first plane's first element.
    plane_first: u64,
    plane_outputs: u32,
}

fn words(value: u64) -> (u32, u32) {
    (value as u32, (value >> 32) as u32)
}

fn over_binding(builder: &Builder<'_>, elements: u64) -> Error {
    Error::OverLimit {
        what: "pooling, in pieces that cannot be smaller,",
        needed: elements * builder.item(false),
        limit: "max_storage_buffer_binding_size",
        allowed: builder.limits.max_binding_size,
    }
}
