//! Pools with positions: plane by plane, or in parts of a plane.

use bytemuck::Zeroable;

use super::axes::{Axis, Cut, positions};
use super::groups::Group;
use super::launch::{Bindings, Planner};
use super::params::Numbering;
use super::windows::Window;
use crate::base::error::Result;
use crate::plan::{Region, divisor};
use crate::tensor::{Indices, TensorDesc};

/// How positions become indices.
pub(super) struct IndexRules {
    /// Elements of a plane: of a batch and channel, or of a batch with its channels.
    plane: u64,
    /// The period of indices; 0 if they do not begin anew.
    modulus: u64,
    /// The parameters for kernels, except those that depend on the launch.
    numbering: Numbering,
}

/// The planes, or the part of one, that some launches compute.
struct Part {
    /// The launches, in order.
    groups: Vec<Group>,
    /// The first plane's first element, and how many results a plane has.
    plane_first: u64,
    plane_results: u32,
    /// The first element that is read.
    first: u64,
    first_result: u64,
}

impl IndexRules {
    /// # Errors
    /// [`Error::OverLimit`](crate::Error::OverLimit) for planes whose positions do not fit 32 bits.
    pub(super) fn new(
        indices: &Indices,
        modulus: u64,
        input: &TensorDesc,
        planes: u64,
        windows: &[Window],
    ) -> Result<Self> {
        let plane = input.len() as u64 / planes;
        if plane > i32::MAX as u64 {
            return Err(positions("a plane with positions", plane));
        }
        let modulus = if modulus == input.len() as u64 { 0 } else { modulus };
        let channels = windows.iter().fold(plane, |rest, w| rest / w.input);
        let mut numbering = Numbering {
            index_words: indices.element_type.size() as u32 / 4,
            modulus_low: modulus as u32,
            modulus_high: (modulus >> 32) as u32,
            plane_pitch: plane as u32,
            channels: channels as u32,
            by_channels: divisor(channels),
            by_modulus: divisor(modulus.max(1)),
            ..Numbering::zeroed()
        };
        if indices.is_column_major() {
            numbering.columns = windows.len() as u32;
            let sizes = numbering.sizes.as_flattened_mut();
            sizes.iter_mut().zip(windows).for_each(|(size, w)| *size = w.input as u32);
        }
        Ok(Self { plane, modulus, numbering })
    }

    /// Bytes of an index.
    fn bytes(&self) -> u64 {
        4 * u64::from(self.numbering.index_words)
    }

    /// The parameters for a kernel, for a launch whose elements begin at `elements` in their binding,
    /// and whose indices begin at `index_base` in theirs.
    fn params(&self, part: &Part, elements: u32, index_base: u32) -> Numbering {
        let offset = part.plane_first.checked_rem(self.modulus).unwrap_or(part.plane_first);
        Numbering {
            index_base,
            // The first element of a plane may be before the binding, which may have only a part of
            // the plane. Then this wraps around, as the kernel's differences do.
            plane_base: elements.wrapping_sub((part.first - part.plane_first) as u32),
            offset_low: offset as u32,
            offset_high: (offset >> 32) as u32,
            plane_outputs: part.plane_results,
            first_channel: (part.first_result % u64::from(self.numbering.channels)) as u32,
            by_plane: divisor(part.plane_results.into()),
            ..self.numbering
        }
    }
}

impl Planner<'_> {
    /// Adds the launches for `results` maxima and their indices.
    pub(super) fn indices(
        &mut self,
        mut axes: Vec<Axis>,
        results: u64,
        rules: &IndexRules,
    ) -> Result<()> {
        let planes = axes[0].size;
        axes[0] = Axis::plain(1);
        let plane_results = results / planes;
        let groups = self.groups(axes.clone());
        let capacity = self.builder.capacity(self.builder.item());
        let result_capacity = self.builder.capacity(rules.bytes()).min(self.builder.capacity(4));
        // The largest tensors of a plane: between launches and at the end.
        let widest = groups.iter().map(Group::results).max().unwrap_or(1);
        let fit = (capacity / rules.plane).min(result_capacity.min(capacity) / widest);
        // Planes larger than a binding are computed one after the other, each in parts along its
        // first axis. Each part runs all launches.
        let parts = match fit {
            0 => self.parts(axes, rules)?,
            _ => {
                let (plane_first, first, first_result) = (0, 0, 0);
                let plane_results = plane_results as u32;
                vec![Part { groups, plane_first, plane_results, first, first_result }]
            }
        };
        let at_once = fit.clamp(1, planes);
        let stages = parts.iter().map(|part| part.groups.len() - 1).max().unwrap_or(0);
        let between: Vec<Region> = (0..stages)
            .map(|i| {
                let results = |part: &Part| part.groups.get(i).map_or(0, Group::results);
                let words = parts.iter().map(results).max().unwrap_or(0);
                Region::all(self.builder.scratch_words(at_once * words))
            })
            .collect();
        for plane in (0..planes).step_by(at_once as usize) {
            let count = at_once.min(planes - plane);
            let many = |group: &Group| Group { outer: group.outer * count, ..group.clone() };
            for part in &parts {
                let part = Part {
                    groups: part.groups.iter().map(many).collect(),
                    plane_first: plane * rules.plane,
                    first: plane * rules.plane + part.first,
                    first_result: plane * plane_results + part.first_result,
                    ..*part
                };
                self.launches(&part, &between, rules)?;
            }
        }
        Ok(())
    }

    /// Cuts the first plane into parts that fit the bindings, as do the positions between their
    /// launches.
    fn parts(&self, mut plane: Vec<Axis>, rules: &IndexRules) -> Result<Vec<Part>> {
        let builder = &self.builder;
        let capacity = builder.capacity(builder.item());
        let result_capacity = builder.capacity(rules.bytes()).min(capacity);
        let at = plane.iter().position(|a| a.size > 1 || a.outputs > 1).unwrap_or(1);
        let axis = plane[at];
        let pitch: u64 = plane[at + 1..].iter().map(|a| a.size).product();
        let result_pitch: u64 = plane[at + 1..].iter().map(|a| a.outputs).product();
        let mut windows = (result_capacity / result_pitch).min(axis.outputs);
        // The binding size of the smallest possible parts.
        let mut min_binding = result_pitch * builder.item().max(rules.bytes());
        while windows > 0 {
            min_binding = 0;
            let parts = axis.cuts(windows)?.into_iter().map(|cut| {
                let Cut { first_window, first_element, axis } = cut;
                let (elements, results) = (axis.size * pitch, axis.outputs * result_pitch);
                plane[at] = axis;
                let groups = self.groups(plane.clone());
                let between = groups[..groups.len() - 1].iter().map(Group::results).max();
                let between = between.unwrap_or(0);
                let result_bytes = results * builder.item().max(rules.bytes());
                min_binding =
                    min_binding.max(elements * builder.item()).max(result_bytes).max(between * 4);
                let fits = elements <= capacity
                    && results <= result_capacity
                    && between <= builder.capacity(4);
                fits.then_some(Part {
                    groups,
                    plane_first: 0,
                    // All results belong to the plane.
                    plane_results: u32::MAX,
                    first: first_element * pitch,
                    first_result: first_window * result_pitch,
                })
            });
            if let Some(parts) = parts.collect::<Option<Vec<_>>>() {
                return Ok(parts);
            }
            windows /= 2;
        }
        Err(builder.over_binding("a binding of the smallest piece of a pooling", min_binding))
    }

    /// All launches of a part. Positions between launches are stored in the regions `between`.
    fn launches(&mut self, part: &Part, between: &[Region], rules: &IndexRules) -> Result<()> {
        let mut earlier: Option<Region> = None;
        for (i, group) in part.groups.iter().enumerate() {
            let last = i + 1 == part.groups.len();
            let later = between.get(i).filter(|_| !last);
            let builder = &self.builder;
            let count = group.results();
            let region = Region::all(0).after(part.first);
            let (source, elements) = builder.range(region, part.groups[0].elements());
            let (mut sources, mut base) = (vec![source], elements);
            if let Some(positions) = earlier {
                let (range, first) = builder.range_of(positions.buffer, 0, group.elements(), 4);
                base = first;
                sources.push(range);
            }
            let (mut result_base, mut index_base) = (0, 0);
            let (results, purpose) = match later {
                Some(region) => {
                    let results = vec![builder.range_of(region.buffer, 0, count, 4).0];
                    (results, "positions of the maxima of parts of windows")
                }
                None => {
                    let first = part.first_result;
                    let (values, base) = builder.range(Region::all(1).after(first), count);
                    let (indices, first) = builder.range_of(2, first, count, rules.bytes());
                    (result_base, index_base) = (base, first);
                    (vec![values, indices], "maxima of windows, and their indices")
                }
            };
            let numbering = Some(rules.params(part, elements, index_base));
            let bindings = Bindings { sources, base, results, result_base };
            self.launch(purpose, group, bindings, numbering, later.is_some())?;
            earlier = later.copied();
        }
        Ok(())
    }
}
