//! Measures items on a GPU.

pub mod clock;
pub mod plain;

use std::time::Instant;

use anyhow::Context;
use wgmax::{Device, DeviceTensor, ElementType, Outputs, Prepared, Tensor, wgpu};

use self::clock::{Clock, Work};
use self::plain::{Moved, Pass, Plain, Shape};
use super::Measured;
use super::times::{Budget, Times, seconds};

/// The time of a submit: long compared with its fixed cost, and short compared with a watchdog.
const SUBMIT_SECONDS: f64 = 0.02;

/// A copy of the inputs, and the results.
struct Copy<'a> {
    inputs: &'a [DeviceTensor],
    results: Outputs<DeviceTensor>,
}

impl Copy<'_> {
    fn record(
        &self,
        prepared: &Prepared,
        encoder: &mut wgpu::CommandEncoder,
    ) -> anyhow::Result<()> {
        let record = prepared.record(encoder).inputs(buffers(self.inputs));
        Ok(record.outputs(buffers(&self.results)).finish()?)
    }
}

/// The buffers of tensors on a GPU.
fn buffers(tensors: &[DeviceTensor]) -> Vec<&wgpu::Buffer> {
    tensors.iter().filter_map(DeviceTensor::buffer).collect()
}

/// A buffer for a number of bytes.
pub fn buffer(device: &Device, bytes: u64) -> anyhow::Result<wgpu::Buffer> {
    let bytes = vec![0; bytes.max(1) as usize];
    let tensor = device.upload(&Tensor::from_bytes(ElementType::U8, [bytes.len()], &bytes)?)?;
    Ok(tensor.buffer().context("the device has no buffers")?.clone())
}

pub struct Gpu {
    pub clock: Clock,
    pub plain: Plain,
}

impl Gpu {
    pub fn open(name: &str) -> anyhow::Result<Self> {
        let clock = Clock::open(&wgmax::adapter(name)?)?;
        let plain = Plain::new(&clock.device);
        clock.check()?;
        Ok(Self { clock, plain })
    }

    pub fn measure(
        &self,
        device: &Device,
        item: &super::Prepared,
        prepared: &Prepared,
        budget: Budget,
        measured: &mut Measured,
    ) -> anyhow::Result<()> {
        let mut copies = Vec::new();
        for inputs in &item.copies {
            match device.execute(&item.plan, inputs.iter().collect::<Vec<_>>()) {
                Ok(results) => copies.push(Copy { inputs, results }),
                // If memory is short, fewer copies are enough.
                Err(_) if !copies.is_empty() => break,
                Err(error) => return Err(error.into()),
            }
        }
        let sink = buffer(device, item.write)?;
        let largest = item.largest();
        let read = item.plan.inputs()[largest].byte_len() as u64;
        let moved = |copy: usize| {
            let source = buffers(copies[copy].inputs)[largest];
            Moved { source, read, result: &sink, write: item.write }
        };
        let (shape, _) = self.plain.race(&self.clock, &Shape::USUAL, moved(0))?[0];
        let pass = |copy| self.plain.pass(&self.clock.device, moved(copy), shape);
        let passes: Vec<Pass> = (0..copies.len()).map(pass).collect();
        measured.ceiling_bytes = passes[0].bytes;
        measured.ceiling_how = shape.to_string();
        measured.copies = copies.len();

        // Two rounds warm up, after which the bind groups of all copies are kept.
        let (warm, timed) = (2 * copies.len(), copies.len().max(5));
        let mut walls = Times::default();
        for (i, copy) in copies.iter().cycle().take(warm + timed).enumerate() {
            let work: Work = Box::new(|encoder| copy.record(prepared, encoder));
            let (wall, submitted) = seconds(|| self.clock.submit(&[work]));
            submitted?;
            if i >= warm {
                walls.push(wall);
            }
        }
        let once: Work = Box::new(|encoder| copies[0].record(prepared, encoder));
        measured.record = Some(self.record_cost(&once)?);
        let rounds = (SUBMIT_SECONDS / walls.min().max(1e-6)).clamp(1.0, 32.0) as usize;
        measured.wall = Some(walls);
        self.measure_in_turn(prepared, &copies, &passes, rounds, budget, measured)
    }

    /// Runs the operator and the plain pass in turn, on different copies, with up to `rounds` of both in
    /// each submit.
    fn measure_in_turn(
        &self,
        prepared: &Prepared,
        copies: &[Copy],
        passes: &[Pass],
        rounds: usize,
        budget: Budget,
        measured: &mut Measured,
    ) -> anyhow::Result<()> {
        let mut next = 0;
        let mut warm = false;
        let start = Instant::now();
        while !budget.is_spent(measured.item.count(), start) {
            let rounds =
                budget.runs.map_or(rounds, |runs| rounds.min(runs - measured.item.count()));
            let work: Vec<Work> = (next..next + rounds)
                .flat_map(|n| {
                    let copy = &copies[n % copies.len()];
                    let pass = &passes[(n + passes.len() / 2) % passes.len()];
                    let operator: Work = Box::new(|encoder| copy.record(prepared, encoder));
                    [operator, Box::new(|encoder| pass.record(encoder))]
                })
                .collect();
            next += rounds;
            let times = self.clock.time(&work)?;
            // The first submit warms up.
            if std::mem::replace(&mut warm, true) || budget.runs == Some(1) {
                measured.item.extend(times.iter().copied().step_by(2));
                measured.ceiling.extend(times.iter().copied().skip(1).step_by(2));
            }
        }
        Ok(())
    }

    /// Host seconds of recording an operator again with the same buffers.
    fn record_cost(&self, once: &Work) -> anyhow::Result<f64> {
        const TIMES: usize = 20;
        let mut costs = Times::default();
        for _ in 0..5 {
            let mut encoder = self.clock.device.create_command_encoder(&Default::default());
            let (cost, recorded) = seconds(|| (0..TIMES).try_for_each(|_| once(&mut encoder)));
            recorded?;
            costs.push(cost / TIMES as f64);
        }
        Ok(costs.min())
    }
}
