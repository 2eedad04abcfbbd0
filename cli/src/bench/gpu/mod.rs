//! Measures items on a GPU.

pub mod clock;
pub mod plain;

use std::time::Instant;

use wgmax::wgpu::{self, BufferUsages};
use wgmax::{BufferRange, Device, Prepared, Tensor, TensorDesc};

use self::clock::{Clock, Work};
use self::plain::{Moved, Pass, Plain, Shape};
use super::item::Item;
use super::times::{Budget, Times, seconds};
use super::{Measured, data, digests};
use crate::options::Planning;

/// Bytes of all copies of an input, which are used in turn: more than the caches of current GPUs.
const ROTATED: u64 = 256 << 20;
const MAX_COPIES: u64 = 64;
/// The time of a submit: long compared with its fixed cost, short compared with a watchdog.
const SUBMIT_SECONDS: f64 = 0.02;

pub struct Gpu {
    pub clock: Clock,
    device: Device,
    pub plain: Plain,
}

/// A copy of the inputs, and buffers for the results.
struct Copy {
    inputs: Vec<wgpu::Buffer>,
    results: Vec<wgpu::Buffer>,
}

impl Copy {
    fn record(
        &self,
        prepared: &Prepared,
        encoder: &mut wgpu::CommandEncoder,
    ) -> anyhow::Result<()> {
        let inputs: Vec<BufferRange> = self.inputs.iter().map(Into::into).collect();
        let results: Vec<BufferRange> = self.results.iter().map(Into::into).collect();
        Ok(prepared.record(encoder, &inputs, &results)?)
    }
}

impl Gpu {
    pub fn open(name: &str, planning: &Planning) -> anyhow::Result<Self> {
        let clock = Clock::open(&wgmax::adapter(name)?)?;
        let device = planning.apply(Device::from_wgpu(&clock.device, &clock.queue));
        let plain = Plain::new(&clock.device);
        Ok(Self { clock, device, plain })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The clock, and the seconds of an empty submit and the wait for it.
    pub fn clock(&self) -> (&'static str, f64) {
        let clock = if self.clock.has_timestamps() { "GPU timestamps" } else { "wall" };
        (clock, self.clock.fixed)
    }

    pub fn measure(&self, item: &Item, budget: Budget) -> anyhow::Result<Measured> {
        let descs = item.inputs()?;
        let descs: Vec<&TensorDesc> = descs.iter().collect();
        let (compiling, prepared) = seconds(|| self.device.prepare(item.operator(), &descs));
        let prepared = prepared?;
        let inputs = data::inputs(item)?;
        let copies = self.copies(item, &inputs, &prepared)?;

        let (read, write) = (inputs[0].bytes().len() as u64, item.plain_writes()?);
        let sink = self.buffer(write)?;
        let moved =
            |copy: usize| Moved { source: &copies[copy].inputs[0], read, result: &sink, write };
        let (shape, _) = self.plain.race(&self.clock, &Shape::USUAL, moved(0))?[0];
        let pass = |copy| self.plain.pass(&self.clock.device, moved(copy), shape);
        let passes: Vec<Pass> = (0..copies.len()).map(pass).collect();

        let mut measured = Measured {
            ceiling_bytes: read + write,
            ceiling_how: shape.to_string(),
            copies: copies.len(),
            prepare: Some(compiling),
            inputs_crc32: digests(&inputs),
            ..Measured::default()
        };
        let once = |encoder: &mut wgpu::CommandEncoder| copies[0].record(&prepared, encoder);
        let estimate = self.clock.submit(&[&once])?.min(self.clock.submit(&[&once])?);
        measured.results_crc32 = self.download(&copies[0], prepared.outputs())?;
        let mut walls = Times::default();
        for _ in 0..5 {
            walls.push(self.clock.submit(&[&once])?);
        }
        measured.wall = Some(walls.min());
        measured.record = Some(self.record_cost(&once)?);

        let rounds = (SUBMIT_SECONDS / estimate.max(1e-6)).clamp(1.0, 32.0) as usize;
        let rounds = budget.runs.map_or(rounds, |runs| rounds.min(runs));
        self.measure_in_turn(&prepared, &copies, &passes, rounds, budget, &mut measured)?;
        Ok(measured)
    }

    /// Runs the operator and the plain pass in turn, on different copies, with `rounds` of both in
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
            let numbers: Vec<usize> = (next..next + rounds).collect();
            next += rounds;
            let operators: Vec<_> = (numbers.iter())
                .map(|&n| {
                    let copy = &copies[n % copies.len()];
                    move |encoder: &mut wgpu::CommandEncoder| copy.record(prepared, encoder)
                })
                .collect();
            let ceilings: Vec<_> = (numbers.iter())
                .map(|&n| {
                    let pass = &passes[(n + passes.len() / 2) % passes.len()];
                    move |encoder: &mut wgpu::CommandEncoder| pass.record(encoder)
                })
                .collect();
            let work: Vec<Work> = operators
                .iter()
                .zip(&ceilings)
                .flat_map(|(operator, ceiling)| [operator as Work, ceiling as Work])
                .collect();
            let times = self.clock.time(&work)?;
            // The first submit warms up.
            if std::mem::replace(&mut warm, true) || budget.runs.is_some() {
                measured.item.extend(times.iter().copied().step_by(2));
                measured.ceiling.extend(times.iter().copied().skip(1).step_by(2));
            }
        }
        Ok(())
    }

    /// Host seconds of recording an operator again with the same buffers.
    fn record_cost(&self, once: Work) -> anyhow::Result<f64> {
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

    /// Copies of the inputs on the device.
    fn copies(
        &self,
        item: &Item,
        inputs: &[Tensor],
        prepared: &Prepared,
    ) -> anyhow::Result<Vec<Copy>> {
        let count = ROTATED.div_ceil(item.bytes_read).clamp(1, MAX_COPIES) as usize;
        let mut copies = Vec::with_capacity(count);
        for _ in 0..count {
            let made = (|| {
                let sizes = inputs.iter().map(Tensor::desc);
                let inputs = sizes.map(|desc| self.buffer(desc.byte_len() as u64));
                let results = prepared.outputs().iter();
                let results = results.map(|desc| self.buffer(desc.byte_len() as u64));
                let inputs = inputs.collect::<anyhow::Result<_>>()?;
                anyhow::Ok(Copy { inputs, results: results.collect::<anyhow::Result<_>>()? })
            })();
            match made {
                Ok(copy) => copies.push(copy),
                // If memory is short, fewer copies are enough.
                Err(_) if !copies.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        for (i, input) in inputs.iter().enumerate() {
            let mut bytes = input.bytes().to_vec();
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            self.clock.queue.write_buffer(&copies[0].inputs[i], 0, &bytes);
        }
        let mut encoder = self.clock.device.create_command_encoder(&Default::default());
        for copy in &copies[1..] {
            for (from, to) in copies[0].inputs.iter().zip(&copy.inputs) {
                encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
            }
        }
        self.clock.queue.submit([encoder.finish()]);
        self.device.wait()?;
        self.clock.check()?;
        Ok(copies)
    }

    /// A buffer of at least `size` bytes, in whole blocks of 16.
    pub fn buffer(&self, size: u64) -> anyhow::Result<wgpu::Buffer> {
        let size = size.max(1).next_multiple_of(16);
        let allowed = self.clock.device.limits().max_buffer_size;
        if size > allowed {
            anyhow::bail!("a buffer needs {size} bytes; the limit (max_buffer_size) is {allowed}");
        }
        let buffer = self.clock.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("bench"),
            size,
            usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.clock.check()?;
        Ok(buffer)
    }

    /// The digests of a copy's results.
    fn download(&self, copy: &Copy, descs: &[TensorDesc]) -> anyhow::Result<Vec<u32>> {
        let mut digests = Vec::new();
        for (buffer, desc) in copy.results.iter().zip(descs) {
            let staging = self.clock.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("bench download"),
                size: buffer.size(),
                usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let copy = |encoder: &mut wgpu::CommandEncoder| {
                encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
                Ok(())
            };
            self.clock.submit(&[&copy])?;
            staging.map_async(wgpu::MapMode::Read, .., |_| ());
            self.device.wait()?;
            digests.push(crc32fast::hash(&staging.get_mapped_range(..)?[..desc.byte_len()]));
        }
        Ok(digests)
    }
}
