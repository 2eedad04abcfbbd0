//! `shaders/segment/finish.wgsl`: elements and indices from items.

use bytemuck::{cast_slice, cast_slice_mut};

use crate::base::threads;
use crate::plan::{Call, Kernel, Shader};
use crate::tensor::key::{Key, KeyOrder, Ranking, with_order};
use crate::wgsl::params;

/// Elements from items or, with `argmax`, elements and indices.
pub(super) static FINISH: Kernel =
    Kernel::new::<Params>("segment_finish", "segment/finish", run).flags(&["argmax"]);

params! {
    pub(super) struct Params {
        /// Words of an item: a key, the high word first, and a mark; with `argmax`, the last word
        /// is the complement of a row. If it is 0, the segment has no rows.
        pub item_words: u32,
        /// Results.
        pub outputs: u32,
        /// Where they begin, in elements.
        pub result_base: u32,
        pub ranking: Ranking,
        /// The key of a segment without rows, and its high word in types of 64 bits.
        pub empty_low: u32,
        pub empty_high: u32,
        /// The rest belongs to `argmax`. Where the rows begin in the source, in elements.
        pub base: u32,
        /// Rows of the source.
        pub rows: u32,
        /// The number of the first of them.
        pub first_row: u32,
        /// Elements of a row.
        pub inner: u32,
        /// Where the indices begin, in indices.
        pub index_base: u32,
        /// Words of an index: 1 or 2.
        pub index_words: u32,
        pub padding: [u32; 3],
        /// The divisor of `inner`. On lavapipe the launch takes 1.3 times as long if it comes
        /// first.
        pub by_inner: [u32; 4],
    }
}

fn run(shader: &Shader, call: Call<'_, '_>) {
    let p: &Params = call.params();
    with_order!(shader.element, p.ranking, order => match (call.sources, call.results) {
        ([items], [out]) => elements(order, p, cast_slice(items), cast_slice_mut(out)),
        ([source, items], [out, indices]) => {
            let rows = (cast_slice(source), cast_slice(items));
            elements_and_indices(order, p, rows, cast_slice_mut(out), cast_slice_mut(indices));
        }
        _ => unreachable!("planners bind what a kernel declares"),
    });
}

/// Elements from keys.
fn elements<O: KeyOrder>(order: O, p: &Params, items: &[u32], out: &mut [O::Key]) {
    let words = p.item_words as usize;
    let out = &mut out[p.result_base as usize..][..p.outputs as usize];
    let items = &items[..p.outputs as usize * words];
    let empty = O::Key::from_words(p.empty_low, p.empty_high);
    threads::each_chunk(out, threads::CHUNK_LEN, |chunk, out| {
        let items = items[chunk * threads::CHUNK_LEN * words..].chunks(words);
        for (out, item) in out.iter_mut().zip(items) {
            let key = match (item[words - 1], words) {
                (0, _) => empty,
                (_, 3) => O::Key::from_words(item[1], item[0]),
                _ => O::Key::from_words(item[0], 0),
            };
            *out = order.bits(key);
        }
    });
}

/// Elements and their rows' numbers from rows.
fn elements_and_indices<O: KeyOrder>(
    order: O,
    p: &Params,
    (source, items): (&[O::Key], &[u32]),
    out: &mut [O::Key],
    indices: &mut [u32],
) {
    let (words, index_words) = (p.item_words as usize, p.index_words as usize);
    let outputs = p.outputs as usize;
    let out = &mut out[p.result_base as usize..][..outputs];
    let indices = &mut indices[p.index_base as usize * index_words..][..outputs * index_words];
    let items = &items[..outputs * words];
    for (i, (out, index)) in out.iter_mut().zip(indices.chunks_mut(index_words)).enumerate() {
        let mark = items[(i + 1) * words - 1];
        let (key, number) = match mark {
            0 => (O::Key::from_words(p.empty_low, p.empty_high), -1),
            mark => {
                // Rows that are not at hand are another launch's.
                let row = (!mark).wrapping_sub(p.first_row);
                if row >= p.rows {
                    continue;
                }
                let at = p.base as usize + row as usize * p.inner as usize + i % p.inner as usize;
                (order.key(source[at]), i64::from(!mark))
            }
        };
        *out = order.bits(key);
        index[0] = number as u32;
        if let Some(high) = index.get_mut(1) {
            *high = (number >> 32) as u32;
        }
    }
}
