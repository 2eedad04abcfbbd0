//! Random segments.

use super::{Case, Narrow, Random, Style, tensor};
use crate::Nan;
use crate::error::Result;
use crate::operator::{EmptySegment, SegmentMax, Segments};
use crate::tensor::{ElementType, Tensor};

/// Random segments of about so many elements at most.
///
/// # Errors
/// None, for a budget that fits in memory.
pub fn segment_max(random: &mut Random, t: ElementType, budget: u64) -> Result<Case> {
    let inner = random.pick(&[1usize, 1, 1, 2, 3, 4, 5, 8, 16, 64, 100, 1000, 0]);
    let most = (budget / inner.max(1) as u64).max(40);
    let rows = if random.once_in(20) { 0 } else { random.below(most) as usize + 1 };
    let shape = match inner {
        1 if random.once_in(2) => vec![rows],
        64 => vec![rows, 4, 16],
        _ => vec![rows, inner],
    };
    let id_type = random.pick(&[ElementType::I32, ElementType::I64]);
    let form =
        random.pick(&[Segments::Sorted, Segments::Sorted, Segments::Unsorted, Segments::Offsets]);
    let ids = sorted_ids(random, rows);
    let count = ids.last().map_or(0, |&id| id + 1);
    let segments = match random.below(5) {
        0 => Some(random.below(count as u64 + 1) as i64),
        1 => Some(count + random.below(40) as i64),
        2 => None,
        _ => Some(count),
    };
    let (op, ids) = match form {
        Segments::Sorted => (SegmentMax::sorted().num_segments(segments), ids),
        Segments::Unsorted => (
            // An id far beyond the others would ask for as many segments.
            SegmentMax::unsorted().num_segments(segments.or(Some(count))),
            scattered(random, ids, id_type),
        ),
        Segments::Offsets => (SegmentMax::offsets(), offsets(random, &ids)),
    };
    let op = op
        .nan(random.pick(&[Nan::Propagate, Nan::Ignore]))
        .empty_segment(random.pick(&[
            EmptySegment::Zero,
            EmptySegment::Lowest,
            EmptySegment::NegativeInfinity,
        ]))
        .indices(random.pick(&[None, None, Some(ElementType::I32), Some(ElementType::I64)]))
        .status(random.once_in(3));
    let style = random.pick(&Style::ALL);
    let data = tensor(t, &shape, style, random)?;
    let ids = ids_tensor(id_type, &ids)?;
    Ok(Case { operator: op.into(), tensors: vec![data, ids], narrow: Narrow::random(random) })
}

/// Ids or offsets as a tensor of `i32` or `i64`.
///
/// # Errors
/// [`Error::ShapeOverflow`](crate::Error::ShapeOverflow).
pub fn ids_tensor(t: ElementType, ids: &[i64]) -> Result<Tensor> {
    match t {
        ElementType::I32 => {
            let narrow: Vec<i32> = ids.iter().map(|&id| id as i32).collect();
            Tensor::from_slice([ids.len()], &narrow)
        }
        _ => Tensor::from_slice([ids.len()], ids),
    }
}

/// Ascending ids of so many rows, of one of several kinds of segment sizes.
fn sorted_ids(random: &mut Random, rows: usize) -> Vec<i64> {
    let kind = random.below(7);
    let run = random.pick(&[15u64, 16, 17, 31, 32, 33, 64]);
    let mut id = if random.once_in(3) { random.below(5) as i64 } else { 0 };
    (0..rows)
        .map(|row| {
            id += match kind {
                // One giant; one each; about four; a few empty ones between.
                0 => 0,
                1 => i64::from(row > 0),
                2 => i64::from(random.once_in(4)),
                3 => random.below(4) as i64,
                // Boundaries on and around those of runs.
                4 => i64::from((row as u64).is_multiple_of(run) && row > 0),
                // Power law: mostly one, some long.
                5 => i64::from(random.once_in(1 + (id as u64 % 7) * (id as u64 % 11))),
                _ => i64::from(random.once_in(50)) * (1 + random.below(30) as i64),
            };
            id
        })
        .collect()
}

/// The same in any order, and some that belong to no segment.
fn scattered(random: &mut Random, mut ids: Vec<i64>, id_type: ElementType) -> Vec<i64> {
    for i in (1..ids.len()).rev() {
        ids.swap(i, random.below(i as u64 + 1) as usize);
    }
    for id in &mut ids {
        if random.once_in(30) {
            *id = random.pick(match id_type {
                ElementType::I32 => &[-1, -7, i32::MIN as i64, i32::MAX as i64][..],
                // Ids that would be some others in 32 bits.
                _ => &[-1, 1 << 32, (1 << 32) + 1, -(1 << 32), i64::MIN, i64::MAX],
            });
        }
    }
    ids
}

/// Offsets as the ids say, after and before some rows that belong to nothing.
fn offsets(random: &mut Random, ids: &[i64]) -> Vec<i64> {
    let rows = ids.len();
    let count = ids.last().map_or(0, |&id| id + 1);
    let skip = random.below(rows as u64 / 4 + 1) as usize;
    let end = rows - random.below((rows - skip) as u64 / 2 + 1) as usize;
    (0..=count).map(|s| ids.partition_point(|&id| id < s).clamp(skip, end) as i64).collect()
}
