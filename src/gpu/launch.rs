//! Turns the launches of a plan into compute passes: pipelines, parameter buffers and bind groups.

use std::sync::Arc;

use super::{Gpu, PADDING};
use crate::error::Result;
use crate::plan::{Launch, Plan, Range, Shader};

/// The part of a plan's launches that does not depend on the buffers they bind.
pub(super) struct Compiled {
    pub steps: Vec<Step>,
    /// The parameters of all launches; `None` if there are no launches.
    params: Option<wgpu::Buffer>,
}

/// A launch with its pipeline.
pub(super) struct Step {
    pub shader: Shader,
    label: Arc<str>,
    pipeline: Arc<wgpu::ComputePipeline>,
    /// The offset of its parameters in [`Compiled::params`], in bytes.
    params: wgpu::BufferAddress,
}

/// A launch with its bind group.
pub(super) struct Pass {
    label: Arc<str>,
    pipeline: Arc<wgpu::ComputePipeline>,
    group: wgpu::BindGroup,
    grid: [u32; 3],
}

impl Gpu {
    /// Creates the pipelines and the parameter buffer of a plan. `shader` chooses the shader of
    /// each launch. The parameters never change, so recordings can share them.
    pub(super) fn compile(
        &self,
        plan: &Plan,
        shader: impl Fn(&Launch) -> Shader,
    ) -> Result<Compiled> {
        let alignment = self.device.limits().min_uniform_buffer_offset_alignment as usize;
        let mut bytes = Vec::new();
        let mut steps = Vec::with_capacity(plan.launches.len());
        for launch in &plan.launches {
            let shader = shader(launch);
            bytes.resize(bytes.len().next_multiple_of(alignment), 0);
            steps.push(Step {
                shader,
                label: shader.label().into(),
                pipeline: self.pipelines.get(&self.device, &shader),
                params: bytes.len() as u64,
            });
            bytes.extend_from_slice(launch.param_bytes());
        }
        if steps.is_empty() {
            return Ok(Compiled { steps, params: None });
        }
        // Not `create_buffer_init`, which panics on a device that has just been lost.
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let buffer = self.create_buffer("wgmax parameters", bytes.len() as u64, usage)?;
        self.queue.write_buffer(&buffer, 0, &bytes);
        Ok(Compiled { steps, params: Some(buffer) })
    }

    /// Makes the pipeline of one shader.
    pub(crate) async fn compile_one(&self, shader: &Shader) -> Result<()> {
        let made = self.catch("compiling", || Ok(self.pipelines.get(&self.device, shader))).await;
        made.map(drop).inspect_err(|_| self.pipelines.forget(shader))
    }

    /// Binds the launches of a plan. `locate` maps a range of the plan to a wgpu buffer and to the
    /// offset in bytes at which the plan's buffer begins there.
    pub(super) fn bind<'a>(
        &self,
        plan: &Plan,
        compiled: &Compiled,
        locate: impl Fn(&Range) -> (&'a wgpu::Buffer, u64),
    ) -> Vec<Pass> {
        let Some(params) = &compiled.params else { return Vec::new() };
        let launches = plan.launches.iter().zip(&compiled.steps);
        launches.map(|(launch, step)| self.pass(launch, step, params, &locate)).collect()
    }

    fn pass<'a>(
        &self,
        launch: &Launch,
        step: &Step,
        params: &wgpu::Buffer,
        locate: &impl Fn(&Range) -> (&'a wgpu::Buffer, u64),
    ) -> Pass {
        let is_result =
            |source: &Range| launch.results.iter().any(|r| locate(r).0 == locate(source).0);
        let pipeline = match launch.sources.iter().any(is_result) {
            true => self.pipelines.get(&self.device, &in_place(&step.shader)),
            false => step.pipeline.clone(),
        };
        let bind = |binding: usize, buffer, offset, size| wgpu::BindGroupEntry {
            binding: binding as u32,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer,
                offset,
                size: wgpu::BufferSize::new(size),
            }),
        };
        let range = |binding: usize, range: &Range, multiple: u64| {
            let (buffer, begin) = locate(range);
            bind(binding, buffer, begin + range.offset, range.size.next_multiple_of(multiple))
        };
        let mut entries = vec![bind(0, params, step.params, launch.param_bytes().len() as u64)];
        for (i, source) in launch.sources.iter().enumerate() {
            // Only the first source is read in blocks.
            let multiple = if i == 0 && !step.shader.words { PADDING } else { 4 };
            entries.push(range(1 + 2 * i, source, multiple));
        }
        for (i, result) in launch.results.iter().enumerate() {
            entries.push(range(2 + 2 * i, result, 4));
        }
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&step.label),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Pass { label: step.label.clone(), pipeline, group, grid: launch.grid }
    }
}

impl Compiled {
    /// Removes the pipelines that a failed [`Gpu::bind`] may have added.
    pub(super) fn forget_in_place(&self, gpu: &Gpu) {
        self.steps.iter().for_each(|step| gpu.pipelines.forget(&in_place(&step.shader)));
    }
}

/// The variant for sources and results in one buffer. WebGPU does not allow a dispatch to bind a
/// buffer both as read-only and as writable, so the variant binds its sources as writable.
fn in_place(shader: &Shader) -> Shader {
    Shader { in_place: true, ..*shader }
}

impl Pass {
    pub(super) fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(&self.label),
            timestamp_writes: None,
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        let [x, y, z] = self.grid;
        pass.dispatch_workgroups(x, y, z);
    }
}
