//! Measures items on the CPU.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use rayon::prelude::*;
use wgmax::{Device, DeviceTensor, Tensor, vectorised};

use super::costs::{self, Cost};
use super::item::{Item, Kind};
use super::times::{Budget, Times, seconds};
use super::{Measured, data, digests};

/// Inputs are rotated over so many bytes: several times the last cache of most processors.
const ROTATED: u64 = 256 << 20;
const MOST_COPIES: u64 = 64;

pub struct Cpu {
    device: Device,
    /// The best number of pieces for passes that were searched: whether it writes, and the logarithm of its bytes.
    searched: HashMap<(bool, u32), usize>,
}

impl Cpu {
    pub fn new() -> Self {
        Self { device: Device::cpu(), searched: HashMap::new() }
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn measure(&mut self, item: &Item, budget: Budget) -> anyhow::Result<Measured> {
        let inputs = data::inputs(item)?;
        let crc32 = digests(&inputs);
        let copies = ROTATED.div_ceil(item.bytes_read).clamp(1, MOST_COPIES) as usize;
        let copies: Vec<Vec<DeviceTensor>> = (0..copies)
            .map(|copy| match copy {
                0 => inputs.clone(),
                _ => inputs.iter().map(copied).collect(),
            })
            .map(|inputs| inputs.iter().map(|input| self.device.upload(input)).collect())
            .collect::<wgmax::Result<_>>()?;
        let bytes: Vec<Tensor> =
            copies.iter().map(|copy| copy[0].download()).collect::<wgmax::Result<_>>()?;
        let plan = {
            let descs: Vec<_> = inputs.iter().map(Tensor::desc).collect();
            item.operator().plan(&descs, &self.device.info().limits)?
        };
        let writes = if item.op == Kind::MaxPool { item.bytes_write } else { 0 };
        let mut out = vec![0u32; writes as usize / 4];
        let pieces = self.pieces(&bytes, &mut out);

        let mut measured = Measured {
            ceiling_bytes: bytes[0].bytes().len() as u64 + writes,
            ceiling_how: format!("{pieces} pieces"),
            copies: copies.len(),
            inputs_crc32: crc32,
            ..Measured::default()
        };
        let run = |copy: &[DeviceTensor]| {
            let inputs: Vec<&DeviceTensor> = copy.iter().collect();
            self.device.execute(&plan, &inputs)
        };
        let results: Vec<Tensor> =
            run(&copies[0])?.iter().map(DeviceTensor::download).collect::<wgmax::Result<_>>()?;
        measured.results_crc32 = digests(&results);
        drop(results);
        let start = Instant::now();
        for round in 0.. {
            if budget.is_spent(measured.item.count(), start) {
                break;
            }
            let (time, result) = seconds(|| run(&copies[round % copies.len()]).map(drop));
            result?;
            // Not the copy that has just been read.
            let other = (round + copies.len() / 2) % copies.len();
            let ceiling = pass(bytes[other].bytes(), &mut out, pieces);
            // The first round warms up.
            if round > 0 || budget.runs == Some(1) {
                measured.item.push(time);
                measured.ceiling.push(ceiling);
            }
        }
        Ok(measured)
    }

    /// What small calls cost.
    pub fn costs(&self) -> anyhow::Result<Vec<Cost>> {
        let limits = &self.device.info().limits;
        let mut found = costs::planning(limits)?;
        for (name, operator, inputs) in costs::small()? {
            let plan =
                operator.plan(&inputs.iter().map(Tensor::desc).collect::<Vec<_>>(), limits)?;
            let inputs: Vec<DeviceTensor> = inputs
                .iter()
                .map(|input| self.device.upload(input))
                .collect::<wgmax::Result<_>>()?;
            let inputs: Vec<&DeviceTensor> = inputs.iter().collect();
            let times = costs::repeat(|| Ok(self.device.execute(&plan, &inputs).map(drop)?))?;
            found.push(Cost::new(name, times));
        }
        Ok(found)
    }

    /// The number of pieces at which a pass over such bytes is fastest.
    fn pieces(&mut self, copies: &[Tensor], out: &mut [u32]) -> usize {
        let bytes = copies[0].bytes().len();
        let key = (!out.is_empty(), bytes.ilog2());
        let threads = rayon::current_num_threads();
        *self.searched.entry(key).or_insert_with(|| {
            let candidates = [1, threads, 2 * threads, 4 * threads, 16 * threads, 64 * threads];
            let mut times = candidates.map(|_| Times::default());
            for round in 0..8 {
                for (i, (pieces, times)) in candidates.iter().zip(&mut times).enumerate() {
                    let copy = &copies[(round * candidates.len() + i) % copies.len()];
                    times.push(pass(copy.bytes(), out, *pieces));
                }
            }
            let best = (0..times.len()).min_by(|&a, &b| times[a].min().total_cmp(&times[b].min()));
            candidates[best.unwrap_or(0)]
        })
    }
}

/// A tensor with bytes of its own.
fn copied(tensor: &Tensor) -> Tensor {
    Tensor::from_bytes(tensor.element_type(), tensor.shape(), tensor.bytes())
        .unwrap_or_else(|_| tensor.clone())
}

/// Seconds of the plainest pass that reads all bytes once and writes `out` once, in so many pieces.
fn pass(bytes: &[u8], out: &mut [u32], pieces: usize) -> f64 {
    /// Words that are read between writes.
    const BLOCK: usize = 8192;
    let words: &[u32] = bytemuck::cast_slice(&bytes[..bytes.len() / 4 * 4]);
    let cut = |len: usize, i: usize| (len as u128 * i as u128 / pieces as u128) as usize;
    let start = Instant::now();
    if out.is_empty() {
        let piece = |i: usize| largest(&words[cut(words.len(), i)..cut(words.len(), i + 1)]);
        let max = match pieces {
            1 => piece(0),
            _ => (0..pieces).into_par_iter().map(piece).max().unwrap_or(0),
        };
        black_box(max);
        return start.elapsed().as_secs_f64();
    }
    let mut rest = &mut *out;
    let mut work = Vec::with_capacity(pieces);
    let len = rest.len();
    for i in 0..pieces {
        let (mine, others) = rest.split_at_mut(cut(len, i + 1) - cut(len, i));
        rest = others;
        work.push((&words[cut(words.len(), i)..cut(words.len(), i + 1)], mine));
    }
    let piece = |(words, out): (&[u32], &mut [u32])| {
        let blocks = words.len().div_ceil(BLOCK);
        let mut written = 0;
        for (i, block) in words.chunks(BLOCK).enumerate() {
            let max = largest(block);
            let end = (out.len() as u128 * (i + 1) as u128 / blocks as u128) as usize;
            out[written..end].fill(max);
            written = end;
        }
    };
    match pieces {
        1 => work.into_iter().for_each(piece),
        _ => work.into_par_iter().for_each(piece),
    }
    let time = start.elapsed().as_secs_f64();
    black_box(out);
    time
}

/// The largest word, by the widest vectors there are.
fn largest(words: &[u32]) -> u32 {
    const LANES: usize = 64;
    vectorised(|| {
        let (chunks, rest) = words.as_chunks::<LANES>();
        let mut sums = [0u32; LANES];
        for chunk in chunks {
            for i in 0..LANES {
                sums[i] = sums[i].max(chunk[i]);
            }
        }
        sums.iter().chain(rest).fold(0, |max, &word| max.max(word))
    })
}
