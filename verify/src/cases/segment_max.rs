//! Random segments.

use std::collections::BTreeMap;

use wgmax::operator::{EmptySet, Indices, SegmentMax, SegmentMaxBackward, Segments};
use wgmax::{ElementType, Result, Tensor, TensorDesc};

use super::aim::Aim;
use super::draft::Draft;
use super::elements::place;
use super::{Random, gradient, scatter_max};
use crate::oracle::{self, id};

/// Random segments of a tensor with element type `t` and about `budget` elements at most.
///
/// # Errors
/// [`Error::ShapeOverflow`](wgmax::Error::ShapeOverflow) for a huge budget.
pub(super) fn draft(
    random: &mut Random,
    t: ElementType,
    budget: u64,
    aim: Option<Aim>,
) -> Result<Draft> {
    let kernel = aim.map_or("", |aim| aim.kernel());
    let scatters = kernel == "scatter_locate" || aim.is_some_and(|aim| aim.is("initial"));
    let shared = ["", "segment_scatter", "gradient_scatter", "unpool_scatter"];
    if scatters || shared.contains(&kernel) && random.once_in(3) {
        return scatter_max::draft(random, t, budget, aim);
    }
    let block = 16 / t.size();
    // These kernels take 256 rows of one element together, if there are as many.
    let elements = matches!(kernel, "segment_elements" | "segment_unrolled");
    let by_256 = elements && random.once_in(2);
    let inner = match random.below(16) {
        _ if by_256 => 1,
        0 if kernel.is_empty() => 0,
        0..=4 => 1,
        // Rows of whole blocks, and of whole column tiles.
        5 | 6 => block * (1 + random.below(5) as usize),
        7 | 8 => 4 * block * (1 + random.below(2) as usize),
        9 | 10 => random.near_blocks(80, block as u64) as usize,
        _ => random.pick(&[2, 3, 4, 5, 8, 16, 64, 100, 1000]),
    };
    let max_rows = (budget / inner.max(1) as u64).max(40);
    let rows = match random.below(20) {
        _ if by_256 => 255 + 256 * random.below(8) as usize + random.below(3) as usize,
        0 if kernel.is_empty() => 0,
        0..=9 => random.near_border(max_rows) as usize,
        _ => random.below(max_rows) as usize + 1,
    };
    let shape = match inner {
        1 if random.once_in(2) => vec![rows],
        64 => vec![rows, 4, 16],
        _ => vec![rows, inner],
    };
    let form = match kernel {
        "segment_scatter" => Segments::Unsorted,
        "segment_expand_offsets" => Segments::Offsets,
        "segment_unrolled" if random.once_in(3) => Segments::Offsets,
        "segment_blocks" | "segment_column_tiles" | "segment_elements" | "segment_unrolled" => {
            Segments::Sorted
        }
        _ => random.pick(&[
            Segments::Sorted,
            Segments::Sorted,
            Segments::Unsorted,
            Segments::Offsets,
        ]),
    };
    // Ids that no host has checked. The status is compared.
    let checks = kernel == "segment_check_ids";
    let hostile = form != Segments::Unsorted && checks && !random.once_in(4);
    let distribution = match by_256 {
        true => 7 + random.below(4).min(2),
        // More segments than a binding holds.
        false if elements && random.once_in(2) => 1 + random.below(3),
        false => random.below(11),
    };
    let ids = sorted_ids(random, rows, distribution);
    let count = ids.last().map_or(0, |&id| id + 1);
    let largest = if form == Segments::Offsets { rows as i64 } else { count };
    let id_type = id_type(random, largest, aim.is_some_and(|aim| aim.is("small_ids")));
    let segments = match random.below(5) {
        0 => Some(random.below(count as u64 + 1) as i64),
        1 => Some(count + random.below(40) as i64),
        2 => None,
        _ => Some(count),
    };
    let (op, ids) = match form {
        // Wrong ids do not determine the number of segments.
        Segments::Sorted if hostile => (SegmentMax::sorted().num_segments(count as usize), ids),
        Segments::Sorted => {
            (SegmentMax::sorted().num_segments(segments.map(|count| count as usize)), ids)
        }
        Segments::Unsorted => (
            // Without a number, one large id would make the output too large.
            SegmentMax::unsorted().num_segments(segments.unwrap_or(count) as usize),
            shuffled(random, ids, id_type),
        ),
        Segments::Offsets => (SegmentMax::offsets(), offsets(random, &ids)),
    };
    // A gradient from given rows, which several segments may share.
    let given = kernel == "unpool_scatter";
    let argmax = given || aim.is_some_and(|aim| aim.is("argmax"));
    let op = op
        .extremum(random.extremum())
        .nan(random.nan())
        .empty_segment(random.pick(&[EmptySet::Zero, EmptySet::Finite, EmptySet::Identity]))
        .indices((argmax || random.once_in(2)).then(|| Indices::new(random.index_type())))
        .status(hostile || random.once_in(3));
    let tensor = if hostile { wrong(random, &ids, id_type)? } else { ids_tensor(id_type, &ids)? };
    let data = TensorDesc::new(t, shape)?;
    if !given && kernel != "gradient_scatter" {
        let draft = Draft::new(op, data, vec![tensor]);
        return Ok(Draft { long_chunks: by_256, right_ids: hostile.then_some(ids), ..draft });
    }
    let forward = op.checked(&data, &tensor)?.status(false);
    let maxima = forward.infer([&data, tensor.desc()])?;
    let gradient = gradient::tensor(t, maxima[0].shape(), random)?;
    if given || maxima.len() > 1 && random.once_in(4) {
        let backward = SegmentMaxBackward::new(op).from_indices(data.shape());
        let of = Draft::new(forward, data, vec![tensor]);
        return Ok(Draft::from_positions(backward, of, maxima[1].clone(), gradient));
    }
    Ok(Draft::new(SegmentMaxBackward::new(op), data, vec![tensor, gradient]))
}

/// An element of each column of each segment: at an end of the segment, or of a part of it.
pub(super) fn places(data: &TensorDesc, ids: &Tensor, random: &mut Random) -> Vec<usize> {
    // Offsets are taken as ids: the sets differ, but are as useful.
    let ids = values(ids);
    let rows = data.shape().first().copied().unwrap_or(0);
    let inner = data.len() / rows.max(1);
    let mut sets = BTreeMap::<i64, Vec<usize>>::new();
    for row in 0..rows {
        sets.entry(ids.get(row).copied().unwrap_or(-1)).or_default().push(row);
    }
    let sets = sets.values().flat_map(|rows| (0..inner).map(move |column| (rows, column)));
    sets.map(|(rows, column)| rows[place(rows.len(), random)] * inner + column).collect()
}

/// Ids or offsets as a 1-D tensor of element type `t`, an integer. A value beyond the type becomes
/// another id.
///
/// # Errors
/// [`Error::ShapeOverflow`](wgmax::Error::ShapeOverflow).
pub fn ids_tensor(t: ElementType, ids: &[i64]) -> Result<Tensor> {
    oracle::tensor(t, &[ids.len()], ids.iter().map(|&id| id as u64))
}

/// The ids in a tensor. Values above `i64::MAX` become `i64::MAX`.
pub(super) fn values(ids: &Tensor) -> Vec<i64> {
    (0..ids.len()).map(|i| id(ids, i).try_into().unwrap_or(i64::MAX)).collect()
}

/// A random type of ids up to `largest`. `small`: with 1 or 2 bytes, if such a type holds them.
fn id_type(random: &mut Random, largest: i64, small: bool) -> ElementType {
    use ElementType::{I8, I16, I32, I64, U8, U16, U32, U64};
    let fits = |t: &ElementType| {
        let bits = 8 * t.size() as u32 - u32::from(matches!(t, I8 | I16));
        t.size() >= 4 || largest < 1 << bits
    };
    let mut types: Vec<ElementType> = [I8, U8, I16, U16].into_iter().filter(fits).collect();
    if !small || types.is_empty() {
        types.extend([I32, I32, I64, I64, U32, U64]);
    }
    random.pick(&types)
}

/// Ascending ids of `rows` rows, with one of 11 distributions of segment sizes.
fn sorted_ids(random: &mut Random, rows: usize, distribution: u64) -> Vec<i64> {
    // Remaining rows of the segment, if lengths are drawn.
    let mut left = 0;
    let segment = random.pick(&[15u64, 16, 17, 31, 32, 33, 64]);
    let mut id = if random.once_in(3) { random.below(5) as i64 } else { 0 };
    (0..rows)
        .map(|row| {
            id += match distribution {
                // One segment; one row each; about four rows each; some empty segments.
                0 => 0,
                1 => i64::from(row > 0),
                2 => i64::from(random.once_in(4)),
                3 => random.below(4) as i64,
                // Boundaries at the boundaries of the kernels' chunks, and near them.
                4 => i64::from((row as u64).is_multiple_of(segment) && row > 0),
                // Lengths near the borders of chunks, among segments of a few rows.
                7..=9 => {
                    let ends = left == 0;
                    if ends {
                        left = match distribution {
                            7 if random.once_in(2) => random.near_border(4),
                            7 | 8 => random.near_border(300),
                            // Eight segments of one row, then one up to the end of 256 rows.
                            _ if row % 256 < 8 => 1,
                            _ => 256 - row as u64 % 256,
                        };
                    }
                    left -= 1;
                    i64::from(ends && row > 0)
                }
                // Mostly segments of one row, and some long ones.
                5 => i64::from(random.once_in(1 + (id as u64 % 7) * (id as u64 % 11))),
                _ => i64::from(random.once_in(50)) * (1 + random.below(30) as i64),
            };
            id
        })
        .collect()
}

/// The ids in random order, some of them replaced by out-of-range ids.
fn shuffled(random: &mut Random, mut ids: Vec<i64>, id_type: ElementType) -> Vec<i64> {
    for i in (1..ids.len()).rev() {
        ids.swap(i, random.below(i as u64 + 1) as usize);
    }
    for id in &mut ids {
        if random.once_in(30) {
            *id = random.pick(match id_type.size() {
                // The low 32 bits of some of these are valid ids.
                8 => &[-1, 1 << 32, (1 << 32) + 1, -(1 << 32), i64::MIN, i64::MAX][..],
                4 => &[-1, -7, i32::MIN as i64, i32::MAX as i64],
                _ => &[-1, -7, -128, 127, -(1 << 15), (1 << 15) - 1],
            });
        }
    }
    ids
}

/// Ids or offsets, some of them wrong: at the ends, or at the ends of an invocation's chunk.
pub(super) fn wrong(random: &mut Random, ids: &[i64], id_type: ElementType) -> Result<Tensor> {
    let mut ids = ids.to_vec();
    // From one id on, all are above 32 bits. They still ascend.
    if id_type.size() == 8 && random.once_in(3) && !ids.is_empty() {
        let first = place(ids.len(), random);
        let base = ids[first];
        ids[first..].iter_mut().for_each(|id| *id += (1 << 32) - base);
        return ids_tensor(id_type, &ids);
    }
    // One between the chunks of two invocations, or some anywhere.
    let chunks = ids.len() as u64 / 32;
    let between = chunks > 0 && random.once_in(2);
    for _ in 0..if between { 1 } else { 1 + random.below(4) } {
        if ids.is_empty() {
            break;
        }
        let at = match between {
            true => (32 * (1 + random.below(chunks))).min(ids.len() as u64 - 1) as usize,
            false => place(ids.len(), random),
        };
        let before = at.checked_sub(1).map_or(0, |before| ids[before]);
        ids[at] = match (id_type.size(), random.below(6)) {
            (_, 0) => -1,
            (8, 1) => random.pick(&[-(1 << 32), i64::MIN]),
            (8, 2) => random.pick(&[1 << 32, i64::MAX]),
            // The lowest and the largest ones of a signed type.
            (size, 1) => -1 << (8 * size - 1),
            (size, 2) => (1 << (8 * size - 1)) - 1,
            _ => before.wrapping_sub(1),
        };
    }
    ids_tensor(id_type, &ids)
}

/// Offsets of the segments of ascending ids. Some rows at the beginning and the end belong to none.
fn offsets(random: &mut Random, ids: &[i64]) -> Vec<i64> {
    let rows = ids.len();
    let count = ids.last().map_or(0, |&id| id + 1);
    let skip = random.below(rows as u64 / 4 + 1) as usize;
    let end = rows - random.below((rows - skip) as u64 / 2 + 1) as usize;
    (0..=count).map(|s| ids.partition_point(|&id| id < s).clamp(skip, end) as i64).collect()
}
