//! Records a prepared operator: checks the buffers, binds them, encodes the passes.

use std::sync::{Arc, Mutex, PoisonError};

use super::launch::Pass;
use super::{BufferRange, Prepared};
use crate::error::{Error, Result};
use crate::tensor::TensorDesc;

/// The number of sets of bind groups that are kept.
const MAX_SETS: usize = 4;

/// Bind groups of the last recordings, the newest first.
#[derive(Default)]
pub(super) struct BindGroupCache {
    sets: Mutex<Vec<BoundSet>>,
}

struct BoundSet {
    ranges: Vec<(wgpu::Buffer, u64)>,
    passes: Arc<[Pass]>,
}

impl BindGroupCache {
    /// The bind groups of these ranges, if they are among those kept. Allocates nothing.
    fn find<'a>(
        &self,
        ranges: impl Iterator<Item = &'a BufferRange<'a>> + Clone,
    ) -> Option<Arc<[Pass]>> {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |(buffer, offset): &(wgpu::Buffer, u64), range: &BufferRange<'_>| {
            buffer == range.buffer && *offset == range.offset
        };
        let found = sets.iter().position(|set| {
            // Both have as many ranges as the operator has inputs and results.
            set.ranges.iter().zip(ranges.clone()).all(|(set, range)| same(set, range))
        })?;
        sets[..=found].rotate_right(1);
        Some(sets[0].passes.clone())
    }

    fn keep(&self, set: BoundSet) {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        sets.truncate(MAX_SETS - 1);
        sets.insert(0, set);
    }
}

/// An open debug group. Dropping it closes the group, also when the stack unwinds.
pub(super) struct DebugGroup<'a>(pub(super) &'a mut wgpu::CommandEncoder);

impl<'a> DebugGroup<'a> {
    pub(super) fn new(encoder: &'a mut wgpu::CommandEncoder, label: &str) -> Self {
        encoder.push_debug_group(label);
        Self(encoder)
    }
}

impl Drop for DebugGroup<'_> {
    fn drop(&mut self) {
        self.0.pop_debug_group();
    }
}

impl Prepared {
    /// Records the operator into a command encoder. It reads the inputs and writes the results in
    /// the caller's buffers.
    ///
    /// It submits nothing, waits for nothing and leaves no error scope open. Results are written in
    /// whole words: if a result of 1- or 2-byte elements ends within a word, the rest of the word
    /// is set to 0 or kept, as the kernel has it.
    ///
    /// The bind groups of the last four sets of buffers and offsets are kept, and keep the buffers
    /// alive. Recording with one of these sets creates no wgpu objects except the passes.
    ///
    /// Inputs and results may be separate ranges of one buffer. The first such recording compiles
    /// pipelines that bind the buffer as writable only.
    ///
    /// # Errors
    /// Nothing has been recorded if one is returned: [`Error::InputCount`] and
    /// [`Error::OutputBuffers`] for a wrong number of ranges, [`Error::BufferUsage`] for a buffer
    /// without `STORAGE`, [`Error::BufferAlignment`] for an offset, [`Error::BufferTooSmall`] for a
    /// range that ends outside of its buffer, [`Error::BufferOverlap`] for a result that shares
    /// bytes with an input or another result, [`Error::DeviceLost`], and [`Error::OutOfMemory`] and
    /// [`Error::Gpu`] for new buffers that cannot be bound.
    pub fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        inputs: &[BufferRange<'_>],
        outputs: &[BufferRange<'_>],
    ) -> Result<()> {
        self.gpu.check_alive()?;
        self.check(inputs, outputs)?;
        let ranges = inputs.iter().chain(outputs);
        let passes = match self.bind_groups.find(ranges.clone()) {
            Some(passes) => passes,
            None => {
                let ranges: Vec<_> = ranges.map(|r| (r.buffer.clone(), r.offset)).collect();
                let passes = self.gpu.catch_now("binding", || Ok(self.bind(&ranges)));
                let passes: Arc<[Pass]> =
                    passes.inspect_err(|_| self.compiled.forget_in_place(&self.gpu))?.into();
                self.bind_groups.keep(BoundSet { ranges, passes: passes.clone() });
                passes
            }
        };
        let group = DebugGroup::new(encoder, &self.label);
        passes.iter().for_each(|pass| pass.encode(group.0));
        Ok(())
    }

    fn check(&self, inputs: &[BufferRange<'_>], outputs: &[BufferRange<'_>]) -> Result<()> {
        if inputs.len() != self.plan.inputs.len() {
            return Err(Error::input_count(&self.label, self.plan.inputs.len(), inputs.len()));
        }
        if outputs.len() != self.plan.outputs.len() {
            return Err(Error::OutputBuffers {
                operator: self.label.clone(),
                expected: self.plan.outputs.len(),
                actual: outputs.len(),
            });
        }
        let descs = self.plan.inputs.iter().chain(&self.plan.outputs);
        let all = inputs.iter().chain(outputs).zip(descs);
        for (range, desc) in all.clone() {
            self.check_range(range, desc)?;
        }
        for (i, (result, desc)) in all.clone().enumerate().skip(inputs.len()) {
            let mine = bytes(result, desc);
            for (other, desc) in all.clone().take(i) {
                let theirs = bytes(other, desc);
                // An empty range overlaps nothing.
                let overlap = theirs.start.max(mine.start) < theirs.end.min(mine.end);
                if overlap && other.buffer == result.buffer {
                    return Err(Error::BufferOverlap { a: theirs, b: mine });
                }
            }
        }
        Ok(())
    }

    fn check_range(&self, range: &BufferRange<'_>, desc: &TensorDesc) -> Result<()> {
        let alignment = self.gpu.info.limits.alignment;
        if !range.buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
            return Err(Error::BufferUsage { usage: format!("{:?}", range.buffer.usage()) });
        }
        if !range.offset.is_multiple_of(alignment) {
            return Err(Error::BufferAlignment { offset: range.offset, alignment });
        }
        let (needed, size) = (bytes(range, desc).end, range.buffer.size());
        if needed > size {
            return Err(Error::BufferTooSmall { needed, size });
        }
        Ok(())
    }

    fn bind(&self, ranges: &[(wgpu::Buffer, u64)]) -> Vec<Pass> {
        self.gpu.bind(&self.plan, &self.compiled, |range| match ranges.get(range.buffer) {
            Some((buffer, offset)) => (buffer, *offset),
            None => (&self.scratch[range.buffer - ranges.len()], 0),
        })
    }
}

/// The bytes of a tensor in its buffer, rounded up to whole words.
fn bytes(range: &BufferRange<'_>, desc: &TensorDesc) -> std::ops::Range<u64> {
    let size = (desc.byte_len() as u64).next_multiple_of(4);
    range.offset..range.offset.saturating_add(size)
}
