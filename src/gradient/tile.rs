//! `shaders/gradient/tile.wgsl`: the gradient of a pooling from its data, in one launch.

use bytemuck::{cast_slice, cast_slice_mut};

use super::pool::{self as sums, Planes, Rows, Sum, parts};
use super::span::{Spacing, max_windows};
use super::sum::{Gradient, with_gradient};
use crate::base::error::Result;
use crate::base::threads;
use crate::plan::{
    Builder, Call, Kernel, LaunchDesc, Plan, Region, SMALL, Shader, Target, small_divisor,
};
use crate::pool::{self, Group, Tiles, Windows, params};
use crate::tensor::key::Ranking;
use crate::tensor::{ElementType, Outputs, TensorDesc};
use crate::wgsl::params;

/// Sums of the gradients of windows. The same launch finds their maxima. `dilated`: taps of a window are
/// apart.
pub(super) static TILE: Kernel = Kernel::new::<Params>("pool_tile_gradient", "gradient/tile", run)
    .flags(&["dilated"])
    .constants(&[("KEYS", |shader| keys(shader.element)), ("MAXIMA", |_| MAXIMA)])
    .only(|element, _| element.is_float());

/// Bytes of the keys that a workgroup holds, and how many maxima. All devices allow it.
const KEY_BYTES: u64 = 2688 * 4;
const MAXIMA: u64 = 1344;
/// The gradients of the windows replace the keys.
const _: () = assert!(KEY_BYTES / 8 >= MAXIMA);

/// How many keys a workgroup holds.
fn keys(element: ElementType) -> u64 {
    KEY_BYTES / element.size().max(4) as u64
}

/// Maximum elements of a tile: with wide strides, few keys may belong to very many elements.
const MAX_ELEMENTS: u64 = 4 * 2688;
/// A stride is at most the elements of a tile, and the only window along an axis has stride 1. So the sum
/// of a distance within a tile and a stride is below [`SMALL`].
const _: () = assert!(2 * MAX_ELEMENTS + KEY_BYTES / 4 < SMALL);
/// How many tiles may search the same window. If there are more, two launches are cheaper.
const MAX_SEARCHES: u64 = 4;
/// The cost of a tap of a window, in bytes.
const TAP: f64 = 0.5;

params! {
    struct Params {
        ranking: Ranking,
        /// The offsets of the first element of the result, which begins a word, and of the first
        /// gradient, in elements.
        result_base: u32,
        gradient_base: u32,
        windows: Windows,
        /// The last of `tiles.windows` repeats the windows along axis 2.
        tiles: Tiles,
        /// Elements of a tile along each axis, and the words that those of axis 2 fill.
        elements: [u32; 4],
        /// Windows from one tile to the next, and the number of the first window of the first tile,
        /// which may be negative.
        step: [u32; 4],
        first: [u32; 4],
        /// Small divisors: the words of a row of elements, and the rows of a tile along axis 1.
        by_words: [u32; 4],
        by_elements1: [u32; 4],
        spacing: [Spacing; 3],
    }
}

/// A tile along one axis.
#[derive(Clone, Copy)]
struct Along {
    /// The elements whose gradients it computes.
    elements: u64,
    /// The distance from one tile to the next: in windows, and in strides of elements.
    step: u64,
    /// The first window that an element of the first tile is in.
    first: i64,
    /// The windows that its elements are in, and the elements that these cover.
    windows: u64,
    cover: u64,
}

impl Along {
    /// A tile of all elements.
    fn whole(axis: &pool::Axis) -> Self {
        let (windows, step) = (axis.outputs, axis.size.div_ceil(axis.stride));
        let cover = pool::covered(axis, windows);
        Self { elements: axis.size, step, first: 0, windows, cover }
    }

    /// A tile of `step` strides of elements.
    fn new(axis: &pool::Axis, step: u64) -> Self {
        if step * axis.stride >= axis.size {
            return Self::whole(axis);
        }
        let (first, more) = Self::around(axis);
        let windows = step + more;
        let cover = pool::covered(axis, windows);
        Self { elements: step * axis.stride, step, first, windows, cover }
    }

    /// The first window of the tile at the beginning of the axis, and n: the elements of s
    /// strides are in s + n windows.
    fn around(axis: &pool::Axis) -> (i64, u64) {
        let (start, stride) = (axis.start, axis.stride as i64);
        let reached = -(start + axis.reach as i64).div_euclid(stride);
        // Strides wider than windows skip elements. If a tile begins with skipped elements, its
        // windows begin with the one before them.
        let first = reached.min((-start).div_euclid(stride));
        let last = (stride - 1 - start).div_euclid(stride);
        (first, (last - first) as u64)
    }

    /// The longest tile of at most `windows` windows that cover at most `cover` elements.
    fn longest(axis: &pool::Axis, windows: u64, cover: u64) -> Option<Self> {
        let whole = Self::whole(axis);
        if whole.windows <= windows && whole.cover <= cover {
            return Some(whole);
        }
        let covering = cover.checked_sub(axis.reach + 1)? / axis.stride + 1;
        let step = windows.min(covering).checked_sub(Self::around(axis).1)?;
        if step == 0 {
            return None;
        }
        // All tiles of the axis get nearly the same length, so that the last one is not short.
        let strides = axis.size.div_ceil(axis.stride);
        Some(Self::new(axis, strides.div_ceil(strides.div_ceil(step))))
    }
}

/// A box of elements whose gradients a workgroup computes.
struct Tile {
    group: Group,
    axes: [Along; 3],
}

impl Tile {
    /// The tiles with the least cost for the elements of a group, if any fit.
    fn new(builder: &Builder<'_>, group: &Group, tuning: &pool::Tuning) -> Option<Self> {
        let group = group.flat()?;
        let (axis, per_word) = (&group.axes[2], builder.per_word());
        let fits = group.axes.iter().all(pool::Axis::has_all) && axis.size.is_multiple_of(per_word);
        if !fits {
            return None;
        }
        // All of axis 2, or a half, a quarter and so on, down to a few sectors.
        let strides = axis.size.div_ceil(axis.stride);
        let steps = (0..32).map(|n| strides.div_ceil(1 << n));
        let steps = steps.take_while(|step| step * axis.stride >= axis.size.min(16));
        // Small results share words: a tile has whole words of them.
        let steps = steps.map(|step| match (step * axis.stride).is_multiple_of(per_word) {
            true => step,
            false => step.next_multiple_of(per_word),
        });
        let tiles = steps.flat_map(|step| Self::with_rows(builder, &group, step));
        // The parts of the CPU kernel are larger.
        let searches = if tuning.cpu.is_some() { u64::MAX } else { MAX_SEARCHES };
        let tiles = tiles.filter(|tile| {
            let new_windows = tile.all(|axis| axis.step.min(axis.windows));
            tile.iterations(builder) <= builder.max_iterations()
                && tile.all(|axis| axis.elements) <= MAX_ELEMENTS
                && tile.all(|axis| axis.windows) / new_windows <= searches
        });
        let cost = |tile: &Self| tile.cost(builder);
        tiles.min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    /// Tiles of `step` strides along axis 2: with as many strides along axis 1 as fit, half as
    /// many, and so on; each with as many along axis 0 as then fit.
    fn with_rows(builder: &Builder<'_>, group: &Group, step: u64) -> impl Iterator<Item = Self> {
        let [axis0, axis1, axis2] = group.axes;
        let keys = keys(builder.element);
        let along2 = Along::new(&axis2, step);
        let rows = (MAXIMA / along2.windows, keys / along2.cover);
        let shortest0 = Along::new(&axis0, 1);
        let longest1 = Along::longest(&axis1, rows.0 / shortest0.windows, rows.1 / shortest0.cover);
        let steps = longest1.map_or(0, |along| along.step);
        let steps = (0..32).map(move |n| steps >> n).take_while(|&step| step > 0);
        steps.filter_map(move |step| {
            let along1 = Along::new(&axis1, step);
            let along0 = Along::longest(&axis0, rows.0 / along1.windows, rows.1 / along1.cover)?;
            Some(Self { group: group.clone(), axes: [along0, along1, along2] })
        })
    }

    /// The product of a property of each axis.
    fn all(&self, of: impl Fn(&Along) -> u64) -> u64 {
        self.axes.iter().map(of).product()
    }

    /// Elements of a window.
    fn taps(&self) -> u64 {
        self.group.axes.iter().map(|axis| axis.taps).product()
    }

    /// Iterations of an invocation.
    fn iterations(&self, builder: &Builder<'_>) -> u64 {
        let each = |all: u64| all.div_ceil(builder.workgroup());
        let spans: u64 = self.group.axes.iter().map(max_windows).product();
        each(self.all(|axis| axis.cover))
            + 2 * each(MAXIMA)
            + each(self.all(|axis| axis.windows)) * self.taps()
            + each(self.all(|axis| axis.elements)) * spans * builder.per_word()
    }

    /// Bytes that are loaded for each element, plus a little for the search and for each workgroup.
    fn cost(&self, builder: &Builder<'_>) -> f64 {
        let within = |i: usize| self.axes[i].cover.min(self.group.axes[i].size);
        // Rows begin and end within sectors.
        let row = within(2) * builder.item() + 28;
        let idle = builder.workgroup() as f64 * 2.0;
        let elements = self.all(|axis| axis.elements);
        let search = TAP * (self.all(|axis| axis.windows) * self.taps()) as f64;
        ((within(0) * within(1) * row) as f64 + search + idle) / elements as f64
    }

    /// # Errors
    /// [`Error::OverLimit`](crate::Error::OverLimit).
    fn push(&self, builder: &mut Builder<'_>, [elements, windows]: [u64; 2]) -> Result<()> {
        let Self { group, axes } = self;
        let [count, results] = [group.outer * group.unit_elements(), group.results()];
        let (data, base) = builder.range(Region::all(DATA).after(elements), count);
        let (gradient, gradient_base) =
            builder.range(Region::all(GRADIENT).after(windows), results);
        let (result, result_base) = builder.range(Region::all(RESULT).after(elements), count);
        let tiles = [0, 1, 2].map(|i: usize| group.axes[i].size.div_ceil(axes[i].elements));
        let words = axes[2].elements / builder.per_word();
        let dilated = group.axes.iter().any(|axis| axis.dilation > 1);
        let along = axes.map(|axis| axis.windows);
        let cover = axes.map(|axis| axis.cover);
        let sizes = |of: fn(&Along) -> u32, last: u64| {
            [of(&axes[0]), of(&axes[1]), of(&axes[2]), last as u32]
        };
        let params = Params {
            ranking: builder.ranking,
            result_base,
            gradient_base,
            windows: Windows::new(group, results, base)?,
            tiles: Tiles::new(builder, along, cover, tiles, axes[2].windows),
            elements: sizes(|axis| axis.elements as u32, words),
            step: sizes(|axis| axis.step as u32, 0),
            first: sizes(|axis| axis.first as u32, 0),
            by_words: small_divisor(words),
            by_elements1: small_divisor(axes[1].elements),
            spacing: group.axes.map(|axis| Spacing::new(&axis, false)),
        };
        let launch = LaunchDesc {
            purpose: "sums of the gradients of windows, whose maxima are found",
            shader: builder.shader(&TILE).with("dilated", dilated),
            params: &params,
            sources: vec![data, gradient],
            results: vec![result],
        };
        builder.push_groups(launch, group.outer * tiles.iter().product::<u64>())
    }
}

/// The buffers of the plan.
const DATA: usize = 0;
const GRADIENT: usize = 1;
const RESULT: usize = 2;

/// The plan of the gradients of a pooling from its data, if tiles can compute them. If they exceed a
/// limit, a plan of two launches may not.
///
/// # Errors
/// [`Error::OverLimit`](crate::Error::OverLimit).
pub(super) fn plan(
    inputs: [&TensorDesc; 2],
    output: &TensorDesc,
    planes: &Planes<'_>,
    ranking: Ranking,
    target: Target<'_>,
    tuning: &pool::Tuning,
) -> Result<Option<Plan>> {
    let mut builder = Builder::new(&inputs, Outputs::one(output.clone()), ranking, target);
    if output.is_empty() {
        return Ok(None);
    }
    let mut group = planes.group()?;
    if group.axes.iter().all(pool::Axis::is_plain) {
        return Ok(None);
    }
    // Axes of one element come first.
    while group.axes[2].is_plain() {
        group.axes.rotate_right(1);
    }
    let taps = group.axes.iter().try_fold(1u64, |taps, axis| taps.checked_mul(axis.taps));
    if !taps.is_some_and(|taps| (2..=tuning.max_gradient_taps).contains(&taps)) {
        return Ok(None);
    }
    let (unit, unit_windows) = (group.unit_elements(), group.results() / group.outer);
    let fit = builder.capacity(builder.item()) / unit.max(unit_windows);
    let mut done = 0;
    while done < group.outer {
        let outer = fit.min(group.outer - done);
        let some = Group { outer, ..group.clone() };
        let tile = if outer > 0 { Tile::new(&builder, &some, tuning) } else { None };
        let Some(tile) = tile else { return Ok(None) };
        tile.push(&mut builder, [done * unit, done * unit_windows])?;
        done += outer;
    }
    Ok(Some(builder.finish()))
}

fn run(shader: &Shader, call: Call<'_, '_>) {
    with_gradient!(shader.element, G => gradients::<G>(shader, call));
}

/// A launch on the CPU: places along an outer axis, with windows along the axes from `cut` on.
struct Launch<'a, T> {
    params: &'a Params,
    element: ElementType,
    data: &'a [u8],
    gradient: &'a [T],
    cut: usize,
}

fn gradients<G: Gradient>(shader: &Shader, call: Call<'_, '_>) {
    let p: &Params = call.params();
    let (axes, gradient_base) = (&p.windows.axes, p.gradient_base);
    let is_plain = |axis: &params::Axis| axis.taps == 1 && axis.size == axis.outputs;
    let cut = axes.iter().position(|axis| !is_plain(axis)).unwrap_or(2);
    let launch = Launch {
        params: p,
        element: shader.element,
        data: call.sources[0],
        gradient: &cast_slice(call.sources[1])[gradient_base as usize..],
        cut,
    };
    let outputs: u32 = axes.iter().map(|axis| axis.outputs).product();
    let elements = p.windows.outputs / outputs * p.windows.outer_pitch;
    let (row, reach) = (axes[cut].pitch as usize, axes[cut].reach as usize);
    let unit = row * axes[cut].size as usize;
    let out: &mut [G::Bits] = cast_slice_mut(call.results[0]);
    let out = &mut out[p.result_base as usize..][..elements as usize];
    threads::each_with(parts(out, [unit, row], reach), Default::default, |work, part| {
        launch.part::<G>(work, part);
    });
}

impl<T> Launch<'_, T> {
    /// Finds the maxima of the windows that some elements are in, and adds their gradients.
    fn part<G: Gradient<Bits = T>>(
        &self,
        (found, sums): &mut (Vec<u32>, Vec<G::Sum>),
        part: Rows<'_, T>,
    ) {
        let Rows { outer, rows, out } = part;
        let all = &self.params.windows;
        let axis = &all.axes[self.cut];
        let row = axis.pitch as usize;
        let unit = row * axis.size as usize;
        let after = &all.axes[self.cut + 1..];
        let row_windows: usize = after.iter().map(|axis| axis.outputs as usize).product();
        let unit_windows = row_windows * axis.outputs as usize;
        let windows = sums::windows(&axis.into(), &(rows.start as u64..rows.end as u64));
        let windows = windows.start as usize..windows.end as usize;
        let some = windows.len() * row_windows;

        let mut axes = [params::Axis::NONE; 3];
        axes[self.cut..].copy_from_slice(&all.axes[self.cut..]);
        axes[self.cut].outputs = windows.len() as u32;
        axes[self.cut].start += (windows.start * axis.stride as usize) as i32;
        let base = all.base + (outer.start * unit) as u32;
        let (outer_pitch, outputs) = (unit as u32, (outer.len() * some) as u32);
        let of_part = Windows { base, outer_pitch, outputs, axes, ..*all };
        found.resize(outer.len() * some, 0);
        pool::find_positions(self.element, self.params.ranking, &of_part, self.data, found);

        let out = out.chunks_mut(rows.len() * row);
        for ((place, found), out) in outer.zip(found.chunks(some)).zip(out) {
            let first = place * unit_windows + windows.start * row_windows;
            let (first_element, skipped) = (all.base + (place * unit) as u32, rows.start * row);
            let sum = Sum::new(first_element, skipped as u32, |_, _| false);
            sum.of::<G>(found.iter().copied(), &self.gradient[first..][..some], sums, out);
        }
    }
}
