//! MaxPool from its definition: each window looks at each of its elements.

use super::{bits_at, greater, quiet_nan, value};
use wgmax::{Nan, Tensor};

/// A pooling in plain numbers, one of each list for each spatial axis.
#[derive(Clone, Debug)]
pub struct Pooling {
    pub channels_last: bool,
    pub kernel: Vec<i64>,
    pub strides: Vec<i64>,
    pub dilations: Vec<i64>,
    pub begin: Vec<i64>,
    pub end: Vec<i64>,
    /// 0: whole windows only; 1: also a last one that does not fit; 2: and then not
    /// the last one if it begins behind the input.
    pub rounding: u64,
    pub nan: Nan,
    /// The bits of a window without elements.
    pub empty: u64,
}

/// How indices are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// From the start of the sub-tensor of the axes from this one on.
    From(usize),
    /// The first spatial axis fastest.
    Columns,
}

/// What a window gives: its element's bits, and the element's place.
pub struct Found {
    pub shape: Vec<usize>,
    /// The maxima, +0 above -0.
    pub values: Vec<u64>,
    /// The first of the largest elements, +0 and -0 being equal.
    pub first_values: Vec<u64>,
    pub indices: Vec<i64>,
}

/// How many windows there are along an axis, by laying them one by one.
fn count(p: &Pooling, axis: usize, size: i64) -> i64 {
    let padded = p.begin[axis] + size + p.end[axis];
    let extent = (p.kernel[axis] - 1) * p.dilations[axis] + 1;
    let (mut windows, mut start) = (0, 0);
    while start + extent <= padded {
        windows += 1;
        start += p.strides[axis];
    }
    let covered = start - p.strides[axis] + extent;
    if windows > 0 && covered < padded && p.rounding > 0 {
        windows += 1;
        start += p.strides[axis];
    }
    let last = start - p.strides[axis];
    if windows > 0 && p.rounding == 2 && last >= p.begin[axis] + size {
        windows -= 1;
    }
    windows
}

pub fn pool_oracle(input: &Tensor, p: &Pooling, counting: Count) -> Found {
    let (t, shape) = (input.element_type(), input.shape());
    let spatial = p.kernel.len();
    let first = if p.channels_last { 1 } else { 2 };
    let mut out_shape = shape.to_vec();
    for axis in 0..spatial {
        out_shape[first + axis] = count(p, axis, shape[first + axis] as i64) as usize;
    }
    let mut found = Found {
        shape: out_shape.clone(),
        values: Vec::new(),
        first_values: Vec::new(),
        indices: Vec::new(),
    };
    let taps: i64 = p.kernel.iter().product();
    for number in 0..out_shape.iter().product::<usize>() {
        let at = coordinates(number, &out_shape);
        let mut largest: Option<u64> = None;
        let mut first_largest: Option<(u64, usize)> = None;
        let (mut nan, mut element) = (None, None);
        'taps: for tap in 0..taps {
            let tap = coordinates(
                tap as usize,
                &p.kernel.iter().map(|&k| k as usize).collect::<Vec<_>>(),
            );
            let mut place = at.clone();
            for axis in 0..spatial {
                let position = at[first + axis] as i64 * p.strides[axis] - p.begin[axis]
                    + tap[axis] as i64 * p.dilations[axis];
                if position < 0 || position >= shape[first + axis] as i64 {
                    continue 'taps;
                }
                place[first + axis] = position as usize;
            }
            let flat = flatten(&place, shape);
            let bits = bits_at(input, flat);
            element = element.or(Some((bits, flat)));
            let Some(v) = value(t, bits) else {
                nan = nan.or(Some((bits, flat)));
                continue;
            };
            if largest.is_none_or(|b| greater(v, value(t, b).unwrap())) {
                largest = Some(bits);
            }
            if first_largest.is_none_or(|(b, _)| v > value(t, b).unwrap()) {
                first_largest = Some((bits, flat));
            }
        }
        let is_nan = nan.is_some() && (p.nan == Nan::Propagate || largest.is_none());
        let (bits, first_bits, flat) = match (is_nan, largest, first_largest) {
            (true, ..) => (quiet_nan(t), quiet_nan(t), nan.unwrap().1),
            (false, Some(bits), Some((first, flat))) => (bits, first, flat),
            _ => {
                let mut plane = at.clone();
                plane[first..first + spatial].fill(0);
                (p.empty, p.empty, if input.is_empty() { 0 } else { flatten(&plane, shape) })
            }
        };
        found.values.push(bits);
        found.first_values.push(first_bits);
        found.indices.push(match counting {
            _ if input.is_empty() => 0,
            Count::From(axis) => (flat % shape[axis..].iter().product::<usize>()) as i64,
            Count::Columns => {
                let place = coordinates(flat, shape);
                let mut index = place[0] * shape[1] + place[1];
                for axis in (0..spatial).rev() {
                    index = index * shape[first + axis] + place[first + axis];
                }
                index as i64
            }
        });
    }
    found
}

fn coordinates(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        at[axis] = number % shape[axis];
        number /= shape[axis];
    }
    at
}

fn flatten(at: &[usize], shape: &[usize]) -> usize {
    at.iter().zip(shape).fold(0, |flat, (&at, &size)| flat * size + at)
}
