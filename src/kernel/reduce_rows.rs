//! The twin of `shaders/reduce_rows.wgsl`.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::{PARALLEL_FROM, Twin};
use crate::tensor::key::Key;

/// As the shader's `Params`, field for field.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Params {
    pub base: u32,
    pub rows: u32,
    pub len: u32,
    pub splits: u32,
    pub chunk: u32,
    pub lanes: u32,
    pub result_base: u32,
    pub nan_key: u32,
}

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
        let (len, splits, chunk) = (self.len as usize, self.splits as usize, self.chunk as usize);
        let units = self.rows as usize * splits;
        let per_cell = (4 / size_of::<W>()).max(1);
        let first = self.result_base as usize * per_cell;
        let result = &mut result[first..first + units];
        let unit = move |unit: usize| {
            let skipped = unit % splits * chunk;
            let start = self.base as usize + unit / splits * len + skipped;
            let piece = &source[start..start + chunk.min(len - skipped)];
            item(piece.iter().fold(K::LOWEST, |a, &b| a.max(key(b))))
        };
        let run = |first: usize, results: &mut [W]| {
            crate::cpu::simd::dispatch(|| {
                for (i, out) in results.iter_mut().enumerate() {
                    *out = unit(first + i);
                }
            });
        };
        if self.rows as usize * len < PARALLEL_FROM {
            run(0, result);
        } else {
            let some = (PARALLEL_FROM / 4 / chunk.min(len).max(1)).max(1);
            result.par_chunks_mut(some).enumerate().for_each(|(i, r)| run(i * some, r));
        }
    }
}
