//! Operators that are recorded into a caller's encoder.

use std::sync::Arc;

use super::record::Bound;
use super::{Gpu, PADDING};
use crate::error::Result;
use crate::kernel::Shader;
use crate::plan::{Plan, Role};
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
    pub(super) gpu: Arc<Gpu>,
    pub(super) plan: Plan,
    pub(super) inputs: Vec<TensorDesc>,
    pub(super) label: String,
    pub(super) steps: Vec<Step>,
    /// The plan's scratch, which comes behind its inputs and results.
    pub(super) scratch: Vec<wgpu::Buffer>,
    pub(super) params: Option<wgpu::Buffer>,
    /// What the last recordings bound, for the next ones with the same buffers.
    pub(super) bound: Bound,
}

/// A launch.
pub(super) struct Step {
    pub(super) shader: Shader,
    pub(super) label: Arc<str>,
    pub(super) pipeline: Arc<wgpu::ComputePipeline>,
    /// Where its parameters are, and how many bytes.
    pub(super) params: (u64, u64),
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
            let scratch = plan.buffers.iter().filter(|buffer| buffer.role == Role::Scratch);
            let scratch = scratch
                .map(|buffer| self.create_buffer("wgmax scratch", buffer.size, usage))
                .collect::<Result<_>>()?;
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
            bound: Bound::default(),
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
            let label = shader.label().into();
            steps.push(Step { shader, label, pipeline, params: (offset, size) });
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
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Prepared({} on {})", self.label, self.gpu.info)
    }
}
