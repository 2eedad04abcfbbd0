//! Random reductions.

use super::{Case, Narrow, Random, Style, tensor};
use crate::Nan;
use crate::error::Result;
use crate::operator::{EmptySet, ReduceMax};
use crate::tensor::ElementType;

/// A random reduction of a tensor with element type `t` and about `budget` elements at most.
///
/// # Errors
/// [`Error::ShapeOverflow`](crate::Error::ShapeOverflow) for a huge budget.
pub fn reduce_max(random: &mut Random, t: ElementType, budget: u64) -> Result<Case> {
    let shape = shape(random, budget);
    let rank = shape.len() as i64;
    let mut op = ReduceMax::new();
    if !random.once_in(8) {
        let axes: Vec<i64> = (0..rank).filter(|_| random.once_in(2)).collect();
        // Some axes are given as negative numbers.
        op = op.axes(axes.into_iter().map(|a| if random.once_in(4) { a - rank } else { a }));
    }
    op = op
        .keep_dims(random.once_in(4))
        .nan(random.pick(&[Nan::Propagate, Nan::Ignore]))
        .empty_set(random.pick(&[EmptySet::NegativeInfinity, EmptySet::Lowest]));
    let style = random.pick(&Style::ALL);
    let input = tensor(t, &shape, style, random)?;
    Ok(Case { operator: op.into(), tensors: vec![input], narrow: Narrow::random(random) })
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
