//! The values that each element of a gradient is the sum of, and the position of each element, by the
//! definitions of the operators.

use wgmax::operator::{Numbering, Operator, ScatterBy, ScatterMax, Segments};
use wgmax::{Result, Tensor};
use wgmax_verify::oracle::{bits_at, coordinates, id, reduced, sets, winners};

use crate::keys::{self, Ranking};

/// The operator of the maxima that a gradient belongs to; `None` if this is not such a gradient.
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
        Operator::ScatterMaxBackward(op) => op.scatter.status(false).into(),
        _ => return None,
    })
}

/// For each element of the gradients, those of one result after the other, the numbers of its values, in
/// their order; `None` if this is not a gradient. If values are not added, only the last one counts.
pub fn sums(operator: &Operator, inputs: &[&Tensor]) -> Result<Option<Vec<Vec<usize>>>> {
    if let Operator::ScatterMaxBackward(op) = operator {
        let winners = winners(op, inputs)?.into_iter().flatten();
        return Ok(Some(winners.map(Vec::from_iter).collect()));
    }
    let descs: Vec<_> = inputs.iter().map(|input| input.desc()).collect();
    let result = operator.infer(&descs)?[0].clone();
    let mut lists = vec![Vec::new(); result.len()];
    if let Operator::MaxUnpool(op) = operator {
        let within: usize = op.indices_within.iter().product();
        for item in 0..inputs[1].len() {
            let index = usize::try_from(id(inputs[1], item)).ok();
            let Some(index) = index.filter(|&index| index < within) else { continue };
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
    let t = result.element_type();
    let Some(forward) = forward(operator) else { return Ok(None) };
    let Some(ranking) = Ranking::of(&forward, t) else { return Ok(None) };
    let gradient = inputs[inputs.len() - 1];
    let all = match (shape, segments) {
        (Some(shape), Some(_)) => {
            // Any row of a column may belong to the segment.
            let inner: usize = shape[1..].iter().product();
            let column = |item: usize| (item % inner..result.len()).step_by(inner).collect();
            Some((0..gradient.len()).map(column).collect())
        }
        (Some(_), None) => {
            let zeros = vec![0; result.byte_len()];
            sets(&forward, &[&Tensor::from_bytes(t, result.shape(), &zeros)?])?
        }
        (None, Some(segment)) => {
            let known = segment.num_segments.or(match segment.segments {
                Segments::Offsets => None,
                _ => Some(gradient.shape()[0]),
            });
            sets(&segment.clone().num_segments(known).into(), &inputs[..2])?
        }
        (None, None) => sets(&forward, &inputs[..1])?,
    };
    let is_last = matches!(&forward, Operator::ReduceMax(op) if op.indices.is_some_and(|i| i.last));
    let is_sum = matches!(forward, Operator::MaxPool(_));
    for (item, set) in all.unwrap_or_default().into_iter().enumerate() {
        let winner = if shape.is_some() {
            let given = id(inputs[0], item);
            set.into_iter()
                .find(|&element| i128::from(position(&forward, result.shape(), element)) == given)
        } else {
            let rank = |&element: &usize| {
                keys::rank(&ranking, keys::key(&ranking, bits_at(inputs[0], element)))
            };
            let best = set.iter().map(rank).max();
            let mut equal = set.into_iter().filter(|element| Some(rank(element)) == best);
            if is_last { equal.next_back() } else { equal.next() }
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
        Operator::ReduceMax(op) => {
            let axes = reduced(op, shape.len()).into_iter().enumerate();
            axes.filter(|(_, gone)| *gone).fold(0, |flat, (axis, _)| flat * shape[axis] + at[axis])
        }
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

/// The position of an element of the data or, numbered after these, of the updates that wins in a ScatterMax.
pub fn update(op: &ScatterMax, inputs: &[&Tensor], element: usize) -> i64 {
    let [data, indices, updates] = [0, 1, 2].map(|at| inputs[at].shape());
    let Some(update) = element.checked_sub(inputs[0].len()) else { return -1 };
    let position = match (op.by, indices.last()) {
        (ScatterBy::Axis(axis), _) => {
            coordinates(update, updates)[axis.rem_euclid(data.len() as i64) as usize]
        }
        (ScatterBy::Vectors, length) => {
            update / data[length.copied().unwrap_or(0)..].iter().product::<usize>()
        }
    };
    position as i64
}
