//! ReduceMax: adds each element to the result with the same coordinates along the kept axes.

use super::value::{bits_at, empty_bits};
use super::{Best, coordinates, flatten, tensor};
use crate::error::Result;
use crate::operator::ReduceMax;
use crate::tensor::{Tensor, memory};

pub(super) fn run(op: &ReduceMax, input: &Tensor) -> Result<Tensor> {
    let (t, shape, rank) = (input.element_type(), input.shape(), input.shape().len());
    let reduced = |axis: usize| match op.get_axes() {
        None => true,
        Some(axes) => axes.iter().any(|&a| a.rem_euclid(rank as i64) == axis as i64),
    };
    let kept: Vec<usize> = (0..rank).filter(|&axis| !reduced(axis)).collect();
    let sizes: Vec<usize> = kept.iter().map(|&axis| shape[axis]).collect();
    let mut best = memory::repeated(Best::new(op.get_extremum()), sizes.iter().product())?;
    for number in 0..input.len() {
        let at = coordinates(number, shape);
        let at: Vec<usize> = kept.iter().map(|&axis| at[axis]).collect();
        best[flatten(&at, &sizes)].add(t, bits_at(input, number), number);
    }
    let out_shape = match op.get_keep_dims() {
        true => (0..rank).map(|axis| if reduced(axis) { 1 } else { shape[axis] }).collect(),
        false => sizes,
    };
    let found = |best: Best| match best.found(t, op.get_nan(), false) {
        Some((bits, _)) => bits,
        None => empty_bits(t, op.get_empty_set(), op.get_extremum()),
    };
    tensor(t, &out_shape, best.into_iter().map(found))
}
