//! Runs a plan by the kernels' twins, on all cores.

pub(crate) mod fold;
pub(crate) mod simd;

use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::plan::{Plan, Range, Role};
use crate::tensor::Tensor;

/// Scratch of earlier plans, kept for the next one: fresh memory costs a fault for each of
/// its pages, as much as the work on it.
#[derive(Default)]
pub(crate) struct Scratch {
    kept: Mutex<Vec<Vec<u64>>>,
}

impl Scratch {
    /// Words that are kept at most.
    const MOST: usize = 8 << 20;

    /// So many words, of any value: of what is kept the smallest that is large enough.
    fn take(&self, words: usize) -> Result<Vec<u64>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = (0..kept.len()).filter(|&i| kept[i].capacity() >= words);
        match fitting.min_by_key(|&i| kept[i].capacity()) {
            Some(i) => {
                let mut buffer = kept.swap_remove(i);
                buffer.resize(words, 0);
                Ok(buffer)
            }
            None => zeroed(words),
        }
    }

    fn keep(&self, buffer: Vec<u64>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let sum: usize = kept.iter().map(Vec::capacity).sum();
        if buffer.capacity() > 0 && sum + buffer.capacity() <= Self::MOST {
            kept.push(buffer);
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

/// Runs a plan on host tensors. `after` sees the buffer of each result after every launch.
pub(crate) fn execute(
    plan: &Plan,
    inputs: &[&Tensor],
    scratch: &Scratch,
    mut after: impl FnMut(usize, &[u8]),
) -> Result<Vec<Tensor>> {
    let mut buffers: Vec<Vec<u64>> = plan
        .buffers
        .iter()
        .map(|b| match b.role {
            Role::Input => Ok(Vec::new()),
            Role::Output => zeroed((b.size as usize).div_ceil(8)),
            Role::Scratch => scratch.take((b.size as usize).div_ceil(8)),
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
    buffers.drain(first + plan.outputs.len()..).for_each(|buffer| scratch.keep(buffer));
    let outputs = plan.outputs.iter().zip(buffers.drain(first..));
    outputs.map(|(desc, words)| Tensor::from_words(desc.clone(), words)).collect()
}

/// A range of a buffer. Device buffers are padded, the host's tensors are not.
fn part<'a>(bytes: &'a [u8], range: &Range) -> &'a [u8] {
    let end = bytes.len().min((range.offset + range.size) as usize);
    &bytes[range.offset as usize..end]
}
