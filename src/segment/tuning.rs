//! How segments are cut: what is fast, not what is allowed.

use crate::plan::Kernel;

/// The numbers by which launches over segments are planned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// Minimum rows of an invocation, whether it has a chunk of its own or shares that of its
    /// workgroup: two rows of each chunk are carried. It has more if there are more invocations than
    /// fill the device.
    pub min_chunk: u64,
    /// Maximum rows of an invocation.
    pub max_chunk: u64,
    /// Maximum rows of an invocation if a workgroup takes all rows of a column, without a carry list.
    pub last_chunk: u64,
    /// As `min_chunk`, for rows of the carry list.
    pub carry_min_chunk: u64,
    /// As `last_chunk`, for rows of the carry list.
    pub carry_last_chunk: u64,
    /// Whether each invocation has a chunk of its own if rows are not whole blocks; otherwise
    /// workgroups share one.
    pub single: bool,
    /// Maximum blocks of a row that a workgroup takes side by side.
    pub blocks_of_group: u64,
    /// As `blocks_of_group`, for rows of the carry list.
    pub carry_blocks_of_group: u64,
    /// For rows in any order: how many elements neighbouring invocations load side by side. Rows of at
    /// most half as many alternate among them.
    pub alternating: u64,
    /// Maximum ids that an invocation checks, or expands from offsets.
    pub ids_per_thread: u64,
    /// A kernel for rows of one element and whole chunks, and how many rows it takes at once.
    pub unrolled: Option<(&'static Kernel, u64)>,
    /// A kernel of column tiles, and how many blocks of a row an invocation takes.
    pub column_tiles: Option<(&'static Kernel, u64)>,
}

/// For GPUs, which coalesce accesses. The invocations of a warp read 32 blocks at once. The carry
/// list is short: for it a workgroup takes a sector of each row, 32 bytes, and has many runs of few
/// rows.
pub(crate) const HARDWARE: Tuning = Tuning {
    min_chunk: 16,
    max_chunk: 4096,
    last_chunk: 16,
    carry_min_chunk: 16,
    carry_last_chunk: 64,
    single: false,
    blocks_of_group: 32,
    carry_blocks_of_group: 2,
    alternating: 32,
    ids_per_thread: 32,
    unrolled: None,
    column_tiles: None,
};

/// The CPU backend divides chunks among its threads itself, and takes all columns of a row together:
/// fewer parts of rows mean shorter chunks.
pub(crate) const CPU: Tuning =
    Tuning { blocks_of_group: 256, carry_blocks_of_group: 256, ..HARDWARE };
