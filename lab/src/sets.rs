//! The elements that each result is the maximum of, and those that each element of a gradient is the
//! sum of, by the definitions of the operators.

use wgmax::operator::{Layout, MaxPool, Numbering, Operator, Padding, ReduceMax, Segments};
use wgmax::{ElementType, Result, Tensor};

use crate::keys::{self, Ranking};

/// The numbers of the elements of each result, in the order of the results; `None` for gradients.
pub fn of(operator: &Operator, inputs: &[&Tensor]) -> Result<Option<Vec<Vec<usize>>>> {
    let shape = inputs[0].shape();
    let descs: Vec<_> = inputs.iter().map(|input| input.desc()).collect();
    let results = operator.infer(&descs)?;
    let mut sets = vec![Vec::new(); results[0].len()];
    match operator {
        Operator::ReduceMax(op) => {
            let kept: Vec<usize> =
                (0..shape.len()).filter(|&axis| !is_reduced(op, shape, axis)).collect();
            for element in 0..inputs[0].len() {
                let at = coordinates(element, shape);
                let result = kept.iter().fold(0, |flat, &axis| flat * shape[axis] + at[axis]);
                sets[result].push(element);
            }
        }
        Operator::MaxPool(op) => {
            for (number, set) in sets.iter_mut().enumerate() {
                *set = window(op, shape, &coordinates(number, results[0].shape()));
            }
        }
        Operator::SegmentMax(op) => {
            let inner: usize = shape[1..].iter().product();
            let ids: Vec<i64> = ids(inputs[1]);
            for row in 0..shape[0] {
                let segment = match op.segments {
                    // The last segment that begins at the row or before it, if it does not end there.
                    Segments::Offsets => {
                        let begun = ids.iter().filter(|&&offset| offset <= row as i64).count();
                        begun as i64 - 1
                    }
                    _ => ids[row],
                };
                for column in 0..inner {
                    let result = usize::try_from(segment).ok().map(|s| s * inner + column);
                    if let Some(set) = result.and_then(|result| sets.get_mut(result)) {
                        set.push(row * inner + column);
                    }
                }
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(sets))
}

/// The maxima that a gradient is of; or `None` if this is no gradient of maxima.
pub fn forward(operator: &Operator) -> Option<Operator> {
    Some(match operator.clone() {
        Operator::ReduceMaxBackward(op) => {
            let indices = op.reduce.indices.unwrap_or_default();
            op.reduce.indices(indices).values(true).into()
        }
        Operator::MaxPoolBackward(op) => {
            let indices = op.pool.indices.unwrap_or_default();
            op.pool.indices(indices).into()
        }
        Operator::SegmentMaxBackward(op) => op.segment.status(false).into(),
        _ => return None,
    })
}

/// For each element of a gradient, the numbers of the values that it gets, in their order; `None` if
/// this is no gradient. Where they are not added, only the last one counts.
pub fn sums(operator: &Operator, inputs: &[&Tensor]) -> Result<Option<Vec<Vec<usize>>>> {
    let descs: Vec<_> = inputs.iter().map(|input| input.desc()).collect();
    let result = operator.infer(&descs)?[0].clone();
    let mut lists = vec![Vec::new(); result.len()];
    if let Operator::MaxUnpool(op) = operator {
        for (item, &index) in ids(inputs[1]).iter().enumerate() {
            let within: usize = op.indices_within.iter().product();
            let Some(index) = usize::try_from(index).ok().filter(|&index| index < within) else {
                continue;
            };
            let at = coordinates(index, &op.indices_within);
            let place = at.iter().zip(&op.shape).fold(0, |flat, (at, size)| flat * size + at);
            lists[place] = vec![item];
        }
        return Ok(Some(lists));
    }
    let (shape, segments) = match operator {
        Operator::ReduceMaxBackward(op) => (&op.shape, None),
        Operator::MaxPoolBackward(op) => (&op.shape, None),
        Operator::SegmentMaxBackward(op) => (&op.shape, Some(&op.segment)),
        _ => return Ok(None),
    };
    let Some(forward) = forward(operator) else { return Ok(None) };
    let zeros = Tensor::from_bytes(
        result.element_type(),
        result.shape(),
        &vec![0; result.len() * result.element_type().size()],
    )?;
    let gradient = inputs[inputs.len() - 1];
    let sets = match (shape, segments) {
        (Some(shape), Some(_)) => {
            // Any row of a column may be that of a segment.
            let inner: usize = shape[1..].iter().product();
            let column = |item: usize| (item % inner..result.len()).step_by(inner).collect();
            Some((0..gradient.len()).map(column).collect())
        }
        (Some(_), None) => of(&forward, &[&zeros])?,
        (None, Some(segment)) => {
            let known = segment.num_segments.or(match segment.segments {
                Segments::Offsets => None,
                _ => Some(gradient.shape()[0]),
            });
            of(&segment.clone().num_segments(known).into(), &inputs[..2])?
        }
        (None, None) => of(&forward, &inputs[..1])?,
    };
    let given = shape.is_some().then(|| ids(inputs[0]));
    let is_last = matches!(&forward, Operator::ReduceMax(op) if op.indices.is_some_and(|i| i.last));
    let ranking = Ranking::of(&forward, result.element_type());
    let is_sum = matches!(forward, Operator::MaxPool(_));
    for (item, set) in sets.unwrap_or_default().into_iter().enumerate() {
        let winner = match (&given, ranking) {
            (Some(given), _) => set
                .into_iter()
                .find(|&element| position(&forward, result.shape(), element) == given[item]),
            (None, Some(ranking)) => {
                let rank = |&element: &usize| {
                    let size = ranking.element_type.size();
                    let mut bits = [0; 8];
                    bits[..size].copy_from_slice(&inputs[0].bytes()[element * size..][..size]);
                    keys::rank(&ranking, keys::key(&ranking, u64::from_le_bytes(bits)))
                };
                let best = set.iter().map(rank).max();
                let mut equal = set.into_iter().filter(|element| Some(rank(element)) == best);
                if is_last { equal.next_back() } else { equal.next() }
            }
            (None, None) => None,
        };
        if let Some(element) = winner {
            if !is_sum {
                lists[element].clear();
            }
            lists[element].push(item);
        }
    }
    Ok(Some(lists))
}

/// The position of an element that wins.
pub fn position(operator: &Operator, shape: &[usize], element: usize) -> i64 {
    let at = coordinates(element, shape);
    let position = match operator {
        Operator::ReduceMax(op) => (0..shape.len())
            .filter(|&axis| is_reduced(op, shape, axis))
            .fold(0, |flat, axis| flat * shape[axis] + at[axis]),
        Operator::MaxPool(op) => match op.indices.map(|indices| indices.numbering) {
            Some(Numbering::FromAxis(axis)) => {
                let axis = axis.rem_euclid(shape.len() as i64) as usize;
                (axis..shape.len()).fold(0, |flat, axis| flat * shape[axis] + at[axis])
            }
            Some(Numbering::ColumnMajor) => {
                let axes = [0, 1].into_iter().chain((2..shape.len()).rev());
                axes.fold(0, |flat, axis| flat * shape[axis] + at[axis])
            }
            _ => element,
        },
        _ => at[0],
    };
    position as i64
}

fn is_reduced(op: &ReduceMax, shape: &[usize], axis: usize) -> bool {
    let mut axes = op.axes.as_deref().map(|axes| axes.iter());
    let rank = shape.len() as i64;
    axes.as_mut().is_none_or(|axes| axes.any(|a| a.rem_euclid(rank) == axis as i64))
}

fn coordinates(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        (at[axis], number) = (number % shape[axis], number / shape[axis]);
    }
    at
}

/// The elements of the window of a result.
fn window(op: &MaxPool, shape: &[usize], at: &[usize]) -> Vec<usize> {
    let first = if op.layout == Layout::Nxc { 1 } else { 2 };
    let mut elements = vec![0];
    for (axis, &size) in shape.iter().enumerate() {
        let spatial = axis.checked_sub(first).filter(|&i| i < op.kernel.len());
        let places: Vec<usize> = match spatial {
            None => vec![at[axis]],
            Some(i) => {
                let one =
                    |list: &Option<Vec<usize>>| list.as_ref().map_or(1, |list| list[i] as i128);
                let (kernel, size) = (op.kernel[i] as i128, size as i128);
                let (stride, dilation) = (one(&op.strides), one(&op.dilations));
                // What windows at every `stride`-th element reach beyond the axis.
                let windows = (size + stride - 1) / stride;
                let reach = (windows - 1) * stride + (kernel - 1) * dilation + 1;
                let beyond = (reach - size).max(0);
                let begin = match &op.padding {
                    Padding::Explicit { begin, .. } => begin.get(i).map_or(0, |&pad| pad as i128),
                    Padding::SameUpper => beyond / 2,
                    Padding::SameLower => beyond - beyond / 2,
                    _ => 0,
                };
                let start = at[axis] as i128 * stride - begin;
                // Of a long kernel few taps are inside.
                let from = ((-start).max(0) + dilation - 1) / dilation;
                let places = (from..kernel).map(|tap| start + tap * dilation);
                places.take_while(|&place| place < size).map(|place| place as usize).collect()
            }
        };
        elements = elements
            .iter()
            .flat_map(|flat| places.iter().map(move |place| flat * size + place))
            .collect();
    }
    elements
}

fn ids(tensor: &Tensor) -> Vec<i64> {
    let t = tensor.element_type();
    let ids = tensor.bytes().chunks(t.size()).map(|bytes| {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let (bits, unused) = (i64::from_le_bytes(wide), 64 - 8 * t.size() as u32);
        match t {
            ElementType::I8 | ElementType::I16 | ElementType::I32 => bits << unused >> unused,
            _ => bits,
        }
    });
    ids.collect()
}
