//! The twin of `shaders/segment_finish.wgsl`.

use rayon::prelude::*;

use super::Params;
use crate::kernel::PARALLEL_FROM;
use crate::tensor::key::{Key, Keyed};

/// Results that a thread takes at a time.
const SOME: usize = PARALLEL_FROM / 4;

/// Elements from keys.
pub(super) fn values<T: Keyed>(p: &Params, items: &[u32], out: &mut [T::Bits]) {
    let words = p.item_words as usize;
    let out = &mut out[p.result_base as usize..][..p.outputs as usize];
    let items = &items[p.items_base as usize * words..][..p.outputs as usize * words];
    out.par_chunks_mut(SOME).zip(items.par_chunks(SOME * words)).for_each(|(out, items)| {
        for (out, item) in out.iter_mut().zip(items.chunks(words)) {
            let key = match (item[words - 1], words) {
                (0, _) => T::Key::from_words(p.empty_low, p.empty_high),
                (_, 3) => T::Key::from_words(item[1], item[0]),
                _ => T::Key::from_words(item[0], 0),
            };
            *out = T::bits(key);
        }
    });
}

/// Elements and their rows' numbers from rows.
pub(super) fn rows<T: Keyed>(
    p: &Params,
    source: &[T::Bits],
    items: &[u32],
    out: &mut [T::Bits],
    indices: &mut [u32],
) {
    let nan = T::Key::nan(p.nan_key);
    let (words, index_words) = (p.item_words as usize, p.index_words as usize);
    let outputs = p.outputs as usize;
    let out = &mut out[p.result_base as usize..][..outputs];
    let indices = &mut indices[p.index_base as usize * index_words..][..outputs * index_words];
    let items = &items[p.items_base as usize * words..][..outputs * words];
    for (i, (out, index)) in out.iter_mut().zip(indices.chunks_mut(index_words)).enumerate() {
        let mark = items[(i + 1) * words - 1];
        let (key, number) = match mark {
            0 => (T::Key::from_words(p.empty_low, p.empty_high), -1),
            mark => {
                // Rows that are not at hand are another launch's.
                let row = (!mark).wrapping_sub(p.first_row);
                if row >= p.rows {
                    continue;
                }
                let at = p.base as usize + row as usize * p.inner as usize + i % p.inner as usize;
                (T::key(source[at], nan), i64::from(!mark))
            }
        };
        *out = T::bits(key);
        index[0] = number as u32;
        if let Some(high) = index.get_mut(1) {
            *high = (number >> 32) as u32;
        }
    }
}
