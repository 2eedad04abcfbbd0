//! The twin of `shaders/segment_scatter.wgsl`.

use rayon::prelude::*;

use super::{NONE, Params, words};
use crate::kernel::PARALLEL_FROM;
use crate::tensor::key::{Key, Keyed};

/// `rows`: the last word of an item is to be the complement of the row, not a mark.
pub(super) fn twin<T: Keyed>(
    p: &Params,
    rows: bool,
    source: &[T::Bits],
    ids: &[u32],
    items: &mut [u32],
) {
    let (inner, item_words) = (p.inner as usize, p.item_words as usize);
    let line = inner * item_words;
    let items = &mut items[p.result_base as usize * item_words..][..p.segments as usize * line];
    // Each thread has segments of its own, and looks at all ids for them.
    let threads = rayon::current_num_threads().min(8);
    let share = (p.segments as usize).div_ceil(threads).max(1);
    let some = |(part, items): (usize, &mut [u32])| {
        some_segments::<T>(p, rows, source, ids, part * share, items);
    };
    if p.rows as usize * inner < PARALLEL_FROM {
        items.chunks_mut(share * line).enumerate().for_each(some);
    } else {
        items.par_chunks_mut(share * line).enumerate().for_each(some);
    }
}

fn some_segments<T: Keyed>(
    p: &Params,
    rows: bool,
    source: &[T::Bits],
    ids: &[u32],
    first: usize,
    items: &mut [u32],
) {
    let nan = T::Key::nan(p.nan_key);
    let (inner, item_words, word) = (p.inner as usize, p.item_words as usize, p.word as usize);
    let two = size_of::<T::Key>() == 8;
    for row in 0..p.rows as usize {
        let id = p.row_id(ids, row);
        if id == NONE || (id as usize) < first {
            continue;
        }
        let at = (id as usize - first) * inner * item_words;
        let Some(line) = items.get_mut(at..at + inner * item_words) else { continue };
        let found = &source[p.base as usize + row * inner..][..inner];
        for (item, &bits) in line.chunks_mut(item_words).zip(found) {
            let key = T::key(bits, nan);
            let [low, high] = words(if rows { T::rank(key) } else { key });
            // The words of the key from the highest on, and then the row's.
            let all = if two {
                [high, low, !(p.first_row + row as u32)]
            } else {
                [low, !(p.first_row + row as u32), 0]
            };
            if item[..word] == all[..word] {
                item[word] = item[word].max(all[word]);
                if !rows && word == 0 {
                    item[item_words - 1] = 1;
                }
            }
        }
    }
}
