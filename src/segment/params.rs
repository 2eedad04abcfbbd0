//! The parameters of kernels that take rows with ids.

use std::borrow::Cow;
use std::ops::Range;

use crate::base::threads;
use crate::tensor::key::Ranking;
use crate::wgsl::params;

params! {
    /// The layout of ids or offsets.
    pub(crate) struct IdForm: inline {
        /// Words of an id: 1 or 2. Smaller ids are read as one word each.
        pub id_words: u32,
        /// Bits of an id, if it has less than a word.
        pub id_bits: u32,
        /// The sign bit in the highest word of an id; 0 if ids are unsigned.
        pub id_sign: u32,
    }

    /// The parameters of kernels that take rows with ids.
    pub(crate) struct Params {
        /// The offset of the first row in the source, in elements.
        pub base: u32,
        /// Rows.
        pub rows: u32,
        /// Elements of a row.
        pub inner: u32,
        /// Parts of a row, one for each invocation: blocks, column tiles or elements.
        pub columns: u32,
        /// Rows of a chunk, which one workgroup or invocation goes through; the last one may have
        /// fewer.
        pub chunk: u32,
        /// Chunks.
        pub chunks: u32,
        /// Segments of the result.
        pub segments: u32,
        /// The id of the first segment.
        pub first_segment: u32,
        /// The offset of the first id, in ids.
        pub ids_base: u32,
        pub id_form: IdForm,
        /// In scatter: negative ids count back from this number; 0 if they name no segment.
        pub end: u32,
        /// The offset of the first result, in elements or, in scratch, in items.
        pub result_base: u32,
        /// The offset of this launch's part of the carry list, in elements or words.
        pub carry_base: u32,
        /// The same for the ids of the carry list.
        pub carry_ids_base: u32,
        /// In argmax: the offset of the first candidate, in words.
        pub candidates_base: u32,
        /// 1: no launch follows, so nothing is carried.
        pub last: u32,
        /// In scatter: words of an item, and the number of the one that the launch finds.
        pub item_words: u32,
        pub word: u32,
        /// The number of the launch's first row.
        pub first_row: u32,
        /// The number of the last row of all.
        pub last_row: u32,
        pub ranking: Ranking,
        /// In segment/groups: columns of a workgroup. In scatter: chunks whose rows alternate.
        pub width: u32,
        /// In segment/groups: runs of rows for each column.
        pub runs: u32,
        /// In blocks: rows of a run.
        pub run_rows: u32,
        /// In segment/tiles: rows of a tile, and tiles of a chunk.
        pub tile: u32,
        pub tiles: u32,
        pub padding: [u32; 3],
        /// The divisors of `columns` and `width`, and of the number of workgroups that share a row.
        pub by_columns: [u32; 4],
        pub by_width: [u32; 4],
        pub by_parts: [u32; 4],
    }
}

/// The segment of rows whose ids are out of range.
pub(super) const NO_SEGMENT: u32 = u32::MAX;

impl IdForm {
    /// The words of ids or offsets. Those of 1 and 2 bytes are widened to a word.
    pub(super) fn words<'a>(&self, ids: &'a [u8]) -> Cow<'a, [u32]> {
        fn widen<const N: usize>(ids: &[u8], wide: impl Fn([u8; N]) -> i32 + Sync) -> Vec<u32> {
            let ids = ids.as_chunks().0;
            let mut words = vec![0; ids.len()];
            threads::each_chunk(&mut words, threads::CHUNK_LEN, |number, words| {
                for (word, id) in words.iter_mut().zip(&ids[number * threads::CHUNK_LEN..]) {
                    *word = wide(*id) as u32;
                }
            });
            words
        }
        Cow::Owned(match (self.id_bits, self.id_sign) {
            (8, 0) => widen(ids, |id| u8::from_le_bytes(id).into()),
            (8, _) => widen(ids, |id| i8::from_le_bytes(id).into()),
            (16, 0) => widen(ids, |id| u16::from_le_bytes(id).into()),
            (16, _) => widen(ids, |id| i16::from_le_bytes(id).into()),
            _ => return Cow::Borrowed(bytemuck::cast_slice(ids)),
        })
    }
}

impl Params {
    /// The segment of a row, counted from the first one of this launch.
    #[inline(always)]
    pub(super) fn row_segment(&self, ids: &[u32], row: usize) -> u32 {
        let (low, high) = self.row_id(ids, row);
        self.segment(low, high)
    }

    /// The same where negative ids count back from the end.
    #[inline(always)]
    pub(super) fn row_segment_from_end(&self, ids: &[u32], row: usize) -> u32 {
        let (low, high) = self.row_id(ids, row);
        let place = low.wrapping_add(self.end);
        let negative = if self.id_form.id_words == 2 { u32::MAX } else { 0 };
        match place < self.end && high == negative {
            true => self.segment(place, 0),
            false => self.segment(low, high),
        }
    }

    /// The low and the high word of a row's id. The high one of a narrower id is 0.
    #[inline(always)]
    fn row_id(&self, ids: &[u32], row: usize) -> (u32, u32) {
        let words = self.id_form.id_words as usize;
        let at = (self.ids_base as usize + row) * words;
        (ids[at], if words == 2 { ids[at + 1] } else { 0 })
    }

    /// The number of leading rows whose id is that of the row before them all, which must exist.
    #[inline(always)]
    pub(super) fn alike(&self, ids: &[u32], rows: Range<usize>) -> usize {
        fn count<T: PartialEq>(ids: &[T], own: &T) -> usize {
            ids.iter().take_while(|&id| id == own).count()
        }
        let words = self.id_form.id_words as usize;
        let begin = (self.ids_base as usize + rows.start) * words;
        let (before, ids) = ids[..begin + rows.len() * words].split_at(begin);
        match words {
            2 => count(ids.as_chunks::<2>().0, &[before[begin - 2], before[begin - 1]]),
            _ => count(ids, &before[begin - 1]),
        }
    }

    /// The segment of an id of two words.
    #[inline(always)]
    pub(super) fn segment(&self, low: u32, high: u32) -> u32 {
        let segment = low.wrapping_sub(self.first_segment);
        if high == 0 && segment < self.segments { segment } else { NO_SEGMENT }
    }

    /// The rows of a chunk.
    pub(super) fn rows_of(&self, chunk: usize) -> Range<usize> {
        let begin = chunk * self.chunk as usize;
        begin..(begin + self.chunk as usize).min(self.rows as usize)
    }
}
