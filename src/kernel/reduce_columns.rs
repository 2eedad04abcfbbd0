//! The twin of `shaders/reduce_columns.wgsl`, for both of its ways of addressing, and of
//! `shaders/reduce_strips.wgsl`.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::{PARALLEL_FROM, Read, Twin, Write};
use crate::cpu::fold;
use crate::tensor::key::Lane;

/// As the `Params` of `shaders/columns.wgsl`, field for field.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Params {
    pub base: u32,
    pub outputs: u32,
    pub len: u32,
    pub width: u32,
    pub splits: u32,
    pub chunk: u32,
    pub result_base: u32,
    pub nan_key: u32,
    pub strip: u32,
}

/// Columns whose keys are held at once: they stay in the first cache, and rows of so many are
/// long enough for the processor to fetch ahead.
const TILE: usize = 2048;

impl Twin for Params {
    fn nan_key(&self) -> u32 {
        self.nan_key
    }

    fn twin<R: Read, W: Write<Key = R::Key>>(
        &self,
        source: &[R::Item],
        result: &mut [W::Item],
        read: R,
        write: W,
    ) {
        let (len, width) = (self.len as usize, self.width as usize);
        let (splits, chunk) = (self.splits as usize, self.chunk as usize);
        let per_cell = (4 / size_of::<W::Item>()).max(1);
        let first = self.result_base as usize * per_cell;
        let result = &mut result[first..first + self.outputs as usize];
        let rows = len.div_ceil(width);
        // Columns from one on of a unit: of some rows of a matrix.
        let strip = |unit: usize, column: usize, keys: &mut [R::Key]| {
            let matrix = &source[self.base as usize + unit / splits * len..][..len];
            let begin = unit % splits * chunk;
            let begins =
                (begin..rows.min(begin + chunk)).map(|row| (row * width).min(len - width) + column);
            fold::columns(read, matrix, begins, keys);
        };
        // Whole units, or a part of one: what stays in the cache together.
        let many = |first: usize, out: &mut [W::Item]| {
            let mut keys = [R::Key::LOWEST; TILE];
            for (i, out) in out.chunks_mut(TILE / width * width).enumerate() {
                let keys = &mut keys[..out.len()];
                keys.fill(R::Key::LOWEST);
                for (j, keys) in keys.chunks_mut(width).enumerate() {
                    strip(first + i * (TILE / width) + j, 0, keys);
                }
                fold::store(write, keys, out);
            }
        };
        let few = |unit: usize, first: usize, out: &mut [W::Item]| {
            let mut keys = [R::Key::LOWEST; TILE];
            for (i, out) in out.chunks_mut(TILE).enumerate() {
                let keys = &mut keys[..out.len()];
                keys.fill(R::Key::LOWEST);
                strip(unit, first + i * TILE, keys);
                fold::store(write, keys, out);
            }
        };
        let work = self.outputs as usize * chunk;
        let threads = rayon::current_num_threads();
        if width <= TILE && work < PARALLEL_FROM {
            many(0, result);
        } else if width <= TILE && result.len() / width >= threads {
            let some = (PARALLEL_FROM / (width * chunk)).max(1);
            let parts = result.par_chunks_mut(some * width).enumerate();
            parts.for_each(|(i, out)| many(i * some, out));
        } else {
            // Wide rows: a thread has some columns of all of them.
            let units = (result.len() / width).max(1);
            let share = width.div_ceil((2 * threads).div_ceil(units)).max(64);
            let share = if work < PARALLEL_FROM { width } else { share.min(width) };
            let unit = |(unit, out): (usize, &mut [W::Item])| {
                if share == width {
                    few(unit, 0, out);
                } else {
                    let parts = out.par_chunks_mut(share).enumerate();
                    parts.for_each(|(i, out)| few(unit, i * share, out));
                }
            };
            if work < PARALLEL_FROM {
                result.chunks_mut(width).enumerate().for_each(unit);
            } else {
                result.par_chunks_mut(width).enumerate().for_each(unit);
            }
        }
    }
}
