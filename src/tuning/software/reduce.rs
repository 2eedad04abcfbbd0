//! Reductions on software adapters.

use crate::plan::{Builder, Kernel};
use crate::reduce::{CPU, ColumnsParams, Cut, Extents, ShortRows, Start, Tuning, run_columns};

/// The kernels for reductions.
pub(super) static KERNELS: [&Kernel; 1] = [&COLUMN_TILES];

/// The maximum down columns, in tiles of neighbouring blocks.
static COLUMN_TILES: Kernel =
    Kernel::new::<ColumnsParams>("reduce_column_tiles", "software/column_tiles", run_columns);

/// One invocation reduces a row, or a piece of one.
pub(super) const TUNING: Tuning = Tuning {
    max_threads_per_row: 1,
    min_blocks: 16,
    // On lavapipe rows of 64 bytes take 0.43 of the time one by one, of 256 bytes 0.37, of 1024 bytes
    // 0.55, and of 8192 bytes about all of it.
    short_rows: Some(ShortRows { bytes: 2048, total: 16384 }),
    columns: Some(columns),
    ..CPU
};

/// Maximum rows that an invocation of `column_tiles` reads, and blocks of a row that it owns. On
/// lavapipe 4096 x 4096 elements take 1.5 times as long with 16 rows, 1.1 times with 32 rows, and 1.2
/// times with 32 blocks.
const TILE_ROWS: u64 = 64;
const TILE: u64 = 128;
/// Invocations that keep all cores busy.
const TILES: u64 = 512;

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
    let unrolled = rows.div_ceil(rows.div_ceil(TILE_ROWS)).next_multiple_of(8);
    let chunk = unrolled.min(rows);
    let splits = rows.div_ceil(chunk);
    let wasteful = 3 * splits * unrolled > 4 * rows;
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
