//! Measures items on the CPU.

pub mod plain;

use std::time::Instant;

use wgmax::{Device, DeviceTensor, Tensor};

use super::item::Item;
use super::times::{Budget, seconds};
use super::{Measured, data, digests};
use plain::{Shape, pass, race};

pub struct Cpu {
    device: Device,
}

impl Cpu {
    pub fn new(device: Device) -> Self {
        Self { device }
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn measure(&self, item: &Item, budget: Budget) -> anyhow::Result<Measured> {
        let inputs = data::inputs(item)?;
        let inputs_crc32 = digests(&inputs);
        let copies = super::copies(&self.device, item, &inputs)?;
        let tensors: Vec<Tensor> =
            copies.iter().map(|copy| copy[0].download()).collect::<wgmax::Result<_>>()?;
        // The very memory that the operator reads.
        let words: Vec<&[u32]> = tensors.iter().map(words).collect();
        let descs: Vec<_> = inputs.iter().map(Tensor::desc).collect();
        let plan = self.device.plan(item.operator(), &descs)?;
        let writes = item.plain_writes()?;
        // Pages as those of the operator's results.
        let mut out = wgmax::internals::zeroed((writes as usize).div_ceil(8))?;
        let out = &mut bytemuck::cast_slice_mut(&mut out)[..writes as usize / 4];
        let (shape, fastest) = race(&Shape::usual(), &words, out)[0];

        let mut measured = Measured {
            ceiling_bytes: size_of_val(words[0]) as u64 + writes,
            ceiling_how: shape.to_string(),
            copies: copies.len(),
            inputs_crc32,
            ..Measured::default()
        };
        let run = |copy: &[DeviceTensor]| {
            let inputs: Vec<&DeviceTensor> = copy.iter().collect();
            self.device.execute(&plan, &inputs)
        };
        measured.results_crc32 = digests(&super::download(&run(&copies[0])?)?);
        // A noisy moment while the item runs does not lower the ceiling.
        measured.ceiling.push(fastest);
        let start = Instant::now();
        for round in 0.. {
            if budget.is_spent(measured.item.count(), start) {
                break;
            }
            let (time, result) = seconds(|| run(&copies[round % copies.len()]).map(drop));
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
        Ok(measured)
    }
}

/// A tensor as words, but for its last bytes.
fn words(tensor: &Tensor) -> &[u32] {
    let bytes = tensor.bytes();
    bytemuck::cast_slice(&bytes[..bytes.len() / 4 * 4])
}
