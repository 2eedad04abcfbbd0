//! What the planners share: buffers, bindings and launches, put together one by one.

use super::{Buffer, Launch, Limits, Plan, Range, Role, grid};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Params, Shader, fill};
use crate::tensor::key::Nan;
use crate::tensor::{ElementType, TensorDesc};

/// Elements of a binding are numbered in 32 bits, sums of two such numbers included.
pub(super) const MAX_ELEMENTS: u64 = 1 << 31;

/// Launches of a plan: beyond that no memory would hold what they are about.
const MAX_LAUNCHES: usize = 1 << 18;

/// Words that an invocation fills where they share no stores. On lavapipe 4 MiB take 1.46 ms word by
/// word, 0.9 by fours, 0.67 by eights, and 0.6 by sixteens.
const FILLED_ALONE: u64 = 8;

/// A part of a buffer that holds elements, or keys of elements.
#[derive(Clone, Copy)]
pub(super) struct Region {
    pub buffer: usize,
    /// Where it begins, in items.
    pub first: u64,
    pub keys: bool,
}

impl Region {
    /// All elements of a buffer.
    pub(super) const fn elements(buffer: usize) -> Self {
        Self { buffer, first: 0, keys: false }
    }

    /// What follows the first `items`.
    pub(super) const fn after(self, items: u64) -> Self {
        Self { first: self.first + items, ..self }
    }
}

pub(super) struct Builder<'a> {
    pub limits: &'a Limits,
    pub element: ElementType,
    pub nan_key: u32,
    buffers: Vec<Buffer>,
    launches: Vec<Launch>,
    outputs: Vec<TensorDesc>,
}

impl<'a> Builder<'a> {
    /// A plan without launches: buffers of the inputs, then of the outputs. The first input
    /// holds the elements.
    pub(super) fn new(
        inputs: &[&TensorDesc],
        outputs: Vec<TensorDesc>,
        nan: Nan,
        limits: &'a Limits,
    ) -> Self {
        let size = |desc: &TensorDesc| desc.byte_len() as u64;
        let mut buffers: Vec<Buffer> =
            inputs.iter().map(|i| Buffer { role: Role::Input, size: size(i) }).collect();
        buffers.extend(outputs.iter().map(|o| Buffer { role: Role::Output, size: size(o) }));
        Self {
            limits,
            element: inputs[0].element_type(),
            nan_key: nan.key(),
            buffers,
            launches: Vec::new(),
            outputs,
        }
    }

    pub(super) fn finish(self) -> Plan {
        Plan { buffers: self.buffers, launches: self.launches, outputs: self.outputs }
    }

    /// Bytes of an element, or of a key.
    pub(super) fn item(&self, keys: bool) -> u64 {
        crate::kernel::item_size(self.element, keys) as u64
    }

    /// New scratch for so many items.
    pub(super) fn scratch(&mut self, items: u64, keys: bool) -> Region {
        let size = items * self.item(keys);
        self.buffers.push(Buffer { role: Role::Scratch, size });
        Region { buffer: self.buffers.len() - 1, first: 0, keys }
    }

    /// New scratch for so many words.
    pub(super) fn scratch_words(&mut self, words: u64) -> Region {
        self.buffers.push(Buffer { role: Role::Scratch, size: words * 4 });
        Region { buffer: self.buffers.len() - 1, first: 0, keys: true }
    }

    /// Items of a binding; one alignment's worth is lost where a range begins within it.
    pub(super) fn room(&self, item: u64) -> u64 {
        (self.limits.max_binding_size.saturating_sub(self.limits.alignment) / item)
            .min(MAX_ELEMENTS - self.limits.alignment)
    }

    /// Sets all of a buffer to one element.
    pub(super) fn fill(&mut self, buffer: usize, bits: u64) -> Result<()> {
        let repeated = match self.element.size() {
            1 => bits * 0x0101_0101_0101_0101,
            2 => bits * 0x0001_0001_0001_0001,
            4 => bits | bits << 32,
            _ => bits,
        };
        self.fill_repeated(buffer, repeated)
    }

    /// Sets all of a buffer to the same eight bytes, again and again.
    pub(super) fn fill_repeated(&mut self, buffer: usize, repeated: u64) -> Result<()> {
        let bytes = self.buffers[buffer].size;
        let words_fit = self.limits.max_binding_size.min(1 << 32) / 4;
        let step = words_fit * 4 / self.limits.alignment * self.limits.alignment;
        let mut offset = 0;
        while offset < bytes {
            let size = (bytes - offset).min(step);
            let words = size.div_ceil(4);
            let (even, odd) = (repeated as u32, (repeated >> 32) as u32);
            let full = if words.is_multiple_of(2) { odd } else { even };
            let padding = (words * 4 - size) * 8;
            let run = if self.limits.coalesces { 1 } else { FILLED_ALONE };
            let params = fill::Params {
                words: words as u32,
                even,
                odd,
                last: full & (u32::MAX >> padding),
                run: run as u32,
                padding: [0; 3],
            };
            let shader = Shader::untyped(Kernel::Fill, self.limits.workgroup_size);
            let result = Range { buffer, offset, size };
            self.push(shader, Params::Fill(params), vec![], vec![result], words.div_ceil(run))?;
            offset += size;
        }
        Ok(())
    }

    /// The binding of `items` items of a region, and where in it they begin.
    pub(super) fn range(&self, region: Region, items: u64) -> (Range, u32) {
        self.range_of(region.buffer, region.first, items, self.item(region.keys))
    }

    /// As [`Builder::range`], for items of any size.
    pub(super) fn range_of(
        &self,
        buffer: usize,
        first: u64,
        items: u64,
        item: u64,
    ) -> (Range, u32) {
        let start = first * item;
        let offset = start / self.limits.alignment * self.limits.alignment;
        let size = start - offset + items * item;
        (Range { buffer, offset, size }, ((start - offset) / item) as u32)
    }

    /// A launch of so many invocations.
    pub(super) fn push(
        &mut self,
        shader: Shader,
        params: Params,
        sources: Vec<Range>,
        results: Vec<Range>,
        invocations: u64,
    ) -> Result<()> {
        let groups = invocations.div_ceil(u64::from(self.limits.workgroup_size));
        self.push_groups(shader, params, sources, results, groups)
    }

    /// A launch of so many workgroups.
    pub(super) fn push_groups(
        &mut self,
        shader: Shader,
        params: Params,
        sources: Vec<Range>,
        results: Vec<Range>,
        groups: u64,
    ) -> Result<()> {
        let bound = (sources.len() + results.len()) as u64;
        if bound > self.limits.max_storage_buffers.into() {
            return Err(Error::OverLimit {
                what: "a kernel",
                needed: bound,
                limit: "max_storage_buffers_per_shader_stage",
                allowed: self.limits.max_storage_buffers.into(),
            });
        }
        let grid = grid(groups, self.limits).ok_or(Error::OverLimit {
            what: "a dispatch",
            needed: groups,
            limit: "max_compute_workgroups_per_dimension",
            allowed: u64::from(self.limits.max_workgroups_per_dimension),
        })?;
        if self.launches.len() >= MAX_LAUNCHES {
            return Err(Error::OverLimit {
                what: "a plan, a binding at a time,",
                needed: MAX_LAUNCHES as u64 + 1,
                limit: "launches",
                allowed: MAX_LAUNCHES as u64,
            });
        }
        self.launches.push(Launch { shader, params, sources, results, grid });
        Ok(())
    }
}

/// The greatest common divisor.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
