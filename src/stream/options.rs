//! Options and progress of operators that run on host tensors.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, TryLockError};

use crate::base::error::{Error, Result};
use crate::exec::cpu::Watch;

/// Options for running an operator on host tensors; see [`Run::run_with`](crate::Run::run_with).
#[derive(Clone, Default)]
#[must_use]
pub struct RunOptions {
    pub(super) max_piece: Option<u64>,
    pub(super) progress: Option<Watcher>,
}

/// The caller's function for progress.
pub(super) type Watcher = Arc<Mutex<dyn FnMut(Progress) -> ControlFlow<()> + Send>>;

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes of the inputs that have been processed.
    pub done: u64,
    /// Bytes of all inputs.
    pub total: u64,
    /// Completed pieces of a streamed run.
    pub pieces: u64,
}

impl RunOptions {
    /// The default of [`RunOptions::max_piece`]: 256 MiB, in bytes.
    pub const DEFAULT_MAX_PIECE: u64 = 256 << 20;

    /// The defaults: pieces of at most [`RunOptions::DEFAULT_MAX_PIECE`] bytes, no progress
    /// reports.
    pub fn new() -> Self {
        Self::default()
    }

    /// The maximum size of a piece on the device in bytes, results and scratch included; at most 1
    /// GiB. Inputs that fit one piece are not split. The CPU splits only inputs that exceed the
    /// limits of a single plan.
    ///
    /// Two pieces are on the device at a time, each with additional staging buffers for its upload
    /// and its download. A piece that cannot be split further may exceed this size.
    pub fn max_piece(mut self, bytes: impl Into<Option<u64>>) -> Self {
        self.max_piece = bytes.into();
        self
    }

    /// Calls `progress` when the run begins, while it continues, and when it has ended. If `progress`
    /// returns [`ControlFlow::Break`], the run stops with [`Error::Cancelled`]; the device stays
    /// usable.
    ///
    /// On a GPU it is called after each piece; a run that fits [`RunOptions::max_piece`] is one piece.
    /// On the CPU it is called at most a few hundred times, by any of the working threads, one at a
    /// time, while the others continue. A reduction of the first axis has few parts: on two threads it
    /// was called five times. Gradients of reductions, segments and scatters report only the search for
    /// positions.
    pub fn progress(
        mut self,
        progress: impl FnMut(Progress) -> ControlFlow<()> + Send + 'static,
    ) -> Self {
        self.progress = Some(Arc::new(Mutex::new(progress)));
        self
    }
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("max_piece", &self.max_piece)
            .field("progress", &self.progress.is_some())
            .finish()
    }
}

/// Maximum number of reports of a run on the CPU.
const REPORTS: f64 = 256.0;

/// Reports progress to the caller's function, if there is one.
#[derive(Clone, Default)]
pub(super) struct Reporter {
    watcher: Option<Watcher>,
    total: u64,
}

impl Reporter {
    pub(super) fn new(watcher: Option<Watcher>, total: u64) -> Self {
        Self { watcher, total }
    }

    /// A function that may be called often, and reports some of the calls.
    pub(super) fn watch(&self) -> Option<Watch> {
        self.watcher.as_ref()?;
        let (reporter, reported) = (self.clone(), AtomicU32::new(0));
        Some(Arc::new(move |share| {
            let step = (share * REPORTS) as u32;
            if reported.fetch_max(step, Relaxed) < step {
                reporter.report(share, 0)
            } else {
                Ok(())
            }
        }))
    }

    /// `share`: the fraction of all input bytes that is done, from 0 to 1.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub(super) fn report(&self, share: f64, pieces: u64) -> Result<()> {
        let Some(watcher) = &self.watcher else { return Ok(()) };
        let total = self.total;
        let done = if share < 1.0 { (share * total as f64) as u64 } else { total };
        // No thread waits for another thread's call: the function may run an operator. While its
        // thread waits for the operator, the pool may give this thread a part of the current run,
        // which would wait for the call: a deadlock.
        let mut watcher = match watcher.try_lock() {
            Ok(watcher) => watcher,
            Err(TryLockError::Poisoned(watcher)) => watcher.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        match watcher(Progress { done, total, pieces }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled { done, total }),
        }
    }
}
