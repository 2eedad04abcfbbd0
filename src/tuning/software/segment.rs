//! Segments on software adapters.

use crate::plan::Kernel;
use crate::segment::{HARDWARE, Params, Tuning, run_blocks, run_elements};

/// The kernels for segments.
pub(super) static KERNELS: [&Kernel; 2] = [&UNROLLED, &COLUMN_TILES];

/// The maxima of segments of rows of one element, unrolled by [`ROWS`]. Not for ids of 1 and 2
/// bytes: SwiftShader's compiler did not finish a text with eight of them.
static UNROLLED: Kernel =
    Kernel::new::<Params>("segment_unrolled", "software/segment_unrolled", run_elements)
        .blocks_and_words();

/// The maxima of segments of rows of whole column tiles, of [`TILE`] blocks.
static COLUMN_TILES: Kernel =
    Kernel::new::<Params>("segment_column_tiles", "software/segment_column_tiles", run_blocks)
        .flags(&["small_ids"]);

/// Launches cost more than long chunks of the carry list: on lavapipe a launch of 16 rows takes 30
/// µs, and one whose only invocation reduces 256 rows 42 µs. With a workgroup whose invocations wait
/// for each other, 8192 rows take 1 ms.
pub(super) const TUNING: Tuning = Tuning {
    last_chunk: 64,
    carry_min_chunk: 64,
    carry_last_chunk: 256,
    single: true,
    alternating: 1,
    unrolled: Some((&UNROLLED, ROWS)),
    column_tiles: Some((&COLUMN_TILES, TILE)),
    ..HARDWARE
};

/// Rows that an invocation of `segment_unrolled` reads at once. On lavapipe segments of about four
/// rows have 0.52 of the speed of the fastest plain pass by fours, 0.54 by eights, and 0.48 by
/// sixteens.
const ROWS: u64 = 8;

/// Blocks of a column tile: a cache line. On lavapipe 1,000,000 rows of 64 elements take 3.4 times as
/// long block by block.
const TILE: u64 = 4;
