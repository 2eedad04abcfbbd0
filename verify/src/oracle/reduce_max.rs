//! ReduceMax: adds each element to the result with the same coordinates along the kept axes, at the
//! position of its other coordinates.

use wgmax::internals::repeated;
use wgmax::operator::ReduceMax;
use wgmax::{Result, Tensor};

use super::value::{bits_at, empty_bits};
use super::{Best, coordinates, flatten, tensor};

/// Whether each axis is reduced.
pub fn reduced(op: &ReduceMax, rank: usize) -> Vec<bool> {
    let is = |a: i64, axis: usize| a.rem_euclid(rank as i64) == axis as i64;
    let is_reduced = |axis| op.axes.as_deref().is_none_or(|axes| axes.iter().any(|&a| is(a, axis)));
    (0..rank).map(is_reduced).collect()
}

/// The axes that are kept and those that are reduced, with their sizes.
pub(super) fn axes(op: &ReduceMax, shape: &[usize]) -> [(Vec<usize>, Vec<usize>); 2] {
    let reduced = reduced(op, shape.len());
    [false, true].map(|gone| {
        (0..shape.len())
            .filter(|&axis| reduced[axis] == gone)
            .map(|axis| (axis, shape[axis]))
            .unzip()
    })
}

pub(super) fn run(op: &ReduceMax, input: &Tensor) -> Result<Vec<Tensor>> {
    let (t, shape, rank) = (input.element_type(), input.shape(), input.shape().len());
    let reduced = reduced(op, rank);
    let [(kept, sizes), (gone, gone_sizes)] = axes(op, shape);
    let last = op.indices.is_some_and(|positions| positions.last);
    let none = Best::new(op.extremum).last(last).joined_by(t, op.initial);
    let mut best = repeated(none, sizes.iter().product())?;
    for number in 0..input.len() {
        let at = coordinates(number, shape);
        let along = |axes: &[usize]| axes.iter().map(|&axis| at[axis]).collect::<Vec<usize>>();
        let position = flatten(&along(&gone), &gone_sizes);
        best[flatten(&along(&kept), &sizes)].add(t, bits_at(input, number), position);
    }
    let out_shape = match op.keep_dims {
        true => (0..rank).map(|axis| if reduced[axis] { 1 } else { shape[axis] }).collect(),
        false => sizes,
    };
    let indexed = op.indices.is_some();
    let empty = (empty_bits(t, op.empty_set, op.extremum), 0);
    let found = |best: &Best| best.found(t, op.nan, indexed).unwrap_or(empty);
    let mut results = Vec::new();
    if op.values {
        results.push(tensor(t, &out_shape, best.iter().map(|best| found(best).0))?);
    }
    if let Some(positions) = op.indices {
        let positions_of = best.iter().map(|best| found(best).1 as u64);
        results.push(tensor(positions.element_type, &out_shape, positions_of)?);
    }
    Ok(results)
}
