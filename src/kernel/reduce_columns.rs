//! The twin of `shaders/reduce_columns.wgsl`, for both of its ways of addressing, and of
//! `shaders/reduce_strips.wgsl`.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::{PARALLEL_FROM, Twin};
use crate::tensor::key::Key;

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

/// Columns whose keys are held at once: they stay in the first cache.
const TILE: usize = 1024;

impl Twin for Params {
    fn nan_key(&self) -> u32 {
        self.nan_key
    }

    fn twin<R, K, W>(
        &self,
        source: &[R],
        result: &mut [W],
        key: impl Fn(R) -> K + Sync + Copy,
        item: impl Fn(K) -> W + Sync + Copy,
    ) where
        R: Pod + Sync,
        K: Key,
        W: Pod + Send + Sync,
    {
        let (len, width) = (self.len as usize, self.width as usize);
        let (splits, chunk) = (self.splits as usize, self.chunk as usize);
        let per_cell = (4 / size_of::<W>()).max(1);
        let first = self.result_base as usize * per_cell;
        let result = &mut result[first..first + self.outputs as usize];
        let rows = len.div_ceil(width);
        let tile = |unit: usize, column: usize, out: &mut [W]| {
            let matrix = &source[self.base as usize + unit / splits * len..][..len];
            let begin = unit % splits * chunk;
            let mut keys = [K::LOWEST; TILE];
            let keys = &mut keys[..out.len()];
            crate::cpu::simd::dispatch(|| {
                for row in begin..rows.min(begin + chunk) {
                    let at = (row * width).min(len - width) + column;
                    for (k, &bits) in keys.iter_mut().zip(&matrix[at..at + out.len()]) {
                        *k = key(bits).max(*k);
                    }
                }
                for (out, &k) in out.iter_mut().zip(keys.iter()) {
                    *out = item(k);
                }
            });
        };
        let unit = |(i, out): (usize, &mut [W])| {
            for (j, out) in out.chunks_mut(TILE).enumerate() {
                tile(i, j * TILE, out);
            }
        };
        let work = self.outputs as usize * chunk;
        if work < PARALLEL_FROM {
            result.chunks_mut(width).enumerate().for_each(unit);
        } else if width * chunk < PARALLEL_FROM {
            let some = (PARALLEL_FROM / (width * chunk)).max(1);
            result.par_chunks_mut(width).enumerate().with_min_len(some).for_each(unit);
        } else {
            result.par_chunks_mut(width).enumerate().for_each(|(i, out)| {
                out.par_chunks_mut(TILE).enumerate().for_each(|(j, out)| tile(i, j * TILE, out));
            });
        }
    }
}
