//! `shaders/segment/finish.wgsl`: elements and indices from items.

use bytemuck::{cast_slice, cast_slice_mut};

use crate::base::threads;
use crate::plan::{Call, Kernel, Shader};
use crate::tensor::key::{Key, KeyOrder, Ranking, with_order};
use crate::wgsl::params;

/// Elements from items or, with `argmax`, elements and indices. With `initial` and `argmax`, one launch
/// stores elements and another one, with `places`, indices: some devices have only four storage buffers.
pub(super) static FINISH: Kernel = Kernel::new::<Params>("segment_finish", "segment/finish", run)
    .flags(&["argmax", "initial", "places"])
    .only(|_, flags| flags != 4 && flags != 5 && flags != 6);

params! {
    pub(super) struct Params {
        /// Words of an item: a key, the high word first, and a mark. With `argmax`, the last word is the
        /// complement of a row. If it is 0, the segment has no rows.
        pub item_words: u32,
        /// Results.
        pub outputs: u32,
        /// The offset of the first result, in elements.
        pub result_base: u32,
        pub ranking: Ranking,
        /// The key of a segment without rows, and its high word in types of 64 bits.
        pub empty_low: u32,
        pub empty_high: u32,
        /// This and the next five are for `argmax`. The offset of the first row in the source, in elements.
        pub base: u32,
        /// Rows of the source.
        pub rows: u32,
        /// The number of the first row.
        pub first_row: u32,
        /// Elements of a row.
        pub inner: u32,
        /// The offset of the first index, in indices.
        pub index_base: u32,
        /// Words of an index: 1 or 2.
        pub index_words: u32,
        /// In `initial`: 1 if the element of the data takes part in the maximum.
        pub joins: u32,
        pub padding: [u32; 2],
        /// The divisor of `inner`. On lavapipe the launch takes 1.3 times as long if it is the first
        /// member.
        pub by_inner: [u32; 4],
        /// In `initial`, the divisors of the number of consecutive rows with one position, and of the
        /// number of positions.
        pub by_pitch: [u32; 4],
        pub by_positions: [u32; 4],
    }
}

fn run(shader: &Shader, call: Call<'_, '_>) {
    let p: &Params = call.params();
    let (initial, places) = (shader.is("initial"), shader.is("places"));
    with_order!(shader.element, p.ranking, order => {
        let Some((&items, sources)) = call.sources.split_last() else { return };
        let items = cast_slice(items);
        let data = |at: usize| initial.then(|| cast_slice(sources[at]));
        match (shader.is("argmax"), call.results) {
            (false, [out]) => elements(order, p, data(0), items, cast_slice_mut(out)),
            (true, results) => {
                let (mut out, mut indices) = match results {
                    [one] if places => (None, Some(one)),
                    [out] => (Some(out), None),
                    [out, indices] => (Some(out), Some(indices)),
                    _ => return,
                };
                let rows = (cast_slice(sources[0]), items);
                let out = out.as_mut().map(|out| cast_slice_mut(out));
                let indices = indices.as_mut().map(|indices| cast_slice_mut(indices));
                elements_and_indices(order, p, data(1), rows, out, indices);
            }
            _ => {}
        }
    });
}

/// Elements from keys.
fn elements<O: KeyOrder>(
    order: O,
    p: &Params,
    data: Option<&[O::Key]>,
    items: &[u32],
    out: &mut [O::Key],
) {
    let words = p.item_words as usize;
    let (first, outputs) = (p.result_base as usize, p.outputs as usize);
    let out = &mut out[first..][..outputs];
    let items = &items[..outputs * words];
    let empty = O::Key::from_words(p.empty_low, p.empty_high);
    let joins = p.joins == 1;
    threads::each_chunk(out, threads::CHUNK_LEN, |chunk, out| {
        let begin = chunk * threads::CHUNK_LEN;
        let items = items[begin * words..].chunks(words);
        let key = |item: &[u32]| match words {
            3 => O::Key::from_words(item[1], item[0]),
            _ => O::Key::from_words(item[0], 0),
        };
        let all = out.iter_mut().zip(items);
        let Some(data) = data else {
            for (out, item) in all {
                let key = if item[words - 1] == 0 { empty } else { key(item) };
                *out = order.bits(key);
            }
            return;
        };
        for ((out, item), &own) in all.zip(&data[first + begin..]) {
            *out = match (item[words - 1], joins) {
                (0, _) => own,
                (_, true) => order.bits(key(item).max(order.key(own))),
                (_, false) => order.bits(key(item)),
            };
        }
    });
}

/// From the rows: elements, or the rows' numbers, or both.
fn elements_and_indices<O: KeyOrder>(
    order: O,
    p: &Params,
    data: Option<&[O::Key]>,
    (source, items): (&[O::Key], &[u32]),
    mut out: Option<&mut [O::Key]>,
    mut indices: Option<&mut [u32]>,
) {
    let (words, index_words) = (p.item_words as usize, p.index_words as usize);
    let first = p.result_base as usize;
    let empty = order.bits(O::Key::from_words(p.empty_low, p.empty_high));
    for (i, item) in items.chunks_exact(words).take(p.outputs as usize).enumerate() {
        let own = data.map(|data| data[first + i]);
        let (bits, number) = match item[words - 1] {
            0 => (own.unwrap_or(empty), -1),
            mark => {
                // Another launch has the other rows.
                let row = (!mark).wrapping_sub(p.first_row);
                if row >= p.rows {
                    continue;
                }
                let at = p.base as usize + row as usize * p.inner as usize + i % p.inner as usize;
                let key = order.key(source[at]);
                let kept = own.filter(|_| p.joins == 1).map(|own| order.key(own));
                match kept.filter(|&own| order.rank(key) <= order.rank(own)) {
                    Some(own) => (order.bits(own), -1),
                    None => (order.bits(key), p.position(data.is_some(), !mark)),
                }
            }
        };
        if let Some(out) = &mut out {
            out[first + i] = bits;
        }
        if let Some(indices) = &mut indices {
            let index = &mut indices[(p.index_base as usize + i) * index_words..][..index_words];
            index[0] = number as u32;
            if let Some(high) = index.get_mut(1) {
                *high = (number >> 32) as u32;
            }
        }
    }
}

impl Params {
    /// The index of a row: with `initial`, its position, which consecutive rows may share.
    fn position(&self, initial: bool, row: u32) -> i64 {
        let position = row / self.by_pitch[0] % self.by_positions[0];
        if initial { position.into() } else { row.into() }
    }
}
