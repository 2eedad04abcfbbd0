//! ReduceMaxBackward, SegmentMaxBackward and MaxUnpool: store each value at the element that a position
//! names. The element is found by its coordinates.

use wgmax::internals::repeated;
use wgmax::operator::{
    Indices, MaxUnpool, Operator, ReduceMaxBackward, SegmentMaxBackward, Segments,
};
use wgmax::{ElementType, Result, Tensor, TensorDesc};

use super::segment_max::id;
use super::value::bits_at;
use super::{check_shape, coordinates, flatten, reduce_max, segment_max, tensor};

/// A result with each value at its element.
fn stored(
    result: &TensorDesc,
    values: &Tensor,
    element: impl Fn(usize) -> Option<usize>,
) -> Result<Tensor> {
    let mut bits = repeated(0, result.len())?;
    for item in 0..values.len() {
        if let Some(element) = element(item) {
            bits[element] = bits_at(values, item);
        }
    }
    tensor(result.element_type(), result.shape(), bits.into_iter())
}

/// A position; `None` if it is negative or not less than `below`.
fn position(indices: &Tensor, item: usize, below: usize) -> Option<usize> {
    usize::try_from(id(indices, item)).ok().filter(|&position| position < below)
}

pub(super) fn reduce(op: &ReduceMaxBackward, first: &Tensor, gradient: &Tensor) -> Result<Tensor> {
    let [data] = op.infer([first.desc(), gradient.desc()])?.exactly()?;
    let (shape, rank) = (data.shape(), data.rank());
    let [(kept, kept_sizes), (gone, gone_sizes)] = reduce_max::axes(&op.reduce, shape);
    let below = gone_sizes.iter().product();
    let found = match &op.shape {
        Some(_) => first.clone(),
        None if data.is_empty() => return tensor(data.element_type(), shape, [].into_iter()),
        None => {
            let last = op.reduce.indices.is_some_and(|positions| positions.last);
            let positions = Indices::default().last(last);
            let reduce = op.reduce.clone().indices(positions).values(false);
            reduce_max::run(&reduce, first)?.swap_remove(0)
        }
    };
    check_shape(Operator::from(op).name(), 1, found.shape(), gradient)?;
    stored(&data, gradient, |item| {
        let mut at = vec![0; rank];
        let position = position(&found, item, below)?;
        for (axes, sizes, number) in [(&kept, &kept_sizes, item), (&gone, &gone_sizes, position)] {
            for (&axis, at_axis) in axes.iter().zip(coordinates(number, sizes)) {
                at[axis] = at_axis;
            }
        }
        Some(flatten(&at, shape))
    })
}

pub(super) fn segment(op: &SegmentMaxBackward, inputs: &[&Tensor]) -> Result<Tensor> {
    let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
    let [data] = op.infer(&descs)?.exactly()?;
    let gradient = inputs[inputs.len() - 1];
    let found = match inputs {
        [data, ids, _] => {
            let mut segment = op.segment.clone().indices(ElementType::I64).status(false);
            if segment.segments != Segments::Offsets {
                segment = segment.num_segments(gradient.shape()[0]);
            }
            segment_max::run(&segment, data, ids)?.swap_remove(1)
        }
        _ => inputs[0].clone(),
    };
    check_shape(Operator::from(op).name(), inputs.len() - 1, found.shape(), gradient)?;
    let inner: usize = data.shape()[1..].iter().product();
    stored(&data, gradient, |item| {
        Some(position(&found, item, data.shape()[0])? * inner + item % inner)
    })
}

pub(super) fn unpool(op: &MaxUnpool, values: &Tensor, indices: &Tensor) -> Result<Tensor> {
    let [result] = op.infer([values.desc(), indices.desc()])?.exactly()?;
    let within = &op.indices_within;
    stored(&result, values, |item| {
        let position = position(indices, item, within.iter().product())?;
        Some(flatten(&coordinates(position, within), result.shape()))
    })
}
