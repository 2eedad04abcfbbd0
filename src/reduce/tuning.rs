//! How reductions are cut: what is fast, not what is allowed.

use crate::plan::{Builder, Kernel};

/// The numbers by which reductions are planned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// Invocations that share a row, at most. GPUs coalesce what neighbours read; a software
    /// adapter runs invocations in turn, and reads a fifth as fast where several share a row.
    pub max_threads_per_row: u64,
    /// Invocations that share columns, at most.
    pub max_threads_per_column: u64,
    /// Neighbouring blocks (16 bytes) that neighbours should read: those of a line of a cache.
    pub line: u64,
    /// Blocks that an invocation should read before a row or a column is shared by more of them,
    /// or a row is split over more workgroups.
    pub min_blocks: u64,
    /// Rows that an invocation should have at least of a piece of a column.
    pub min_rows: u64,
    /// Columns of fewer bytes than this are widened by taking several rows as one.
    pub narrow: u64,
    /// What they are widened to, in bytes, and then to whole blocks.
    pub widened: u64,
    /// Rows that are left then, at least.
    pub min_widened_rows: u64,
    /// Kernels that replace the general ones where they fit.
    pub special: Option<Special>,
}

/// Where invocations coalesce their accesses. Narrow columns are widened where one workgroup may not
/// end them: then a launch more is worth whole blocks.
pub(crate) const HARDWARE: Tuning = Tuning {
    max_threads_per_row: 256,
    max_threads_per_column: 256,
    line: 8,
    min_blocks: 4,
    min_rows: 16,
    narrow: 4096,
    widened: 1,
    min_widened_rows: 1024,
    special: None,
};

/// The CPU backend cuts work among its threads itself; what is split here is joined again. Its loops
/// over rows want long ones.
pub(crate) const CPU: Tuning = Tuning {
    max_threads_per_column: 1,
    narrow: 256,
    widened: 4096,
    min_widened_rows: 16,
    ..HARDWARE
};

/// A series of matrices: the axis of `n` is reduced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents {
    pub outer: u64,
    pub n: u64,
    pub inner: u64,
}

/// Where a launch's elements and results begin in their bindings, in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub source: u64,
    pub result: u64,
}

/// How columns are cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// Columns of a matrix; more than it has where several rows are taken as one.
    pub width: u64,
    /// Rows of a piece.
    pub chunk: u64,
    /// Pieces of a column.
    pub splits: u64,
    /// Blocks of results that a workgroup owns, or blocks of a row that an invocation owns.
    pub tile: u64,
}

/// A kernel for columns of a matrix of some width, and how it cuts them.
type ColumnsFor = fn(&Builder<'_>, Extents, Start, u64) -> Option<(&'static Kernel, Cut)>;

/// Kernels for some reductions, in the place of the general ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Special {
    /// For rows: the kernel, and how many of them an invocation has.
    pub rows: fn(&Builder<'_>, Extents, Start) -> Option<(&'static Kernel, u64)>,
    /// For columns of a matrix of some width: the kernel, and how it cuts them.
    pub columns: ColumnsFor,
}
