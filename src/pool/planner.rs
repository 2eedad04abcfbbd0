//! MaxPool as launches over neighbouring axes of [outer, axes..., inner].
//!
//! The maximum of a window is separable: a launch takes several axes if the windows are small or double
//! within a tile, else launches take one axis after the other. Long windows along an axis are computed from
//! shorter ones, which overlap, so that the cost of a result grows with the logarithm of the window.

use super::axes::Axis;
use super::indices::IndexRules;
use super::launch::{Bindings, Planner};
use super::pyramid::Pyramid;
use super::tuning::Tuning;
use super::windows::Resolved;
use crate::base::error::Result;
use crate::plan::{Builder, Plan, Region, Target};
use crate::reduce;
use crate::tensor::Rules;
use crate::tensor::key::key_words;

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
    let element = input.element_type();
    let Rules { ranking, initial, empty } = operator.rules(element)?;
    let results = outputs[0].len() as u64;
    let mut builder = Builder::new(&[input], outputs, ranking, target);
    if results == 0 {
        return Ok(builder.finish());
    }
    let indices = operator.indices;
    if input.is_empty() {
        // Windows, but no elements.
        builder.fill(1, empty)?;
        if indices.is_some() {
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
    let empty = key_words(element, ranking, empty);
    let mut planner = Planner { builder, tuning, empty, indices: indices.is_some() };
    match indices {
        None => {
            planner.maxima(axes, reduce)?;
            planner.builder.join(1, initial)?;
        }
        Some(indices) => {
            let rules = IndexRules::new(&indices, modulus, input, planes, &windows)?;
            planner.indices(axes, results, &rules)?;
        }
    }
    Ok(planner.builder.finish())
}

impl Planner<'_> {
    /// The plan without positions.
    fn maxima(&mut self, mut axes: Vec<Axis>, reduce: &reduce::Tuning) -> Result<()> {
        let mut source = Region::all(0);
        let target = Region::all(1);
        // On the CPU, adjacent windows along one axis are sets of a reduction, which is faster.
        let mut windows = (0..axes.len()).filter(|&i| !axes[i].is_plain());
        if self.tuning.cpu.is_some()
            && let (Some(only), None) = (windows.next(), windows.next())
            && let Some(sets) = axes[only].split()
        {
            axes.splice(only..=only, sets);
        }
        // If one window is a whole axis, the planner of reductions distributes the work.
        if axes.iter().any(Axis::is_whole) {
            let sizes: Vec<usize> = axes.iter().map(|a| a.size as usize).collect();
            let whole: Vec<bool> = axes.iter().map(Axis::is_whole).collect();
            axes.retain(|axis| !axis.is_whole());
            let last = axes.iter().all(Axis::is_plain);
            let left = axes.iter().map(|a| a.size).product();
            let reduced = if last { target } else { self.builder.scratch(left) };
            let merged = reduce::merge(&sizes, &whole);
            reduce::reduce_axes(&mut self.builder, reduce, source, reduced, &merged)?;
            if last {
                return Ok(());
            }
            source = reduced;
        }
        if let Some(pyramid) = Pyramid::of_windows(&self.builder, self.tuning, &axes) {
            return pyramid.push_last(&mut self.builder, source, target);
        }
        let groups = self.groups(axes);
        for (i, group) in groups.iter().enumerate() {
            let last = i + 1 == groups.len();
            let result = if last { target } else { self.builder.scratch(group.results()) };
            let purpose = if last { "maxima of windows" } else { "maxima of parts of windows" };
            for piece in group.pieces(&self.builder)? {
                let (builder, group) = (&self.builder, &piece.group);
                let (from, base) = builder.range(source.after(piece.first), group.elements());
                let to = result.after(piece.first_result);
                let (to, result_base) = builder.range(to, group.results());
                let (sources, results) = (vec![from], vec![to]);
                let bindings = Bindings { sources, base, results, result_base };
                self.launch(purpose, group, bindings, None, false)?;
            }
            source = result;
        }
        Ok(())
    }
}
