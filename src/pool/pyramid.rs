//! Poolings of poolings, the levels of a pyramid, as one launch.
//!
//! A workgroup has a tile of each level. It owns and stores a part of each tile, and also computes
//! what its part of the next level reads. It loads the elements for level 1 strip by strip.

use bytemuck::Zeroable;

use super::axes::Axis;
use super::groups::Group;
use super::params::{Level as LevelParams, NO_RESULT, Params, PyramidParams, Tiles, Windows};
use super::tile::Tile;
use super::{MaxPool, PYRAMID, Tuning};
use crate::base::error::Result;
use crate::plan::{Builder, LaunchDesc, Plan, Range, Region, Shader, Target, small_divisor};
use crate::tensor::key::Ranking;
use crate::tensor::{Outputs, View};

/// A pooling of the maxima of the one before.
pub(crate) struct Level<'a> {
    pub operator: &'a MaxPool,
    pub input: &'a View,
    /// The destination of its maxima, and whether anything but the next level reads them.
    pub result: &'a View,
    pub is_read: bool,
}

/// The windows of a level along the two last axes.
type Axes = [Axis; 2];

/// Levels of one launch, and how its workgroups compute them.
pub(super) struct Pyramid {
    planes: u64,
    levels: Vec<Axes>,
    /// Rows and columns of the source and then of each level: those that a workgroup owns, and
    /// those that it computes.
    own: Vec<[u64; 2]>,
    cover: Vec<[u64; 2]>,
    /// The number of strips of the source, the rows of level 1 that a strip gives, and the rows of
    /// a strip.
    strips: u64,
    strip: u64,
    loaded: u64,
}

/// The destination of a level's maxima: the number of the result, its binding, the first element in
/// it, and the distances from one plane and one row to the next.
struct Place {
    level: usize,
    range: Range,
    base: u32,
    pitches: [u32; 2],
}

/// Whether two poolings may be levels of one pyramid.
pub(crate) fn may_follow(next: &MaxPool, first: &MaxPool) -> bool {
    let order = |op: &MaxPool| (op.nan, op.extremum, op.initial, op.indices);
    order(next) == order(first) && next.indices.is_none() && next.initial.is_none()
}

/// Some of the first levels as one plan, and which of them are its results; `None` if separate
/// plans are better.
///
/// # Errors
/// [`Error::OverLimit`](crate::Error::OverLimit).
pub(crate) fn plan(
    levels: &[Level<'_>],
    target: Target<'_>,
    tuning: &Tuning,
) -> Result<Option<(Plan, Vec<usize>)>> {
    let Some(Level { operator, input: view, .. }) = levels.first() else { return Ok(None) };
    let input = view.desc();
    let ranking = Ranking::new(input.element_type(), operator.nan, operator.extremum);
    let mut builder = Builder::new(&[input], Outputs::unnamed(Vec::new()), ranking, target);
    let mut known: Vec<(u64, Axes)> = Vec::new();
    for level in levels {
        let follows = |(planes, axes): &(u64, Axes), (before, above): &(u64, Axes)| {
            planes == before && (0..2).all(|i| axes[i].size == above[i].outputs)
        };
        match axes(level).filter(|found| known.last().is_none_or(|last| follows(found, last))) {
            Some(found) => known.push(found),
            None => break,
        }
    }
    let stored = |count: usize| (0..count).filter(move |&i| levels[i].is_read || i + 1 == count);
    let is_stored = |count: usize| stored(count).all(|i| has_words(&builder, known[i].1));
    let Some(&(planes, [rows, columns])) = known.first() else { return Ok(None) };
    // Single poolings read other views in their memory order, or from a packed copy.
    let shape = [planes, rows.size, columns.size].map(|size| size as usize);
    if builder.whole(0, view, &shape).is_none_or(|(_, _, pitches)| pitches[2] != 1) {
        return Ok(None);
    }
    let levels_of = |count: usize| known[..count].iter().map(|(_, axes)| *axes).collect();
    let counts = (2..=known.len()).filter(|&count| {
        stored(count).count() < target.limits.max_storage_buffers as usize && is_stored(count)
    });
    let counts: Vec<Vec<Axes>> = counts.map(levels_of).collect();
    let Some(pyramid) = Pyramid::best(&builder, tuning, planes, counts) else { return Ok(None) };
    let stored: Vec<usize> = stored(pyramid.levels.len()).collect();
    let outputs = stored.iter().map(|&i| levels[i].result.desc().clone()).collect();
    builder = Builder::new(&[input], Outputs::unnamed(outputs), ranking, target);
    let mut places = Vec::new();
    for (i, &level) in stored.iter().enumerate() {
        let (view, shape) = (levels[level].result, pyramid.shape(level));
        let place = Place::new(&builder, level, i + 1, view, shape);
        if place.is_some() && !view.is_contiguous() {
            builder.place(i + 1, view);
        }
        let plain = || Place::new(&builder, level, i + 1, &view.desc().into(), shape);
        let Some(place) = place.or_else(plain) else { return Ok(None) };
        places.push(place);
    }
    pyramid.push(&mut builder, Region::all(0), places)?;
    Ok(Some((builder.finish(), stored)))
}

/// The planes of a level, and its windows along two axes; `None` for windows that have positions,
/// have no elements, or begin before the first element.
fn axes(level: &Level<'_>) -> Option<(u64, Axes)> {
    let input = level.input.desc();
    let windows = level.operator.windows(input).ok()?;
    let (planes, channels) = level.operator.planes(input);
    let mut axes = [Axis::plain(1); 2];
    let none = windows.iter().any(|window| window.output == 0);
    if input.is_empty() || none || channels > 1 || windows.len() > 2 {
        return None;
    }
    for (axis, window) in axes[2 - windows.len()..].iter_mut().zip(&windows) {
        let (size, outputs) = (window.input, window.output);
        let (taps, stride, dilation) = (window.kernel, window.stride, window.dilation);
        let reach = taps - 1;
        *axis =
            Axis { size, outputs, taps, stride, dilation: 1, reach, start: 0, drift: window.drift };
        if window.pad_begin > 0 || dilation > 1 && taps > 1 || !is_short(axis) {
            return None;
        }
    }
    Some((planes, axes))
}

/// Whether windows have few elements, and at least one each.
fn is_short(axis: &Axis) -> bool {
    const MAX: u64 = 8;
    axis.taps <= MAX && axis.stride <= MAX && axis.has_all()
}

/// Whether the lines of a level are whole words.
fn has_words(builder: &Builder<'_>, [_, axis]: Axes) -> bool {
    axis.outputs.is_multiple_of(builder.per_word())
}

impl Pyramid {
    /// Adjacent windows that are too long for tiles, as levels of shorter ones.
    pub fn of_windows(builder: &Builder<'_>, tuning: &Tuning, axes: &[Axis]) -> Option<Self> {
        let large: Vec<&Axis> = axes.iter().filter(|axis| **axis != Axis::plain(1)).collect();
        let count = large.iter().rev().take_while(|axis| !axis.is_plain()).count();
        let (planes, windows) = large.split_at(large.len() - count);
        let mut left = [Axis::plain(1); 2];
        if !(1..=2).contains(&count) || !planes.iter().all(|axis| axis.is_plain()) {
            return None;
        }
        left[2 - count..].iter_mut().zip(windows).for_each(|(left, axis)| *left = **axis);
        let apart = |a: &Axis| a.taps == a.stride && a.start == 0 && a.is_even() && a.has_all();
        let taps = left[0].taps.saturating_mul(left[1].taps);
        let suits = left.iter().all(|axis| apart(axis) && (axis.dilation == 1 || axis.taps == 1))
            && taps > tuning.max_tile_taps.max(1)
            && has_words(builder, left);
        if !suits {
            return None;
        }
        let mut levels = Vec::new();
        while left.iter().any(|axis| axis.taps > 1) {
            let mut level = left;
            for (level, left) in level.iter_mut().zip(&mut left) {
                let factor = (2..=8).find(|&factor| left.taps.is_multiple_of(factor));
                level.taps = factor.unwrap_or(left.taps);
                level.stride = level.taps;
                level.reach = level.taps - 1;
                left.taps /= level.taps;
                if left.taps > 1 {
                    // Later levels ignore partial windows.
                    level.outputs = level.size.div_ceil(level.taps);
                }
                left.size = level.outputs;
            }
            if !level.iter().all(is_short) || levels.len() >= PyramidParams::MAX_LEVELS {
                return None;
            }
            levels.push(level);
        }
        let planes = planes.iter().map(|axis| axis.size).product();
        Self::best(builder, tuning, planes, vec![levels])
    }

    /// The list of levels with the least cost for each level, and its cheapest tiles; `None` if no
    /// list costs less than its first level alone.
    fn best(
        builder: &Builder<'_>,
        tuning: &Tuning,
        planes: u64,
        lists: Vec<Vec<Axes>>,
    ) -> Option<Self> {
        let max = (tuning.max_pyramid_levels as usize).min(PyramidParams::MAX_LEVELS);
        let lists = lists.into_iter().filter(|levels| (1..=max).contains(&levels.len()));
        let sizes = |levels: &Vec<Axes>| [levels[0].map(|a| a.size), levels[0].map(|a| a.outputs)];
        let fits = |levels: &Vec<Axes>| {
            let planes = u128::from(planes);
            let elements = sizes(levels).map(|[a, b]| planes * u128::from(a) * u128::from(b));
            elements.iter().all(|&elements| elements <= builder.capacity(builder.item()).into())
        };
        let tiles = lists.filter(fits).flat_map(|levels| {
            let shapes =
                (0..7).flat_map(|i| (0..7).map(move |j| [1 << i, builder.per_word() << j]));
            let tiles = shapes.filter_map(|last| Self::new(builder, planes, levels.clone(), last));
            tiles.collect::<Vec<_>>()
        });
        let costs = tiles.map(|pyramid| (pyramid.cost(builder, tuning), pyramid));
        let (cost, best) = costs.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        let alone = planes * best.levels[0].iter().map(|axis| axis.size).product::<u64>();
        let alone = (alone * builder.item() + tuning.pyramid_launch_bytes) as f64;
        (cost < alone).then_some(best)
    }

    /// The levels in tiles, if they fit. `last` is the rows and columns of a tile of the last
    /// level.
    fn new(builder: &Builder<'_>, planes: u64, levels: Vec<Axes>, last: [u64; 2]) -> Option<Self> {
        let (mut own, mut cover) = (vec![last], vec![last]);
        for (number, axes) in levels.iter().enumerate().rev() {
            let (next, made) = (own[0], cover[0]);
            let before = [0, 1].map(|i| next[i] * axes[i].stride);
            let needed = [0, 1].map(|i| (made[i] - 1) * axes[i].stride + axes[i].taps);
            // Elements that no window reads are stored, too.
            let all = [0, 1].map(|i| if number > 0 { needed[i].max(before[i]) } else { needed[i] });
            own.insert(0, before);
            cover.insert(0, all);
        }
        // No tile is twice as large as the level.
        let sizes = levels[0].map(|axis| axis.outputs);
        let (smallest, first) = ([1, builder.per_word()], levels[0][0]);
        if (0..2).any(|i| own[1][i] >= 2 * sizes[i] && last[i] > smallest[i]) {
            return None;
        }
        let made: u64 = cover[1..].iter().map(|[rows, columns]| rows * columns).sum();
        // All strips of level 1 have space for as many rows, but the last one may have fewer.
        let free = |strips: u64| {
            let over = (strips * cover[1][0].div_ceil(strips) - cover[1][0]) * cover[1][1];
            Tile::keys(builder.element).checked_sub(made + over)
        };
        let fit = |strips: &u64| {
            let strip = cover[1][0].div_ceil(*strips);
            let loaded = (strip - 1) * first.stride + first.taps;
            free(*strips).is_some_and(|free| loaded * cover[0][1] <= free)
        };
        let strips = (1..=cover[1][0]).find(fit)?;
        let strip = cover[1][0].div_ceil(strips);
        let loaded = (strip - 1) * first.stride + first.taps;
        let pyramid = Self { planes, levels, own, cover, strips, strip, loaded };
        (pyramid.iterations(builder) <= builder.max_iterations()).then_some(pyramid)
    }

    /// Iterations of an invocation.
    fn iterations(&self, builder: &Builder<'_>) -> u64 {
        let each = |all: u64| all.div_ceil(builder.workgroup());
        let made = self.levels.iter().zip(&self.cover[1..]).map(|(axes, [rows, columns])| {
            (each(rows * columns) + self.strips) * (axes[0].taps * axes[1].taps + 1)
        });
        self.strips * each(self.loaded * self.cover[0][1]) + made.sum::<u64>()
    }

    /// Bytes that are loaded for each level, plus the cost of workgroups and of a launch.
    fn cost(&self, builder: &Builder<'_>, tuning: &Tuning) -> f64 {
        let [rows, columns] = self.levels[0].map(|axis| axis.size);
        let rows = rows.min(self.strips * self.loaded);
        let row = columns.min(self.cover[0][1]) * builder.item() + 28;
        // Each strip waits for memory.
        let steps = 4 * self.strips + self.levels.len() as u64;
        let groups = self.tiles().iter().product::<u64>() * self.planes;
        let bytes = groups as f64 * (rows * row + steps * 2 * builder.workgroup()) as f64;
        (bytes + tuning.pyramid_launch_bytes as f64) / self.levels.len() as f64
    }

    /// Tiles along each axis: the levels that follow have no more than the first.
    fn tiles(&self) -> [u64; 2] {
        [0, 1].map(|i| self.levels[0][i].outputs.div_ceil(self.own[1][i]))
    }

    /// Planes, rows and columns of a level.
    fn shape(&self, level: usize) -> [u64; 3] {
        let [rows, columns] = self.levels[level].map(|axis| axis.outputs);
        [self.planes, rows, columns]
    }

    /// Adds the launch for windows that are planned as levels, of which only the last is stored.
    pub fn push_last(
        self,
        builder: &mut Builder<'_>,
        source: Region,
        result: Region,
    ) -> Result<()> {
        let level = self.levels.len() - 1;
        let [planes, rows, columns] = self.shape(level);
        let (range, base) = builder.range(result, planes * rows * columns);
        let pitches = [rows * columns, columns].map(|pitch| pitch as u32);
        self.push(builder, source, vec![Place { level, range, base, pitches }])
    }

    /// Adds the launch.
    fn push(self, builder: &mut Builder<'_>, source: Region, places: Vec<Place>) -> Result<()> {
        let [rows, columns] = self.levels[0];
        let group = Group { outer: self.planes, axes: [Axis::plain(1), rows, columns], inner: 1 };
        let (source, base) = builder.range(source, group.elements());
        let windows = Windows::new(&group, group.results(), base)?;
        let per_word = builder.per_word();
        let [down, along] = self.tiles();
        let ([own0, own1], loaded) = (self.own[1], [1, self.loaded, self.cover[0][1]]);
        let tiles = Tiles::new(builder, [1, own0, own1], loaded, [1, down, along], own1 / per_word);
        let mut first = self.loaded * self.cover[0][1];
        let mut level = [LevelParams::zeroed(); PyramidParams::MAX_LEVELS];
        for (i, (params, axes)) in level.iter_mut().zip(&self.levels).enumerate() {
            let ([own_rows, own_columns], [rows, columns]) = (self.own[i + 1], self.cover[i + 1]);
            let place = places.iter().position(|place| place.level == i);
            let (result_base, [plane_pitch, row_pitch]) =
                place.map_or((0, [0; 2]), |at| (places[at].base, places[at].pitches));
            *params = LevelParams {
                rows: axes[0].outputs as u32,
                columns: axes[1].outputs as u32,
                taps0: axes[0].taps as u32,
                taps1: axes[1].taps as u32,
                stride0: axes[0].stride as u32,
                stride1: axes[1].stride as u32,
                own_rows: own_rows as u32,
                own_columns: own_columns as u32,
                first: first as u32,
                made_rows: if i == 0 { self.strip } else { rows } as u32,
                result: place.map_or(NO_RESULT, |at| at as u32),
                result_base,
                plane_pitch,
                row_pitch,
                padding: [0; 2],
                by_columns: small_divisor(columns),
                by_words: small_divisor((own_columns / per_word).max(1)),
            };
            first += if i == 0 { self.strips * self.strip } else { rows } * columns;
        }
        let (ranking, padding) = (builder.ranking, [0; 3]);
        let pool =
            Params { ranking, empty_low: 0, empty_high: 0, result_base: 0, padding, windows };
        let (levels, strips) = (self.levels.len() as u32, self.strips as u32);
        let params = &PyramidParams { pool, tiles, levels, strips, unused: [0; 2], level };
        let attributes = attributes(places.len());
        let shader = Shader { attributes, ..builder.shader(&PYRAMID) };
        let results = places.into_iter().map(|place| place.range).collect();
        let purpose = match levels as usize {
            1 => "maxima of windows",
            _ => "maxima of windows, and of these, level by level",
        };
        let launch = LaunchDesc { purpose, shader, params, sources: vec![source], results };
        builder.push_groups(launch, self.planes * down * along)
    }
}

impl Place {
    /// The destination of a level whose buffer has a view. `None` for lines that begin within
    /// words, and for sizes that no binding holds.
    fn new(
        builder: &Builder<'_>,
        level: usize,
        buffer: usize,
        view: &View,
        shape: [u64; 3],
    ) -> Option<Self> {
        let (range, base, pitches) = builder.whole(buffer, view, &shape.map(|n| n as usize))?;
        let &[plane, row, 1] = &pitches[..] else { return None };
        let words = [base, plane, row].map(|n| (n as u64).is_multiple_of(builder.per_word()));
        let [base, plane, row] = [base, plane, row].map(u32::try_from);
        let (base, pitches) = (base.ok()?, [plane.ok()?, row.ok()?]);
        (words == [true; 3]).then_some(Self { level, range, base, pitches })
    }
}

/// The attributes of the kernel's text: the number of levels that are stored.
pub(super) fn attributes(results: usize) -> [u8; 16] {
    let mut all = [0; 16];
    all[0] = results as u8;
    all
}

/// The results of a text, and the function that stores a word of each.
pub(super) fn text(shader: &Shader) -> String {
    let (mut bindings, mut cases) = (String::new(), String::new());
    for i in 0..shader.attributes[0] {
        let binding = 2 + 2 * i;
        bindings += &format!(
            "@group(0) @binding({binding}) var<storage, read_write> result{i}: array<u32>;\n"
        );
        cases +=
            &format!("        case {i}u: {{\n            result{i}[word] = bits;\n        }}\n");
    }
    format!(
        "{bindings}\
fn store_word(result: u32, word: u32, bits: u32) {{
    switch result {{
{cases}        default: {{}}
    }}
}}
"
    )
}
