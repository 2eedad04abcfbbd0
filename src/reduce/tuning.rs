//! How reductions are cut: what is fast, not what is allowed.

use crate::plan::{Builder, Kernel};

/// The numbers by which reductions are planned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// Maximum invocations that share a row. GPUs coalesce what neighbours read. A software adapter
    /// runs invocations in turn, and reads a fifth as fast if several share a row.
    pub max_threads_per_row: u64,
    /// Maximum invocations that share columns.
    pub max_threads_per_column: u64,
    /// Blocks (16 bytes) of a cache line. Invocations that share columns read a whole line together, those
    /// that share a row at least half of one.
    pub line: u64,
    /// Blocks that an invocation should read before more invocations share a column, or a row is
    /// split over more workgroups.
    pub min_blocks: u64,
    /// Blocks that an invocation should read before more invocations share a row, if there are
    /// enough rows. It has four loads in flight, and then has work to do while it waits.
    pub row_blocks: u64,
    /// Minimum rows of a piece of a column for each invocation.
    pub min_rows: u64,
    /// Columns of fewer bytes than this are widened by taking several rows as one.
    pub narrow: u64,
    /// The width that they get, in bytes; it is rounded to whole blocks.
    pub widened: u64,
    /// Minimum rows that remain after widening.
    pub min_widened_rows: u64,
    /// Which rows invocations reduce by themselves.
    pub short_rows: Option<ShortRows>,
    /// A kernel that replaces the general one for some columns.
    pub columns: Option<ColumnsFor>,
}

/// Rows that are reduced together with their neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortRows {
    /// Maximum bytes of a row.
    pub bytes: u64,
    /// Bytes that an invocation reads of several rows.
    pub total: u64,
}

/// For GPUs, which coalesce accesses. Narrow columns are widened if one workgroup may not finish
/// them: then whole blocks are worth another launch.
pub(crate) const HARDWARE: Tuning = Tuning {
    max_threads_per_row: 256,
    max_threads_per_column: 256,
    line: 8,
    min_blocks: 4,
    row_blocks: 16,
    min_rows: 16,
    narrow: 4096,
    widened: 1,
    min_widened_rows: 1024,
    // 4 blocks, which an invocation has in flight: a quarter of the operations, by counts.
    short_rows: Some(ShortRows { bytes: 64, total: 64 }),
    columns: None,
};

/// The CPU backend divides work among its threads itself, so splits by the planner only cost a
/// launch. Its loops over rows are fast if these are long.
pub(crate) const CPU: Tuning = Tuning {
    max_threads_per_column: 1,
    narrow: 256,
    widened: 4096,
    min_widened_rows: 16,
    short_rows: None,
    ..HARDWARE
};

/// `outer` matrices of `n` rows of `inner` elements. The axis of rows is reduced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents {
    pub outer: u64,
    pub n: u64,
    pub inner: u64,
}

/// The offsets of a launch's first element and first result in their bindings, in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub source: u64,
    pub result: u64,
}

/// How columns are cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// Columns of a matrix; more than it has if several rows are taken as one.
    pub width: u64,
    /// Rows of a piece.
    pub chunk: u64,
    /// Pieces of a column.
    pub splits: u64,
    /// Blocks of results that a workgroup owns, or blocks of a row that an invocation owns.
    pub tile: u64,
}

/// Chooses a kernel for columns of a matrix of some width, and how they are cut.
pub(crate) type ColumnsFor =
    fn(&Builder<'_>, Extents, Start, u64) -> Option<(&'static Kernel, Cut)>;
