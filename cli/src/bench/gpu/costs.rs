//! The fixed costs of an operator on a GPU: on the host, and beyond an empty dispatch.

use wgmax::wgpu::{self, BufferUsages};
use wgmax::{BufferRange, Device, TensorDesc};

use super::Gpu;
use super::clock::{Clock, Work};
use crate::bench::costs::{self, Cost};
use crate::bench::times::{Times, seconds};
use crate::interrupt;

const EMPTY: &str = "@compute @workgroup_size(1) fn main() {}";
const ROUNDS: usize = 100;

impl Gpu {
    pub fn costs(&self) -> anyhow::Result<Vec<Cost>> {
        let device = &self.clock.device;
        let mut found = costs::planning(&self.device)?;
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("empty"),
            source: wgpu::ShaderSource::Wgsl(EMPTY.into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("empty"),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        let empty = |encoder: &mut wgpu::CommandEncoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.dispatch_workgroups(1, 1, 1);
            Ok(())
        };
        let mut empties = Times::default();
        let mut operators = Vec::new();
        for (name, operator, inputs) in costs::small()? {
            let descs: Vec<&TensorDesc> = inputs.iter().map(|input| input.desc()).collect();
            let prepared = self.device.prepare(&operator, &descs)?;
            let buffers = |descs: Vec<&TensorDesc>| -> anyhow::Result<Vec<wgpu::Buffer>> {
                descs.iter().map(|desc| self.buffer(desc.byte_len() as u64)).collect()
            };
            let sources = buffers(descs)?;
            let results = buffers(prepared.outputs().iter().collect())?;
            for (buffer, input) in sources.iter().zip(&inputs) {
                self.clock.queue.write_buffer(buffer, 0, input.bytes());
            }
            let sources: Vec<BufferRange> = sources.iter().map(Into::into).collect();
            let results: Vec<BufferRange> = results.iter().map(Into::into).collect();
            let record = |encoder: &mut wgpu::CommandEncoder| {
                Ok(prepared.record(encoder, &sources, &results)?)
            };
            let mut encoder = device.create_command_encoder(&Default::default());
            let recording = costs::repeat(|| record(&mut encoder))?;
            drop(encoder);
            let mut times = Times::default();
            for round in 0..ROUNDS {
                if interrupt::requested() {
                    break;
                }
                let pair = self.clock.time(&[&empty as Work, &record])?;
                if round >= 10 {
                    empties.push(pair[0]);
                    times.push(pair[1]);
                }
            }
            found.push(Cost::new(format!("record {name} again"), recording));
            operators.push(Cost::new(name, times));
        }
        found.push(Cost::new("an empty dispatch, on the GPU", empties));
        found.extend(operators);
        found.push(Cost::new("first operator on a fresh device", self.first()?));
        Ok(found)
    }

    /// The time from an opened device to its first result: planning, compiling, recording, running.
    /// The driver may have compiled shaders in its cache.
    fn first(&self) -> anyhow::Result<Times> {
        let mut times = Times::default();
        for _ in 0..3 {
            if interrupt::requested() {
                break;
            }
            let clock = Clock::open(&self.adapter)?;
            let fresh = Device::from_wgpu(&clock.device, &clock.queue)
                .with_tuning(self.device.tuning().clone());
            let (_, operator, inputs) = costs::small()?.swap_remove(0);
            let buffer = |size: usize| {
                clock.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("first"),
                    size: size.next_multiple_of(16) as u64,
                    usage: BufferUsages::STORAGE,
                    mapped_at_creation: false,
                })
            };
            let (source, result) = (buffer(inputs[0].bytes().len()), buffer(4));
            let (time, done) = seconds(|| -> anyhow::Result<()> {
                let prepared = fresh.prepare(&operator, &[inputs[0].desc()])?;
                let record = |encoder: &mut wgpu::CommandEncoder| {
                    Ok(prepared.record(encoder, &[&source], &[&result])?)
                };
                clock.submit(&[&record]).map(drop)
            });
            done?;
            times.push(time);
        }
        Ok(times)
    }
}
