//! Encodes the launches of a plan as compute passes: pipelines, parameter buffers and bind groups.

use std::collections::HashSet;
use std::sync::Arc;
#[cfg(not(target_family = "wasm"))]
use std::sync::OnceLock;

use super::{Gpu, PADDING};
use crate::base::error::Result;
#[cfg(not(target_family = "wasm"))]
use crate::base::threads;
use crate::plan::{Launch, Plan, Range, Shader};

/// The part of a plan's launches that does not depend on buffers.
pub(super) struct Compiled {
    pub steps: Vec<Step>,
    /// The parameters of all launches; `None` if there are no launches.
    params: Option<wgpu::Buffer>,
}

/// A launch with its pipelines.
pub(super) struct Step {
    shader: Shader,
    label: Arc<str>,
    pipeline: Arc<wgpu::ComputePipeline>,
    /// The pipeline for sources and results in one buffer; `pipeline` again if they never are.
    shared_buffer: Arc<wgpu::ComputePipeline>,
    /// The offset of its parameters in [`Compiled::params`], in bytes.
    params: wgpu::BufferAddress,
    /// The offset of the words of its view, if it has one.
    view: wgpu::BufferAddress,
}

/// A launch with its bind group.
pub(super) struct Pass {
    pub label: Arc<str>,
    pub pipeline: Arc<wgpu::ComputePipeline>,
    pub group: wgpu::BindGroup,
    pub grid: Grid,
}

/// The workgroups of a launch in each dimension.
pub(super) enum Grid {
    Known([u32; 3]),
    /// Three words that the GPU writes, at an offset in bytes.
    Chosen(wgpu::Buffer, u64),
}

impl Gpu {
    /// Creates the pipelines and the parameter buffer of a plan. `shaders` chooses the shaders of
    /// each launch: for sources and results in different buffers, and in one. The parameters never
    /// change, so recordings can share them.
    pub(super) fn compile(
        &self,
        plan: &Plan,
        shaders: impl Fn(&Launch) -> [Shader; 2],
    ) -> Result<Compiled> {
        let alignment = self.device.limits().min_uniform_buffer_offset_alignment as usize;
        let mut bytes = Vec::new();
        let mut steps = Vec::with_capacity(plan.launches.len());
        for launch in &plan.launches {
            let [shader, shared_buffer] = shaders(launch);
            let mut add = |words: &[u32]| {
                bytes.resize(bytes.len().next_multiple_of(alignment), 0);
                let offset = bytes.len() as u64;
                bytes.extend_from_slice(bytemuck::cast_slice(words));
                offset
            };
            let pipeline = self.pipelines.get(&self.device, &shader);
            steps.push(Step {
                shader,
                label: shader.label().into(),
                shared_buffer: match shared_buffer == shader {
                    true => pipeline.clone(),
                    false => self.pipelines.get(&self.device, &shared_buffer),
                },
                pipeline,
                params: add(launch.params()),
                view: launch.view_params().map_or(0, |(_, words)| add(words)),
            });
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

    /// Creates the pipeline of one shader.
    pub(crate) async fn compile_one(&self, shader: &Shader) -> Result<()> {
        let made = self.catch("compiling", || Ok(self.pipelines.get(&self.device, shader))).await;
        made.map(drop).inspect_err(|_| self.pipelines.forget(shader))
    }

    /// Creates missing pipelines on all cores. Does nothing if only one is missing, or in a
    /// browser, where other threads cannot use wgpu's objects.
    pub(super) fn compile_all(&self, shaders: impl Iterator<Item = Shader>) -> Result<()> {
        let missing: HashSet<Shader> = shaders.filter(|s| !self.pipelines.has(s)).collect();
        if missing.len() < 2 {
            return Ok(());
        }
        #[cfg(not(target_family = "wasm"))]
        {
            let made: Vec<OnceLock<Result<()>>> = missing.iter().map(|_| OnceLock::new()).collect();
            // Each thread has its own error scopes.
            threads::each(missing.iter().zip(&made).collect(), |(shader, made)| {
                made.get_or_init(|| pollster::block_on(self.compile_one(shader)));
            });
            made.into_iter().filter_map(OnceLock::into_inner).collect()
        }
        #[cfg(target_family = "wasm")]
        Ok(())
    }

    /// Whether a buffer alone can be bound: not if it belongs to another device.
    pub(super) fn can_bind(&self, buffer: &wgpu::Buffer) -> bool {
        let entry = wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: true },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let bind = || {
            let label = Some("wgmax device check");
            let layout = wgpu::BindGroupLayoutDescriptor { label, entries: &[entry] };
            let layout = self.device.create_bind_group_layout(&layout);
            let size = wgpu::BufferSize::new(4);
            let binding = wgpu::BufferBinding { buffer, offset: 0, size };
            let resource = wgpu::BindingResource::Buffer(binding);
            let entries = &[wgpu::BindGroupEntry { binding: 0, resource }];
            Ok(self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label,
                layout: &layout,
                entries,
            }))
        };
        self.catch_now("a device check", bind).is_ok()
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
        let pipeline = match launch.shares_a_buffer(locate) {
            true => step.shared_buffer.clone(),
            false => step.pipeline.clone(),
        };
        let mut entries = vec![bind(0, params, step.params, size_of_val(launch.params()) as u64)];
        if let Some((binding, words)) = launch.view_params() {
            entries.push(bind(binding, params, step.view, size_of_val(words) as u64));
        }
        for (binding, range) in launch.ranges() {
            let (buffer, bytes) = step.bound(binding, range, locate);
            entries.push(bind(binding, buffer, bytes.start, bytes.end - bytes.start));
        }
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&step.label),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Pass { label: step.label.clone(), pipeline, group, grid: Grid::Known(launch.grid) }
    }
}

impl Launch {
    /// Whether a source and a result are in one buffer. Then all sources are bound as writable.
    fn shares_a_buffer<'a>(&self, locate: &dyn Fn(&Range) -> (&'a wgpu::Buffer, u64)) -> bool {
        let is_result =
            |source: &Range| self.results.iter().any(|r| locate(r).0 == locate(source).0);
        self.sources.iter().any(is_result)
    }
}

impl Step {
    /// The bytes that are bound for a range: whole words or blocks.
    fn bound<'a>(
        &self,
        binding: u32,
        range: &Range,
        locate: &dyn Fn(&Range) -> (&'a wgpu::Buffer, u64),
    ) -> (&'a wgpu::Buffer, std::ops::Range<u64>) {
        // Only the first source is read in blocks.
        let multiple = if binding == 1 && !self.shader.words { PADDING } else { 4 };
        let (buffer, begin) = locate(range);
        let begin = begin + range.offset;
        (buffer, begin..begin + range.size.next_multiple_of(multiple))
    }
}

/// Two bindings of a launch that overlap, though both are writable: the plan's buffer of each, and the
/// bytes. Browsers refuse such a launch; elsewhere it is correct, since only results are written.
pub(super) fn aliases<'a>(
    plan: &Plan,
    compiled: &Compiled,
    locate: &dyn Fn(&Range) -> (&'a wgpu::Buffer, u64),
) -> Option<[(usize, std::ops::Range<u64>); 2]> {
    for (launch, step) in plan.launches.iter().zip(&compiled.steps) {
        if !launch.shares_a_buffer(locate) {
            continue;
        }
        let mut bound: Vec<(usize, &wgpu::Buffer, std::ops::Range<u64>)> = Vec::new();
        for (binding, range) in launch.ranges() {
            let (buffer, bytes) = step.bound(binding, range, locate);
            let other = bound.iter().find(|(_, other, theirs)| {
                *other == buffer && bytes.start.max(theirs.start) < bytes.end.min(theirs.end)
            });
            if let Some((other, _, theirs)) = other {
                return Some([(range.buffer, bytes), (*other, theirs.clone())]);
            }
            bound.push((range.buffer, buffer, bytes));
        }
    }
    None
}

/// Binds `size` bytes of a buffer, from an offset on.
pub(super) fn bind(
    binding: u32,
    buffer: &wgpu::Buffer,
    offset: u64,
    size: u64,
) -> wgpu::BindGroupEntry<'_> {
    let size = wgpu::BufferSize::new(size);
    let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset, size });
    wgpu::BindGroupEntry { binding, resource }
}

impl Pass {
    pub(super) fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(&self.label),
            timestamp_writes: None,
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        match &self.grid {
            Grid::Known([x, y, z]) => pass.dispatch_workgroups(*x, *y, *z),
            Grid::Chosen(grids, offset) => pass.dispatch_workgroups_indirect(grids, *offset),
        }
    }
}
