//! Random reductions.

use std::collections::BTreeMap;

use wgmax::operator::{Indices, ReduceMax, ReduceMaxBackward};
use wgmax::{ElementType, Result, TensorDesc};

use super::aim::Aim;
use super::draft::Draft;
use super::elements::place;
use super::{Random, gradient};
use crate::oracle::reduced;

/// A random reduction of a tensor with element type `t` and about `budget` elements at most.
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
    let (shape, axes) = match kernel.is_empty() || random.once_in(4) {
        true => any(random, budget),
        false => matrices(random, t, budget, kernel),
    };
    let rank = shape.len() as i64;
    let mut op = ReduceMax::new();
    if let Some(axes) = axes {
        // Some axes are given as negative numbers.
        op = op.axes(axes.into_iter().map(|a| if random.once_in(4) { a - rank } else { a }));
    }
    op = op
        .keep_dims(random.once_in(4))
        .extremum(random.extremum())
        .nan(random.nan())
        .empty_set(random.empty_set());
    let data = TensorDesc::new(t, shape)?;
    let indexed = match kernel {
        "" => random.once_in(3),
        "fill" => false,
        kernel => kernel.ends_with("_index") || aim.is_some_and(|aim| aim.is("positions")),
    };
    if indexed {
        let with = op.clone().indices(positions(random)).values(!random.once_in(4));
        // Empty sets have no positions.
        op = if with.infer(&data).is_ok() { with } else { op };
    }
    if kernel != "gradient_scatter" {
        return Ok(Draft::new(op, data, Vec::new()));
    }
    let gradient = gradient::tensor(t, op.infer(&data)?[0].shape(), random)?;
    let op = op.indices(positions(random));
    let backward = ReduceMaxBackward::new(op.clone());
    // Empty sets have no positions.
    match op.infer(&data) {
        Ok(results) if random.once_in(2) => {
            let backward = backward.from_indices(data.shape());
            let of = Draft::new(op, data, Vec::new());
            Ok(Draft::from_positions(backward, of, results[1].clone(), gradient))
        }
        _ => Ok(Draft::new(backward, data, vec![gradient])),
    }
}

fn positions(random: &mut Random) -> Indices {
    Indices::new(random.index_type()).last(random.once_in(3))
}

/// Any shape, and any of its axes; all of them if there are none.
fn any(random: &mut Random, budget: u64) -> (Vec<usize>, Option<Vec<i64>>) {
    let shape = shape(random, budget);
    let rank = shape.len() as i64;
    let axes = (!random.once_in(8)).then(|| (0..rank).filter(|_| random.once_in(2)).collect());
    (shape, axes)
}

fn shape(random: &mut Random, budget: u64) -> Vec<usize> {
    let rank = random.below(6) as usize;
    let mut left = budget;
    (0..rank)
        .map(|_| {
            let size = match random.below(12) {
                0 => 0,
                1 | 2 => 1,
                3..=6 => 1 + random.below(7),
                7..=8 => 1 + random.below(70),
                // Multiples of 16-byte blocks, which are rare among random sizes.
                9 => 4 << random.below(5),
                _ => 1 + random.below(3000),
            };
            let size = size.min(left.max(1));
            left /= size.max(1);
            size as usize
        })
        .collect()
}

/// Matrices whose rows or columns are reduced, with sizes near those that a kernel takes together.
fn matrices(
    random: &mut Random,
    t: ElementType,
    budget: u64,
    kernel: &str,
) -> (Vec<usize>, Option<Vec<i64>>) {
    let block = 16 / t.size() as u64;
    let rows = kernel.contains("rows");
    // Few wide rows; narrow columns, of which several rows are taken as one; many short sets.
    let form = match random.below(8) {
        // More rows than a kernel takes at once.
        7 if rows => 6,
        6 if kernel == "reduce_column_tiles" => 0,
        5 | 7 if kernel == "reduce_column_tiles" => 2,
        5..=7 if kernel == "reduce_columns" => 1,
        form => form % 6,
    };
    let budget = match form {
        0 => budget.max(16 * 1024 * block),
        1 => budget.max(2000),
        2 => budget.max(12_000),
        3 | 4 => budget.max(8000),
        _ => budget,
    };
    let size = |random: &mut Random, max: u64| random.near_blocks(max, block);
    let inner = match form {
        _ if rows => 1,
        0 => {
            let wide = block * (1024 + random.below(1024));
            if random.once_in(3) { wide + random.below(block) } else { wide }
        }
        1 | 2 => size(random, 12),
        _ => size(random, budget.min(300)),
    };
    let long = match form {
        0 | 3 | 4 => size(random, (budget / inner).min(16)),
        // Usually not a multiple of the rows that are taken as one.
        1 if !rows => 32 + random.below(70),
        6 => 1 + random.below(9),
        2 if !rows => 32 + random.below((budget / (4 * inner)).min(1500)),
        _ => size(random, (budget / inner).min(if rows { 3000 } else { 300 })),
    };
    let outer = match form {
        1 | 2 => 1 + random.near_border(5),
        6 => 2048 + random.below(8000),
        _ => random.near_border(budget / (inner * long)),
    };
    let n = if kernel == "fill" { 0 } else { long };
    // Sometimes an axis of 1.
    let mut sizes = vec![(outer, false), (n, true), (inner, false)];
    if random.once_in(3) {
        sizes.insert(random.below(4) as usize, (1, random.once_in(2)));
    }
    let shape = sizes.iter().map(|&(size, _)| size as usize).collect();
    let axes = (0..sizes.len()).filter(|&axis| sizes[axis].1).map(|axis| axis as i64);
    (shape, Some(axes.collect()))
}

/// An element of each set, at an end of the set or of a part of it.
pub(super) fn places(op: &ReduceMax, data: &TensorDesc, random: &mut Random) -> Vec<usize> {
    let reduced = reduced(op, data.rank());
    // The elements of each set, in order.
    let mut sets = BTreeMap::<usize, Vec<usize>>::new();
    for element in 0..data.len() {
        let (mut rest, mut set, mut pitch) = (element, 0, 1);
        for (&size, &reduced) in data.shape().iter().zip(&reduced).rev() {
            if !reduced {
                set += rest % size * pitch;
                pitch *= size;
            }
            rest /= size;
        }
        sets.entry(set).or_default().push(element);
    }
    sets.values().map(|set| set[place(set.len(), random)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{Case, Kind};
    use wgmax::operator::Operator;

    /// Rows that end an element before or after whole blocks, words or 16 elements are frequent,
    /// and so are whole ones: there kernels tend to lose an element.
    #[test]
    fn rows_end_near_borders() {
        // By the size of an element: rows longer than 16, and those among them near a border.
        let mut rows = BTreeMap::<usize, usize>::new();
        let mut near = BTreeMap::<(usize, usize, usize), usize>::new();
        for (seed, index) in (1..=3).flat_map(|seed| (0..2000).map(move |index| (seed, index))) {
            let (draft, _) = Case::draft(&mut Random::stream(seed, index), seed, index).unwrap();
            let Operator::ReduceMax(op) = &draft.operator else { continue };
            let (shape, reduced) = (draft.data.shape(), reduced(op, draft.data.rank()));
            let last = shape.iter().zip(&reduced).rev().filter(|(size, _)| **size != 1);
            let row: usize =
                last.take_while(|(_, reduced)| **reduced).map(|(&size, _)| size).product();
            if row <= 16 {
                continue;
            }
            let size = draft.data.element_type().size();
            *rows.entry(size).or_default() += 1;
            for unit in [2, 4, 8, 16] {
                *near.entry((size, unit, row % unit)).or_default() += 1;
            }
        }
        for size in [1, 2, 4, 8] {
            for unit in [4, 16 / size, 16] {
                for rest in [unit - 1, 0, 1] {
                    let found = near.get(&(size, unit, rest)).copied().unwrap_or(0);
                    println!(
                        "{size} bytes: {found} of {} rows are {rest} modulo {unit}",
                        rows[&size]
                    );
                    assert!(25 * found >= rows[&size], "{size} bytes: {rest} modulo {unit}");
                }
            }
        }
    }

    /// Also for sets without elements, which have no positions.
    #[test]
    fn gradients_of_any_shape_are_drawn() {
        let t = ElementType::F32;
        let aims = (0..200).filter_map(|round| Aim::nth(Kind::ReduceMax, t, round));
        let aim = aims.into_iter().find(|aim| aim.kernel() == "gradient_scatter");
        assert!(aim.is_some());
        let mut empty = 0;
        for seed in 0..3000 {
            let draft = draft(&mut Random(seed), t, 1000, aim).unwrap();
            empty += usize::from(draft.data.is_empty() && !draft.others[0].is_empty());
        }
        assert!(empty > 0);
    }
}
