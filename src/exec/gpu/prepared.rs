//! Prepared operators: planned and compiled, to be recorded into a caller's command encoders.

use std::sync::{Arc, Mutex};

use super::bound::BindGroupCache;
use super::launch::Compiled;
use super::{Gpu, PADDING};
use crate::base::error::Result;
use crate::plan::{Launch, Plan, Range, Role, Shader};
use crate::tensor::TensorDesc;

/// An operator that has been planned and compiled for inputs of certain types and shapes. It can be
/// recorded into command encoders any number of times.
///
/// Created by [`Device::prepare`](crate::Device::prepare). Scratch is allocated once and shared by
/// all recordings; this is correct because a queue runs them one after the other.
pub struct Prepared {
    pub(super) gpu: Arc<Gpu>,
    pub(super) plan: Plan,
    pub(super) label: String,
    pub(super) compiled: Compiled,
    /// The plan's scratch buffers. In the plan they come after its inputs and results.
    pub(super) scratch: Vec<wgpu::Buffer>,
    /// Where the textures of inputs and results are copied to, of those that were recorded as such.
    pub(super) staging: Mutex<Vec<Option<wgpu::Buffer>>>,
    /// The bind groups of the last recordings, reused for the same buffers.
    pub(super) bind_groups: BindGroupCache,
}

impl Gpu {
    pub(crate) async fn prepare(self: &Arc<Self>, plan: Plan, label: &str) -> Result<Prepared> {
        let shaders = |launch: &Launch| shaders(launch, &plan);
        self.compile_all(plan.launches.iter().flat_map(shaders))?;
        let compile = || {
            let compiled = self.compile(&plan, shaders)?;
            let usage = wgpu::BufferUsages::STORAGE;
            let scratch = plan.buffers.iter().filter(|buffer| buffer.role == Role::Scratch);
            let scratch = scratch
                .map(|buffer| self.create_buffer("wgmax scratch", buffer.size, usage))
                .collect::<Result<_>>()?;
            Ok((compiled, scratch))
        };
        let (compiled, scratch) = self.catch("preparing", compile).await.inspect_err(|_| {
            let shaders = plan.launches.iter().flat_map(shaders);
            shaders.for_each(|shader| self.pipelines.forget(&shader));
        })?;
        Ok(Prepared {
            gpu: self.clone(),
            label: label.to_string(),
            staging: Mutex::new(vec![None; plan.inputs.len() + plan.outputs.len()]),
            plan,
            compiled,
            scratch,
            bind_groups: BindGroupCache::default(),
        })
    }
}

/// The shaders of a launch on a caller's buffers: for sources and results in different buffers, and
/// in one. WebGPU does not allow a dispatch to bind a buffer both as read-only and as writable, so
/// the second binds its sources as writable. It is the first where they cannot be in one buffer.
fn shaders(launch: &Launch, plan: &Plan) -> [Shader; 2] {
    let shader = whole_blocks(launch, plan);
    let callers = |ranges: &[Range]| {
        ranges.iter().any(|range| plan.buffers[range.buffer].role != Role::Scratch)
    };
    let in_place = callers(&launch.sources) && callers(&launch.results);
    [shader, Shader { in_place, ..shader }]
}

/// The shader of a launch on a caller's buffers. Unlike our own, they may end with the tensor. If
/// the last block would reach past that end, the shader must read single words.
fn whole_blocks(launch: &Launch, plan: &Plan) -> Shader {
    let inputs = &plan.buffers[..plan.inputs.len()];
    let source = launch.sources.first();
    let words = source.and_then(|range| Some((range, inputs.get(range.buffer)?))).is_some_and(
        |(range, input)| {
            range.offset + range.size.next_multiple_of(PADDING) > input.size.next_multiple_of(4)
        },
    );
    Shader { words, ..launch.shader }
}

impl Prepared {
    /// The types and shapes of the inputs.
    pub fn inputs(&self) -> &[TensorDesc] {
        &self.plan.inputs
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
