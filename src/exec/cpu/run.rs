//! Runs plans with the CPU kernels, on all cores.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use super::Watch;
use crate::base::error::{Error, Result};
use crate::base::threads;
use crate::plan::{Call, Launch, Plan, Range, Role};
use crate::tensor::{HostMemory, Tensor, View, Words, zeroed};

/// Scratch and dropped results of earlier runs, kept for later ones. New memory costs a page fault
/// for each page, as much time as the work on it.
#[derive(Default)]
pub(crate) struct Memory(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// The oldest first.
    buffers: VecDeque<Words>,
    /// The words that each of the last runs needed.
    needed: VecDeque<usize>,
}

impl Kept {
    /// The maximum number of words that are kept, unless one of the last runs needed more.
    const MAX: usize = 8 << 20;
    /// The number of runs in `needed`.
    const RUNS: usize = 256;

    /// Removes the oldest buffers if there are more than may be kept.
    fn shrink(&mut self) -> Vec<Words> {
        let needed = self.needed.iter().copied().max().unwrap_or(0).max(Self::MAX);
        let mut sum: usize = self.buffers.iter().map(|buffer| buffer.len()).sum();
        let mut freed = Vec::new();
        while sum > needed
            && let Some(oldest) = self.buffers.pop_front()
        {
            sum -= oldest.len();
            freed.push(oldest);
        }
        freed
    }
}

impl Memory {
    /// The minimum words of a buffer to keep. Allocators reuse smaller ones themselves.
    const MIN_BUFFER: usize = 4 << 10;

    /// A new memory without buffers. (Without the feature `cpu`, no memory exists to call this.)
    pub(crate) fn fresh(&self) -> Arc<Self> {
        Arc::default()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the words that a run needs.
    fn begin_run(&self, words: usize) {
        let mut kept = self.kept();
        kept.needed.push_back(words);
        let freed = match kept.needed.len() > Kept::RUNS {
            true => kept.needed.pop_front().map(|_| kept.shrink()),
            false => None,
        };
        // Freeing memory takes time. Other threads may need the lock meanwhile.
        drop(kept);
        drop(freed);
    }

    /// A buffer of at least `words` words with arbitrary content: the smallest kept one that is
    /// large enough, unless it has more than twice as many.
    fn take(&self, words: usize) -> Result<Words> {
        if words < Self::MIN_BUFFER {
            return zeroed(words);
        }
        let mut kept = self.kept();
        let all = &mut kept.buffers;
        let fitting = (0..all.len()).filter(|&i| (words..=2 * words).contains(&all[i].len()));
        let found = fitting.min_by_key(|&i| all[i].len()).and_then(|i| all.remove(i));
        drop(kept);
        found.map_or_else(|| zeroed(words), Ok)
    }

    /// Keeps a buffer.
    fn keep(&self, buffer: Words) {
        if buffer.len() >= Self::MIN_BUFFER {
            let mut kept = self.kept();
            kept.buffers.push_back(buffer);
            let freed = kept.shrink();
            drop(kept);
            drop(freed);
        }
    }
}

/// The bytes of a result. When dropped, it returns the buffer to its memory.
struct Recycled {
    words: Words,
    /// Bytes of the result.
    len: usize,
    memory: Weak<Memory>,
}

impl HostMemory for Recycled {
    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }
}

impl Drop for Recycled {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.upgrade() {
            memory.keep(std::mem::take(&mut self.words));
        }
    }
}

/// Reports the progress of a plan's launches to a [`Watch`].
struct Watched {
    watch: Option<Watch>,
    /// Bytes that launches read: of those that are done, and of all.
    done: f64,
    total: f64,
}

impl Watched {
    fn new(plan: &Plan, watch: Option<Watch>) -> Self {
        let total = plan.launches.iter().map(|launch| launch.bytes_read() as f64).sum();
        Self { watch, done: 0.0, total }
    }

    /// Runs a launch.
    ///
    /// # Errors
    /// The error of the watch: then the results are unspecified.
    fn launch(&mut self, launch: &Launch, run: impl FnOnce()) -> Result<()> {
        let Some(watch) = self.watch.clone() else {
            run();
            return Ok(());
        };
        let (done, total, bytes) = (self.done, self.total.max(1.0), launch.bytes_read() as f64);
        let stopped: Arc<OnceLock<Error>> = Arc::default();
        let stop = stopped.clone();
        let goes_on = move |share: f64| {
            let reported = || watch((done + share * bytes) / total);
            stop.get().is_none() && reported().map_err(|error| stop.set(error)).is_ok()
        };
        threads::watched(Arc::new(goes_on), run);
        self.done += bytes;
        Arc::into_inner(stopped).and_then(OnceLock::into_inner).map_or(Ok(()), Err)
    }
}

/// Runs a plan. Each input and each result is the memory of a tensor; a view may use a part of it. After each
/// launch, `after` is called with the launch's number and the bytes of each buffer that it wrote
/// to.
///
/// Buffers from `memory` hold arbitrary bytes. No launch reads them: a plan writes each buffer
/// before it is read, and all bytes of each result.
pub(crate) fn execute(
    plan: &Plan,
    inputs: &[&Tensor],
    memory: &Arc<Memory>,
    watch: Option<Watch>,
    mut after: impl FnMut(usize, &[u8]),
) -> Result<Vec<Tensor>> {
    let words: Vec<usize> = plan
        .buffers
        .iter()
        .map(|buffer| match buffer.role {
            Role::Input => 0,
            Role::Output | Role::Scratch => (buffer.size as usize).div_ceil(8),
        })
        .collect();
    memory.begin_run(words.iter().sum());
    let mut buffers: Vec<Words> =
        words.into_iter().map(|words| memory.take(words)).collect::<Result<_>>()?;
    // The gaps of a view must not have bytes of earlier runs.
    let first = inputs.len();
    for (buffer, view) in buffers.iter_mut().zip(&plan.views).skip(first) {
        if !view.is_contiguous() {
            buffer.fill(0);
        }
    }
    let mut watched = Watched::new(plan, watch);
    for (i, launch) in plan.launches.iter().enumerate() {
        // No result of a launch is one of its sources.
        let mut taken: Vec<Words> =
            launch.results.iter().map(|range| std::mem::take(&mut buffers[range.buffer])).collect();
        let mut sources: Vec<&[u8]> = launch
            .sources
            .iter()
            .map(|range| match inputs.get(range.buffer) {
                Some(input) => part(input.bytes(), range),
                None => part(bytemuck::cast_slice(&buffers[range.buffer]), range),
            })
            .collect();
        let gathered = gather(launch, &sources, memory)?;
        if let Some((words, len)) = &gathered {
            sources[0] = &bytemuck::cast_slice(words)[..*len];
        }
        let mut results: Vec<&mut [u8]> = taken
            .iter_mut()
            .zip(&launch.results)
            .map(|(words, range)| {
                let size = plan.buffers[range.buffer].size as usize;
                let bytes = &mut bytemuck::cast_slice_mut(words)[..size];
                // Whole words, as a GPU binds them.
                let size = range.size.next_multiple_of(4);
                let end = bytes.len().min((range.offset + size) as usize);
                &mut bytes[range.offset as usize..end]
            })
            .collect();
        let view = launch.view.as_deref().filter(|_| gathered.is_none());
        let call = Call::new(&launch.params, &sources, &mut results, view);
        watched.launch(launch, || (launch.shader.kernel.cpu)(&launch.shader, call))?;
        if let Some((words, _)) = gathered {
            memory.keep(words);
        }
        for (words, range) in taken.into_iter().zip(&launch.results) {
            let size = plan.buffers[range.buffer].size as usize;
            after(i, &bytemuck::cast_slice(&words)[..size]);
            buffers[range.buffer] = words;
        }
    }
    buffers.drain(first + plan.outputs.len()..).for_each(|buffer| memory.keep(buffer));
    let results = plan.result_views().zip(buffers.drain(first..));
    let result = |(view, words): (Cow<'_, View>, Words)| {
        let desc = if view.is_contiguous() { view.desc().clone() } else { view.memory()? };
        let bytes = Recycled { words, len: desc.byte_len(), memory: Arc::downgrade(memory) };
        Tensor::from_memory(desc, Arc::new(bytes))
    };
    results.map(result).collect()
}

/// The elements of a view as contiguous bytes, and how many bytes; `None` if the kernel needs no copy.
fn gather(launch: &Launch, sources: &[&[u8]], memory: &Memory) -> Result<Option<(Words, usize)>> {
    let Some(view) = launch.gathered() else {
        return Ok(None);
    };
    let item = launch.shader.element.size();
    let len = view.len() * item;
    let mut words = memory.take(len.div_ceil(8))?;
    view.gather(item, sources[0], &mut bytemuck::cast_slice_mut(&mut words)[..len]);
    Ok(Some((words, len)))
}

/// The bytes of a range. It may end in the padding of a device buffer, which host tensors lack.
fn part<'a>(bytes: &'a [u8], range: &Range) -> &'a [u8] {
    let end = bytes.len().min((range.offset + range.size) as usize);
    &bytes[range.offset as usize..end]
}
