//! The inputs of the work items: random numbers of fixed seeds.

use fastrand::Rng;
use half::f16;
use wgmax::{Device, ElementType, Run, Tensor};

use super::item::{Item, SegmentSizes};

const DATA_SEED: u64 = 1234;
const GRADIENT_SEED: u64 = 4321;
const IDS_SEED: u64 = 99;

/// The inputs of an item: the data, and the ids of segments. For a scatter: the data, the indices and
/// the updates. For a gradient: the data, or the indices of the pooling's maxima, and the gradient of
/// the maxima.
pub fn inputs(item: &Item) -> anyhow::Result<Vec<Tensor>> {
    let mut inputs = vec![data(item.element_type()?, &item.shape, DATA_SEED)?];
    if let Some((pool, from_indices)) = item.pool_of_gradient() {
        let of_maxima = item.inputs()?.remove(1);
        inputs.push(data(of_maxima.element_type(), of_maxima.shape(), GRADIENT_SEED)?);
        if from_indices {
            let maxima = pool.run(&Device::cpu(), &inputs[0])?;
            inputs[0] = maxima[1].clone();
        }
    }
    if let Some((segments, sizes)) = item.segments() {
        let mut ids = ids(item.shape[0], segments, sizes);
        if item.scattered().is_some() {
            Rng::with_seed(IDS_SEED).shuffle(&mut ids);
        }
        inputs.push(Tensor::from_slice([ids.len()], &ids)?);
    }
    if let Some(elements) = item.scattered() {
        // The updates are last.
        inputs.reverse();
        inputs.insert(0, data(item.element_type()?, &[elements], GRADIENT_SEED)?);
    }
    Ok(inputs)
}

/// Floats from -1 to 1, or integers of the whole range.
fn data(element_type: ElementType, shape: &[usize], seed: u64) -> wgmax::Result<Tensor> {
    let mut random = Rng::with_seed(seed);
    let count: usize = shape.iter().product();
    if !element_type.is_float() {
        let mut bytes = vec![0; count * element_type.size()];
        random.fill(&mut bytes);
        return Tensor::from_bytes(element_type, shape, &bytes);
    }
    let floats = std::iter::repeat_with(|| 2.0 * random.f64() - 1.0).take(count);
    match element_type {
        ElementType::F16 => {
            Tensor::from_slice(shape, &floats.map(f16::from_f64).collect::<Vec<_>>())
        }
        ElementType::F64 => Tensor::from_slice(shape, &floats.collect::<Vec<_>>()),
        _ => Tensor::from_slice(shape, &floats.map(|x| x as f32).collect::<Vec<_>>()),
    }
}

/// The ids of rows, which ascend unless they are unordered.
fn ids(rows: usize, segments: usize, sizes: SegmentSizes) -> Vec<i32> {
    let mut random = Rng::with_seed(IDS_SEED);
    let mut any = || (0..rows).map(|_| random.i32(0..segments as i32)).collect::<Vec<_>>();
    match sizes {
        SegmentSizes::Uniform => (0..rows).map(|row| (row / (rows / segments)) as i32).collect(),
        SegmentSizes::Unordered => any(),
        SegmentSizes::Random => {
            let mut ids = any();
            ids.sort_unstable();
            ids
        }
        // Lengths proportional to 1 / rank, in random order.
        SegmentSizes::Powerlaw => {
            let sum: f64 = (1..=segments).map(|rank| 1.0 / rank as f64).sum();
            let length = |rank: usize| (rows as f64 / (sum * rank as f64)) as usize;
            let mut lengths: Vec<usize> = (1..=segments).map(length).collect();
            lengths[0] += rows - lengths.iter().sum::<usize>();
            random.shuffle(&mut lengths);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_of_all_rows() {
        for sizes in [
            SegmentSizes::Uniform,
            SegmentSizes::Random,
            SegmentSizes::Powerlaw,
            SegmentSizes::Giant,
        ] {
            let ids = ids(100_000, 2000, sizes);
            assert!(ids.len() == 100_000 && ids.is_sorted() && ids[99_999] < 2000, "{sizes:?}");
        }
    }

    /// The bytes in the item list are those of the tensors.
    #[test]
    fn the_bytes_of_items_are_right() {
        let items = crate::bench::item::all().unwrap();
        assert_eq!(items.len(), 56);
        for item in items {
            assert_eq!(
                item.byte_lens().unwrap(),
                (item.bytes_read, item.bytes_write),
                "{}",
                item.name
            );
        }
    }
}
