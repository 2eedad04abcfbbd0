//! Runs a plan by the kernels' twins, on all cores.

pub(crate) mod fold;
pub(crate) mod simd;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::error::{Error, Result};
use crate::plan::{Plan, Range, Role};
use crate::tensor::{Tensor, TensorDesc};

/// Memory of earlier runs, scratch and dropped results, kept for the next one: fresh memory costs a
/// fault for each of its pages, as much as the work on it.
#[derive(Default)]
pub(crate) struct Memory {
    /// The oldest first.
    kept: Mutex<VecDeque<Vec<u64>>>,
}

impl Memory {
    /// Words that are kept at most.
    const MOST: usize = 8 << 20;
    /// Words of a buffer that is worth keeping. Allocators have smaller ones at hand.
    const LEAST: usize = 4 << 10;

    /// So many words, of any value: of what is kept the smallest that is large enough, and not so
    /// large that most of it would be held for nothing.
    fn take(&self, words: usize) -> Result<Vec<u64>> {
        if words < Self::LEAST {
            return zeroed(words);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = (0..kept.len()).filter(|&i| (words..=2 * words).contains(&kept[i].len()));
        let found = fitting.min_by_key(|&i| kept[i].len()).and_then(|i| kept.remove(i));
        drop(kept);
        found.map_or_else(|| zeroed(words), Ok)
    }

    /// Keeps a buffer, in the place of the oldest ones if there are too many.
    fn keep(&self, buffer: Vec<u64>) {
        if !(Self::LEAST..=Self::MOST).contains(&buffer.len()) {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sum = buffer.len() + kept.iter().map(Vec::len).sum::<usize>();
        kept.push_back(buffer);
        while sum > Self::MOST {
            sum -= kept.pop_front().map_or(sum, |oldest| oldest.len());
        }
    }
}

/// A result's bytes, whose memory goes back to where it came from.
struct Lent {
    words: Vec<u64>,
    len: usize,
    home: Weak<Memory>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(home) = self.home.upgrade() {
            home.keep(std::mem::take(&mut self.words));
        }
    }
}

/// So many words of 0, or an error where there is no such memory.
pub(crate) fn zeroed(words: usize) -> Result<Vec<u64>> {
    // Asking twice costs little, and only `vec!` gets pages that are 0 already.
    if words > 1 << 23 && Vec::<u64>::new().try_reserve_exact(words).is_err() {
        return Err(Error::OutOfMemory {
            device: "the CPU".to_string(),
            what: format!("a buffer of {} bytes", words as u128 * 8),
        });
    }
    Ok(vec![0; words])
}

/// Runs a plan on host tensors. Results hold what `memory` has kept, whose bytes are of any value:
/// the launches of a plan write all of them. `after` sees the buffer of each result after every launch.
pub(crate) fn execute(
    plan: &Plan,
    inputs: &[&Tensor],
    memory: &Arc<Memory>,
    mut after: impl FnMut(usize, &[u8]),
) -> Result<Vec<Tensor>> {
    let mut buffers: Vec<Vec<u64>> = plan
        .buffers
        .iter()
        .map(|b| match b.role {
            Role::Input => Ok(Vec::new()),
            Role::Output | Role::Scratch => memory.take((b.size as usize).div_ceil(8)),
        })
        .collect::<Result<_>>()?;
    for (i, launch) in plan.launches.iter().enumerate() {
        // A launch writes none of the buffers that it reads.
        let mut taken: Vec<Vec<u64>> =
            launch.results.iter().map(|range| std::mem::take(&mut buffers[range.buffer])).collect();
        let sources: Vec<&[u8]> = launch
            .sources
            .iter()
            .map(|range| match inputs.get(range.buffer) {
                Some(input) => part(input.bytes(), range),
                None => part(bytemuck::cast_slice(&buffers[range.buffer]), range),
            })
            .collect();
        let mut results: Vec<&mut [u8]> = taken
            .iter_mut()
            .zip(&launch.results)
            .map(|(words, range)| {
                let size = plan.buffers[range.buffer].size as usize;
                let bytes = &mut bytemuck::cast_slice_mut(words)[..size];
                let end = bytes.len().min((range.offset + range.size) as usize);
                &mut bytes[range.offset as usize..end]
            })
            .collect();
        launch.params.run_twin(&launch.shader, &sources, &mut results);
        for (words, range) in taken.into_iter().zip(&launch.results) {
            let size = plan.buffers[range.buffer].size as usize;
            after(i, &bytemuck::cast_slice(&words)[..size]);
            buffers[range.buffer] = words;
        }
    }
    let first = inputs.len();
    buffers.drain(first + plan.outputs.len()..).for_each(|buffer| memory.keep(buffer));
    let outputs = plan.outputs.iter().zip(buffers.drain(first..));
    let lend = |(desc, words): (&TensorDesc, Vec<u64>)| {
        let lent = Lent { words, len: desc.byte_len(), home: Arc::downgrade(memory) };
        Tensor::from_shared(desc.element_type(), desc.shape(), Arc::new(lent))
    };
    outputs.map(lend).collect()
}

/// A range of a buffer. Device buffers are padded, the host's tensors are not.
fn part<'a>(bytes: &'a [u8], range: &Range) -> &'a [u8] {
    let end = bytes.len().min((range.offset + range.size) as usize);
    &bytes[range.offset as usize..end]
}
