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
use crate::interrupt;

/// Bytes of all copies of an input, which are used in turn: several times the last cache of most
/// processors.
const ROTATED: u64 = 256 << 20;
const MAX_COPIES: u64 = 64;

pub struct Cpu {
    device: Device,
    /// The best number of pieces of a plain pass, by whether it writes and the logarithm of its
    /// bytes.
    pieces: HashMap<(bool, u32), usize>,
}

impl Cpu {
    pub fn new(device: Device) -> Self {
        Self { device, pieces: HashMap::new() }
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn measure(&mut self, item: &Item, budget: Budget) -> anyhow::Result<Measured> {
        let inputs = data::inputs(item)?;
        let inputs_crc32 = digests(&inputs);
        let copies = self.copies(item, &inputs)?;
        let bytes: Vec<Tensor> =
            copies.iter().map(|copy| copy[0].download()).collect::<wgmax::Result<_>>()?;
        let descs: Vec<_> = inputs.iter().map(Tensor::desc).collect();
        let plan = self.device.plan(&item.operator(), &descs)?;
        let writes = if item.op == Kind::MaxPool { item.bytes_write } else { 0 };
        let mut out = vec![0u32; writes as usize / 4];
        let pieces = self.best_pieces(&bytes, &mut out);
        if interrupt::requested() {
            return Ok(Measured::default());
        }

        let mut measured = Measured {
            ceiling_bytes: bytes[0].bytes().len() as u64 + writes,
            ceiling_how: format!("{pieces} pieces"),
            copies: copies.len(),
            inputs_crc32,
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
            // The plain pass reads a copy that is not in the cache.
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

    /// The inputs, and copies of them with bytes of their own.
    fn copies(&self, item: &Item, inputs: &[Tensor]) -> anyhow::Result<Vec<Vec<DeviceTensor>>> {
        let count = ROTATED.div_ceil(item.bytes_read).clamp(1, MAX_COPIES) as usize;
        let copy = |number: usize| -> wgmax::Result<Vec<DeviceTensor>> {
            let tensor = |input: &Tensor| match number {
                0 => Ok(input.clone()),
                _ => Tensor::from_bytes(input.element_type(), input.shape(), input.bytes()),
            };
            inputs.iter().map(|input| self.device.upload(&tensor(input)?)).collect()
        };
        Ok((0..count).map(copy).collect::<wgmax::Result<_>>()?)
    }

    /// The costs of small calls.
    pub fn costs(&self) -> anyhow::Result<Vec<Cost>> {
        let mut found = costs::planning(&self.device)?;
        for (name, operator, inputs) in costs::small()? {
            let descs: Vec<_> = inputs.iter().map(Tensor::desc).collect();
            let plan = self.device.plan(&operator, &descs)?;
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

    /// The number of pieces with which a plain pass over these bytes is fastest.
    fn best_pieces(&mut self, copies: &[Tensor], out: &mut [u32]) -> usize {
        let bytes = copies[0].bytes().len();
        let key = (!out.is_empty(), bytes.ilog2());
        let threads = rayon::current_num_threads();
        *self.pieces.entry(key).or_insert_with(|| {
            let candidates = [1, threads, 2 * threads, 4 * threads, 16 * threads, 64 * threads];
            let mut times = candidates.map(|_| Times::default());
            for round in 0..8 {
                if interrupt::requested() {
                    break;
                }
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

/// Seconds of a plain pass: it reads all bytes once and writes `out` once, in parallel pieces.
fn pass(bytes: &[u8], out: &mut [u32], pieces: usize) -> f64 {
    let words: &[u32] = bytemuck::cast_slice(&bytes[..bytes.len() / 4 * 4]);
    let cut = |len: usize, i: usize| (len as u128 * i as u128 / pieces as u128) as usize;
    let start = Instant::now();
    if out.is_empty() {
        let piece = |i: usize| maximum(&words[cut(words.len(), i)..cut(words.len(), i + 1)]);
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
        let (piece, others) = rest.split_at_mut(cut(len, i + 1) - cut(len, i));
        rest = others;
        work.push((&words[cut(words.len(), i)..cut(words.len(), i + 1)], piece));
    }
    match pieces {
        1 => work.into_iter().for_each(read_and_write),
        _ => work.into_par_iter().for_each(read_and_write),
    }
    let time = start.elapsed().as_secs_f64();
    black_box(out);
    time
}

/// Reads words block by block, and fills a part of the results after each block.
fn read_and_write((words, out): (&[u32], &mut [u32])) {
    /// Words of a block.
    const BLOCK: usize = 8192;
    let blocks = words.len().div_ceil(BLOCK);
    let mut written = 0;
    for (i, block) in words.chunks(BLOCK).enumerate() {
        let max = maximum(block);
        let end = (out.len() as u128 * (i + 1) as u128 / blocks as u128) as usize;
        out[written..end].fill(max);
        written = end;
    }
}

/// The maximum of words, with the widest vectors of the processor.
fn maximum(words: &[u32]) -> u32 {
    const WIDTH: usize = 64;
    vectorised(|| {
        let (chunks, rest) = words.as_chunks::<WIDTH>();
        let mut maxima = [0u32; WIDTH];
        for chunk in chunks {
            for i in 0..WIDTH {
                maxima[i] = maxima[i].max(chunk[i]);
            }
        }
        maxima.iter().chain(rest).fold(0, |max, &word| max.max(word))
    })
}
