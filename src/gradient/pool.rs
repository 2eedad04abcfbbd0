//! `shaders/gradient/pool.wgsl`: adds the gradients of windows to the elements of their maxima.

use std::ops::Range;

use bytemuck::{Zeroable, cast_slice, cast_slice_mut};

use super::span::{Spacing, max_windows};
use super::sum::{Gradient, with_gradient};
use crate::base::error::{Error, Result};
use crate::base::threads;
use crate::plan::{
    Builder, Call, Kernel, LaunchDesc, Plan, Region, SMALL, Shader, Target, divisor, small_divisor,
};
use crate::pool::{Axis, Group, Window, params};
use crate::tensor::key::Ranking;
use crate::tensor::{Outputs, TensorDesc};
use crate::vector::PARALLEL_FROM;
use crate::wgsl::params;

/// Sums of the gradients of windows, by the indices of their maxima. `shared_out`: windows split an
/// axis evenly. `wide`: numbers or places within a plane may be [`SMALL`] or more. `dilated`: taps of
/// a window are apart. An element visits only windows that have it. So it meets no window without elements,
/// whose index is that of its plane's first element.
pub(super) static POOL: Kernel = Kernel::new::<Windows>("pool_gradient", "gradient/pool", run)
    .flags(&["shared_out", "wide", "dilated"])
    .only(|element, flags| element.is_float() && !matches!(flags, 1 | 5 | 7));

/// Axes of a launch from the first to the last one with windows.
const AXES: usize = 3;

/// Maximum places of a period that kernels divide by. If there are more, a launch ends where a period
/// does.
const MAX_PERIOD: u64 = 1 << 30;

params! {
    /// The layout of elements and windows for the gradient of a pooling. Elements are [outer, axis
    /// 0, axis 1, axis 2, inner], and gradients and indices [outer, windows of each axis, inner].
    pub(crate) struct Windows {
        /// Elements of the result, and where the first one is stored.
        pub elements: u32,
        pub result_base: u32,
        /// The offsets of the first gradient, in elements, and of the first index.
        pub gradient_base: u32,
        pub index_base: u32,
        /// Words of an index.
        pub index_words: u32,
        /// The index of the first element, without what `place` adds.
        pub first_index: u32,
        /// The number of the first place along the outer axis, counted since indices last restarted.
        /// They restart after each period, the places that `by_period` divides by.
        pub place: u32,
        pub padding: u32,
        pub axes: [params::Axis; AXES],
        /// The windows of each element, if windows split an axis evenly.
        pub turned: [params::Axis; AXES],
        pub spacing: [Spacing; AXES],
        /// Divisors: the pitch of elements along each axis.
        pub by_pitch: [[u32; 4]; AXES],
        /// Divisors: the elements of a place along the outer axis, and the places of a period.
        pub by_unit: [u32; 4],
        pub by_period: [u32; 4],
    }
}

/// The windows of an axis that some elements are in; at least one, because a binding is not empty. All
/// elements get all windows, also those entirely in the padding.
pub(super) fn windows(axis: &Axis, elements: &Range<u64>) -> Range<u64> {
    if *elements == (0..axis.size) {
        return 0..axis.outputs;
    }
    if !axis.drift.is_none() {
        let turned = axis.turned();
        let ([from, _], [_, last]) = (turned.ends(elements.start), turned.ends(elements.end - 1));
        return from as u64..last as u64 + 1;
    }
    let distance = |at: u64| at as i64 - axis.start;
    let reached = (distance(elements.start) - axis.reach as i64).max(0) as u64;
    let to = match distance(elements.end - 1) {
        ..0 => 0,
        last => (last as u64 / axis.stride + 1).min(axis.outputs),
    };
    let from = reached.div_ceil(axis.stride).min(axis.outputs - 1);
    from..to.max(from + 1)
}

/// An axis of some elements only, with the windows that they are in.
fn cut(axis: &Axis, elements: &Range<u64>) -> Axis {
    let windows = windows(axis, elements);
    let start = axis.start + (windows.start * axis.stride) as i64 - elements.start as i64;
    let (size, outputs) = (elements.end - elements.start, windows.end - windows.start);
    Axis { size, outputs, start, drift: axis.drift.after(windows.start), ..*axis }
}

impl From<&params::Axis> for Axis {
    fn from(axis: &params::Axis) -> Self {
        let &params::Axis { size, outputs, taps, stride, dilation, reach, start, .. } = axis;
        let [size, outputs, taps, stride] = [size, outputs, taps, stride].map(u64::from);
        let (dilation, reach, start) = (dilation.into(), reach.into(), start.into());
        Self { size, outputs, taps, stride, dilation, reach, start, drift: axis.drift() }
    }
}

/// The planes of a pooling.
pub(super) struct Planes<'a> {
    /// The number of the first one, counted since indices last restarted.
    pub first: u64,
    pub count: u64,
    /// The axes of a plane.
    pub windows: &'a [Window],
    /// Inner elements. Each is in a plane of its own.
    pub inner: u64,
}

impl Planes<'_> {
    /// The axes from the first one with windows to the last one, and then axes of one element.
    ///
    /// # Errors
    /// [`Error::OverLimit`] for more axes than a launch takes, and for positions that do not fit 32
    /// bits.
    pub(super) fn group(&self) -> Result<Group> {
        let mut merged = vec![Axis::plain(self.count)];
        let inner = Ok(Axis::plain(self.inner));
        for axis in self.windows.iter().map(Axis::new).chain([inner]) {
            let axis = axis?;
            match merged.last_mut() {
                Some(last) if last.is_plain() && axis.is_plain() => {
                    *last = Axis::plain(last.size * axis.size);
                }
                _ => merged.push(axis),
            }
        }
        let inner = match merged.len() > 1 && merged[merged.len() - 1].is_plain() {
            true => merged.pop().map_or(1, |axis| axis.size),
            false => 1,
        };
        let between = merged.split_off(1);
        let mut axes = [Axis::plain(1); AXES];
        let Some(some) = axes.get_mut(..between.len()) else {
            return Err(Error::OverLimit {
                what: "the gradient of a pooling",
                needed: between.len() as u64,
                limit: "axes with windows, and axes between them",
                allowed: AXES as u64,
            });
        };
        some.copy_from_slice(&between);
        Ok(Group { outer: merged[0].size, axes, inner })
    }
}

/// Maximum iterations over the windows of an element, including those of the surrounding loops.
fn iterations(group: &Group) -> u64 {
    let spans = group.axes.iter().map(|axis| match group.shares_out() {
        true => axis.turned().taps,
        false => max_windows(axis),
    });
    let nested = spans.scan(1u64, |all, span| {
        *all = all.saturating_mul(span);
        Some(*all)
    });
    nested.fold(0, u64::saturating_add)
}

/// The buffers of the plan.
const INDICES: usize = 0;
const GRADIENT: usize = 1;
const RESULT: usize = 2;

/// What is fast for gradients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// A kernel that may replace the general one, with the same parameters.
    pub special: Option<fn(&Builder<'_>, &Windows) -> Option<SpecialLaunch>>,
}

/// The launch that replaces that of a general kernel, with its sources and results.
pub(crate) struct SpecialLaunch {
    pub shader: Shader,
    /// The words of its parameters.
    pub params: Vec<u32>,
    pub invocations: u64,
}

/// For GPUs: every element looks for its windows.
pub(crate) const HARDWARE: Tuning = Tuning { special: None };

/// The plan of the gradients of a pooling. Its inputs are the indices of the windows' maxima, which
/// restart after `modulus` elements, and the gradients of the windows.
///
/// # Errors
/// [`Error::OverLimit`].
pub(super) fn plan(
    inputs: [&TensorDesc; 2],
    output: &TensorDesc,
    planes: &Planes<'_>,
    modulus: u64,
    target: Target<'_>,
    tuning: &Tuning,
) -> Result<Plan> {
    let mut builder = Builder::new(&inputs, Outputs::one(output.clone()), Ranking::MAXIMUM, target);
    builder.element = output.element_type();
    if output.is_empty() {
        return Ok(builder.finish());
    }
    let words = inputs[INDICES].element_type().size() as u64 / 4;
    let group = planes.group()?;
    let (unit, unit_windows) = (group.unit_elements(), group.unit_results());
    let far = far(&group);
    // An invocation has the elements of a word.
    let iterations = iterations(&group).saturating_mul(builder.per_word());
    for (what, needed, limit, allowed) in [
        ("a window's position in its axis", far, "32-bit position", i32::MAX as u64),
        ("the windows of an element", iterations, "loop iterations", builder.max_iterations()),
        ("a plane with gradients", unit, "32-bit position", 1 << 32),
    ] {
        if needed > allowed {
            return Err(Error::OverLimit { what, needed, limit, allowed });
        }
    }
    let (items, indices) = (builder.capacity(builder.item()), builder.capacity(4 * words));
    let fit = (items / unit).min(items.min(indices) / unit_windows);
    // Places along the outer axis after which indices restart.
    let period = modulus / unit;
    let first = planes.first * (group.outer / planes.count);
    let mut done = 0;
    while done < group.outer {
        let place = (first + done) % period;
        if fit > 0 {
            let mut outer = fit.min(MAX_PERIOD).min(group.outer - done);
            if period >= MAX_PERIOD {
                outer = outer.min(period - place);
            }
            let part = (done..done + outer, 0..group.axes[0].size);
            push(&mut builder, &group, part, (place, period), words, tuning)?;
            done += outer;
            continue;
        }
        let (row, row_windows) = (unit / group.axes[0].size, unit_windows / group.axes[0].outputs);
        let mut from = 0;
        while from < group.axes[0].size {
            let mut rows = from..group.axes[0].size;
            loop {
                let cut = cut(&group.axes[0], &rows);
                if cut.size * row <= items && cut.outputs * row_windows <= items.min(indices) {
                    break;
                }
                if cut.size == 1 {
                    let bytes = (row * builder.item())
                        .max(cut.outputs * row_windows * builder.item().max(4 * words));
                    return Err(
                        builder.over_binding("a binding of the windows of one place", bytes)
                    );
                }
                rows.end = rows.start + cut.size / 2;
            }
            from = rows.end;
            push(&mut builder, &group, (done..done + 1, rows), (place, period), words, tuning)?;
        }
        done += 1;
    }
    Ok(builder.finish())
}

/// An upper bound of the numbers along an axis that kernels divide.
fn far(group: &Group) -> u64 {
    let far = |axis: &Axis| axis.size + axis.start.unsigned_abs() + axis.reach + axis.stride;
    group.axes.iter().map(far).max().unwrap_or(0)
}

/// A launch for some places along the outer axis, or some rows along the first axis of one.
fn push(
    builder: &mut Builder<'_>,
    all: &Group,
    (outer, rows): (Range<u64>, Range<u64>),
    (place, period): (u64, u64),
    words: u64,
    tuning: &Tuning,
) -> Result<()> {
    let windows = windows(&all.axes[0], &rows);
    let first = cut(&all.axes[0], &rows);
    let axes = [first, all.axes[1], all.axes[2]];
    let part = Group { outer: outer.end - outer.start, axes, inner: all.inner };
    let unit = part.unit_elements();
    let (row, row_windows) = (unit / first.size, part.unit_results() / first.outputs);
    let (elements, count) = (part.outer * unit, part.results());
    let first_element = outer.start * all.unit_elements() + rows.start * row;
    let first_window = outer.start * all.unit_results() + windows.start * row_windows;
    let region = |buffer| Region::all(buffer);
    let (gradient, gradient_base) = builder.range(region(GRADIENT).after(first_window), count);
    let (indices, index_base) = builder.range_of(INDICES, first_window, count, 4 * words);
    let (result, result_base) = builder.range(region(RESULT).after(first_element), elements);
    let axes = part.axis_params()?;
    let mut turned = [params::Axis::NONE; AXES];
    if all.shares_out() {
        for (turned, axis) in turned.iter_mut().zip(&part.axes) {
            *turned = params::Axis::new(&axis.turned(), 0)?;
        }
    }
    // If indices do not restart within the launch, any longer period is right.
    let turns = period < MAX_PERIOD && place + part.outer > period;
    let mut first_index = (rows.start * row) as u32;
    if !turns {
        first_index = first_index.wrapping_add((place.wrapping_mul(all.unit_elements())) as u32);
    }
    // A special kernel divides by `quotient`.
    let wide = tuning.special.is_some() || all.shares_out() || unit.max(far(&part)) >= SMALL;
    let within = |by: u32| if wide { divisor(by.into()) } else { small_divisor(by.into()) };
    let params = Windows {
        elements: elements as u32,
        result_base,
        gradient_base,
        index_base,
        index_words: words as u32,
        first_index,
        place: if turns { place as u32 } else { 0 },
        padding: 0,
        axes,
        turned,
        spacing: part.axes.map(|axis| Spacing::new(&axis, wide)),
        by_pitch: axes.map(|axis| within(axis.pitch)),
        by_unit: divisor(unit),
        by_period: divisor(if turns { period } else { 1 << 31 }),
    };
    let (purpose, sources) = ("sums of the gradients of windows", vec![gradient, indices]);
    let results = vec![result];
    if let Some(special) = tuning.special.and_then(|launch| launch(builder, &params)) {
        let SpecialLaunch { shader, params, invocations } = special;
        let groups = invocations.div_ceil(builder.workgroup());
        let params = &params[..];
        return builder
            .push_words(LaunchDesc { purpose, shader, params, sources, results }, groups);
    }
    let dilated = all.axes.iter().any(|axis| axis.dilation > 1);
    let shader = builder.shader(&POOL).with("shared_out", all.shares_out());
    let shader = shader.with("wide", wide).with("dilated", dilated);
    let launch = LaunchDesc { purpose, shader, params: &params, sources, results };
    let invocations = elements.div_ceil(builder.per_word()) + 1;
    builder.push(launch, invocations)
}

impl Windows {
    /// Whether every window is known to have an element.
    pub(crate) fn all_have_elements(&self) -> bool {
        self.axes.iter().all(|axis| Axis::from(axis).has_all())
    }

    /// Whether windows split an axis evenly. Then each has an element.
    fn shares_out(&self) -> bool {
        self.axes.iter().any(params::Axis::is_shared_out)
    }

    /// Whether an element, the first one along all axes, is a tap of a window of its place.
    fn is_tap(&self, window: usize, element: u32) -> bool {
        let inner = self.axes[2].pitch as usize;
        let mut rest = window / inner;
        let mut taps = window % inner == element as usize;
        for axis in self.axes.iter().rev() {
            let window = (rest % axis.outputs as usize) as i64;
            rest /= axis.outputs as usize;
            let distance = -i64::from(axis.start) - window * i64::from(axis.stride);
            let dilation = i64::from(axis.dilation);
            taps &= (0..=i64::from(axis.reach)).contains(&distance) && distance % dilation == 0;
        }
        taps
    }
}

/// Elements that a thread takes at a time.
const CHUNK_LEN: usize = 1 << 15;

fn run(shader: &Shader, call: Call<'_, '_>) {
    let windows = call.params();
    run_sums(shader, windows, call);
}

/// The CPU function of all kernels that add the gradients of windows.
pub(crate) fn run_sums(shader: &Shader, windows: &Windows, call: Call<'_, '_>) {
    with_gradient!(shader.element, G => sums::<G>(windows, call));
}

/// Some rows of some places along the outer axis, and where their sums are stored.
pub(super) struct Rows<'a, T> {
    pub outer: Range<usize>,
    pub rows: Range<usize>,
    pub out: &'a mut [T],
}

fn sums<G: Gradient>(p: &Windows, call: Call<'_, '_>) {
    let (gradient, indices): (&[G::Bits], &[u32]) =
        (cast_slice(call.sources[0]), cast_slice(call.sources[1]));
    let gradient = &gradient[p.gradient_base as usize..];
    let indices = &indices[p.index_base as usize * p.index_words as usize..];
    let out: &mut [G::Bits] = cast_slice_mut(call.results[0]);
    let out = &mut out[p.result_base as usize..];
    let (out, after) = out.split_at_mut(p.elements as usize);
    // The rest of the last word.
    let end = p.result_base as usize + p.elements as usize;
    let per_word = (4 / size_of::<G::Bits>()).max(1);
    let rest = (end.next_multiple_of(per_word) - end).min(after.len());
    after[..rest].fill(Zeroable::zeroed());

    let (unit, row) = (p.by_unit[0] as usize, p.axes[0].pitch as usize);
    let parts = parts(out, [unit, row], p.axes[0].reach as usize);
    threads::each_with(parts, Vec::new, |sums, part| rows::<G>(p, gradient, indices, sums, part));
}

/// Parts for all threads. An outer axis has places of `unit` elements, and windows reach from one row
/// to later ones. Few elements are one part.
pub(super) fn parts<T>(out: &mut [T], [unit, row]: [usize; 2], reach: usize) -> Vec<Rows<'_, T>> {
    let (outer, size) = (out.len() / unit, unit / row);
    if out.len() < PARALLEL_FROM {
        return vec![Rows { outer: 0..outer, rows: 0..size, out }];
    }
    let mut out = out;
    let mut take = |len: usize| out.split_off_mut(..len).unwrap_or_default();
    if unit <= CHUNK_LEN {
        let some = CHUNK_LEN / unit;
        let parts = (0..outer).step_by(some).map(|first| first..outer.min(first + some));
        return parts
            .map(|outer| Rows { out: take(outer.len() * unit), outer, rows: 0..size })
            .collect();
    }
    // The windows at the borders of parts are visited twice.
    let some = CHUNK_LEN.div_ceil(row).max(4 * (reach + 1)).min(size);
    let mut parts = Vec::new();
    for place in 0..outer {
        for first in (0..size).step_by(some) {
            let rows = first..size.min(first + some);
            let out = take(rows.len() * row);
            parts.push(Rows { outer: place..place + 1, rows, out });
        }
    }
    parts
}

/// Visits the windows in order. Each adds at the position of its maximum.
fn rows<G: Gradient>(
    p: &Windows,
    gradient: &[G::Bits],
    indices: &[u32],
    sums: &mut Vec<G::Sum>,
    part: Rows<'_, G::Bits>,
) {
    let Rows { outer, rows, out } = part;
    let (unit, row) = (p.by_unit[0], p.axes[0].pitch);
    let windows = windows(&Axis::from(&p.axes[0]), &(rows.start as u64..rows.end as u64));
    let [outputs, row_outputs, line_outputs] = p.axes.map(|axis| axis.outputs as usize);
    let inner = p.axes[2].pitch;
    let row_windows = row_outputs * line_outputs * inner as usize;
    let words = p.index_words as usize;
    for (place, out) in outer.zip(out.chunks_mut(rows.len() * row as usize)) {
        let in_period = (p.place + place as u32) % p.by_period[0];
        let first = p.first_index.wrapping_add(in_period.wrapping_mul(unit));
        let skipped = rows.start as u32 * row;
        let place = place * outputs * row_windows;
        let numbers = place + windows.start as usize * row_windows
            ..place + windows.end as usize * row_windows;
        let found = &indices[numbers.start * words..numbers.end * words];
        let gradient = &gradient[numbers.clone()];
        // A window without elements has the index of its plane's first element.
        let may_be_none = !p.shares_out();
        let is_none = |i: usize, number: u32| {
            may_be_none && number < inner && !p.is_tap(numbers.start + i - place, number)
        };
        let sum = Sum::new(first, skipped, is_none);
        match words {
            1 => sum.of::<G>(found.iter().copied(), gradient, sums, out),
            _ => {
                let low = found.as_chunks::<2>().0.iter().map(|words| words[0]);
                sum.of::<G>(low, gradient, sums, out);
            }
        }
    }
}

/// How the gradients of some windows are added.
pub(super) struct Sum<F> {
    /// The index of the first element, and how many elements come before those of the sums.
    first: u32,
    skipped: u32,
    /// Whether a window, given by its number, has no element. The second argument is the element that
    /// its index names.
    is_none: F,
}

impl<F: Fn(usize, u32) -> bool> Sum<F> {
    pub(super) fn new(first: u32, skipped: u32, is_none: F) -> Self {
        Self { first, skipped, is_none }
    }

    /// Adds the gradient of each window to the sum of the element that an index names.
    pub(super) fn of<G: Gradient>(
        &self,
        indices: impl Iterator<Item = u32>,
        gradient: &[G::Bits],
        sums: &mut Vec<G::Sum>,
        out: &mut [G::Bits],
    ) {
        if size_of::<G::Bits>() == size_of::<G::Sum>() {
            // Sums are elements: they need no memory of their own.
            out.fill(Zeroable::zeroed());
            return self.add::<G>(indices, gradient, cast_slice_mut(out));
        }
        sums.clear();
        sums.resize(out.len(), Zeroable::zeroed());
        self.add::<G>(indices, gradient, sums);
        for (out, &sum) in out.iter_mut().zip(sums.iter()) {
            *out = G::narrow(sum);
        }
    }

    #[inline(always)]
    fn add<G: Gradient>(
        &self,
        indices: impl Iterator<Item = u32>,
        gradient: &[G::Bits],
        sums: &mut [G::Sum],
    ) {
        let &Self { first, skipped, ref is_none } = self;
        for (i, (index, &gradient)) in indices.zip(gradient).enumerate() {
            let number = index.wrapping_sub(first);
            if is_none(i, number) {
                continue;
            }
            if let Some(sum) = sums.get_mut(number.wrapping_sub(skipped) as usize) {
                *sum = G::add(*sum, G::widen(gradient));
            }
        }
    }
}
