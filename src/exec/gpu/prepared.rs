//! Prepared operators: planned and compiled, to be recorded into a caller's command encoders.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bound::{BindGroupCache, Place};
use super::launch::{Compiled, Pass, aliases};
use super::sizes::Choice;
use super::{Gpu, PADDING, TENSOR};
use crate::base::error::{Error, Result};
use crate::plan::{Launch, Plan, Range, Role, Shader};
use crate::tensor::{Outputs, TensorDesc, View};

/// An operator that has been planned and compiled for inputs of certain types and shapes. It can be
/// recorded into command encoders any number of times.
///
/// Created by [`Device::prepare`](crate::Device::prepare). Scratch is allocated once and shared by
/// all recordings; this is correct because a queue runs them one after the other.
pub struct Prepared {
    pub(super) gpu: Arc<Gpu>,
    pub(super) label: String,
    pub(super) plan: Plan,
    pub(super) ready: Ready,
    /// The plans of smaller sizes in ascending order, and how the GPU chooses among all.
    smaller: Vec<(Plan, Ready)>,
    pub(super) choice: Option<Choice>,
    /// The shared scratch that the buffers belong to, if any.
    shared: Option<Scratch>,
    replan: Replan,
    /// The copies of inputs and results that were recorded as textures.
    pub(super) staging: Mutex<Vec<Option<wgpu::Buffer>>>,
    /// The bind groups of the last recordings, reused for the same buffers.
    pub(super) bind_groups: BindGroupCache,
}

/// What a plan needs to run.
pub(super) struct Ready {
    compiled: Compiled,
    /// The plan's scratch buffers. In the plan they come after its inputs and results.
    scratch: Vec<wgpu::Buffer>,
}

impl Ready {
    /// The buffer of a range, and the offset in bytes at which the plan's buffer begins in it.
    fn locate<'a>(&'a self, range: &Range, tensors: &'a [Place]) -> (&'a wgpu::Buffer, u64) {
        match tensors.get(range.buffer) {
            Some(Place(buffer, offset)) => (buffer, *offset),
            None => (&self.scratch[range.buffer - tensors.len()], 0),
        }
    }
}

/// Plans again, for other inputs. A browser's device stays on its thread.
#[cfg(not(target_family = "wasm"))]
type Replan = Box<dyn Fn(&[View]) -> Result<Plan> + Send + Sync>;
#[cfg(target_family = "wasm")]
type Replan = Box<dyn Fn(&[View]) -> Result<Plan>>;

impl Gpu {
    pub(crate) async fn prepare(
        self: &Arc<Self>,
        plan: Plan,
        label: &str,
        replan: Replan,
    ) -> Result<Prepared> {
        let ready = self.ready(&plan, &mut Vec::new(), None).await?;
        Ok(Prepared {
            gpu: self.clone(),
            label: label.to_string(),
            staging: Mutex::new(vec![None; plan.inputs.len() + plan.outputs.len()]),
            plan,
            ready,
            smaller: Vec::new(),
            choice: None,
            shared: None,
            replan,
            bind_groups: BindGroupCache::default(),
        })
    }

    /// Compiles a plan, and takes its scratch: as far as possible from that of an earlier plan, or
    /// from shared scratch.
    async fn ready(
        &self,
        plan: &Plan,
        kept: &mut Vec<wgpu::Buffer>,
        shared: Option<&Scratch>,
    ) -> Result<Ready> {
        let shaders = |launch: &Launch| shaders(launch, plan);
        self.compile_all(plan.launches.iter().flat_map(shaders))?;
        let compile = || {
            let compiled = self.compile(plan, shaders)?;
            let scratch = match shared {
                None => self.scratch(plan, kept)?,
                Some(shared) => self.scratch(plan, &mut shared.lock())?,
            };
            Ok(Ready { compiled, scratch })
        };
        self.catch("preparing", compile).await.inspect_err(|_| {
            let shaders = plan.launches.iter().flat_map(shaders);
            shaders.for_each(|shader| self.pipelines.forget(&shader));
        })
    }

    /// Scratch of a plan: the smallest buffers of `kept` that are large enough. New ones are added to
    /// `kept`.
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

/// Temporary buffers that several [`Prepared`] share: see [`Prepared::share_scratch`]. Clones share it,
/// too.
#[derive(Clone, Debug, Default)]
pub struct Scratch(Arc<Mutex<Vec<wgpu::Buffer>>>);

impl Scratch {
    /// Empty scratch. It grows to what its users need, and never shrinks.
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
/// the second binds its sources as writable. If they cannot be in one buffer, both are the same.
fn shaders(launch: &Launch, plan: &Plan) -> [Shader; 2] {
    let shader = whole_blocks(launch, plan);
    let callers = |ranges: &[Range]| {
        ranges.iter().any(|range| plan.buffers[range.buffer].role != Role::Scratch)
    };
    let shared_buffer = callers(&launch.sources) && callers(&launch.results);
    [shader, Shader { shared_buffer, ..shader }]
}

/// The shader of a launch on a caller's buffers. Unlike our own, they may end with the tensor. If the
/// last block would reach beyond that end, the shader must read single words.
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

    #[doc(hidden)]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Bytes of device memory that the operator keeps: scratch, and copies of recorded textures.
    /// Parameters, some 100 bytes a launch, are not included. Shared scratch counts for each
    /// operator that uses it.
    pub fn scratch_bytes(&self) -> u64 {
        let staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let all =
            self.plans().flat_map(|(_, ready)| &ready.scratch).chain(staging.iter().flatten());
        all.collect::<HashSet<_>>().into_iter().map(wgpu::Buffer::size).sum()
    }

    /// Uses shared scratch, and drops its own. Operators that share scratch cannot run at the same
    /// time: the GPU runs them one after the other, in the order of submission. Let the operator that
    /// needs most scratch share it first, since a later one that needs more adds buffers. Copies of
    /// textures are not shared.
    ///
    /// # Errors
    /// [`Error::BufferDevice`] for scratch of another device; [`Error::OutOfMemory`],
    /// [`Error::DeviceLost`], [`Error::Gpu`].
    pub fn share_scratch(&mut self, with: &Scratch) -> Result<()> {
        self.gpu.check_alive()?;
        if with.lock().iter().any(|buffer| !self.gpu.can_bind(buffer)) {
            self.gpu.check_alive()?;
            let (operator, tensor) = (self.label.clone(), "scratch".to_string());
            return Err(Error::BufferDevice { operator, tensor, device: self.gpu.described() });
        }
        let take = || {
            let mut kept = with.lock();
            self.plans().map(|(plan, _)| self.gpu.scratch(plan, &mut kept)).collect()
        };
        let taken: Vec<_> = self.gpu.catch_now("scratch", take)?;
        let smaller = self.smaller.iter_mut().map(|(_, ready)| ready);
        let all = smaller.chain(iter::once(&mut self.ready));
        all.zip(taken).for_each(|(ready, scratch)| ready.scratch = scratch);
        self.shared = Some(with.clone());
        self.clear_bindings();
        Ok(())
    }

    /// As [`Prepared::resize`](crate::Prepared::resize).
    pub(crate) async fn resized(&mut self, inputs: &[View]) -> Result<()> {
        let plan = (self.replan)(inputs)?;
        let mut own = self.ready.scratch.clone();
        let ready = self.gpu.ready(&plan, &mut own, self.shared.as_ref()).await?;
        (self.plan, self.ready) = (plan, ready);
        (self.smaller, self.choice) = (Vec::new(), None);
        self.clear_bindings();
        Ok(())
    }

    /// Adds plans for inputs of smaller sizes, in ascending order. The GPU chooses among them.
    /// `largest` is the size of the existing plan.
    pub(crate) async fn with_smaller(
        mut self,
        plans: Vec<(u32, Plan)>,
        largest: u32,
    ) -> Result<Self> {
        let mut kept = self.ready.scratch.clone();
        let mut sizes = Vec::new();
        for (size, plan) in plans {
            let ready = self.gpu.ready(&plan, &mut kept, None).await?;
            self.smaller.push((plan, ready));
            sizes.push(size);
        }
        sizes.push(largest);
        let plans = sizes.into_iter().zip(self.plans().map(|(plan, _)| plan));
        self.choice = Some(self.gpu.catch("preparing", || Choice::new(&self.gpu, plans)).await?);
        Ok(self)
    }

    /// All plans, in ascending order of size. The operator's own plan is the last.
    fn plans(&self) -> impl Iterator<Item = (&Plan, &Ready)> {
        let smaller = self.smaller.iter().map(|(plan, ready)| (plan, ready));
        smaller.chain(iter::once((&self.plan, &self.ready)))
    }

    /// The passes on these places: inputs, results, and the number that chooses a plan, if there is
    /// one.
    pub(super) fn bind(&self, places: &[Place]) -> Vec<Pass> {
        let (tensors, number) = places.split_at(self.plan.inputs.len() + self.plan.outputs.len());
        match (&self.choice, number) {
            (Some(choice), [number]) => {
                let passes = self.plans().flat_map(|of| self.bind_plan(of, tensors)).collect();
                choice.passes(&self.gpu, number, passes)
            }
            _ => self.bind_plan((&self.plan, &self.ready), tensors),
        }
    }

    fn bind_plan(&self, (plan, ready): (&Plan, &Ready), tensors: &[Place]) -> Vec<Pass> {
        self.gpu.bind(plan, &ready.compiled, |range| ready.locate(range, tensors))
    }

    /// Two tensors whose bindings overlap, as [`aliases`] has them.
    pub(super) fn aliases(&self, places: &[Place]) -> Option<[(usize, std::ops::Range<u64>); 2]> {
        let (tensors, number) = places.split_at(self.plan.inputs.len() + self.plan.outputs.len());
        let unused = if number.is_empty() { self.smaller.len() } else { 0 };
        self.plans().skip(unused).find_map(|(plan, ready)| {
            aliases(plan, &ready.compiled, &|range: &Range| ready.locate(range, tensors))
        })
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
            let passes = self.plans().flat_map(|of| self.bind_plan(of, &places));
            passes.for_each(|pass| pass.encode(&mut encoder));
            self.gpu.queue.submit([encoder.finish()]);
            Ok(())
        };
        self.gpu.catch("a warm-up", submit).await?;
        self.gpu.wait(wait).await
    }

    /// Drops the kept bind groups, which keep the caller's buffers alive.
    pub fn clear_bindings(&self) {
        self.bind_groups.clear();
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Prepared({} on {})", self.label, self.gpu.info)
    }
}
