//! Pools whose positions are wanted: plane by plane, or in parts of a plane.

use super::axes::{Axis, Cut};
use super::groups::Group;
use super::launch::{Planner, gather_params, output_vectors, push_special};
use super::params::{GatherParams, Numbering, TileParams};
use super::windows::Window;
use super::{GATHER, Indices, Order, TILE};
use crate::error::{Error, Result};
use crate::plan::{Builder, New, Region, divisor};
use crate::tensor::TensorDesc;

/// How positions become indices.
pub(super) struct IndexRules {
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

/// What the launches of some planes, or of a part of one, are about.
struct Part {
    /// The launches, in order.
    groups: Vec<Group>,
    /// The first plane's first element, and how many results a plane has.
    plane_first: u64,
    plane_results: u32,
    /// The first element that is looked at, and how many follow.
    first: u64,
    elements: u64,
    first_result: u64,
}

/// What a launch reads and writes beside the elements: positions that an earlier launch has found,
/// and where the positions go that it finds. The last launch writes elements and indices.
#[derive(Clone, Copy)]
struct Between {
    earlier: Option<Region>,
    later: Option<Region>,
}

impl IndexRules {
    /// # Errors
    /// [`Error::OverLimit`] for planes whose positions do not fit 32 bits.
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

    /// Whether indices are distances in memory.
    fn are_distances(&self) -> bool {
        self.modulus == 0 && self.columns.is_empty()
    }

    /// The rules as a kernel knows them, for a launch whose elements begin at `elements` in their
    /// binding, and whose indices begin at `index_base` in theirs.
    fn params(&self, part: &Part, elements: u32, index_base: u32) -> Numbering {
        let offset = match self.modulus {
            0 => part.plane_first,
            modulus => part.plane_first % modulus,
        };
        let mut sizes = [[0; 4]; 2];
        sizes.as_flattened_mut()[..self.columns.len()].copy_from_slice(&self.columns);
        Numbering {
            index_words: self.words as u32,
            index_base,
            // A part of a plane begins behind the plane's first element, whose position may be
            // before the binding: distances wrap around to come out right.
            plane_base: elements.wrapping_sub((part.first - part.plane_first) as u32),
            offset_low: offset as u32,
            offset_high: (offset >> 32) as u32,
            modulus_low: self.modulus as u32,
            modulus_high: (self.modulus >> 32) as u32,
            plane_outputs: part.plane_results,
            plane_pitch: self.plane as u32,
            channels: self.channels as u32,
            first_channel: (part.first_result % self.channels) as u32,
            columns: self.columns.len() as u32,
            sizes,
            by_plane: divisor(part.plane_results.into()),
            by_channels: divisor(self.channels),
            by_modulus: divisor(self.modulus.max(1)),
        }
    }
}

impl Planner<'_> {
    /// The maxima and their indices, `results` of each.
    pub(super) fn indices(
        &self,
        builder: &mut Builder<'_>,
        axes: &[Axis],
        results: u64,
        rules: &IndexRules,
    ) -> Result<()> {
        let planes = axes[0].size;
        let mut plane = axes.to_vec();
        plane[0] = Axis::plain(1);
        let groups = self.grouping(builder).groups(plane.clone());
        let plane_results = results / planes;
        let capacity = builder.capacity(builder.item());
        let result_capacity = builder.capacity(4 * rules.words).min(builder.capacity(4));
        // What a plane takes at most, on its way and in the end.
        let widest = groups.iter().map(Group::results).max().unwrap_or(1);
        let fit = (capacity / rules.plane).min(result_capacity.min(capacity) / widest);
        if fit == 0 {
            return self.cut_planes(builder, plane, planes, plane_results, rules);
        }
        let fit = fit.min(planes);
        let between: Vec<Region> = groups[..groups.len() - 1]
            .iter()
            .map(|group| Region::all(builder.scratch_words(fit * group.results())))
            .collect();
        for first in (0..planes).step_by(fit as usize) {
            let count = fit.min(planes - first);
            let many = |group: &Group| Group { outer: group.outer * count, ..group.clone() };
            let part = Part {
                groups: groups.iter().map(many).collect(),
                plane_first: first * rules.plane,
                plane_results: plane_results as u32,
                first: first * rules.plane,
                elements: count * rules.plane,
                first_result: first * plane_results,
            };
            self.launches(builder, &part, &between, rules)?;
        }
        Ok(())
    }

    /// Planes that are larger than a binding: one after the other, each in parts along its first
    /// axis that take all launches by themselves.
    fn cut_planes(
        &self,
        builder: &mut Builder<'_>,
        plane: Vec<Axis>,
        planes: u64,
        plane_results: u64,
        rules: &IndexRules,
    ) -> Result<()> {
        let parts = self.parts(builder, plane, rules)?;
        let stages = parts.iter().map(|part| part.groups.len() - 1).max().unwrap_or(0);
        let between: Vec<Region> = (0..stages)
            .map(|i| {
                let results = |part: &Part| part.groups.get(i).map_or(0, Group::results);
                let words = parts.iter().map(results).max().unwrap_or(0);
                Region::all(builder.scratch_words(words))
            })
            .collect();
        for i in 0..planes {
            for part in &parts {
                let part = Part {
                    groups: part.groups.clone(),
                    plane_first: i * rules.plane,
                    first: i * rules.plane + part.first,
                    first_result: i * plane_results + part.first_result,
                    ..*part
                };
                self.launches(builder, &part, &between, rules)?;
            }
        }
        Ok(())
    }

    /// The parts of the first plane that bindings hold, what lies between their launches included.
    fn parts(
        &self,
        builder: &Builder<'_>,
        mut plane: Vec<Axis>,
        rules: &IndexRules,
    ) -> Result<Vec<Part>> {
        let capacity = builder.capacity(builder.item());
        let result_capacity = builder.capacity(4 * rules.words).min(capacity);
        let at = plane.iter().position(|a| a.size > 1 || a.outputs > 1).unwrap_or(1);
        let axis = plane[at];
        let pitch: u64 = plane[at + 1..].iter().map(|a| a.size).product();
        let result_pitch: u64 = plane[at + 1..].iter().map(|a| a.outputs).product();
        let mut windows = (result_capacity / result_pitch).min(axis.outputs);
        // The bytes of one binding of the parts that are as small as can be.
        let mut least = result_pitch * builder.item().max(4 * rules.words);
        while windows > 0 {
            least = 0;
            let parts = axis.cuts(windows)?.into_iter().map(|cut| {
                let Cut { first_window, first_element, axis } = cut;
                let (elements, results) = (axis.size * pitch, axis.outputs * result_pitch);
                plane[at] = axis;
                let groups = self.grouping(builder).groups(plane.clone());
                let between = groups[..groups.len() - 1].iter().map(Group::results).max();
                let between = between.unwrap_or(0);
                let result_bytes = results * builder.item().max(4 * rules.words);
                least = least.max(elements * builder.item()).max(result_bytes).max(between * 4);
                let fits = elements <= capacity
                    && results <= result_capacity
                    && between <= builder.capacity(4);
                fits.then_some(Part {
                    groups,
                    plane_first: 0,
                    // All results belong to the plane.
                    plane_results: u32::MAX,
                    first: first_element * pitch,
                    elements,
                    first_result: first_window * result_pitch,
                })
            });
            if let Some(parts) = parts.collect::<Option<Vec<_>>>() {
                return Ok(parts);
            }
            windows /= 2;
        }
        Err(builder.over_binding("pooling, in pieces that cannot be smaller,", least))
    }

    /// All launches of a part; the positions between them go to the regions `between`.
    fn launches(
        &self,
        builder: &mut Builder<'_>,
        part: &Part,
        between: &[Region],
        rules: &IndexRules,
    ) -> Result<()> {
        let mut earlier = None;
        for (i, group) in part.groups.iter().enumerate() {
            let last = i + 1 == part.groups.len();
            let later = between.get(i).copied().filter(|_| !last);
            self.index_launch(builder, part, group, Between { earlier, later }, rules)?;
            earlier = later;
        }
        Ok(())
    }

    fn index_launch(
        &self,
        builder: &mut Builder<'_>,
        part: &Part,
        group: &Group,
        Between { earlier, later }: Between,
        rules: &IndexRules,
    ) -> Result<()> {
        let count = group.results();
        let (source, elements) = builder.range(Region::all(0).after(part.first), part.elements);
        let (mut sources, mut base) = (vec![source], elements);
        if let Some(positions) = earlier {
            let candidates = group.outer * group.unit_elements();
            let (range, first) = builder.range_of(positions.buffer, 0, candidates, 4);
            base = first;
            sources.push(range);
        }
        let (mut result_base, mut index_base) = (0, 0);
        let results = match later {
            Some(region) => vec![builder.range_of(region.buffer, 0, count, 4).0],
            None => {
                let first = part.first_result;
                let (values, base) = builder.range(Region::all(1).after(first), count);
                let (indices, first) = builder.range_of(2, first, count, 4 * rules.words);
                (result_base, index_base) = (base, first);
                vec![values, indices]
            }
        };
        let purpose = match later {
            Some(_) => "where the maxima of parts of windows are",
            None => "maxima of windows, and their indices",
        };
        let pool = self.params(builder, group, count, base, result_base)?;
        let numbering = rules.params(part, elements, index_base);
        if earlier.is_none() && later.is_none() && rules.are_distances() {
            let special = self.tuning.special;
            let special = special.and_then(|s| (s.launch)(builder, group, &pool, Some(&numbering)));
            if let Some(special) = special {
                return push_special(builder, purpose, special, sources, results);
            }
        }
        let whole = u64::from(result_base).is_multiple_of(builder.per_word());
        let alone = earlier.is_none() && later.is_none() && whole;
        if let Some(tile) = self.grouping(builder).tile(group).filter(|_| alone) {
            let pool = self.params(builder, &tile.group, count, base, result_base)?;
            let (tiles, groups) = tile.params(builder, &pool);
            let params = TileParams { pool, tiles, numbering };
            let shader = builder.shader(&TILE).with("indices", true);
            let launch = New { purpose, shader, params: &params, sources, results };
            return builder.push_groups(launch, groups);
        }
        let shader = builder.shader(&GATHER).with("indices", true);
        let shader =
            shader.with("from_positions", earlier.is_some()).with("to_positions", later.is_some());
        let params = GatherParams { pool, gather: gather_params(group), numbering };
        let invocations = output_vectors(builder, &pool);
        builder.push(New { purpose, shader, params: &params, sources, results }, invocations)
    }
}
