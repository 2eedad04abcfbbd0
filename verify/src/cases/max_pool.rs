//! Random poolings.

use wgmax::operator::{
    Indices, Layout, MaxPool, MaxPoolBackward, Numbering, Operator, Padding, Rounding,
};
use wgmax::{ElementType, Error, Result, TensorDesc};

use super::aim::Aim;
use super::draft::Draft;
use super::{Random, gradient};
use crate::oracle;

/// The maximum of [`oracle::cost`], which keeps the oracle's time below a second.
const MAX_COST: u64 = 3_000_000;

/// A random pooling of a tensor with element type `t` and about `budget` elements at most.
///
/// # Errors
/// [`Error::ShapeOverflow`] for a huge budget.
pub(super) fn draft(
    random: &mut Random,
    t: ElementType,
    budget: u64,
    aim: Option<Aim>,
) -> Result<Draft> {
    let kernel = aim.map_or("", |aim| aim.kernel());
    if kernel.starts_with("unpool") {
        return gradient::unpool(random, t, budget);
    }
    loop {
        let (op, shape) = match kernel {
            "pool_pyramid" => apart(random, t, budget),
            _ => {
                let splits = aim.map_or_else(|| random.once_in(4), |aim| aim.is("shared_out"));
                pooling(random, t, budget, kernel, splits)
            }
        };
        let data = TensorDesc::new(t, shape)?;
        if !is_usable(&Operator::from(&op), &data) {
            continue;
        }
        return match kernel.contains("gradient") {
            true => backward(random, op, data, kernel),
            false => Ok(Draft::new(op, data, Vec::new())),
        };
    }
}

/// The gradient of a pooling: from its data, or from its indices. `pool_tile_gradient` takes data only.
fn backward(random: &mut Random, op: MaxPool, data: TensorDesc, kernel: &str) -> Result<Draft> {
    let saved = kernel != "pool_tile_gradient" && random.once_in(2);
    let op = match saved {
        true => {
            let axis = random.below(oracle::first_spatial(&op) as u64 + 1) as i64;
            let indices = Indices::new(random.index_type());
            let axis = if random.once_in(4) { axis - data.rank() as i64 } else { axis };
            op.indices(indices.numbering(Numbering::FromAxis(axis)))
        }
        false => op,
    };
    let results = match op.infer(&data) {
        Ok(results) => results,
        // Running the case reports it.
        Err(_) => return Ok(Draft::new(op, data, Vec::new())),
    };
    let gradient = gradient::tensor(data.element_type(), results[0].shape(), random)?;
    let backward = MaxPoolBackward::new(op.clone());
    Ok(match saved {
        true => {
            let backward = backward.from_indices(data.shape());
            let of = Draft::new(op, data, Vec::new());
            Draft::from_positions(backward, of, results[1].clone(), gradient)
        }
        false => Draft::new(backward, data, vec![gradient]),
    })
}

/// Whether the windows fit the input and the oracle's cost is acceptable.
fn is_usable(operator: &Operator, data: &TensorDesc) -> bool {
    match oracle::cost(operator, &[data]) {
        Ok(cost) => cost <= MAX_COST,
        Err(Error::WindowTooLarge { .. } | Error::NothingToShareOut { .. }) => false,
        // Other errors are not expected; running the case reports them.
        Err(_) => true,
    }
}

/// A pooling, whose windows may split axes evenly, and an input shape. The windows usually, but not
/// always, fit the shape.
fn pooling(
    random: &mut Random,
    t: ElementType,
    budget: u64,
    kernel: &str,
    splits: bool,
) -> (MaxPool, Vec<usize>) {
    let aims = !kernel.is_empty();
    let spatial = random.pick(&[1, 1, 2, 2, 2, 2, 3, 3, 4, 5, 5]);
    // Sometimes a long line, or results that are numbered in more than 16 bits; always if tiles have
    // borders.
    let tiles = kernel == "pool_tile_gradient";
    let long = aims && spatial < 3 && random.once_in(if tiles { 1 } else { 10 });
    let long = long.then(|| random.below(spatial) as usize);
    let gathers = kernel == "pool_gather";
    // Several such lines, with windows of stride 1.
    let many = long.is_some() && gathers && random.once_in(2);
    let longest = match many {
        true => random.pick(&[10_000, 40_000]),
        false if random.once_in(4) => 40_000,
        false => 8000,
    };
    let (mut left, block) = (budget, 16 / t.size() as u64);
    let mut size = |random: &mut Random, max: u64| {
        let size = match random.below(20) {
            0 if max < 10 => 0,
            0..=2 => 1,
            // Multiples of 16-byte blocks, which are rare among random sizes.
            3..=5 => 4 << random.below(4),
            6..=9 if max > block => random.near_blocks(max, block),
            6..=9 => random.near_border(max),
            _ => 1 + random.below(max),
        }
        .min(left.max(1));
        left /= size.max(1);
        size as usize
    };
    let mut sizes: Vec<usize> =
        (0..spatial).map(|_| size(random, if spatial < 3 { 70 } else { 12 })).collect();
    if let Some(axis) = long {
        sizes[axis] = (longest / 2 + random.below(longest / 2)) as usize;
        sizes.iter_mut().enumerate().filter(|(i, _)| *i != axis).for_each(|(_, s)| *s %= 10);
    }
    // Windows far longer than their axis.
    let sparse = (gathers && !many && random.once_in(5)).then(|| random.below(spatial) as usize);
    if let Some(axis) = sparse {
        sizes[axis] = 1 + random.below(12) as usize;
    }
    // Windows without elements.
    if kernel == "fill" {
        sizes[random.below(spatial) as usize] = 0;
    }
    let (mut batch, mut channels) = (size(random, 4), size(random, 9));
    if many {
        (batch, channels) = (2 + random.below(3) as usize, 1);
    }
    let mut layout = random.pick(&[Layout::Ncx, Layout::Nxc]);
    if aims && random.once_in(6) {
        layout = Layout::Nxc;
        channels = 16 / t.size() * (1 + random.below(3) as usize);
    }
    let shape = match layout {
        Layout::Nxc => [&[batch], sizes.as_slice(), &[channels]].concat(),
        Layout::Ncx => [&[batch, channels], sizes.as_slice()].concat(),
    };
    let op = match splits {
        true => splitting(random, &sizes),
        false => windows(random, &sizes, sparse, many).rounding(random.pick(&[
            Rounding::Floor,
            Rounding::Ceil,
            Rounding::CeilTorch,
        ])),
    };
    let op = op
        .layout(layout)
        .extremum(random.extremum())
        .nan(random.nan())
        .empty_window(random.empty_set())
        .indices(indices(random, layout, shape.len() as i64));
    // Sub-tensors of several planes, in each of which indices restart.
    let op = match op.indices {
        Some(i) if i.numbering != Numbering::ColumnMajor && aims && random.once_in(2) => {
            op.indices(i.numbering(Numbering::FromAxis(1)))
        }
        _ => op,
    };
    (op, shape)
}

/// Long windows that do not overlap, with lines of results that fill whole words: the levels of a pyramid.
fn apart(random: &mut Random, t: ElementType, budget: u64) -> (MaxPool, Vec<usize>) {
    let planes = 1 + random.below(3) as usize;
    let (mut kernel, mut sizes) = (Vec::new(), Vec::new());
    let spatial = random.pick(&[1, 2, 2]);
    for axis in 0..spatial {
        let long: &[usize] = if spatial == 1 { &[36, 64, 96, 128] } else { &[4, 8, 9, 12, 32] };
        let taps = random.pick(long);
        let words = if axis + 1 == spatial { (4 / t.size()).max(1) } else { 1 };
        let max_words =
            (budget as usize / planes / sizes.iter().product::<usize>().max(1) / taps) / words;
        let windows = words * (1 + random.below(max_words.clamp(1, 12) as u64) as usize);
        kernel.push(taps);
        sizes.push(windows * taps + random.below(taps as u64) as usize);
    }
    let op = MaxPool::new(kernel.clone()).strides(kernel);
    let op = op.rounding(random.pick(&[Rounding::Floor, Rounding::Ceil, Rounding::CeilTorch]));
    let op = op.extremum(random.extremum()).nan(random.nan());
    (op, [&[1, planes], &sizes[..]].concat())
}

/// Windows that split axes of these sizes evenly: one window, as many as elements, half as many, more, or
/// any number.
fn splitting(random: &mut Random, sizes: &[usize]) -> MaxPool {
    let none = random.once_in(40);
    let mut outputs = |&size: &usize| match random.below(10) {
        0 if none => 0,
        0 => 1,
        1 => size,
        2 => size / 2 + 1,
        3 => size + random.below(9) as usize,
        _ => 1 + random.below(size.max(1) as u64) as usize,
    };
    MaxPool::adaptive(sizes.iter().map(&mut outputs).collect::<Vec<_>>())
}

/// Windows along axes of these sizes: very long ones along `sparse` axes; those along `dense` ones have
/// stride 1.
fn windows(random: &mut Random, sizes: &[usize], sparse: Option<usize>, dense: bool) -> MaxPool {
    let (long, one_stride) = (random.once_in(4), dense || random.once_in(3));
    let (mut kernels, mut strides, mut dilations) = (Vec::new(), Vec::new(), Vec::new());
    let (mut begin, mut end) = (Vec::new(), Vec::new());
    for (axis, &size) in sizes.iter().enumerate() {
        let kernel = match random.below(8) {
            _ if sparse == Some(axis) => 17 + random.below(40),
            0 => 1,
            1 if long => 1 + random.below(40),
            3 => 1 + random.below(10),
            2 if long => size.max(1) as u64,
            _ => 1 + random.below(4),
        };
        let stride = match random.below(6) {
            _ if one_stride => 1,
            0 => kernel,
            1 => 1 + random.below(30),
            _ => 1 + random.below(3),
        };
        let dilation = match random.below(8) {
            0 => 2 + random.below(3),
            1 => 1 + random.below(size as u64 + 4),
            _ => 1,
        };
        let extent = (kernel - 1) * dilation + 1;
        let mut pad = || match random.below(6) {
            0 => random.below(2 * extent + 2) as usize,
            1 | 2 => 0,
            _ => random.below(extent) as usize,
        };
        let pads = [pad(), pad()];
        // A window that is larger than the padded axis by less than a stride: only rounding up keeps it.
        let larger = sparse.is_none() && size < 100 && random.once_in(16);
        let kernel = match larger && stride > 1 {
            true => {
                (size as u64 + (pads[0] + pads[1]) as u64 + random.below(stride - 1)) / dilation + 1
            }
            false => kernel,
        };
        begin.push(pads[0]);
        end.push(pads[1]);
        kernels.push(kernel as usize);
        strides.push(stride as usize);
        dilations.push(dilation as usize);
    }
    // Strides and dilations are sometimes absent; then they are 1.
    let mut op = MaxPool::new(kernels);
    if !random.once_in(8) {
        op = op.strides(strides);
    }
    if !random.once_in(8) {
        op = op.dilations(dilations);
    }
    match random.below(10) {
        0 => op.padding(Padding::SameUpper),
        1 => op.padding(Padding::SameLower),
        2 => op.padding(Padding::Valid),
        _ => op.pads(begin, end),
    }
}

fn indices(random: &mut Random, layout: Layout, rank: i64) -> Option<Indices> {
    if random.once_in(2) {
        return None;
    }
    let element_type = random.index_type();
    if layout == Layout::Ncx && random.once_in(2) {
        return Some(Indices::new(element_type).numbering(Numbering::ColumnMajor));
    }
    // Mostly from the first or the second axis on, as in specifications.
    let axis = if random.once_in(2) { random.below(2) } else { random.below(rank as u64) } as i64;
    let axis = if random.once_in(2) { axis } else { axis - rank };
    Some(Indices::new(element_type).numbering(Numbering::FromAxis(axis)))
}

/// An element of some windows: the first, the last, or any.
pub(super) fn places(op: &MaxPool, data: &TensorDesc, random: &mut Random) -> Vec<usize> {
    let axes = oracle::axes(op, data.shape());
    let first = oracle::first_spatial(op);
    let planes: usize = data.shape()[..first].iter().product();
    let channels: usize = data.shape()[first + axes.len()..].iter().product();
    let windows: Vec<u64> = axes.iter().map(|axis| axis.windows(op.rounding) as u64).collect();
    let (planes, channels) = (planes as u64, channels as u64);
    let count = (windows.iter().product::<u64>() * planes * channels / 3).min(500);
    let place = |_| {
        let end = random.below(3);
        let mut at = random.below(planes);
        for (axis, &windows) in axes.iter().zip(&windows) {
            let tap = match end {
                0 => 0,
                1 => axis.kernel - 1,
                _ => random.below(axis.kernel as u64).into(),
            };
            let window = random.below(windows).into();
            let position = match axis.outputs {
                Some(_) => (0..=tap).rev().find_map(|tap| axis.place(window, tap)).unwrap_or(0),
                None => window * axis.stride - axis.begin + tap * axis.dilation,
            };
            at = at * axis.size as u64 + position.clamp(0, axis.size - 1) as u64;
        }
        (at * channels + random.below(channels)) as usize
    };
    (0..count).map(place).collect()
}
