//! Reductions on software adapters.

use crate::plan::{Builder, Kernel};
use crate::reduce::{CPU, ColumnsParams, Cut, Extents, RowsParams, Special, Start, Tuning};
use crate::reduce::{run_columns, run_rows};

/// The kernels for reductions.
pub(super) static KERNELS: [&Kernel; 2] = [&SHORT_ROWS, &COLUMN_TILES];

/// The maximum of short rows, several for each invocation.
static SHORT_ROWS: Kernel =
    Kernel::new::<RowsParams>("reduce_short_rows", "software/short_rows", run_rows);
/// The maximum down columns, in tiles of neighbouring blocks.
static COLUMN_TILES: Kernel =
    Kernel::new::<ColumnsParams>("reduce_column_tiles", "software/column_tiles", run_columns);

/// One invocation reduces a row, or a piece of one.
pub(super) const TUNING: Tuning = Tuning {
    max_threads_per_row: 1,
    min_blocks: 16,
    special: Some(Special { rows, columns }),
    ..CPU
};

/// Maximum bytes of a row that is reduced together with its neighbours, and bytes that an
/// invocation reads of them. On lavapipe rows of 64 bytes take 0.43 of the time one by one, of 256
/// bytes 0.37, of 1024 bytes 0.55, and of 8192 bytes about all of it.
const SHORT: u64 = 2048;
const SHORT_TOTAL: u64 = 16384;
/// Maximum rows that an invocation of `column_tiles` reads, and blocks of a row that it owns. On
/// lavapipe 4096 x 4096 elements take 1.5 times as long by 16 rows, 1.1 times by 32; by 32 blocks
/// 1.2 times.
const TILE_ROWS: u64 = 64;
const TILE: u64 = 128;
/// Invocations that keep all cores busy.
const TILES: u64 = 512;

/// Many short rows of whole blocks.
fn rows(builder: &Builder<'_>, e: Extents, at: Start) -> Option<(&'static Kernel, u64)> {
    let (block, per_word) = (builder.block(), builder.per_word());
    let bytes = e.n * builder.item();
    let aligned = at.source.is_multiple_of(block)
        && e.n.is_multiple_of(block)
        && at.result.is_multiple_of(per_word);
    if bytes > SHORT || !aligned {
        return None;
    }
    let iterations = 1 + bytes.div_ceil(64);
    let max_iterations = u64::from(builder.target.limits.max_iterations);
    // As many rows as fill the device, within the iterations of an invocation; they fill whole
    // words.
    let rows = (SHORT_TOTAL / bytes).min(e.outer / u64::from(builder.target.parallelism));
    let rows = rows.min(max_iterations / iterations);
    let rows = rows.max(per_word) / per_word * per_word;
    (per_word * iterations <= max_iterations).then_some((&SHORT_ROWS, rows))
}

/// Columns of whole blocks.
fn columns(
    builder: &Builder<'_>,
    e: Extents,
    at: Start,
    width: u64,
) -> Option<(&'static Kernel, Cut)> {
    let block = builder.block();
    let matrix = e.n * e.inner;
    let rows = matrix.div_ceil(width);
    // Eight rows are read at a time. If a piece has fewer, some are read again, which must not cost
    // much.
    let eights = rows.div_ceil(rows.div_ceil(TILE_ROWS)).next_multiple_of(8);
    let chunk = eights.min(rows);
    let splits = rows.div_ceil(chunk);
    let wasteful = 3 * splits * eights > 4 * rows;
    let pieces = splits * (width / e.inner);
    let outputs = e.outer * splits * width;
    let tile = (outputs / block / TILES).clamp(1, TILE).min(width / block);
    let iterations = tile * (1 + chunk.div_ceil(8));
    let aligned = [at.source, width, matrix].iter().all(|x| x.is_multiple_of(block))
        && (pieces > 1 || at.result.is_multiple_of(block));
    let fits = iterations <= builder.target.limits.max_iterations.into()
        && outputs <= builder.capacity(builder.item());
    let cut = Cut { width, chunk, splits, tile };
    (!wasteful && aligned && fits).then_some((&COLUMN_TILES, cut))
}
