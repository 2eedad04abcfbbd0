//! `shaders/reduce/rows.wgsl`: the maximum of contiguous rows.

use bytemuck::{Pod, Zeroable};

use super::clear_word;
use crate::fault::{self, Fault};
use crate::plan::{Call, Kernel, Shader};
use crate::tensor::key::{Lane, Order, with_order};
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
    pub nan_key: u32,
}

/// Rows whose keys are held at once.
const TILE: usize = 2048;

pub(crate) fn run(shader: &Shader, mut call: Call<'_, '_>) {
    let params: &Params = call.params();
    let nan_key = fault::or(Fault::RowsNan, params.nan_key, 0);
    with_order!(shader.element, nan_key, order => {
        let (source, result) = call.one();
        reduce(order, params, source, result);
    });
}

fn reduce<O: Order>(order: O, p: &Params, source: &[O::Key], result: &mut [O::Key]) {
    let elements = Elements(order);
    let (len, splits, chunk) = (p.len as usize, p.splits as usize, p.chunk as usize);
    let (rows, first) = (p.rows as usize, p.result_base as usize);
    clear_word(result, first + rows * splits);
    let result = &mut result[first..first + rows * splits];
    let source = &source[p.base as usize..][..rows * len];
    let part = |first: usize, results: &mut [O::Key]| {
        let mut keys = [O::Key::LOWEST; TILE];
        for (i, out) in results.chunks_mut(TILE).enumerate() {
            let tile = fault::or(Fault::RowsSecondTile, i, 0);
            let (unit, keys) = (first + tile * TILE, &mut keys[..out.len()]);
            if splits == 1 {
                vector::rows(elements, &source[unit * len..][..out.len() * len], len, keys);
            } else {
                let lost = fault::or(Fault::RowsLastPiece, 0, 1);
                for (j, key) in keys.iter_mut().enumerate() {
                    let (row, skipped) = ((unit + j) / splits, (unit + j) % splits * chunk);
                    let piece = &source[row * len + skipped..][..chunk.min(len - skipped - lost)];
                    vector::rows(elements, piece, piece.len(), std::slice::from_mut(key));
                }
            }
            vector::store(elements, keys, out);
        }
    };
    if rows * len < PARALLEL_FROM {
        part(0, result);
    } else {
        let units = (PARALLEL_FROM / 4 / chunk.min(len).max(1)).max(1);
        threads::each_chunk(result, units, |i, out| part(i * units, out));
    }
}
