//! `shaders/reduce/rows.wgsl`: the maximum of contiguous rows.

use super::clear_word;
use crate::plan::{Call, Kernel, Lines, Placement, Shader, first_params};
use crate::tensor::key::{KeyOrder, Lane, Ranking, with_order};
use crate::threads;
use crate::vector::{self, Elements, PARALLEL_FROM};
use crate::wgsl::params;

/// The maximum of each row, or of each piece of one.
pub(crate) static ROWS: Kernel =
    Kernel::new::<Params>("reduce_rows", "reduce/rows", run).in_place(reads_rows_or_runs);

/// Elements of runs that are worth a call each.
const MIN_RUN: usize = 64;

fn reads_rows_or_runs(shader: &Shader, params: &[u32], view: &Placement) -> bool {
    view.run() >= MIN_RUN || reads_in_place(shader, params, view)
}

/// Rows without gaps, for a kernel whose parameters begin with those of rows.
pub(super) fn reads_in_place(_: &Shader, params: &[u32], view: &Placement) -> bool {
    let p: &Params = first_params(params);
    view.has_lines(p.base, p.len)
}

/// How rows are cut.
pub(super) struct Cut {
    pub kernel: &'static Kernel,
    /// Invocations that share a piece.
    pub threads: u64,
    /// Elements of a piece, or rows of an invocation.
    pub chunk: u64,
    /// Pieces of a row.
    pub splits: u64,
}

params! {
    pub(crate) struct Params: inline {
        /// Where the first row begins in the source, in elements.
        pub base: u32,
        /// Rows.
        pub rows: u32,
        /// Elements of a row.
        pub len: u32,
        /// Pieces of a row.
        pub splits: u32,
        /// Elements of a piece; the last one of a row may have fewer. In software/short_rows: rows
        /// of an invocation, which fill whole words.
        pub chunk: u32,
        /// Invocations that share a piece, a power of two.
        pub threads_per_row: u32,
        /// Where the first result goes, in elements.
        pub result_base: u32,
        pub ranking: Ranking,
    }
}

/// Bytes of rows that a thread takes at a time.
const MIN_PART: usize = 32 << 10;
const MAX_PART: usize = 1 << 20;

pub(crate) fn run(shader: &Shader, mut call: Call<'_, '_>) {
    let params: &Params = call.params();
    with_order!(shader.element, params.ranking, order => {
        let lines = call.lines(params.base, params.len);
        let (source, result) = call.one();
        reduce(order, params, source, lines, result);
    });
}

fn reduce<O: KeyOrder>(
    order: O,
    p: &Params,
    source: &[O::Key],
    lines: Lines<'_>,
    result: &mut [O::Key],
) {
    let elements = Elements(order);
    let (len, splits, chunk) = (p.len as usize, p.splits as usize, p.chunk as usize);
    let (rows, first) = (p.rows as usize, p.result_base as usize);
    clear_word(result, first + rows * splits);
    let result = &mut result[first..first + rows * splits];
    // Piece by piece, and each in as many runs as it lies in.
    let chunk = if splits == 1 { len } else { chunk };
    let piece = |number: usize| {
        let (row, skipped) = (number / splits, number % splits * chunk);
        let mut element = row * len + skipped;
        let end = element + chunk.min(len - skipped);
        let mut max = O::Key::LOWEST;
        while element < end {
            let run = lines.run_from(element).min(end - element);
            let mut found = [O::Key::LOWEST];
            vector::rows(elements, &source[lines.place(element)..][..run], run, &mut found);
            (max, element) = (max.max(order.key(found[0])), element + run);
        }
        order.bits(max)
    };
    let part = |mut first: usize, mut out: &mut [O::Key]| {
        while !out.is_empty() {
            let together = if splits == 1 { lines.together(first).min(out.len()) } else { 0 };
            let (some, rest) = out.split_at_mut(together.max(1));
            match together {
                0 => some[0] = piece(first),
                _ => {
                    let items = &source[lines.begin(first)..][..together * len];
                    vector::rows(elements, items, len, some);
                }
            }
            (first, out) = (first + some.len(), rest);
        }
    };
    if rows * len < PARALLEL_FROM {
        return part(0, result);
    }
    let item = size_of::<O::Key>();
    let units = self::part(rows * len * item, chunk.min(len) * item);
    threads::each_chunk(result, units, |i, out| part(i * units, out));
}

/// How many units of so many bytes a thread takes of all: so few that all threads are busy to the
/// end, and so many that streams of them run.
pub(super) fn part(bytes: usize, unit: usize) -> usize {
    let some = (bytes / (8 * threads::count())).clamp(MIN_PART, MAX_PART);
    (some / unit.max(1)).max(1)
}
