//! The elements that each result is the maximum of, by the definitions of the operators.

use wgmax::operator::{Layout, MaxPool, Numbering, Operator, Padding, ReduceMax, Segments};
use wgmax::{ElementType, Result, Tensor};

/// The numbers of the elements of each result, in the order of the results; `None` for gradients.
pub fn of(operator: &Operator, inputs: &[&Tensor]) -> Result<Option<Vec<Vec<usize>>>> {
    let shape = inputs[0].shape();
    let descs: Vec<_> = inputs.iter().map(|input| input.desc()).collect();
    let results = operator.infer(&descs)?;
    let mut sets = vec![Vec::new(); results[0].len()];
    match operator {
        Operator::ReduceMax(op) => {
            let kept: Vec<usize> =
                (0..shape.len()).filter(|&axis| !is_reduced(op, shape, axis)).collect();
            for element in 0..inputs[0].len() {
                let at = coordinates(element, shape);
                let result = kept.iter().fold(0, |flat, &axis| flat * shape[axis] + at[axis]);
                sets[result].push(element);
            }
        }
        Operator::MaxPool(op) => {
            for (number, set) in sets.iter_mut().enumerate() {
                *set = window(op, shape, &coordinates(number, results[0].shape()));
            }
        }
        Operator::SegmentMax(op) => {
            let inner: usize = shape[1..].iter().product();
            let ids: Vec<i64> = ids(inputs[1]);
            for row in 0..shape[0] {
                let segment = match op.segments {
                    // The last segment that begins at the row or before it, if it does not end there.
                    Segments::Offsets => {
                        let begun = ids.iter().filter(|&&offset| offset <= row as i64).count();
                        begun as i64 - 1
                    }
                    _ => ids[row],
                };
                for column in 0..inner {
                    let result = usize::try_from(segment).ok().map(|s| s * inner + column);
                    if let Some(set) = result.and_then(|result| sets.get_mut(result)) {
                        set.push(row * inner + column);
                    }
                }
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(sets))
}

/// The position of an element that wins.
pub fn position(operator: &Operator, shape: &[usize], element: usize) -> i64 {
    let at = coordinates(element, shape);
    let position = match operator {
        Operator::ReduceMax(op) => (0..shape.len())
            .filter(|&axis| is_reduced(op, shape, axis))
            .fold(0, |flat, axis| flat * shape[axis] + at[axis]),
        Operator::MaxPool(op) => match op.indices.map(|indices| indices.numbering) {
            Some(Numbering::FromAxis(axis)) => {
                let axis = axis.rem_euclid(shape.len() as i64) as usize;
                (axis..shape.len()).fold(0, |flat, axis| flat * shape[axis] + at[axis])
            }
            Some(Numbering::ColumnMajor) => {
                let axes = [0, 1].into_iter().chain((2..shape.len()).rev());
                axes.fold(0, |flat, axis| flat * shape[axis] + at[axis])
            }
            _ => element,
        },
        _ => at[0],
    };
    position as i64
}

fn is_reduced(op: &ReduceMax, shape: &[usize], axis: usize) -> bool {
    let mut axes = op.axes.as_deref().map(|axes| axes.iter());
    let rank = shape.len() as i64;
    axes.as_mut().is_none_or(|axes| axes.any(|a| a.rem_euclid(rank) == axis as i64))
}

fn coordinates(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        (at[axis], number) = (number % shape[axis], number / shape[axis]);
    }
    at
}

/// The elements of the window of a result.
fn window(op: &MaxPool, shape: &[usize], at: &[usize]) -> Vec<usize> {
    let first = if op.layout == Layout::Nxc { 1 } else { 2 };
    let mut elements = vec![0];
    for (axis, &size) in shape.iter().enumerate() {
        let count = op.output_sizes.as_ref().unwrap_or(&op.kernel).len();
        let spatial = axis.checked_sub(first).filter(|&i| i < count);
        let places: Vec<usize> = match (spatial, &op.output_sizes) {
            (None, _) => vec![at[axis]],
            (Some(i), Some(outputs)) => {
                let end = |window: usize| (window * size).div_ceil(outputs[i]);
                (at[axis] * size / outputs[i]..end(at[axis] + 1)).collect()
            }
            (Some(i), None) => {
                let one =
                    |list: &Option<Vec<usize>>| list.as_ref().map_or(1, |list| list[i] as i128);
                let (kernel, size) = (op.kernel[i] as i128, size as i128);
                let (stride, dilation) = (one(&op.strides), one(&op.dilations));
                // What windows at every `stride`-th element reach beyond the axis.
                let windows = (size + stride - 1) / stride;
                let reach = (windows - 1) * stride + (kernel - 1) * dilation + 1;
                let beyond = (reach - size).max(0);
                let begin = match &op.padding {
                    Padding::Explicit { begin, .. } => begin.get(i).map_or(0, |&pad| pad as i128),
                    Padding::SameUpper => beyond / 2,
                    Padding::SameLower => beyond - beyond / 2,
                    _ => 0,
                };
                let start = at[axis] as i128 * stride - begin;
                // Of a long kernel few taps are inside.
                let from = ((-start).max(0) + dilation - 1) / dilation;
                let places = (from..kernel).map(|tap| start + tap * dilation);
                places.take_while(|&place| place < size).map(|place| place as usize).collect()
            }
        };
        elements = elements
            .iter()
            .flat_map(|flat| places.iter().map(move |place| flat * size + place))
            .collect();
    }
    elements
}

fn ids(tensor: &Tensor) -> Vec<i64> {
    let t = tensor.element_type();
    let ids = tensor.bytes().chunks(t.size()).map(|bytes| {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let (bits, unused) = (i64::from_le_bytes(wide), 64 - 8 * t.size() as u32);
        match t {
            ElementType::I8 | ElementType::I16 | ElementType::I32 => bits << unused >> unused,
            _ => bits,
        }
    });
    ids.collect()
}
