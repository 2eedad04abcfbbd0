//! Poolings whose positions are wanted: plane by plane, or in parts of a plane.

use super::axes::{Axis, Group, Piece};
use super::{Pool, over_binding};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Params, divisor};
use crate::operator::{Indices, Order, Window};
use crate::plan::builder::{Builder, Region};
use crate::tensor::TensorDesc;

/// How positions become indices.
pub(super) struct Numbering {
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

impl Numbering {
    pub(super) fn new(
        indices: &Indices,
        modulus: u64,
        input: &TensorDesc,
        planes: u64,
        windows: &[Window],
    ) -> Result<Self> {
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
        Ok(Self {
            plane,
            channels: windows.iter().fold(plane, |rest, w| rest / w.input),
            modulus: if modulus == input.len() as u64 { 0 } else { modulus },
            columns,
            words: indices.element_type.size() as u64 / 4,
        })
    }
}

impl Pool {
    /// The maxima and their indices.
    pub(super) fn indices(
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
