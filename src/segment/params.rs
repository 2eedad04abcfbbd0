//! `shaders/segment/params.wgsl` and `ids.wgsl`: what kernels are given that take rows with ids.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use crate::tensor::key::Ranking;

/// As the shaders' `Params`, field for field.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct Params {
    pub base: u32,
    pub rows: u32,
    pub inner: u32,
    pub columns: u32,
    pub chunk: u32,
    pub chunks: u32,
    pub segments: u32,
    pub first_segment: u32,
    pub ids_base: u32,
    pub id_words: u32,
    pub result_base: u32,
    pub carry_base: u32,
    pub carry_ids_base: u32,
    pub candidates_base: u32,
    pub last: u32,
    pub item_words: u32,
    pub word: u32,
    pub first_row: u32,
    pub last_row: u32,
    pub ranking: Ranking,
    pub width: u32,
    pub runs: u32,
    pub run_rows: u32,
    pub tile: u32,
    pub tiles: u32,
    pub padding: [u32; 2],
    pub by_columns: [u32; 4],
    pub by_width: [u32; 4],
    pub by_parts: [u32; 4],
}

/// Stands for the segment of a row whose id is out of range, and for no segment.
pub(super) const NO_SEGMENT: u32 = u32::MAX;

impl Params {
    /// The segment of a row, counted from the first one of this launch.
    #[inline(always)]
    pub(super) fn row_segment(&self, ids: &[u32], row: usize) -> u32 {
        let words = self.id_words as usize;
        let at = (self.ids_base as usize + row) * words;
        self.segment(ids[at], if words == 2 { ids[at + 1] } else { 0 })
    }

    /// The segment of an id of two words.
    #[inline(always)]
    pub(super) fn segment(&self, low: u32, high: u32) -> u32 {
        let segment = low.wrapping_sub(self.first_segment);
        let inside = low < 1 << 31 && low >= self.first_segment && segment < self.segments;
        if high == 0 && inside { segment } else { NO_SEGMENT }
    }

    /// The rows of a chunk.
    pub(super) fn rows_of(&self, chunk: usize) -> Range<usize> {
        let begin = chunk * self.chunk as usize;
        begin..(begin + self.chunk as usize).min(self.rows as usize)
    }
}
