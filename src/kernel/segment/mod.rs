//! The twins of the segment kernels: `shaders/segment_*.wgsl`.

mod check;
mod column;
mod finish;
mod runs;
mod scatter;

use std::marker::PhantomData;

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};

use super::{Elements, Kernel, Read, Shader, Write};
use crate::tensor::key::{Key, Keyed, with_keyed};
use runs::{Rows, Values};

/// As the `Params` of `shaders/segment.wgsl`, field for field.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Params {
    pub base: u32,
    pub rows: u32,
    pub inner: u32,
    pub columns: u32,
    pub run: u32,
    pub runs: u32,
    pub segments: u32,
    pub first_segment: u32,
    pub ids_base: u32,
    pub id_words: u32,
    pub result_base: u32,
    pub outputs: u32,
    pub carry_ids_base: u32,
    pub carry_base: u32,
    pub last: u32,
    pub nan_key: u32,
    pub empty_low: u32,
    pub empty_high: u32,
    pub item_words: u32,
    pub word: u32,
    pub items_base: u32,
    pub index_base: u32,
    pub index_words: u32,
    pub first_row: u32,
    pub last_row: u32,
    pub padding: [u32; 3],
    pub by_columns: [u32; 4],
    pub by_inner: [u32; 4],
}

/// The id of a row that has no place in the result.
const NONE: u32 = u32::MAX;

impl Params {
    /// The segment of a row, counted from the first one of this launch.
    #[inline(always)]
    fn row_id(&self, ids: &[u32], row: usize) -> u32 {
        let words = self.id_words as usize;
        let at = (self.ids_base as usize + row) * words;
        let (low, high) = (ids[at], if words == 2 { ids[at + 1] } else { 0 });
        let id = low.wrapping_sub(self.first_segment);
        let inside = low < 1 << 31 && low >= self.first_segment && id < self.segments;
        if high == 0 && inside { id } else { NONE }
    }

    /// The rows of a run.
    fn rows_of(&self, run: usize) -> std::ops::Range<usize> {
        let begin = run * self.run as usize;
        begin..(begin + self.run as usize).min(self.rows as usize)
    }
}

/// Runs the twin of a segment kernel.
pub(super) fn twin(p: &Params, shader: &Shader, sources: &[&[u8]], results: &mut [&mut [u8]]) {
    match (shader.kernel, sources, results) {
        (Kernel::SegmentExpand, [offsets], [result]) => {
            check::expand(p, cast_slice(offsets), cast_slice_mut(result));
        }
        (Kernel::SegmentCheck, [ids], [status]) => {
            check::check(p, cast_slice(ids), cast_slice_mut(status));
        }
        (_, sources, results) => {
            with_keyed!(shader.element, T => typed::<T>(p, shader, sources, results));
        }
    }
}

fn typed<T: Keyed>(p: &Params, shader: &Shader, sources: &[&[u8]], results: &mut [&mut [u8]]) {
    let nan = T::Key::nan(p.nan_key);
    let elements = Elements::<T> { nan };
    let (words, items) = (Words::<T::Key>(PhantomData), Items::<T::Key>(PhantomData));
    match (shader.kernel, sources, results) {
        (
            Kernel::SegmentBlocks
            | Kernel::SegmentStrips
            | Kernel::SegmentElements
            | Kernel::SegmentEights,
            [data, ids],
            results,
        ) => match (shader.to_scratch, shader.from_scratch) {
            (false, _) => {
                let walk = Values::new(p, cast_slice(data), elements, elements, elements);
                runs::twin(p, &walk, ids, results);
            }
            (true, false) => {
                let walk = Values::new(p, cast_slice(data), elements, items, words);
                runs::twin(p, &walk, ids, results);
            }
            (true, true) => {
                let walk = Values::new(p, cast_slice(data), words, items, words);
                runs::twin(p, &walk, ids, results);
            }
        },
        (Kernel::SegmentRows, [data, ids, earlier @ ..], results) => {
            let candidates = earlier.first().map(|bytes| cast_slice(bytes));
            let walk = Rows::<T>::new(p, cast_slice(data), candidates, nan);
            runs::twin(p, &walk, ids, results);
        }
        (Kernel::SegmentScatter, [data, ids], [items]) => {
            let items = cast_slice_mut(items);
            scatter::twin::<T>(p, false, cast_slice(data), cast_slice(ids), items);
        }
        (Kernel::SegmentScatterRows, [data, ids], [items]) => {
            let items = cast_slice_mut(items);
            scatter::twin::<T>(p, true, cast_slice(data), cast_slice(ids), items);
        }
        (Kernel::SegmentFinish, [items], [out]) => {
            finish::values::<T>(p, cast_slice(items), cast_slice_mut(out));
        }
        (Kernel::SegmentFinishRows, [data, items], [out, indices]) => {
            let (out, indices) = (cast_slice_mut(out), cast_slice_mut(indices));
            finish::rows::<T>(p, cast_slice(data), cast_slice(items), out, indices);
        }
        _ => unreachable!("planners bind what a kernel declares"),
    }
}

/// A key as its words, the low one first.
#[inline(always)]
fn words<K: Key>(key: K) -> [u32; 2] {
    let mut bytes = [0; 8];
    bytes[..size_of::<K>()].copy_from_slice(bytemuck::bytes_of(&key));
    bytemuck::cast(bytes)
}

/// Keys of a word, as the carry list holds them.
#[derive(Clone, Copy)]
struct Words<K>(PhantomData<K>);

impl<K: Key> Read for Words<K> {
    type Item = u32;
    type Key = K;
    #[inline(always)]
    fn key(self, item: u32) -> K {
        K::from_words(item, 0)
    }
}

impl<K: Key> Write for Words<K> {
    type Item = u32;
    type Key = K;
    #[inline(always)]
    fn item(self, key: K) -> u32 {
        words(key)[0]
    }
}

/// Keys of a word, each with its mark.
#[derive(Clone, Copy)]
struct Items<K>(PhantomData<K>);

impl<K: Key> Write for Items<K> {
    type Item = [u32; 2];
    type Key = K;
    #[inline(always)]
    fn item(self, key: K) -> [u32; 2] {
        [words(key)[0], 1]
    }
}
