//! Smaller tensors: shorter axes, and axes of size 1 removed.

use std::ops::Range;

use wgmax::operator::{MaxPool, Operator, Padding, ReduceMax, SegmentMax, Segments};
use wgmax::{Tensor, TensorDesc};

use super::{Case, below, with_kernel, with_output_sizes};
use crate::cases::segment_max::values;
use crate::cases::{gradient, ids_tensor};
use crate::oracle::{first_spatial, reduced};

/// The case with one axis of its first tensor shorter or removed, or with fewer segments.
pub(super) fn smaller(case: &Case) -> Vec<Case> {
    let data = &case.tensors[0];
    let mut axes: Vec<usize> = (0..data.shape().len()).collect();
    axes.sort_by_key(|&axis| std::cmp::Reverse(data.shape()[axis]));
    let mut cases = Vec::new();
    for axis in axes {
        let size = data.shape()[axis];
        if size == 1 {
            cases.extend(without_axis(case, axis));
        }
        cases.extend(parts(size).into_iter().filter_map(|part| restrict(case, axis, part)));
    }
    if let Operator::SegmentMax(op) = &case.operator {
        cases.extend(fewer_segments(case, op));
    }
    cases
}

/// The ranges of an axis that are tried, shortest first.
fn parts(size: usize) -> Vec<Range<usize>> {
    match size {
        0 | 1 => Vec::new(),
        2 => vec![0..1, 1..2],
        _ => vec![0..size / 2, size / 2..size, 0..size - 1, 1..size],
    }
}

/// The case with a range of one axis of its first tensor.
fn restrict(case: &Case, axis: usize, part: Range<usize>) -> Option<Case> {
    let mut tensors = vec![slice(&case.tensors[0], axis, part.clone())?];
    let forward = gradient::forward(&case.operator);
    let operator = forward.as_ref().unwrap_or(&case.operator);
    if let (Operator::SegmentMax(op), [_, ids, ..]) = (operator, case.tensors.as_slice()) {
        tensors.push(match (op.segments, axis) {
            (Segments::Offsets, 0) => {
                let clamp = |o: i64| o.clamp(part.start as i64, part.end as i64);
                map_ids(ids, |offset| clamp(offset) - part.start as i64)?
            }
            (_, 0) => slice(ids, 0, part.clone())?,
            _ => ids.clone(),
        });
    }
    if matches!(operator, Operator::ScatterMax(_)) {
        return None;
    }
    match (&case.operator, &case.tensors[tensors.len()..]) {
        (Operator::MaxUnpool(_), [indices]) => tensors.push(slice(indices, axis, part)?),
        (_, gradient) if forward.is_some() => tensors.extend_from_slice(gradient),
        // There are as many saved indices as gradients.
        (_, [_, ..]) => return None,
        _ => {}
    }
    gradient::fit(Case { tensors, ..case.clone() })
}

fn slice(tensor: &Tensor, axis: usize, part: Range<usize>) -> Option<Tensor> {
    let (t, mut shape) = (tensor.element_type(), tensor.shape().to_vec());
    let row = shape[axis + 1..].iter().product::<usize>() * t.size();
    let matrix = shape[axis] * row;
    shape[axis] = part.len();
    let matrices = tensor.bytes().chunks_exact(matrix.max(1));
    let bytes: Vec<u8> =
        matrices.flat_map(|m| &m[part.start * row..part.end * row]).copied().collect();
    Tensor::from_bytes(t, shape, &bytes).ok()
}

/// The case without an axis of size 1.
fn without_axis(case: &Case, axis: usize) -> Option<Case> {
    let data = &case.tensors[0];
    let mut shape = data.shape().to_vec();
    shape.remove(axis);
    let operator = match gradient::forward(&case.operator) {
        Some(forward) => operator_without(&forward, axis, data.desc())?.backward()?,
        None => operator_without(&case.operator, axis, data.desc())?,
    };
    let mut case = Case { operator, ..case.clone() };
    case.tensors[0] = data.reshape(shape).ok()?;
    gradient::fit(case)
}

fn operator_without(operator: &Operator, axis: usize, data: &TensorDesc) -> Option<Operator> {
    match operator {
        Operator::ReduceMax(op) => Some(reduce_without(op, axis, data)?.into()),
        Operator::MaxPool(op) => {
            Some(pool_without(op, axis.checked_sub(first_spatial(op))?)?.into())
        }
        Operator::SegmentMax(op) if axis > 0 => Some(op.into()),
        _ => None,
    }
}

fn reduce_without(op: &ReduceMax, axis: usize, input: &TensorDesc) -> Option<ReduceMax> {
    if op.axes.as_deref().is_none() {
        return Some(op.clone());
    }
    let mut reduced = reduced(op, input.rank());
    reduced.remove(axis);
    let axes = (0..reduced.len()).filter(|&axis| reduced[axis]).map(|axis| axis as i64);
    Some(op.clone().axes(axes))
}

fn pool_without(op: &MaxPool, spatial: usize) -> Option<MaxPool> {
    let without = |list: &[usize]| -> Option<Vec<usize>> {
        let mut list = list.to_vec();
        (spatial < list.len()).then(|| list.remove(spatial))?;
        Some(list)
    };
    let mut smaller = match &op.output_sizes {
        None => with_kernel(op, without(&op.kernel)?),
        Some(sizes) => with_output_sizes(op, without(sizes)?),
    };
    if let Some(strides) = op.strides.as_deref() {
        smaller = smaller.strides(without(strides)?);
    }
    if let Some(dilations) = op.dilations.as_deref() {
        smaller = smaller.dilations(without(dilations)?);
    }
    if let Padding::Explicit { begin, end } = &op.padding {
        smaller =
            smaller.pads(without(begin).unwrap_or_default(), without(end).unwrap_or_default());
    }
    Some(smaller)
}

/// Fewer segments, or ids without gaps.
fn fewer_segments(case: &Case, op: &SegmentMax) -> Vec<Case> {
    let ids = &case.tensors[1];
    let with = |operator: SegmentMax, ids: Option<Tensor>| {
        Some(Case {
            operator: operator.into(),
            tensors: vec![case.tensors[0].clone(), ids?],
            overrides: case.overrides.clone(),
        })
    };
    if op.segments == Segments::Offsets {
        let parts = parts(ids.len()).into_iter().filter(|part| part.len() > 1);
        return parts.filter_map(|part| with(op.clone(), slice(ids, 0, part))).collect();
    }
    let mut values = values(ids);
    let dense = {
        let mut known = values.clone();
        known.sort_unstable();
        known.dedup();
        map_ids(ids, |id| known.partition_point(|&k| k < id) as i64)
            .filter(|dense| dense.bytes() != ids.bytes())
    };
    let mut cases = Vec::new();
    cases.extend(with(op.clone(), dense));
    values.sort_unstable();
    if let Some(count) = op.num_segments {
        let fewer = below(count, 1).into_iter();
        let fewer = fewer.map(|count| with(op.clone().num_segments(count), Some(ids.clone())));
        cases.extend(fewer.flatten());
    }
    cases
}

fn map_ids(ids: &Tensor, change: impl Fn(i64) -> i64) -> Option<Tensor> {
    let changed: Vec<i64> = values(ids).into_iter().map(change).collect();
    ids_tensor(ids.element_type(), &changed).ok()
}
