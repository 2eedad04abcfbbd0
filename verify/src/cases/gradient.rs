//! Random gradients, and cases that gradients share with their operators.

use wgmax::operator::{MaxUnpool, Operator, ScatterBy};
use wgmax::{ElementType, Result, Tensor, TensorDesc};

use super::draft::Draft;
use super::{Case, Random};
use crate::oracle::{self, bits_at, float};

/// A gradient whose sums are rounded, cancel, overflow and underflow: numbers of a few neighbouring
/// exponents, half of them with few bits, and now and then zeros, subnormal numbers, infinities,
/// the largest numbers and NaN.
pub(super) fn tensor(t: ElementType, shape: &[usize], random: &mut Random) -> Result<Tensor> {
    let (bits, mantissa) = float(t).unwrap_or((16, 7));
    let bias = (1 << (bits - mantissa - 2)) - 1;
    let spread = random.pick(&[1, 4, u64::from(mantissa) + 2]).min(bias);
    let special = random.pick(&[4, 20, 1000]);
    let number = |_| {
        let few = random.once_in(2);
        let fraction = random.below(1 << mantissa);
        let fraction = if few { fraction >> (mantissa - 2) << (mantissa - 2) } else { fraction };
        let exponent = match random.below(special) {
            0 => random.pick(&[0, 2 * bias, 2 * bias + 1]),
            _ => bias - random.below(spread),
        };
        let fraction = if exponent > 2 * bias && !random.once_in(8) { 0 } else { fraction };
        let sign = random.below(2) << (8 * t.size() - 1);
        sign | exponent << mantissa | fraction
    };
    oracle::tensor(t, shape, (0..TensorDesc::new(t, shape)?.len()).map(number))
}

/// The positions that an operator returns for data, its last result. Some are made invalid, except
/// those of poolings: all other gradients drop invalid positions. Several segments may have the same
/// rows, and several elements the same update.
pub(super) fn positions(of: &Draft, data: Tensor, random: &mut Random) -> Result<Tensor> {
    let inputs: Vec<&Tensor> = [&data].into_iter().chain(&of.others).collect();
    let mut results = oracle::run(&of.operator, &inputs)?;
    let Some(positions) = results.pop() else {
        return Ok(data);
    };
    let size = positions.element_type().size();
    // The first position after a set, or after all elements.
    let after = match &of.operator {
        Operator::ReduceMax(_) => data.len() / positions.len().max(1),
        Operator::SegmentMax(_) => data.shape()[0],
        Operator::ScatterMax(op) => match (op.by, of.others[0].shape()) {
            (ScatterBy::Axis(axis), rows) => rows[axis.rem_euclid(rows.len() as i64) as usize],
            (ScatterBy::Vectors, rows) => rows[..rows.len() - 1].iter().product(),
        },
        _ => return Ok(positions),
    };
    let wrong: &[i64] = match size {
        4 => &[-1, after as i64, i32::MIN.into()],
        _ => &[-1, after as i64, 1 << 31, 1 << 32, i64::MIN],
    };
    let shares = matches!(of.operator, Operator::SegmentMax(_) | Operator::ScatterMax(_));
    let few = shares && random.once_in(2);
    let bits = (0..positions.len()).map(|i| match random.below(12) {
        0 => random.pick(wrong) as u64,
        1..=6 if few => random.below(after.clamp(1, 3) as u64),
        _ => bits_at(&positions, i),
    });
    oracle::tensor(positions.element_type(), positions.shape(), bits)
}

/// Random values for the elements of a tensor. Some elements have several values, some none.
///
/// # Errors
/// [`Error::ShapeOverflow`](wgmax::Error::ShapeOverflow) for a huge budget.
pub(super) fn unpool(random: &mut Random, t: ElementType, budget: u64) -> Result<Draft> {
    let sizes = |random: &mut Random, rank: u64, all: u64| {
        let mut left = all;
        let mut size = || {
            let size = if random.once_in(4) { 1 } else { 1 + random.below(left.min(40)) };
            left /= size;
            size as usize
        };
        let mut sizes: Vec<usize> = (1..rank).map(|_| size()).collect();
        sizes.push(1 + random.below(left) as usize);
        sizes
    };
    let rank = 1 + random.below(5);
    let mut values = sizes(random, rank, budget.max(8) / 2);
    if random.once_in(20) {
        values[0] = 0;
    }
    let shape = sizes(random, rank, budget.max(8));
    let mut operator = MaxUnpool::new(shape.clone());
    if random.once_in(2) {
        let within = shape.iter().map(|&size| match random.once_in(2) {
            true => 1 + random.below(size as u64) as usize,
            false => size,
        });
        operator = operator.indices_within(within.collect::<Vec<usize>>());
    }
    let elements: usize = operator.indices_within.iter().product();
    let few = random.once_in(3);
    let index_type = random.index_type();
    let some = if few { elements.min(5) } else { elements } as u64;
    let bits =
        (0..values.iter().product()).map(|_: usize| elements as u64 - 1 - random.below(some));
    let indices = oracle::tensor(index_type, &values, bits)?;
    Ok(Draft::new(operator, TensorDesc::new(t, values)?, vec![indices]))
}

/// The operator that a gradient belongs to. A gradient from saved positions also has a shape: that of the
/// data or, for a scatter, of its indices.
pub(super) fn gradient_of(operator: &Operator) -> Option<(Operator, Option<&[usize]>)> {
    match operator {
        Operator::ReduceMaxBackward(op) => Some(((&op.reduce).into(), op.shape.as_deref())),
        Operator::MaxPoolBackward(op) => Some(((&op.pool).into(), op.shape.as_deref())),
        Operator::SegmentMaxBackward(op) => Some(((&op.segment).into(), op.shape.as_deref())),
        Operator::ScatterMaxBackward(op) => Some(((&op.scatter).into(), op.shape.as_deref())),
        _ => None,
    }
}

/// The operator that a gradient belongs to, if the gradient takes the data and not saved positions.
pub(super) fn forward(operator: &Operator) -> Option<Operator> {
    gradient_of(operator).filter(|(_, shape)| shape.is_none()).map(|(forward, _)| forward)
}

/// Whether an operator is a gradient from saved positions, its first input.
pub(super) fn has_positions(operator: &Operator) -> bool {
    gradient_of(operator).is_some_and(|(_, shape)| shape.is_some())
}

/// Gives a case as many gradients as maxima, after the number of maxima has changed. `None` if the
/// operator refuses the data.
pub(super) fn fit(mut case: Case) -> Option<Case> {
    let shape = match (forward(&case.operator), &case.tensors[..]) {
        (Some(Operator::SegmentMax(_)), [data, _, gradient]) => {
            [&gradient.shape()[..1], &data.shape()[1..]].concat()
        }
        (Some(Operator::ScatterMax(_)), [data, ..]) => data.shape().to_vec(),
        (Some(forward), [data, _]) => forward.infer([data.desc()]).ok()?[0].shape().to_vec(),
        _ => return Some(case),
    };
    let gradient = case.tensors.last_mut()?;
    let desc = TensorDesc::new(gradient.element_type(), shape).ok()?;
    let bytes: Vec<u8> = match gradient.bytes().is_empty() {
        true => vec![0; desc.byte_len()],
        false => gradient.bytes().iter().copied().cycle().take(desc.byte_len()).collect(),
    };
    *gradient = Tensor::from_bytes(desc.element_type(), desc.shape(), &bytes).ok()?;
    Some(case)
}
