//! Random scatters.

use wgmax::operator::{Indices, ScatterMax, ScatterMaxBackward};
use wgmax::{ElementType, Extremum, Result, TensorDesc};

use super::aim::Aim;
use super::draft::Draft;
use super::elements::{Style, mirrored, tensor};
use super::{Random, gradient};
use crate::oracle;

/// Random updates of a tensor with element type `t` and about `budget` elements at most.
///
/// # Errors
/// [`Error::ShapeOverflow`](wgmax::Error::ShapeOverflow) for a huge budget.
pub(super) fn draft(
    random: &mut Random,
    t: ElementType,
    budget: u64,
    aim: Option<Aim>,
) -> Result<Draft> {
    let rank = 1 + random.below(4) as usize;
    let max_size = (budget as f64).powf(1.0 / rank as f64).max(2.0) as u64;
    let free = aim.is_none();
    let mut shape: Vec<usize> = (0..rank).map(|_| 1 + random.below(max_size) as usize).collect();
    if free && random.once_in(12) {
        shape[random.below(rank as u64) as usize] = 0;
    }
    let by_axis = random.once_in(2);
    // No index names an element of an empty axis.
    let (op, rows, sizes, updates) = if by_axis {
        let axis = random.below(rank as u64) as usize;
        let mut of: Vec<usize> = match random.once_in(2) {
            true => shape.clone(),
            false => shape.iter().map(|&size| random.below(size as u64 + 1) as usize).collect(),
        };
        of[axis] = match random.below(4) {
            0 => random.below(4) as usize,
            1 => 3 * shape[axis],
            _ => random.near_border(max_size) as usize,
        };
        if shape[axis] == 0 {
            of[axis] = 0;
        }
        let from_front = axis as i64;
        let named = if random.once_in(2) { from_front } else { from_front - rank as i64 };
        (ScatterMax::along(named), of.clone(), vec![shape[axis]], of)
    } else {
        let length = random.below(rank as u64 + 1) as usize;
        let part: usize = shape[length..].iter().product();
        let count = random.below(budget / part.max(1) as u64 + 2) as usize;
        let count = if shape[..length].contains(&0) { 0 } else { count };
        let mut rows = match random.below(4) {
            0 => vec![count.div_ceil(3), 3],
            _ => vec![count],
        };
        let updates = [&rows[..], &shape[length..]].concat();
        rows.push(length);
        (ScatterMax::by_vectors(), rows, shape[..length].to_vec(), updates)
    };
    let types = match aim.is_some_and(|aim| aim.is("small_ids")) {
        true => &[ElementType::I8, ElementType::U8, ElementType::I16, ElementType::U16][..],
        false => &[
            ElementType::I32,
            ElementType::I64,
            ElementType::I64,
            ElementType::U32,
            ElementType::U64,
            ElementType::I16,
            ElementType::U8,
        ],
    };
    let id_type = random.pick(types);
    // Indices that no host has checked. The status is compared.
    let wanted = aim.map_or("", |aim| aim.kernel());
    let given = wanted == "unpool_scatter";
    let gradient =
        given || wanted == "gradient_scatter" || t.is_float() && free && random.once_in(3);
    let status = aim.is_some_and(|aim| aim.is("status")) || random.once_in(4);
    let argmax = aim.is_some_and(|aim| aim.is("argmax")) || random.once_in(3);
    let saved = given || gradient && argmax && random.once_in(3);
    let hostile = status && !saved && random.once_in(2);
    let indices = indices(random, id_type, &rows, &sizes, hostile)?;
    let op = op
        .include_data(!random.once_in(3))
        .extremum(random.extremum())
        .nan(random.nan())
        .indices(argmax.then(|| Indices::new(random.index_type())))
        .status(status);
    let updates = tensor(t, &updates, Style::random(super::Kind::SegmentMax, random), random)?;
    let updates = match op.extremum {
        Extremum::Maximum => updates,
        Extremum::Minimum => mirrored(&updates)?,
    };
    let data = TensorDesc::new(t, shape)?;
    if !gradient {
        return Ok(Draft::new(op, data, vec![indices, updates]));
    }
    let of_maxima = gradient::tensor(t, data.shape(), random)?;
    if saved {
        let forward = op.clone().indices(op.indices.unwrap_or_default()).status(false);
        let positions = forward.infer([&data, indices.desc(), updates.desc()])?[1].clone();
        let backward = ScatterMaxBackward::new(op).from_indices(indices.shape());
        let of = Draft::new(forward, data, vec![indices, updates]);
        return Ok(Draft::from_positions(backward, of, positions, of_maxima));
    }
    Ok(Draft::new(ScatterMaxBackward::new(op), data, vec![indices, updates, of_maxima]))
}

/// Vectors of indices for axes of these sizes. They name few destinations, all, or one. Some indices count
/// from the end; if `hostile`, some are out of range.
fn indices(
    random: &mut Random,
    t: ElementType,
    shape: &[usize],
    sizes: &[usize],
    hostile: bool,
) -> Result<wgmax::Tensor> {
    let signed =
        matches!(t, ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::I64);
    let bits = 8 * t.size() as u32 - u32::from(signed);
    // The largest value of the type.
    let reach = if bits >= 63 { i64::MAX } else { (1 << bits) - 1 };
    let few = random.pick(&[1, 2, 7, u64::MAX, u64::MAX]);
    let count: usize = shape.iter().product();
    let all = (0..count).map(|i| {
        let size = sizes.get(i % sizes.len().max(1)).copied().unwrap_or(1) as i64;
        if hostile && random.once_in(20) || size == 0 {
            let wrong =
                [size, -size - 1, i64::MAX, i64::MIN, 1 << 32, (1 << 32) - 1, -(1 << 32), reach];
            let wrong = random.pick(&wrong);
            return (if wrong < 0 { wrong.max(-reach - 1) } else { wrong.min(reach) }) as u64;
        }
        let place = random.below((size as u64).min(few)) as i64;
        let place = place.min(reach);
        (if signed && random.once_in(4) && place - size >= -reach - 1 {
            place - size
        } else {
            place
        }) as u64
    });
    let all: Vec<u64> = all.collect();
    oracle::tensor(t, shape, all.into_iter())
}
