//! The smallest case that still shows what a larger one shows.

mod attributes;
mod elements;
mod shape;

use super::Case;
use crate::tensor::TensorDesc;

/// Makes a case smaller for as long as `still` says that it shows what it is to
/// show: fewer axes, smaller sizes, simpler attributes, plainer elements.
///
/// Asks at most `tries` times. The same case and the same answers give the same result.
///
/// ```
/// use wgmax::sweep::{Case, shrink};
///
/// // What is wrong shows with three elements and more.
/// let shows = |case: &Case| case.tensors[0].len() >= 3;
/// let case = (0..100).map(|i| Case::nth(1, i).unwrap()).find(shows).unwrap();
/// assert!(shrink(&case, 1000, shows).tensors[0].len() <= 4);
/// ```
pub fn shrink(case: &Case, tries: usize, mut still: impl FnMut(&Case) -> bool) -> Case {
    let mut smallest = case.clone();
    let mut left = tries;
    loop {
        let mut progress = false;
        for simpler in [shape::smaller, attributes::simpler, elements::plainer] {
            let mut step = |case: &Case| {
                simpler(case).into_iter().find(|candidate| {
                    let asked = left > 0 && is_valid(candidate);
                    left -= usize::from(asked);
                    asked && still(candidate)
                })
            };
            while let Some(found) = step(&smallest) {
                smallest = found;
                progress = true;
            }
        }
        if !progress {
            return smallest;
        }
    }
}

/// Whether the operator allows its inputs.
fn is_valid(case: &Case) -> bool {
    let inputs = case.inputs();
    let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
    case.operator.checked(&inputs).and_then(|operator| operator.infer(&descs)).is_ok()
}

/// What a number may become on its way down to `least`: that, about half of it, one less.
fn below(value: i64, least: i64) -> Vec<i64> {
    let mut values = vec![least, least + (value - least) / 2, value - 1];
    values.dedup();
    values.retain(|&v| v >= least && v < value);
    values
}
