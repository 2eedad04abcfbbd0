//! How segments are cut: what is fast, not what is allowed.

use crate::plan::Kernel;

/// The numbers by which launches over segments are planned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// Rows of an invocation, at least, where it shares a chunk with those of its workgroup or has
    /// one of its own: two rows of each chunk go to the carry list. More where there are more
    /// invocations than fill the device.
    pub min_chunk: u64,
    /// The same, at most.
    pub max_chunk: u64,
    /// Rows of an invocation, at most, where a workgroup goes through all rows to the end, without
    /// a carry list.
    pub last_chunk: u64,
    /// As `min_chunk`, for rows of the carry list.
    pub carry_min_chunk: u64,
    /// As `last_chunk`, for rows of the carry list.
    pub carry_last_chunk: u64,
    /// Whether each invocation has a chunk of its own where rows are not whole blocks, and workgroups
    /// share none.
    pub single: bool,
    /// Blocks of a row, at most, that a workgroup takes side by side.
    pub blocks_of_group: u64,
    /// As `blocks_of_group`, for rows of the carry list.
    pub carry_blocks_of_group: u64,
    /// Ids that an invocation checks, or makes from offsets, at most.
    pub ids_per_thread: u64,
    /// A kernel for rows of one element that takes so many of them at once, and whole chunks.
    pub unrolled: Option<(&'static Kernel, u64)>,
    /// A kernel whose invocations own so many blocks of a row each.
    pub column_tiles: Option<(&'static Kernel, u64)>,
}

/// Where invocations coalesce their accesses. 32 blocks are what the invocations of a warp read at
/// once. The carry list is short: there a workgroup takes a sector of each row, 32 bytes, and has
/// many runs of few rows.
pub(crate) const HARDWARE: Tuning = Tuning {
    min_chunk: 16,
    max_chunk: 4096,
    last_chunk: 16,
    carry_min_chunk: 16,
    carry_last_chunk: 64,
    single: false,
    blocks_of_group: 32,
    carry_blocks_of_group: 2,
    ids_per_thread: 32,
    unrolled: None,
    column_tiles: None,
};

/// The CPU backend cuts work among its threads itself, by chunks, and takes all columns of a row
/// together: fewer parts of rows make shorter chunks.
pub(crate) const CPU: Tuning =
    Tuning { blocks_of_group: 256, carry_blocks_of_group: 256, ..HARDWARE };
