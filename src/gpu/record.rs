//! Recording a prepared operator: the checks, the bind groups, the passes.

use std::sync::{Arc, Mutex, PoisonError};

use super::launch::Pass;
use super::prepared::Step;
use super::{BufferRange, Prepared};
use crate::error::{Error, Result};
use crate::kernel::Shader;
use crate::plan::{Launch, Range};
use crate::tensor::TensorDesc;

/// Sets of buffers that stay bound.
const KEPT: usize = 4;

/// Bind groups of the last recordings, the newest first.
#[derive(Default)]
pub(super) struct Bound {
    sets: Mutex<Vec<Set>>,
}

struct Set {
    ranges: Vec<(wgpu::Buffer, u64)>,
    passes: Arc<[Pass]>,
}

impl Bound {
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
            // As many as the operator has, on either side.
            set.ranges.iter().zip(ranges.clone()).all(|(set, range)| same(set, range))
        })?;
        sets[..=found].rotate_right(1);
        Some(sets[0].passes.clone())
    }

    fn keep(&self, set: Set) {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        sets.truncate(KEPT - 1);
        sets.insert(0, set);
    }
}

/// An open debug group, which ends also where a callback of the caller's panics.
pub(super) struct Group<'a>(pub(super) &'a mut wgpu::CommandEncoder);

impl<'a> Group<'a> {
    pub(super) fn new(encoder: &'a mut wgpu::CommandEncoder, label: &str) -> Self {
        encoder.push_debug_group(label);
        Self(encoder)
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        self.0.pop_debug_group();
    }
}

impl Prepared {
    /// Records the operator: reads the inputs and writes the results in the caller's buffers.
    ///
    /// It submits nothing, waits for nothing and leaves no error scope open. Results are written
    /// in whole words: a result of bytes or halves that ends within a word sets the rest of that word to 0.
    /// Recorded with buffers and offsets that are among the last four sets of them, it makes no wgpu object but the
    /// passes; those buffers stay alive as long as the set does.
    /// Inputs and results may be different ranges of one buffer; the first time that they are, pipelines
    /// are compiled that bind it so.
    ///
    /// # Errors
    /// Before anything is recorded: [`Error::InputCount`] and [`Error::OutputBuffers`] for another number of
    /// ranges, [`Error::BufferUsage`] for a buffer without `STORAGE`, [`Error::BufferAlignment`] and
    /// [`Error::BufferTooSmall`] for a range, [`Error::BufferOverlap`] for a result that shares
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
        let passes = match self.bound.find(ranges.clone()) {
            Some(passes) => passes,
            None => {
                let ranges: Vec<_> = ranges.map(|r| (r.buffer.clone(), r.offset)).collect();
                let passes = self.gpu.catch_now("binding", || Ok(self.bind(&ranges)));
                let passes: Arc<[Pass]> = passes.inspect_err(|_| self.forget_shared())?.into();
                self.bound.keep(Set { ranges, passes: passes.clone() });
                passes
            }
        };
        let group = Group::new(encoder, &self.label);
        passes.iter().for_each(|pass| pass.encode(group.0));
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
        let descs = self.inputs.iter().chain(&self.plan.outputs);
        let all = inputs.iter().chain(outputs).zip(descs);
        for (range, desc) in all.clone() {
            self.check_range(range, desc)?;
        }
        for (i, (result, desc)) in all.clone().enumerate().skip(inputs.len()) {
            let mine = bytes(result, desc);
            for (other, desc) in all.clone().take(i) {
                let theirs = bytes(other, desc);
                // Nothing overlaps a range without bytes.
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
        let Some(params) = &self.params else { return Vec::new() };
        let bind = |(launch, step): (&Launch, &Step)| {
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
            Pass::new(
                &self.gpu,
                (launch, step.label.clone()),
                (pipeline, step.shader.words),
                wgpu::BufferBinding {
                    buffer: params,
                    offset: step.params.0,
                    size: wgpu::BufferSize::new(step.params.1),
                },
                |range| match ranges.get(range.buffer) {
                    Some((buffer, offset)) => (buffer, *offset),
                    None => (&self.scratch[range.buffer - ranges.len()], 0),
                },
            )
        };
        self.plan.launches.iter().zip(&self.steps).map(bind).collect()
    }

    /// Forgets the pipelines that a failed [`Prepared::bind`] may have left.
    fn forget_shared(&self) {
        for step in &self.steps {
            self.gpu.pipelines.forget(&Shader { shared: true, ..step.shader });
        }
    }
}

/// The bytes of a tensor's words in its buffer.
fn bytes(range: &BufferRange<'_>, desc: &TensorDesc) -> std::ops::Range<u64> {
    let size = (desc.byte_len() as u64).next_multiple_of(4);
    range.offset..range.offset.saturating_add(size)
}
