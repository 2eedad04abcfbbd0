//! `shaders/reduce/rows.wgsl`: the maximum of contiguous rows.

use bytemuck::{Pod, Zeroable};

use super::clear_word;
use crate::fault::{self, Fault};
use crate::plan::{Call, Kernel, Shader};
use crate::tensor::key::{KeyOrder, Ranking, with_order};
use crate::threads;
use crate::vector::{self, Elements, PARALLEL_FROM};

/// The maximum of each row, or of each piece of one.
pub(crate) static ROWS: Kernel = Kernel::new("reduce_rows", "reduce/rows", run);

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

/// As the shader's `Params`, field for field.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct Params {
    pub base: u32,
    pub rows: u32,
    pub len: u32,
    pub splits: u32,
    pub chunk: u32,
    pub threads_per_row: u32,
    pub result_base: u32,
    pub ranking: Ranking,
}

/// Bytes of rows that a thread takes at a time.
const MIN_PART: usize = 32 << 10;
const MAX_PART: usize = 1 << 20;

pub(crate) fn run(shader: &Shader, mut call: Call<'_, '_>) {
    let params: &Params = call.params();
    let ranking = fault::or(Fault::RowsNan, params.ranking, params.ranking.with_nan_key(0));
    let ranking = fault::or(Fault::RowsMinimum, ranking, ranking.of_maximum());
    with_order!(shader.element, ranking, order => {
        let (source, result) = call.one();
        reduce(order, params, source, result);
    });
}

fn reduce<O: KeyOrder>(order: O, p: &Params, source: &[O::Key], result: &mut [O::Key]) {
    let elements = Elements(order);
    let (len, splits, chunk) = (p.len as usize, p.splits as usize, p.chunk as usize);
    let (rows, first) = (p.rows as usize, p.result_base as usize);
    clear_word(result, first + rows * splits);
    let result = &mut result[first..first + rows * splits];
    let source = &source[p.base as usize..][..rows * len];
    let part = |first: usize, out: &mut [O::Key]| {
        if splits == 1 {
            return vector::rows(elements, &source[first * len..][..out.len() * len], len, out);
        }
        let lost = fault::or(Fault::RowsLastPiece, 0, 1);
        for (i, out) in out.iter_mut().enumerate() {
            let (row, skipped) = ((first + i) / splits, (first + i) % splits * chunk);
            let piece = &source[row * len + skipped..][..chunk.min(len - skipped - lost)];
            vector::rows(elements, piece, piece.len(), std::slice::from_mut(out));
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
