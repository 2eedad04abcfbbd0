//! The elements that each result is the maximum of.

use wgmax::operator::{MaxPool, Operator};
use wgmax::{Result, Tensor};

use super::{axes, coordinates, first_spatial, flatten, reduce_max, scatter_max, segment_max};

/// The positions of the elements of each set, ascending, in the order of the results; `None` for
/// gradients.
///
/// # Errors
/// As [`Operator::infer`], and [`Error::OutOfMemory`](wgmax::Error::OutOfMemory).
pub fn sets(operator: &Operator, inputs: &[&Tensor]) -> Result<Option<Vec<Vec<usize>>>> {
    let shape = inputs[0].shape();
    let results = super::infer(operator, inputs)?;
    let mut sets = vec![Vec::new(); results[0].len()];
    match operator {
        Operator::ReduceMax(op) => {
            let [(kept, sizes), _] = reduce_max::axes(op, shape);
            for element in 0..inputs[0].len() {
                let at = coordinates(element, shape);
                let result: Vec<usize> = kept.iter().map(|&axis| at[axis]).collect();
                sets[flatten(&result, &sizes)].push(element);
            }
        }
        Operator::MaxPool(op) => {
            for (number, set) in sets.iter_mut().enumerate() {
                *set = window(op, shape, &coordinates(number, results[0].shape()));
            }
        }
        Operator::SegmentMax(op) => {
            let inner: usize = shape[1..].iter().product();
            for (segment, rows) in segment_max::members(op, inputs[1])?.iter().enumerate() {
                for column in 0..inner {
                    let elements = rows.iter().map(|row| row * inner + column);
                    sets[segment * inner + column] = elements.collect();
                }
            }
        }
        // Updates are numbered after the elements of the data. Without updates, an element is its own set.
        Operator::ScatterMax(op) => {
            let members = scatter_max::members(op, inputs[0], inputs[1], inputs[2])?;
            for (element, (set, members)) in sets.iter_mut().zip(members).enumerate() {
                set.extend((op.include_data || members.is_empty()).then_some(element));
                set.extend(members.iter().map(|(update, _)| inputs[0].len() + update));
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(sets))
}

/// The elements of the window of a result.
fn window(op: &MaxPool, shape: &[usize], at: &[usize]) -> Vec<usize> {
    let axes = axes(op, shape);
    let mut elements = vec![0];
    for (axis, &size) in shape.iter().enumerate() {
        let spatial = axis.checked_sub(first_spatial(op)).and_then(|i| axes.get(i));
        let places: Vec<usize> = match spatial {
            None => vec![at[axis]],
            Some(of) => {
                let window = at[axis] as i128;
                // With a long kernel, few taps are inside.
                let from = match of.outputs {
                    Some(_) => 0,
                    None => (of.begin - window * of.stride).max(0) + of.dilation - 1,
                };
                let places = (from / of.dilation..of.kernel).map_while(|tap| of.place(window, tap));
                places.map(|place| place as usize).collect()
            }
        };
        elements = elements
            .iter()
            .flat_map(|flat| places.iter().map(move |place| flat * size + place))
            .collect();
    }
    elements
}
