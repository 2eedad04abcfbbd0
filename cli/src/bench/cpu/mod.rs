//! Measures items on the CPU.

pub mod plain;

use std::time::Instant;

use wgmax::{Device, DeviceTensor, Tensor};

use super::times::{Budget, seconds};
use super::{Measured, Prepared};
use plain::{Shape, pass, race};

pub fn measure(
    device: &Device,
    prepared: &Prepared,
    budget: Budget,
    measured: &mut Measured,
) -> anyhow::Result<()> {
    let Prepared { plan, copies, write } = prepared;
    let tensors: Vec<Tensor> = copies
        .iter()
        .map(|copy| copy[prepared.largest()].download())
        .collect::<wgmax::Result<_>>()?;
    // The same memory that the operator reads.
    let words: Vec<&[u32]> = tensors.iter().map(words).collect();
    // Allocated as the operator's results are, so in pages of the same size.
    let mut out = wgmax::internals::zeroed((*write as usize).div_ceil(8))?;
    let out = &mut bytemuck::cast_slice_mut(&mut out)[..*write as usize / 4];
    let (shape, fastest) = race(&Shape::usual(), &words, out)[0];
    measured.ceiling_bytes = size_of_val(words[0]) as u64 + write;
    measured.ceiling_how = shape.to_string();
    // A noisy moment while the item runs must not lower the ceiling.
    measured.ceiling.push(fastest);
    let start = Instant::now();
    for round in 0.. {
        if budget.is_spent(measured.item.count(), start) {
            break;
        }
        let inputs: Vec<&DeviceTensor> = copies[round % copies.len()].iter().collect();
        let (time, result) = seconds(|| device.execute(plan, &inputs).map(drop));
        result?;
        // The plain pass reads a copy that is not in the cache.
        let other = (round + copies.len() / 2) % copies.len();
        let (ceiling, _) = pass(words[other], out, shape);
        // The first round warms up.
        if round > 0 || budget.runs == Some(1) {
            measured.item.push(time);
            measured.ceiling.push(ceiling);
        }
    }
    Ok(())
}

/// A tensor as words, without the bytes after the last whole word.
fn words(tensor: &Tensor) -> &[u32] {
    let bytes = tensor.bytes();
    bytemuck::cast_slice(&bytes[..bytes.len() / 4 * 4])
}
