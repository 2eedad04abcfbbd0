//! Options and progress of operators that run on host tensors.

use std::fmt;

/// Options for running an operator on host tensors; see
/// [`Operator::run_with`](crate::operator::Operator::run_with).
#[derive(Default)]
pub struct RunOptions<'a> {
    pub(super) max_piece: Option<u64>,
    pub(super) progress: Option<Box<dyn FnMut(Progress) + Send + 'a>>,
}

/// How far a streamed run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes of the inputs that have been processed.
    pub done: u64,
    /// Bytes of all inputs.
    pub total: u64,
    /// Completed pieces.
    pub pieces: u64,
}

impl<'a> RunOptions<'a> {
    /// The default of [`RunOptions::max_piece`]: 256 MiB, in bytes.
    pub const DEFAULT_MAX_PIECE: u64 = 256 << 20;

    /// The defaults: pieces of at most [`RunOptions::DEFAULT_MAX_PIECE`] bytes, no progress
    /// reports.
    pub fn new() -> Self {
        Self::default()
    }

    /// The maximum size of a piece on the device in bytes, results and scratch included; at most
    /// 1 GiB. Inputs that fit as a whole are not split.
    ///
    /// Two pieces are on the device at a time. Each has staging buffers for its upload and its
    /// download in addition. A piece that cannot be split further may exceed this size.
    pub fn max_piece(mut self, bytes: impl Into<Option<u64>>) -> Self {
        self.max_piece = bytes.into();
        self
    }

    /// Calls `progress` when a streamed run begins and after each of its pieces. It is not called
    /// if the inputs fit the device as a whole, nor while values are stored where positions say;
    /// the inputs then are those that positions are found in.
    pub fn progress(mut self, progress: impl FnMut(Progress) + Send + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }
}

impl fmt::Debug for RunOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("max_piece", &self.max_piece)
            .field("progress", &self.progress.is_some())
            .finish()
    }
}

/// Reports progress to the caller's function, if there is one.
pub(super) struct Reporter<'a> {
    progress: Option<Box<dyn FnMut(Progress) + Send + 'a>>,
    total: u64,
}

impl<'a> Reporter<'a> {
    pub(super) fn new(progress: Option<Box<dyn FnMut(Progress) + Send + 'a>>, total: u64) -> Self {
        Self { progress, total }
    }

    /// `share`: the part of all input bytes that is done, from 0 to 1.
    pub(super) fn report(&mut self, share: f64, pieces: u64) {
        if let Some(progress) = &mut self.progress {
            let done = if share < 1.0 { (share * self.total as f64) as u64 } else { self.total };
            progress(Progress { done, total: self.total, pieces });
        }
    }
}
