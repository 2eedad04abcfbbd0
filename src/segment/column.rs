//! The maxima of ascending segments of rows of one element, many rows at a time.

use std::ops::Range;

use super::chunks::{Chunk, Part};
use super::params::{NO_SEGMENT, Params};
use super::rows::{Form, Maxima};
use super::short::{BLOCK, Short};
use crate::tensor::key::{Key, Lane};
use crate::vector::{prefetch, vector};

/// How often the ids of a block change if its segments are worked on one by one, at most.
const FEW: u32 = 10;
/// Rows of many segments that are worked on together, at least, unless ids are far apart.
const MIN_ROWS: usize = 128;

/// A chunk on its way.
struct Column<'a, 'b, F: Form> {
    maxima: &'a Maxima<'a, F>,
    chunk: Chunk<'a, 'b, Maxima<'a, F>>,
    short: &'a mut Short<F::Lane>,
}

/// Goes through some chunks.
#[inline(always)]
pub(super) fn visit<F: Form>(
    p: &Params,
    maxima: &Maxima<'_, F>,
    ids: &[u32],
    mut part: Part<'_, F::Result, F::Carry>,
) {
    let short = &mut Short::new();
    for i in 0..part.chunks {
        let rows = p.rows_of(part.chunk + i);
        let state = &mut [F::Lane::LOWEST];
        let chunk = Chunk::new(p, maxima, &mut part, i, state);
        let mut column = Column { maxima, chunk, short };
        let mut begin = rows.start;
        while begin < rows.end {
            let end = rows.end.min(begin + BLOCK);
            column.block(p, ids, begin..end);
            begin = end;
        }
        column.chunk.end();
    }
}

impl<F: Form> Column<'_, '_, F> {
    /// Adds rows of one segment.
    #[inline(always)]
    fn add(&mut self, segment: u32, max: F::Lane) {
        self.chunk.turn_to(segment);
        self.chunk.states[0] = self.chunk.states[0].max(max);
    }

    #[inline(always)]
    fn block(&mut self, p: &Params, ids: &[u32], rows: Range<usize>) {
        let words = p.id_form.id_words as usize;
        let of_rows = &ids[(p.ids_base as usize + rows.start) * words..][..rows.len() * words];
        // What the next block has.
        for line in of_rows.chunks(vector::<u32>()) {
            prefetch(line, size_of_val(of_rows));
        }
        let items = self.maxima.rows(rows.clone());
        for line in items.chunks(vector::<F::Item>()) {
            prefetch(line, size_of_val(items));
        }
        match words {
            1 => self.rows_of_ids(p, of_rows.as_chunks::<1>().0, rows),
            _ => self.rows_of_ids(p, of_rows.as_chunks::<2>().0, rows),
        }
    }

    /// Adds rows with these ids, of one or two words.
    #[inline(always)]
    fn rows_of_ids<const W: usize>(&mut self, p: &Params, ids: &[[u32; W]], rows: Range<usize>) {
        let Some(changes) = changes(p, ids) else { return self.one_by_one(p, ids, rows) };
        let mut begin = 0;
        while begin < ids.len() {
            let mut count = ids.len() - begin;
            if changes <= FEW {
                count = ids[begin..].partition_point(|id| id[0] == ids[begin][0]);
                let mut max = F::Lane::LOWEST;
                for &item in self.maxima.rows(rows.start + begin..rows.start + begin + count) {
                    max = self.maxima.form.load(item, 0).max(max);
                }
                self.add(ids[begin][0] - p.first_segment, max);
            } else {
                while count > MIN_ROWS && !Short::<F::Lane>::fits(&ids[begin..begin + count]) {
                    count /= 2;
                }
                let (ids, rows) = (&ids[begin..][..count], rows.start + begin..);
                let rows = rows.start..rows.start + count;
                match Short::<F::Lane>::fits(ids) {
                    true => self.short(p, ids, rows),
                    false => self.one_by_one(p, ids, rows),
                }
            }
            begin += count;
        }
    }

    /// Adds rows whose ids may be out of range or in any order.
    #[inline(always)]
    fn one_by_one<const W: usize>(&mut self, p: &Params, ids: &[[u32; W]], rows: Range<usize>) {
        for (id, &item) in ids.iter().zip(self.maxima.rows(rows)) {
            let segment = p.segment(id[0], if W == 2 { id[W - 1] } else { 0 });
            if segment != NO_SEGMENT {
                self.add(segment, self.maxima.form.load(item, 0));
            }
        }
    }

    /// Adds rows of many segments.
    #[inline(always)]
    fn short<const W: usize>(&mut self, p: &Params, ids: &[[u32; W]], rows: Range<usize>) {
        let first = ids[0][0] - p.first_segment;
        self.chunk.turn_to(first);
        let before = self.chunk.states[0];
        let maxima = self.short.maxima(self.maxima.form, self.maxima.rows(rows), ids, before);
        let count = maxima.len();
        if count > 1 {
            // The first segment of a chunk is carried.
            self.chunk.states[0] = Key::unnumbered(maxima[0]);
            self.chunk.flush();
            store_all(self.maxima.form, self.chunk.part, first + 1, &maxima[1..count - 1]);
        }
        self.chunk.current = first + count as u32 - 1;
        self.chunk.states[0] = Key::unnumbered(maxima[count - 1]);
    }
}

/// Stores neighbouring segments, except those without rows.
#[inline(always)]
fn store_all<F: Form>(
    form: F,
    part: &mut Part<'_, F::Result, F::Carry>,
    first: u32,
    all: &[<F::Lane as Key>::Found],
) {
    let begin = (first as usize).wrapping_sub(part.first);
    // What is not this part's is left out, if ids do not ascend after all.
    let results = part.results.get_mut(begin..).unwrap_or_default();
    for (result, &max) in results.iter_mut().zip(all) {
        let item = form.result(Key::unnumbered(max));
        *result = if F::Lane::number(max) == 0 { *result } else { item };
    }
}

/// How often the segments of some rows change; `None` unless they ascend and all ids are in range.
#[inline(always)]
fn changes<const W: usize>(p: &Params, ids: &[[u32; W]]) -> Option<u32> {
    let (mut wrong, mut changes) = (0, 0);
    for (id, next) in ids.iter().zip(&ids[1..]) {
        changes += u32::from(id[0] != next[0]);
        wrong |= u32::from(id[0] > next[0]);
    }
    if W == 2 {
        wrong |= ids.iter().fold(0, |all, id| all | id[W - 1]);
    }
    let (first, last) = (ids[0][0], ids[ids.len() - 1][0]);
    let end = (u64::from(p.first_segment) + u64::from(p.segments)).min(1 << 31);
    (wrong == 0 && first >= p.first_segment && u64::from(last) < end).then_some(changes)
}
