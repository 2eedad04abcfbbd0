//! SegmentMax: for each segment, reads each of its rows.

use wgmax::internals::{collected, push, repeated, reserved};
use wgmax::operator::{SegmentMax, Segments};
use wgmax::{ElementType, Result, Tensor};

use super::value::{Value, bits_at, empty_bits, value};
use super::{Best, tensor};

pub(super) fn run(op: &SegmentMax, data: &Tensor, ids: &Tensor) -> Result<Vec<Tensor>> {
    let t = data.element_type();
    let members = members(op, ids)?;
    let inner: usize = data.shape()[1..].iter().product();
    let empty = empty_bits(t, op.empty_segment, op.extremum);
    let results = members.len().saturating_mul(inner);
    let (mut values, mut rows) = (reserved(results)?, reserved(results)?);
    for mine in &members {
        for column in 0..inner {
            let mut best = Best::new(op.extremum).joined_by(t, op.initial);
            for &row in mine {
                best.add(t, bits_at(data, row * inner + column), row);
            }
            let found = best.found(t, op.nan, op.indices.is_some());
            values.push(found.map_or(empty, |(bits, _)| bits));
            rows.push(found.map_or(-1, |(_, row)| row as i64));
        }
    }
    let mut shape = data.shape().to_vec();
    shape[0] = members.len();
    let mut results = vec![tensor(t, &shape, values.into_iter())?];
    if let Some(indices) = op.indices {
        results.push(tensor(indices.element_type, &shape, rows.into_iter().map(|row| row as u64))?);
    }
    if op.status {
        results.push(status(op, data.shape()[0], ids)?);
    }
    Ok(results)
}

/// An id, or an offset.
pub fn id(ids: &Tensor, i: usize) -> i128 {
    match value(ids.element_type(), bits_at(ids, i)) {
        Some(Value::Int(id)) => id,
        other => unreachable!("{other:?} is no integer"),
    }
}

/// The expected status of ids or offsets that no host has checked, for data of so many rows.
///
/// # Errors
/// [`Error::OutOfMemory`](wgmax::Error::OutOfMemory).
pub fn status(op: &SegmentMax, rows: usize, ids: &Tensor) -> Result<Tensor> {
    let any = |wrong: &dyn Fn(usize) -> bool| (0..ids.len()).any(wrong);
    let mut status = 0;
    if op.segments != Segments::Unsorted {
        if any(&|i| i > 0 && id(ids, i) < id(ids, i - 1)) {
            status |= SegmentMax::UNSORTED;
        }
        if any(&|i| id(ids, i) < 0) {
            status |= SegmentMax::NEGATIVE;
        }
    }
    let mut dropped = 0;
    if op.segments == Segments::Offsets {
        if any(&|i| id(ids, i) > rows as i128) {
            status |= SegmentMax::TOO_LARGE;
        }
        let row = |i: usize| id(ids, i).clamp(0, rows as i128) as u64;
        dropped = row(0) + rows as u64 - row(ids.len() - 1);
    } else {
        let segments = count(op, ids);
        dropped += (0..rows).filter(|&i| !(0..segments).contains(&id(ids, i))).count() as u64;
    }
    tensor(ElementType::U32, &[2], [status.into(), dropped].into_iter())
}

/// The number of segments of ids.
fn count(op: &SegmentMax, ids: &Tensor) -> i128 {
    let counted = || (0..ids.len()).map(|i| id(ids, i)).max().map_or(0, |id| (id + 1).max(0));
    op.num_segments.map_or_else(counted, |count| count as i128)
}

/// The rows of each segment, ascending.
pub(super) fn members(op: &SegmentMax, ids: &Tensor) -> Result<Vec<Vec<usize>>> {
    let id = |i: usize| id(ids, i);
    if op.segments == Segments::Offsets {
        let mut members = repeated(Vec::new(), ids.len().saturating_sub(1))?;
        for (i, mine) in members.iter_mut().enumerate() {
            *mine = collected(id(i) as usize..id(i + 1) as usize)?;
        }
        return Ok(members);
    }
    let mut members = repeated(Vec::new(), count(op, ids) as usize)?;
    for row in 0..ids.len() {
        let mine = usize::try_from(id(row)).ok().and_then(|id| members.get_mut(id));
        if let Some(mine) = mine {
            push(mine, row)?;
        }
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgmax::Error;

    #[test]
    fn segments_beyond_all_memory_are_an_error() {
        let data = Tensor::from_slice([1, 1], &[1u8]).unwrap();
        let ids = Tensor::from_slice([1], &[0i32]).unwrap();
        for op in [SegmentMax::sorted(), SegmentMax::unsorted()] {
            let found = run(&op.num_segments(1 << 48), &data, &ids);
            assert!(matches!(found, Err(Error::OutOfMemory { .. })), "{found:?}");
        }
    }
}
