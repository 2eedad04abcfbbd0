//! How segments are cut: what is fast, not what is allowed.

use crate::plan::Kernel;

/// The numbers by which launches over segments are planned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// Rows of a chunk, at least: two of them go to the carry list. More where there are more
    /// chunks than fill the device.
    pub min_chunk: u64,
    /// Rows of a chunk, at most.
    pub max_chunk: u64,
    /// Rows that one invocation goes through to the end, without a carry list, at most.
    pub last_chunk: u64,
    /// As `min_chunk`, for rows of the carry list.
    pub carry_min_chunk: u64,
    /// As `last_chunk`, for rows of the carry list.
    pub carry_last_chunk: u64,
    /// Ids that an invocation checks, or makes from offsets, at most.
    pub ids_per_thread: u64,
    /// Blocks (16 bytes) of a row that an invocation owns where rows are whole blocks: 1, or 4 as
    /// a column tile.
    pub blocks_per_thread: u64,
    /// Kernels that replace the general ones where they fit.
    pub special: Option<&'static dyn Special>,
}

/// Where invocations coalesce their accesses.
pub(crate) const HARDWARE: Tuning = Tuning {
    min_chunk: 16,
    max_chunk: 4096,
    last_chunk: 64,
    carry_min_chunk: 16,
    carry_last_chunk: 64,
    ids_per_thread: 32,
    blocks_per_thread: 1,
    special: None,
};

/// The CPU backend cuts work among its threads itself.
pub(crate) const CPU: Tuning = HARDWARE;

/// Kernels for some segments, in the place of the general ones.
pub(crate) trait Special: std::fmt::Debug + Sync {
    /// For chunks of so many rows of one element each: the kernel, and how many rows it takes at
    /// once. It is given whole chunks, of a multiple of so many rows.
    fn single_elements(&self, chunk: u64) -> Option<(&'static Kernel, u64)>;
}
