//! Shrinks a failing case to the smallest one that still fails.

mod attributes;
mod elements;
mod shape;

use wgmax::operator::MaxPool;

use super::Case;

/// Makes a case smaller as long as `fails` is true for it: fewer axes, smaller sizes, simpler
/// attributes, simpler elements.
///
/// It calls `fails` at most `tries` times. The result depends only on the case and on the answers.
///
/// ```
/// use wgmax_verify::{Case, shrink};
///
/// // A fault that needs at least three elements.
/// let fails = |case: &Case| case.tensors[0].len() >= 3;
/// let case = (0..100).map(|i| Case::nth(1, i).unwrap()).find(fails).unwrap();
/// assert!(shrink(&case, 1000, fails).tensors[0].len() <= 4);
/// ```
pub fn shrink(case: &Case, tries: usize, mut fails: impl FnMut(&Case) -> bool) -> Case {
    // It waits for nothing.
    pollster::block_on(shrink_async(case, tries, async |case: &Case| fails(case)))
}

/// As [`shrink`], if `fails` may wait for a GPU.
pub async fn shrink_async(
    case: &Case,
    tries: usize,
    mut fails: impl AsyncFnMut(&Case) -> bool,
) -> Case {
    let mut smallest = case.clone();
    let mut left = tries;
    loop {
        let mut progress = false;
        for simpler in [shape::smaller, attributes::simpler, elements::simpler] {
            let mut candidates = simpler(&smallest).into_iter();
            while let Some(candidate) = candidates.next() {
                if left == 0 || !is_valid(&candidate) {
                    continue;
                }
                left -= 1;
                if fails(&candidate).await {
                    candidates = simpler(&candidate).into_iter();
                    smallest = candidate;
                    progress = true;
                }
            }
        }
        if !progress {
            return smallest;
        }
    }
}

/// Whether the operator accepts its inputs.
fn is_valid(case: &Case) -> bool {
    case.resolved().and_then(|(operator, _)| operator.infer(case.descs())).is_ok()
}

/// A pooling with another window.
fn with_kernel(op: &MaxPool, kernel: Vec<usize>) -> MaxPool {
    let mut op = op.clone();
    op.kernel = kernel;
    op
}

/// A pooling with other numbers of windows.
fn with_output_sizes(op: &MaxPool, sizes: Vec<usize>) -> MaxPool {
    let mut op = op.clone();
    op.output_sizes = Some(sizes);
    op
}

/// The candidates to replace a number: `min`, about halfway to it, and one less.
fn below(value: usize, min: usize) -> Vec<usize> {
    let rest = value.saturating_sub(min);
    let mut values = vec![min, min + rest / 2, value.saturating_sub(1)];
    values.dedup();
    values.retain(|&v| v >= min && v < value);
    values
}
