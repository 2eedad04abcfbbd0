//! What planners share: buffers, bindings and launches are added to a plan one by one.

use std::borrow::Cow;

use bytemuck::Pod;

use super::{
    Buffer, Kernel, Launch, Limits, MAX_ELEMENTS, Placement, Plan, Range, Role, Shader, grid,
};
use crate::base::error::{Error, Result};
use crate::tensor::key::Ranking;
use crate::tensor::{ElementType, Outputs, TensorDesc, View};

/// The upper bound on launches per plan.
const MAX_LAUNCHES: u64 = 1 << 18;

/// The target of a plan, as far as it does not depend on the operator.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub limits: &'a Limits,
    /// Invocations that fill the device; fewer outputs than that are split.
    pub parallelism: u32,
    /// Contiguous words that an invocation of `fill` writes: 1 or 8.
    pub words_per_fill: u32,
}

/// A part of a buffer of elements.
#[derive(Clone, Copy)]
pub(crate) struct Region {
    pub buffer: usize,
    /// The offset of its first element, in elements.
    pub first: u64,
}

impl Region {
    /// All elements of a buffer.
    pub(crate) const fn all(buffer: usize) -> Self {
        Self { buffer, first: 0 }
    }

    /// The part after the first `elements`.
    pub(crate) const fn after(self, elements: u64) -> Self {
        Self { first: self.first + elements, ..self }
    }
}

/// A plan that is being made.
pub(crate) struct Builder<'a> {
    pub target: Target<'a>,
    pub element: ElementType,
    pub ranking: Ranking,
    buffers: Vec<Buffer>,
    launches: Vec<Launch>,
    inputs: Vec<TensorDesc>,
    outputs: Outputs<TensorDesc>,
    views: Vec<View>,
}

impl<'a> Builder<'a> {
    /// A plan without launches: buffers of the inputs, then of the outputs. The first input
    /// holds the elements.
    pub(crate) fn new(
        inputs: &[&TensorDesc],
        outputs: Outputs<TensorDesc>,
        ranking: Ranking,
        target: Target<'a>,
    ) -> Self {
        let size = |desc: &TensorDesc| desc.byte_len() as u64;
        let mut buffers: Vec<Buffer> =
            inputs.iter().map(|i| Buffer { role: Role::Input, size: size(i) }).collect();
        buffers.extend(outputs.iter().map(|o| Buffer { role: Role::Output, size: size(o) }));
        Self {
            target,
            element: inputs[0].element_type(),
            ranking,
            buffers,
            launches: Vec::new(),
            inputs: inputs.iter().map(|&input| input.clone()).collect(),
            outputs,
            views: Vec::new(),
        }
    }

    /// Reopens a plan to change it for inputs and results that are views. Returns its launches
    /// separately.
    pub(crate) fn resume(plan: Plan, target: Target<'a>) -> (Self, Vec<Launch>) {
        let views = plan.views().map(Cow::into_owned).collect();
        let Plan { buffers, launches, inputs, outputs, .. } = plan;
        let (element, ranking) = (inputs[0].element_type(), Ranking::MAXIMUM);
        let none = Vec::new();
        let builder =
            Self { target, element, ranking, buffers, launches: none, inputs, outputs, views };
        (builder, launches)
    }

    pub(crate) fn finish(self) -> Plan {
        let Self { buffers, launches, inputs, outputs, views, .. } = self;
        Plan { buffers, launches, inputs, outputs, views }
    }

    /// Sets the view of an input or a result.
    pub(crate) fn place(&mut self, buffer: usize, view: &View) {
        if self.views.is_empty() {
            self.views = self.inputs.iter().chain(self.outputs.iter()).map(View::from).collect();
        }
        self.buffers[buffer].size = view.byte_len() as u64;
        self.views[buffer] = view.clone();
    }

    /// Adds existing launches.
    pub(crate) fn append(&mut self, launches: Vec<Launch>) {
        self.launches.extend(launches);
    }

    /// Sets the layout of the elements that the last launch reads or writes.
    pub(crate) fn set_view(&mut self, placement: Placement) {
        if let Some(last) = self.launches.last_mut() {
            last.view = Some(Box::new(placement));
        }
    }

    /// Bytes of a buffer, without padding.
    pub(crate) fn size(&self, buffer: usize) -> u64 {
        self.buffers[buffer].size
    }

    /// Invocations of a workgroup.
    pub(crate) fn workgroup(&self) -> u64 {
        self.target.limits.workgroup_size.into()
    }

    /// Loop iterations of one invocation.
    pub(crate) fn max_iterations(&self) -> u64 {
        self.target.limits.max_iterations.into()
    }

    /// Bytes of an element.
    pub(crate) fn item(&self) -> u64 {
        self.element.size() as u64
    }

    /// Elements of a block of 16 bytes.
    pub(crate) fn block(&self) -> u64 {
        16 / self.item()
    }

    /// Elements of a word; 1 for elements of two words.
    pub(crate) fn per_word(&self) -> u64 {
        (4 / self.item()).max(1)
    }

    /// Results of an output vector, as in `shaders/common/vector.wgsl`.
    pub(crate) fn vector(&self) -> u64 {
        if self.item() == 8 { 2 } else { 4 }
    }

    /// New scratch for a number of elements.
    pub(crate) fn scratch(&mut self, elements: u64) -> Region {
        Region::all(self.scratch_bytes(elements * self.item()))
    }

    /// New scratch for a number of words. Returns the buffer.
    pub(crate) fn scratch_words(&mut self, words: u64) -> usize {
        self.scratch_bytes(words * 4)
    }

    /// New scratch of `size` bytes. Returns the buffer.
    pub(crate) fn scratch_bytes(&mut self, size: u64) -> usize {
        self.buffers.push(Buffer { role: Role::Scratch, size });
        self.buffers.len() - 1
    }

    /// How many items of `item` bytes a binding holds. A range may begin within an alignment, so
    /// one alignment is subtracted.
    pub(crate) fn capacity(&self, item: u64) -> u64 {
        let limits = self.target.limits;
        (limits.max_binding_size.saturating_sub(limits.alignment) / item)
            .min(MAX_ELEMENTS - limits.alignment)
    }

    /// The binding of `elements` elements of a region, and where they begin in it.
    pub(crate) fn range(&self, region: Region, elements: u64) -> (Range, u32) {
        self.range_of(region.buffer, region.first, elements, self.item())
    }

    /// The binding of all elements of a view, and their layout as a tensor of `shape`: the offset of
    /// the first element and the pitch of each axis. `None` if no binding holds them, or if an axis
    /// would have several pitches.
    pub(crate) fn whole(
        &self,
        buffer: usize,
        view: &View,
        shape: &[usize],
    ) -> Option<(Range, usize, Vec<usize>)> {
        let (len, limits) = (view.desc().len() as u64, self.target.limits);
        let ((offset, size), placement) =
            Placement::new(&view.loops(), self.item(), 0, len, limits)?;
        let (first, pitches) = placement.pitches(shape)?;
        Some((Range { buffer, offset, size }, first, pitches))
    }

    /// As [`Builder::range`], for items of any size.
    pub(crate) fn range_of(
        &self,
        buffer: usize,
        first: u64,
        items: u64,
        item: u64,
    ) -> (Range, u32) {
        let start = first * item;
        let alignment = self.target.limits.alignment;
        let offset = start / alignment * alignment;
        let size = start - offset + items * item;
        (Range { buffer, offset, size }, ((start - offset) / item) as u32)
    }

    /// The shader of a kernel for the elements of the plan.
    pub(crate) fn shader(&self, kernel: &'static Kernel) -> Shader {
        let element = if kernel.typed { self.element } else { ElementType::U32 };
        Shader::new(kernel, element, self.target.limits.workgroup_size)
    }

    /// Adds a launch by its number of invocations.
    pub(crate) fn push(
        &mut self,
        launch: LaunchDesc<'_, impl Pod>,
        invocations: u64,
    ) -> Result<()> {
        let groups = invocations.div_ceil(self.workgroup());
        self.push_groups(launch, groups)
    }

    /// Adds a launch by its number of workgroups.
    pub(crate) fn push_groups(
        &mut self,
        launch: LaunchDesc<'_, impl Pod>,
        groups: u64,
    ) -> Result<()> {
        let LaunchDesc { purpose, shader, params, sources, results } = launch;
        let params = bytemuck::cast_slice(bytemuck::bytes_of(params));
        self.push_words(LaunchDesc { purpose, shader, params, sources, results }, groups)
    }

    /// The same with parameters as words.
    pub(crate) fn push_words(&mut self, launch: LaunchDesc<'_, [u32]>, groups: u64) -> Result<()> {
        let LaunchDesc { purpose, shader, params, sources, results } = launch;
        let limits = self.target.limits;
        let bound = (sources.len() + results.len()) as u64;
        let allowed = limits.max_storage_buffers.into();
        Error::check_limit("a kernel", bound, ("max_storage_buffers_per_shader_stage", allowed))?;
        let grid = grid(groups, limits).ok_or(Error::OverLimit {
            what: "a dispatch",
            needed: groups,
            limit: "max_compute_workgroups_per_dimension",
            allowed: u64::from(limits.max_workgroups_per_dimension),
        })?;
        let launches = self.launches.len() as u64 + 1;
        Error::check_limit("a plan with small bindings", launches, ("launches", MAX_LAUNCHES))?;
        let params = params.to_vec();
        let view = None;
        self.launches.push(Launch { shader, params, sources, results, grid, view, purpose });
        Ok(())
    }

    /// The error if a binding cannot hold `what`: `bytes` bytes, and those that the alignment may
    /// add before them.
    pub(crate) fn over_binding(&self, what: &'static str, bytes: u64) -> Error {
        Error::OverLimit {
            what,
            needed: bytes.saturating_add(self.target.limits.alignment),
            limit: "max_storage_buffer_binding_size",
            allowed: self.target.limits.max_binding_size,
        }
    }
}

/// A launch that is about to be added.
pub(crate) struct LaunchDesc<'a, P: ?Sized> {
    pub purpose: &'static str,
    pub shader: Shader,
    pub params: &'a P,
    pub sources: Vec<Range>,
    pub results: Vec<Range>,
}

/// The greatest common divisor.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
