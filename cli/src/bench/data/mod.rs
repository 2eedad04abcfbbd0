//! The inputs of the work items: what numpy's `default_rng` makes for the same seeds, bit for
//! bit, so that other libraries can be measured with the same data.

mod generator;
mod normal;
#[cfg(test)]
mod tests;

use half::f16;
use wgmax::operator::Operator;
use wgmax::{Device, ElementType, Tensor};

use super::item::{Item, SegmentSizes};
use generator::Generator;

const DATA_SEED: u32 = 1234;
const GRADIENT_SEED: u32 = 4321;
const IDS_SEED: u32 = 99;

/// The inputs of an item: the data, and the ids of segments. Of a gradient: the data, or the indices
/// of the pooling's maxima, and the gradient of the maxima.
pub fn inputs(item: &Item) -> anyhow::Result<Vec<Tensor>> {
    let mut inputs = vec![data(item.element_type()?, &item.shape, DATA_SEED)?];
    if let Some((pool, from_indices)) = item.pool_of_gradient() {
        let of_maxima = item.inputs()?.remove(1);
        inputs.push(data(of_maxima.element_type(), of_maxima.shape(), GRADIENT_SEED)?);
        if from_indices {
            let maxima = Operator::from(pool).run(&Device::cpu(), &[&inputs[0]])?;
            inputs[0] = maxima[1].clone();
        }
    }
    if let Some((segments, sizes)) = item.segments() {
        let ids = ids(item.shape[0], segments, sizes);
        inputs.push(Tensor::from_slice([ids.len()], &ids)?);
    }
    Ok(inputs)
}

/// Normally distributed floats, or integers of the whole range.
pub fn data(element_type: ElementType, shape: &[usize], seed: u32) -> anyhow::Result<Tensor> {
    let count: usize = shape.iter().product();
    let generator = &mut Generator::new(seed);
    // Small integers are the bytes of words. `offset` maps them to the range of a signed type.
    let mut words = |size: usize, offset: u32| -> anyhow::Result<Tensor> {
        let words: Vec<u32> =
            (0..(count * size).div_ceil(4)).map(|_| generator.u32() ^ offset).collect();
        let bytes = &bytemuck::cast_slice(&words)[..count * size];
        Ok(Tensor::from_bytes(element_type, shape, bytes)?)
    };
    match element_type {
        ElementType::U8 => words(1, 0),
        ElementType::I8 => words(1, 0x8080_8080),
        ElementType::I32 => words(4, 0x8000_0000),
        ElementType::I64 => {
            let wide: Vec<i64> = (0..count).map(|_| (generator.u64() ^ 1 << 63) as i64).collect();
            Ok(Tensor::from_slice(shape, &wide)?)
        }
        ElementType::F32 => {
            let mut draw = normal::floats(generator);
            Ok(Tensor::from_slice(shape, &(0..count).map(|_| draw()).collect::<Vec<f32>>())?)
        }
        ElementType::F16 => {
            let mut draw = normal::floats(generator);
            let halves: Vec<f16> = (0..count).map(|_| f16::from_f32(draw())).collect();
            Ok(Tensor::from_slice(shape, &halves)?)
        }
        ElementType::F64 => {
            let mut draw = normal::doubles(generator);
            Ok(Tensor::from_slice(shape, &(0..count).map(|_| draw()).collect::<Vec<f64>>())?)
        }
        other => anyhow::bail!("no work item has the type {other}"),
    }
}

/// The ids of rows, which ascend unless they are unordered.
fn ids(rows: usize, segments: usize, sizes: SegmentSizes) -> Vec<i32> {
    match sizes {
        SegmentSizes::Uniform => (0..rows).map(|row| (row / (rows / segments)) as i32).collect(),
        SegmentSizes::Random | SegmentSizes::Unordered => {
            let mut generator = Generator::new(IDS_SEED);
            let max = segments as u32 - 1;
            let mut ids: Vec<i32> = (0..rows).map(|_| generator.up_to(max) as i32).collect();
            if matches!(sizes, SegmentSizes::Random) {
                ids.sort_unstable();
            }
            ids
        }
        // Lengths proportional to 1 / rank, in random order.
        SegmentSizes::Powerlaw => {
            let weights: Vec<f64> = (1..=segments).map(|rank| 1.0 / rank as f64).collect();
            let sum = pairwise_sum(&weights);
            let mut lengths: Vec<usize> = weights
                .iter()
                .map(|weight| (weight / sum * rows as f64).floor() as usize)
                .collect();
            lengths[0] += rows - lengths.iter().sum::<usize>();
            Generator::new(IDS_SEED).shuffle(&mut lengths);
            let segments = (0..).zip(lengths);
            segments.flat_map(|(id, length)| std::iter::repeat_n(id, length)).collect()
        }
        // One segment has all rows but 1000.
        SegmentSizes::Giant => {
            let mut ids = vec![(segments / 2) as i32; rows];
            for i in 0..500 {
                ids[i] = i as i32;
                ids[rows - 500 + i] = (segments - 500 + i) as i32;
            }
            ids
        }
    }
}

/// numpy's sum: in halves down to 128 elements, and those by eight sums.
fn pairwise_sum(x: &[f64]) -> f64 {
    if x.len() > 128 {
        let half = x.len() / 2;
        let (left, right) = x.split_at(half - half % 8);
        return pairwise_sum(left) + pairwise_sum(right);
    }
    let (chunks, rest) = x.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for chunk in chunks {
        (0..8).for_each(|i| sums[i] += chunk[i]);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, x| sum + x)
}
