//! Operators that are recorded into a caller's encoder.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Gpu, PADDING};
use crate::error::{Error, Result};
use crate::kernel::Shader;
use crate::plan::{Plan, Range, Role};
use crate::tensor::TensorDesc;

/// A part of a caller's buffer, from an offset on: as many bytes as the tensor has there.
#[derive(Clone, Copy, Debug)]
pub struct BufferRange<'a> {
    /// The buffer. Its usage includes `STORAGE`.
    pub buffer: &'a wgpu::Buffer,
    /// Where the tensor begins, in bytes: a multiple of the device's
    /// `min_storage_buffer_offset_alignment`, and of 16.
    pub offset: u64,
}

impl<'a> From<&'a wgpu::Buffer> for BufferRange<'a> {
    fn from(buffer: &'a wgpu::Buffer) -> Self {
        Self { buffer, offset: 0 }
    }
}

/// An operator that has been planned and compiled for inputs of certain types and
/// shapes, to be recorded into command encoders as often as wanted.
///
/// Made by [`Device::prepare`](crate::Device::prepare). Scratch is allocated once and shared by
/// all recordings, which a queue runs one after the other.
pub struct Prepared {
    gpu: Arc<Gpu>,
    plan: Plan,
    inputs: Vec<TensorDesc>,
    label: String,
    steps: Vec<Step>,
    /// One for each buffer of the plan that is scratch.
    scratch: Vec<Option<wgpu::Buffer>>,
    params: Option<wgpu::Buffer>,
    /// What the last recording bound, for the next one with the same buffers.
    bound: Mutex<Option<Bound>>,
}

/// A launch.
struct Step {
    shader: Shader,
    pipeline: Arc<wgpu::ComputePipeline>,
    /// Where its parameters are, and how many bytes.
    params: (u64, u64),
}

struct Bound {
    ranges: Vec<(wgpu::Buffer, u64)>,
    steps: Vec<(Arc<wgpu::ComputePipeline>, wgpu::BindGroup)>,
}

impl Gpu {
    pub(crate) async fn prepare(
        self: &Arc<Self>,
        plan: Plan,
        inputs: &[&TensorDesc],
        label: &str,
    ) -> Result<Prepared> {
        let made = || {
            let steps = self.steps(&plan, inputs);
            let params = self.params(&plan, &steps)?;
            let usage = wgpu::BufferUsages::STORAGE;
            let scratch = plan.buffers.iter().map(|buffer| match buffer.role {
                Role::Scratch => self.create_buffer("wgmax scratch", buffer.size, usage).map(Some),
                Role::Input | Role::Output => Ok(None),
            });
            let scratch = scratch.collect::<Result<_>>()?;
            Ok((steps, params, scratch))
        };
        let (steps, params, scratch) = self.catch("preparing", made).await.inspect_err(|_| {
            plan.shaders().for_each(|shader| self.pipelines.forget(shader));
        })?;
        Ok(Prepared {
            gpu: self.clone(),
            inputs: inputs.iter().map(|&desc| desc.clone()).collect(),
            label: label.to_string(),
            plan,
            steps,
            scratch,
            params,
            bound: Mutex::new(None),
        })
    }

    fn steps(&self, plan: &Plan, inputs: &[&TensorDesc]) -> Vec<Step> {
        let alignment = u64::from(self.device.limits().min_uniform_buffer_offset_alignment);
        let mut offset = 0;
        let mut steps = Vec::with_capacity(plan.launches.len());
        for launch in &plan.launches {
            let mut shader = launch.shader;
            // A caller's buffer may end with the tensor: then no block may reach beyond.
            if let Some(range) = launch.sources.first()
                && let Some(input) = inputs.get(range.buffer)
            {
                let end = (input.byte_len() as u64).next_multiple_of(4);
                shader.words = range.offset + range.size.next_multiple_of(PADDING) > end;
            }
            let pipeline = self.pipelines.get(&self.device, &shader);
            let size = launch.params.bytes().len() as u64;
            steps.push(Step { shader, pipeline, params: (offset, size) });
            offset = (offset + size).next_multiple_of(alignment);
        }
        steps
    }

    /// The parameters of all launches. They never change, so no recording can disturb another.
    fn params(&self, plan: &Plan, steps: &[Step]) -> Result<Option<wgpu::Buffer>> {
        let Some(last) = steps.last() else { return Ok(None) };
        let size = (last.params.0 + last.params.1).next_multiple_of(PADDING);
        let mut bytes = vec![0; size as usize];
        for (launch, step) in plan.launches.iter().zip(steps) {
            bytes[step.params.0 as usize..][..step.params.1 as usize]
                .copy_from_slice(launch.params.bytes());
        }
        let buffer = self.create_buffer(
            "wgmax parameters",
            size,
            wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        )?;
        self.queue.write_buffer(&buffer, 0, &bytes);
        Ok(Some(buffer))
    }
}

impl Prepared {
    /// The types and shapes of the inputs.
    pub fn inputs(&self) -> &[TensorDesc] {
        &self.inputs
    }

    /// The types and shapes of the results.
    pub fn outputs(&self) -> &[TensorDesc] {
        &self.plan.outputs
    }

    /// Records the operator: reads the inputs and writes the results in the caller's buffers.
    ///
    /// It submits nothing, waits for nothing and leaves no error scope open. Results are written
    /// in whole words: a result of bytes or halves that ends within a word sets the rest of that word to 0.
    /// Recorded with the same buffers and offsets as the last time, it makes no wgpu object but the passes.
    /// Inputs and results may be different ranges of one buffer; the first time that they are, pipelines
    /// are compiled that bind it so.
    ///
    /// # Errors
    /// Before anything is recorded: [`Error::InputCount`] and [`Error::OutputBuffers`] for another number of
    /// ranges, [`Error::BufferUsage`] for a buffer without `STORAGE`, [`Error::BufferAlignment`] and
    /// [`Error::BufferTooSmall`] for a range, [`Error::BufferOverlap`] for a result that shares
    /// bytes with an input or another result, and [`Error::DeviceLost`].
    pub fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        inputs: &[BufferRange<'_>],
        outputs: &[BufferRange<'_>],
    ) -> Result<()> {
        self.gpu.check_alive()?;
        self.check(inputs, outputs)?;
        let ranges: Vec<_> =
            inputs.iter().chain(outputs).map(|r| (r.buffer.clone(), r.offset)).collect();
        let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        let steps = match &*bound {
            Some(bound) if bound.ranges == ranges => &bound.steps,
            _ => {
                let steps = self.bind(&ranges);
                &bound.insert(Bound { ranges, steps }).steps
            }
        };
        encoder.push_debug_group(&self.label);
        for ((pipeline, group), (launch, step)) in
            steps.iter().zip(self.plan.launches.iter().zip(&self.steps))
        {
            let label = step.shader.label();
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some(&label),
                timestamp_writes: None,
            });
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            let [x, y, z] = launch.grid;
            pass.dispatch_workgroups(x, y, z);
        }
        encoder.pop_debug_group();
        Ok(())
    }

    fn check(&self, inputs: &[BufferRange<'_>], outputs: &[BufferRange<'_>]) -> Result<()> {
        if inputs.len() != self.inputs.len() {
            let expected = if self.inputs.len() == 1 { "1 input" } else { "2 inputs" };
            let operator = self.label.clone();
            return Err(Error::InputCount { operator, expected, actual: inputs.len() });
        }
        if outputs.len() != self.plan.outputs.len() {
            return Err(Error::OutputBuffers {
                operator: self.label.clone(),
                expected: self.plan.outputs.len(),
                actual: outputs.len(),
            });
        }
        let alignment = self.gpu.info.limits.alignment;
        let descs = self.inputs.iter().chain(&self.plan.outputs);
        let mut taken: Vec<(&wgpu::Buffer, std::ops::Range<u64>)> = Vec::new();
        for (i, (range, desc)) in inputs.iter().chain(outputs).zip(descs).enumerate() {
            let size = (desc.byte_len() as u64).next_multiple_of(4);
            if !range.buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
                return Err(Error::BufferUsage { usage: format!("{:?}", range.buffer.usage()) });
            }
            if !range.offset.is_multiple_of(alignment) {
                return Err(Error::BufferAlignment { offset: range.offset, alignment });
            }
            let end = range.offset.saturating_add(size);
            if end > range.buffer.size() {
                let (needed, size) = (end, range.buffer.size());
                return Err(Error::BufferTooSmall { needed, size });
            }
            let mine = range.offset..end;
            if i >= inputs.len() && size > 0 {
                for (other, theirs) in &taken {
                    if *other != range.buffer || theirs.is_empty() {
                        continue;
                    }
                    if theirs.start < mine.end && mine.start < theirs.end {
                        return Err(Error::BufferOverlap { a: theirs.clone(), b: mine });
                    }
                }
            }
            taken.push((range.buffer, mine));
        }
        Ok(())
    }

    fn bind(
        &self,
        ranges: &[(wgpu::Buffer, u64)],
    ) -> Vec<(Arc<wgpu::ComputePipeline>, wgpu::BindGroup)> {
        let Some(params) = &self.params else { return Vec::new() };
        let bind = |binding: u32, range: &Range, exact: bool| {
            let (buffer, offset) = match ranges.get(range.buffer) {
                Some((buffer, offset)) => (Some(buffer), *offset),
                None => (self.scratch[range.buffer].as_ref(), 0),
            };
            let multiple = if exact { 4 } else { PADDING };
            // Every buffer of a plan is an input, an output or scratch.
            buffer.map(|buffer| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset: offset + range.offset,
                    size: wgpu::BufferSize::new(range.size.next_multiple_of(multiple)),
                }),
            })
        };
        self.plan
            .launches
            .iter()
            .zip(&self.steps)
            .map(|(launch, step)| {
                let label = step.shader.label();
                let buffer_of = |range: &Range| ranges.get(range.buffer).map(|(buffer, _)| buffer);
                // A dispatch may not bind one buffer as readable and as writable.
                let shared = launch.sources.iter().any(|source| {
                    let source = buffer_of(source);
                    source.is_some() && launch.results.iter().any(|r| buffer_of(r) == source)
                });
                let pipeline = match shared {
                    true => {
                        let shader = Shader { shared, ..step.shader };
                        self.gpu.pipelines.get(&self.gpu.device, &shader)
                    }
                    false => step.pipeline.clone(),
                };
                let mut entries = vec![wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer: params,
                        offset: step.params.0,
                        size: wgpu::BufferSize::new(step.params.1),
                    }),
                }];
                for (i, range) in launch.sources.iter().enumerate() {
                    // Only the first source is read in blocks.
                    let exact = i > 0 || step.shader.words;
                    entries.extend(bind(1 + 2 * i as u32, range, exact));
                }
                for (i, range) in launch.results.iter().enumerate() {
                    entries.extend(bind(2 + 2 * i as u32, range, true));
                }
                let group = self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                    label: Some(&label),
                    layout: &pipeline.get_bind_group_layout(0),
                    entries: &entries,
                });
                (pipeline, group)
            })
            .collect()
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Prepared({} on {})", self.label, self.gpu.info)
    }
}
