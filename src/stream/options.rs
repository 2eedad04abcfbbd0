//! What a caller may say about a run from the host and back.

use std::fmt;

/// How an operator is run on tensors of the host: see [`Operator::run_with`](crate::operator::Operator::run_with).
#[derive(Default)]
pub struct RunOptions<'a> {
    pub(super) max_piece: Option<u64>,
    pub(super) progress: Option<Box<dyn FnMut(Progress) + Send + 'a>>,
}

/// How far a run in pieces is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes of the inputs that are done.
    pub done: u64,
    /// Bytes of all inputs.
    pub total: u64,
    /// Pieces that are done.
    pub pieces: u64,
}

impl<'a> RunOptions<'a> {
    /// What a piece takes on a device unless [`RunOptions::max_piece`] says otherwise, in bytes.
    pub const DEFAULT_MAX_PIECE: u64 = 256 << 20;

    /// The defaults: pieces of [`RunOptions::DEFAULT_MAX_PIECE`], nothing told of the progress.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many bytes of the device's memory a piece may take, with its results and scratch. What fits as a
    /// whole is not cut. Two pieces are there at a time, and each is staged once on its way there and back.
    ///
    /// A piece that cannot be smaller takes what it needs. Pieces have at most 1 GiB.
    pub fn max_piece(mut self, bytes: impl Into<Option<u64>>) -> Self {
        self.max_piece = bytes.into();
        self
    }

    /// Calls `progress` when a run in pieces begins, and after each piece. It is not called for
    /// what is run as a whole.
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

/// The caller's function, told of shares.
pub(super) struct Told<'a> {
    progress: Option<Box<dyn FnMut(Progress) + Send + 'a>>,
    total: u64,
}

impl<'a> Told<'a> {
    pub(super) fn new(progress: Option<Box<dyn FnMut(Progress) + Send + 'a>>, total: u64) -> Self {
        Self { progress, total }
    }

    /// So much of all is done, as a share of 1.
    pub(super) fn tell(&mut self, share: f64, pieces: u64) {
        if let Some(progress) = &mut self.progress {
            let done = if share < 1.0 { (share * self.total as f64) as u64 } else { self.total };
            progress(Progress { done, total: self.total, pieces });
        }
    }
}
