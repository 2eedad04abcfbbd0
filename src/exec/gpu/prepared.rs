//! Prepared operators: planned and compiled, to be recorded into a caller's command encoders.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bound::{BindGroupCache, Place};
use super::launch::Compiled;
use super::{Gpu, PADDING, TENSOR};
#[expect(unused_imports, reason = "named in documentation")]
use crate::base::error::Error;
use crate::base::error::Result;
use crate::plan::{Launch, Plan, Range, Role, Shader};
use crate::tensor::{Outputs, TensorDesc, View};

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
    /// Whose they are, if others have them, too.
    shared: Option<Scratch>,
    replan: Replan,
    /// Where the textures of inputs and results are copied to, of those that were recorded as such.
    pub(super) staging: Mutex<Vec<Option<wgpu::Buffer>>>,
    /// The bind groups of the last recordings, reused for the same buffers.
    pub(super) bind_groups: BindGroupCache,
}

/// Plans again, for other inputs.
type Replan = Arc<dyn Fn(&[View]) -> Result<Plan> + Send + Sync>;

impl Gpu {
    pub(crate) async fn prepare(
        self: &Arc<Self>,
        plan: Plan,
        label: &str,
        replan: Replan,
    ) -> Result<Prepared> {
        let (compiled, scratch) = self.ready(&plan, Vec::new(), None).await?;
        Ok(Prepared {
            gpu: self.clone(),
            label: label.to_string(),
            staging: Mutex::new(vec![None; plan.inputs.len() + plan.outputs.len()]),
            plan,
            compiled,
            scratch,
            shared: None,
            replan,
            bind_groups: BindGroupCache::default(),
        })
    }

    /// Compiles a plan, and takes its scratch: from that of an earlier plan, or from that which
    /// several share, as far as there is.
    async fn ready(
        &self,
        plan: &Plan,
        mut kept: Vec<wgpu::Buffer>,
        shared: Option<&Scratch>,
    ) -> Result<(Compiled, Vec<wgpu::Buffer>)> {
        let shaders = |launch: &Launch| shaders(launch, plan);
        self.compile_all(plan.launches.iter().flat_map(shaders))?;
        let compile = || {
            let compiled = self.compile(plan, shaders)?;
            let scratch = match shared {
                None => self.scratch(plan, &mut kept)?,
                Some(shared) => self.scratch(plan, &mut shared.lock())?,
            };
            Ok((compiled, scratch))
        };
        self.catch("preparing", compile).await.inspect_err(|_| {
            let shaders = plan.launches.iter().flat_map(shaders);
            shaders.for_each(|shader| self.pipelines.forget(&shader));
        })
    }

    /// Scratch of a plan: of the buffers that there are, the smallest that are large enough. New ones
    /// are added to them.
    fn scratch(&self, plan: &Plan, kept: &mut Vec<wgpu::Buffer>) -> Result<Vec<wgpu::Buffer>> {
        let sizes: Vec<u64> = plan.scratch().collect();
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|&i| Reverse(sizes[i]));
        let mut taken = vec![None; sizes.len()];
        for i in order {
            let is_free = |buffer: &&wgpu::Buffer| !taken.iter().flatten().any(|t| t == *buffer);
            let fitting = kept.iter().filter(|buffer| buffer.size() >= sizes[i]).filter(is_free);
            let found = fitting.min_by_key(|buffer| buffer.size()).cloned();
            taken[i] = Some(match found {
                Some(buffer) => buffer,
                None => {
                    let usage = wgpu::BufferUsages::STORAGE;
                    let buffer = self.create_buffer("wgmax scratch", sizes[i], usage)?;
                    kept.push(buffer.clone());
                    buffer
                }
            });
        }
        Ok(taken.into_iter().flatten().collect())
    }
}

/// Scratch that several [`Prepared`] share; see [`Prepared::share_scratch`]. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Scratch(Arc<Mutex<Vec<wgpu::Buffer>>>);

impl Scratch {
    /// Nothing yet: it grows by what the first ones that share it need.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes of its buffers.
    pub fn bytes(&self) -> u64 {
        self.lock().iter().map(wgpu::Buffer::size).sum()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<wgpu::Buffer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
    let shared_buffer = callers(&launch.sources) && callers(&launch.results);
    [shader, Shader { shared_buffer, ..shader }]
}

/// The shader of a launch on a caller's buffers. Unlike our own, they may end with the tensor. If
/// the last block would reach past that end, the shader must read single words.
fn whole_blocks(launch: &Launch, plan: &Plan) -> Shader {
    let words = launch.sources.first().is_some_and(|range| {
        let buffer = &plan.buffers[range.buffer];
        let end = range.offset + range.size.next_multiple_of(PADDING);
        buffer.role != Role::Scratch && end > buffer.size.next_multiple_of(4)
    });
    Shader { words, ..launch.shader }
}

impl Prepared {
    /// The types and shapes of the inputs.
    pub fn inputs(&self) -> &[TensorDesc] {
        &self.plan.inputs
    }

    /// The types and shapes of the results.
    pub fn outputs(&self) -> &Outputs<TensorDesc> {
        &self.plan.outputs
    }

    /// Bytes of the memory that it keeps on the device: scratch, and copies of textures that were
    /// recorded. Parameters, some 100 bytes a launch, are not counted.
    pub fn scratch_bytes(&self) -> u64 {
        let staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        self.scratch.iter().chain(staging.iter().flatten()).map(wgpu::Buffer::size).sum()
    }

    /// Uses shared scratch, and drops its own. Operators that share scratch cannot run at the
    /// same time: the GPU runs them one after the other, as they were submitted. The one that needs
    /// most should be the first to share, since a later one that needs more adds buffers.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`], [`Error::Gpu`].
    pub fn share_scratch(&mut self, with: &Scratch) -> Result<()> {
        let take = || self.gpu.scratch(&self.plan, &mut with.lock());
        self.scratch = self.gpu.catch_now("scratch", take)?;
        self.shared = Some(with.clone());
        self.clear_bindings();
        Ok(())
    }

    /// As [`Prepared::resize`](crate::Prepared::resize).
    pub(crate) async fn resized(&mut self, inputs: &[View]) -> Result<()> {
        let plan = (self.replan)(inputs)?;
        let (own, shared) = (self.scratch.clone(), self.shared.as_ref());
        let (compiled, scratch) = self.gpu.ready(&plan, own, shared).await?;
        (self.plan, self.compiled, self.scratch) = (plan, compiled, scratch);
        self.clear_bindings();
        Ok(())
    }

    /// As [`Prepared::warm_up`](crate::Prepared::warm_up). `wait`: whether this may block.
    pub(crate) async fn warm(&self, wait: bool) -> Result<()> {
        let submit = || {
            let tensors = self.plan.buffers.iter().filter(|buffer| buffer.role != Role::Scratch);
            let places = tensors
                .map(|tensor| self.gpu.create_buffer("wgmax warm-up", tensor.size, TENSOR))
                .map(|buffer| buffer.map(|buffer| Place(buffer, 0)))
                .collect::<Result<Vec<_>>>()?;
            let mut encoder = self.gpu.encoder("wgmax warm-up");
            self.bind(&places).iter().for_each(|pass| pass.encode(&mut encoder));
            self.gpu.queue.submit([encoder.finish()]);
            Ok(())
        };
        self.gpu.catch("a warm-up", submit).await?;
        self.gpu.wait(wait).await
    }

    /// Drops the bind groups that are kept, and with them the buffers that they keep alive.
    pub fn clear_bindings(&self) {
        self.bind_groups.clear();
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Prepared({} on {})", self.label, self.gpu.info)
    }
}
