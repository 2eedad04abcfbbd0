//! The twin of `shaders/reduce_rows.wgsl`.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::{PARALLEL_FROM, Read, Twin, Write};
use crate::cpu::fold;
use crate::tensor::key::Lane;

/// Rows whose keys are held at once.
const ROWS: usize = 2048;

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

    fn twin<R: Read, W: Write<Key = R::Key>>(
        &self,
        source: &[R::Item],
        result: &mut [W::Item],
        read: R,
        write: W,
    ) {
        let (len, splits, chunk) = (self.len as usize, self.splits as usize, self.chunk as usize);
        let units = self.rows as usize * splits;
        let per_cell = (4 / size_of::<W::Item>()).max(1);
        let first = self.result_base as usize * per_cell;
        let result = &mut result[first..first + units];
        let source = &source[self.base as usize..][..self.rows as usize * len];
        let run = |first: usize, results: &mut [W::Item]| {
            let mut keys = [R::Key::LOWEST; ROWS];
            for (i, out) in results.chunks_mut(ROWS).enumerate() {
                let (unit, keys) = (first + i * ROWS, &mut keys[..out.len()]);
                if splits == 1 {
                    fold::rows(read, &source[unit * len..][..out.len() * len], len, keys);
                } else {
                    for (j, key) in keys.iter_mut().enumerate() {
                        let (row, skipped) = ((unit + j) / splits, (unit + j) % splits * chunk);
                        let piece = &source[row * len + skipped..][..chunk.min(len - skipped)];
                        fold::rows(read, piece, piece.len(), std::slice::from_mut(key));
                    }
                }
                fold::store(write, keys, out);
            }
        };
        if self.rows as usize * len < PARALLEL_FROM {
            run(0, result);
        } else {
            let some = (PARALLEL_FROM / 4 / chunk.min(len).max(1)).max(1);
            result.par_chunks_mut(some).enumerate().for_each(|(i, r)| run(i * some, r));
        }
    }
}
