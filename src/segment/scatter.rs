//! `shaders/segment/scatter.wgsl`: the maxima of segments of rows in any order.

use bytemuck::{cast_slice, cast_slice_mut};

use super::maxima::words;
use super::params::{NO_SEGMENT, Params};
use crate::fault::{self, Fault};
use crate::plan::{Call, Kernel, Shader};
use crate::tensor::key::{KeyOrder, with_order};
use crate::threads;
use crate::vector::PARALLEL_FROM;

/// A word of the items of all segments: the keys of the maxima or, with `argmax`, those by which
/// candidates are compared, and then the rows.
pub(super) static SCATTER: Kernel =
    Kernel::new("segment_scatter", "segment/scatter", run).flags(&["argmax"]);

fn run(shader: &Shader, call: Call<'_, '_>) {
    let p: &Params = call.params();
    with_order!(shader.element, p.ranking, order => {
        let rows = Rows {
            p,
            order,
            argmax: shader.is("argmax"),
            source: cast_slice(call.sources[0]),
            ids: cast_slice(call.sources[1]),
        };
        rows.scatter(cast_slice_mut(call.results[0]));
    });
}

/// Rows with ids in any order.
struct Rows<'a, O: KeyOrder> {
    p: &'a Params,
    order: O,
    /// Whether the last word of an item is to be the complement of the row, not a mark.
    argmax: bool,
    source: &'a [O::Key],
    ids: &'a [u32],
}

impl<O: KeyOrder> Rows<'_, O> {
    /// Each thread has segments of its own, and goes through all ids for them.
    fn scatter(&self, items: &mut [u32]) {
        let p = self.p;
        let (inner, item_words) = (p.inner as usize, p.item_words as usize);
        let line = inner * item_words;
        let items = &mut items[p.result_base as usize * item_words..];
        let items = &mut items[..p.segments as usize * line];
        let threads = threads::count().min(8);
        let share = (p.segments as usize).div_ceil(threads).max(1);
        if p.rows as usize * inner < PARALLEL_FROM {
            self.some_segments(0, items);
        } else {
            threads::each_chunk(items, share * line, |part, items| {
                self.some_segments(part * share, items);
            });
        }
    }

    /// The items of some segments, from one on.
    fn some_segments(&self, first: usize, items: &mut [u32]) {
        let (p, order, argmax) = (self.p, self.order, self.argmax);
        let (inner, item_words, word) = (p.inner as usize, p.item_words as usize, p.word as usize);
        let two = size_of::<O::Key>() == 8;
        let ranks = argmax && !fault::planted(Fault::ScatterZero);
        let known = fault::or(Fault::ScatterLowWord, word, word.min(1));
        let first_row = fault::or(Fault::ScatterFirstRow, p.first_row, 0);
        for row in 0..p.rows as usize {
            let segment = p.row_segment(self.ids, row);
            if segment == NO_SEGMENT || (segment as usize) < first {
                continue;
            }
            let at = (segment as usize - first) * inner * item_words;
            let Some(line) = items.get_mut(at..at + inner * item_words) else { continue };
            let found = &self.source[p.base as usize + row * inner..][..inner];
            for (item, &bits) in line.chunks_mut(item_words).zip(found) {
                let key = order.key(bits);
                let [low, high] = words(if ranks { order.rank(key) } else { key });
                // The words of the key from the highest on, and then the row's.
                let all = if two {
                    [high, low, !(first_row + row as u32)]
                } else {
                    [low, !(first_row + row as u32), 0]
                };
                // Not a comparison of slices, which would be a call.
                if item.iter().zip(all).take(known).all(|(&found, word)| found == word) {
                    item[word] = item[word].max(all[word]);
                    if !argmax && word == 0 {
                        item[item_words - 1] = 1;
                    }
                }
            }
        }
    }
}
