//! ScatterMax: for each element of the data, reads each of its updates.

use wgmax::internals::{push, repeated, reserved};
use wgmax::operator::{ScatterBy, ScatterMax, ScatterMaxBackward};
use wgmax::{ElementType, Result, Tensor, TensorDesc};

use super::segment_max::id;
use super::value::bits_at;
use super::{Best, coordinates, flatten, tensor};

pub(super) fn run(
    op: &ScatterMax,
    data: &Tensor,
    indices: &Tensor,
    updates: &Tensor,
) -> Result<Vec<Tensor>> {
    let t = data.element_type();
    let members = members(op, data, indices, updates)?;
    let (mut values, mut positions) = (reserved(data.len())?, reserved(data.len())?);
    for (element, mine) in members.iter().enumerate() {
        let own = bits_at(data, element);
        let mut best = Best::new(op.extremum);
        if op.include_data {
            best.add(t, own, 0);
        }
        for (i, &(update, _)) in mine.iter().enumerate() {
            best.add(t, bits_at(updates, update), 1 + i);
        }
        let (bits, at) = match best.found(t, op.nan, op.indices.is_some()) {
            Some(found) if !mine.is_empty() => found,
            _ => (own, 0),
        };
        values.push(bits);
        positions.push(at.checked_sub(1).map_or(-1, |i| mine[i].1 as i64));
    }
    let mut results = vec![tensor(t, data.shape(), values.into_iter())?];
    if let Some(indices) = op.indices {
        let positions = positions.into_iter().map(|position| position as u64);
        results.push(tensor(indices.element_type, data.shape(), positions)?);
    }
    if op.status {
        results.push(status(op, data, indices)?);
    }
    Ok(results)
}

/// The updates of each element of the data, in their order, each with its position.
///
/// # Errors
/// [`Error::OutOfMemory`](wgmax::Error::OutOfMemory).
pub(super) fn members(
    op: &ScatterMax,
    data: &Tensor,
    indices: &Tensor,
    updates: &Tensor,
) -> Result<Vec<Vec<(usize, usize)>>> {
    let mut members = repeated(Vec::new(), data.len())?;
    for update in 0..updates.len() {
        if let (Some(element), position) = destination(op, data, indices, updates, update) {
            push(&mut members[element], (update, position))?;
        }
    }
    Ok(members)
}

/// The gradients of the data and of the updates.
///
/// # Errors
/// As [`run`].
pub(super) fn backward(op: &ScatterMaxBackward, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
    let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
    let results = op.infer(&descs)?;
    let gradient = inputs[inputs.len() - 1];
    let winners = winners(op, inputs)?;
    let bits = |winner: &Option<usize>| winner.map_or(0, |element| bits_at(gradient, element));
    let of = |(desc, winners): (&TensorDesc, &Vec<Option<usize>>)| {
        tensor(desc.element_type(), desc.shape(), winners.iter().map(bits))
    };
    results.iter().zip(&winners).map(of).collect()
}

/// For each element of the data, and for each update, the element of the gradient that goes there, if
/// any.
///
/// # Errors
/// Shapes or types that the operator refuses.
pub fn winners(op: &ScatterMaxBackward, inputs: &[&Tensor]) -> Result<[Vec<Option<usize>>; 2]> {
    let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
    let [data, updates] = op.infer(&descs)?.exactly()?;
    let (found, indices) = match inputs {
        [data, indices, updates, _] => {
            let scatter = op.scatter.clone().indices(ElementType::I64).status(false);
            (run(&scatter, data, indices, updates)?.swap_remove(1), indices.shape())
        }
        _ => (inputs[0].clone(), op.shape.as_deref().unwrap_or_default()),
    };
    let axis = axis(&op.scatter, data.rank());
    let part: usize = match axis {
        None => data.shape()[indices[indices.len() - 1]..].iter().product(),
        Some(_) => 1,
    };
    let update_of = |element: usize, position: usize| match axis {
        None => Some(position)
            .filter(|&position| position < updates.len() / part)
            .map(|position| position * part + element % part),
        Some(axis) => {
            let mut at = coordinates(element, data.shape());
            at[axis] = position;
            let inside = at.iter().zip(updates.shape()).all(|(at, size)| at < size);
            inside.then(|| flatten(&at, updates.shape()))
        }
    };
    let (mut of_data, mut of_updates) =
        (repeated(None, data.len())?, repeated(None, updates.len())?);
    for (element, own) in of_data.iter_mut().enumerate() {
        match id(&found, element) {
            -1 => *own = Some(element),
            position => {
                let update = usize::try_from(position).ok().and_then(|at| update_of(element, at));
                if let Some(update) = update {
                    of_updates[update] = Some(element);
                }
            }
        }
    }
    Ok([of_data, of_updates])
}

/// The expected status of indices that no host has checked.
///
/// # Errors
/// [`Error::OutOfMemory`](wgmax::Error::OutOfMemory).
pub fn status(op: &ScatterMax, data: &Tensor, indices: &Tensor) -> Result<Tensor> {
    let (rows, length) = rows(op, indices);
    let wrong = (0..rows).filter(|row| {
        let mut all = 0..length;
        all.any(|i| place(op, data, i, id(indices, row * length + i)).is_none())
    });
    let count = wrong.count() as u64;
    let what = if count > 0 { ScatterMax::OUT_OF_RANGE } else { 0 };
    tensor(ElementType::U32, &[2], [what.into(), count].into_iter())
}

/// How many vectors of indices there are, and how long they are.
fn rows(op: &ScatterMax, indices: &Tensor) -> (usize, usize) {
    match (op.by, indices.shape()) {
        (ScatterBy::Vectors, [rows @ .., length]) => (rows.iter().product(), *length),
        _ => (indices.len(), 1),
    }
}

fn axis(op: &ScatterMax, rank: usize) -> Option<usize> {
    match op.by {
        ScatterBy::Axis(axis) => Some(axis.rem_euclid(rank as i64) as usize),
        ScatterBy::Vectors => None,
    }
}

/// The place that an index of a vector names.
fn place(op: &ScatterMax, data: &Tensor, i: usize, id: i128) -> Option<usize> {
    let size = data.shape()[axis(op, data.shape().len()).unwrap_or(i)];
    let from_front = if id < 0 { id + size as i128 } else { id };
    usize::try_from(from_front).ok().filter(|&place| place < size)
}

/// The element that an update names, and the update's position.
fn destination(
    op: &ScatterMax,
    data: &Tensor,
    indices: &Tensor,
    updates: &Tensor,
    update: usize,
) -> (Option<usize>, usize) {
    if let Some(axis) = axis(op, data.shape().len()) {
        let mut at = coordinates(update, updates.shape());
        let position = at[axis];
        let found = place(op, data, 0, id(indices, update)).map(|place| {
            at[axis] = place;
            flatten(&at, data.shape())
        });
        return (found, position);
    }
    let (_, length) = rows(op, indices);
    let part: usize = data.shape()[length..].iter().product();
    let row = update / part;
    let places = (0..length).map(|i| place(op, data, i, id(indices, row * length + i)));
    let places: Option<Vec<usize>> = places.collect();
    let found = places.map(|at| flatten(&at, &data.shape()[..length]) * part + update % part);
    (found, row)
}
