//! The maxima of ascending segments if a row has one element. Takes many rows at a time.

use std::ops::Range;

use super::chunks::Part;
use super::params::{NO_SEGMENT, Params};
use super::rows::{Form, Maxima};
use super::short::{BLOCK, Short};
use crate::tensor::key::{Key, Lane};
use crate::vector::{prefetch, vector};

/// Maximum changes of ids in a block whose segments are reduced one by one.
const FEW: u32 = 10;
/// Minimum rows of many segments that are reduced together, unless ids are far apart.
const MIN_ROWS: usize = 128;

/// The state of a chunk.
struct Chunk<'a, 'b, F: Form> {
    maxima: &'a Maxima<'a, F>,
    part: &'a mut Part<'b, F::Result, F::Carry>,
    short: &'a mut Short<F::Lane>,
    /// The first of its two entries in the carry list, if it is carried.
    entry: Option<usize>,
    /// The current segment.
    current: u32,
    state: F::Lane,
    /// Whether it is the first segment of the chunk.
    first: bool,
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
        let entry = (p.last == 0).then_some(2 * i);
        let (current, state) = (NO_SEGMENT, F::Lane::LOWEST);
        let part = &mut part;
        let mut chunk = Chunk { maxima, part, short, entry, current, state, first: true };
        let mut begin = rows.start;
        while begin < rows.end {
            let end = rows.end.min(begin + BLOCK);
            chunk.block(p, ids, begin..end);
            begin = end;
        }
        chunk.end();
    }
}

impl<F: Form> Chunk<'_, '_, F> {
    /// Begins a segment, unless it is the current one.
    #[inline(always)]
    fn turn_to(&mut self, segment: u32) {
        if segment != self.current {
            self.flush();
            (self.current, self.state) = (segment, F::Lane::LOWEST);
        }
    }

    /// Adds rows of one segment.
    #[inline(always)]
    fn add(&mut self, segment: u32, max: F::Lane) {
        self.turn_to(segment);
        self.state = self.state.max(max);
    }

    /// Ends the current segment: it is stored, or put on the carry list.
    #[inline(always)]
    fn flush(&mut self) {
        if self.current == NO_SEGMENT {
            return;
        }
        let at = (self.current as usize).wrapping_sub(self.part.first);
        if let Some(entry) = self.entry.filter(|_| self.first) {
            self.carry(entry);
        } else if let Some(out) = self.part.results.get_mut(at) {
            *out = self.maxima.form.result(self.state);
        }
        self.first = false;
    }

    #[inline(always)]
    fn carry(&mut self, entry: usize) {
        self.part.carry[entry] = self.maxima.form.carry(self.state);
        self.part.carry_ids[entry] = self.current;
    }

    /// Ends the chunk.
    #[inline(always)]
    fn end(mut self) {
        let Some(entry) = self.entry else {
            return self.flush();
        };
        let last = if self.first { entry } else { entry + 1 };
        self.part.carry_ids[entry + 1] = NO_SEGMENT;
        self.part.carry_ids[last] = self.current;
        if self.current != NO_SEGMENT {
            self.carry(last);
        }
    }

    #[inline(always)]
    fn block(&mut self, p: &Params, ids: &[u32], rows: Range<usize>) {
        let words = p.id_form.id_words as usize;
        let mut ids = &ids[(p.ids_base as usize + rows.start) * words..][..rows.len() * words];
        // The ids and rows of the next block.
        for line in ids.chunks(vector::<u32>()) {
            prefetch(line, size_of_val(ids));
        }
        let items = self.maxima.rows(rows.clone());
        for line in items.chunks(vector::<F::Item>()) {
            prefetch(line, size_of_val(items));
        }
        let mut narrow;
        if words == 2 {
            // As ids of one word: an id above 32 bits names no segment, and neither does the largest word.
            narrow = [0; BLOCK];
            for (narrow, &[low, high]) in narrow.iter_mut().zip(ids.as_chunks().0) {
                *narrow = if high == 0 { low } else { NO_SEGMENT };
            }
            ids = &narrow[..rows.len()];
        }
        self.rows_of_ids(p, ids, rows);
    }

    /// Adds rows with these ids.
    #[inline(always)]
    fn rows_of_ids(&mut self, p: &Params, ids: &[u32], rows: Range<usize>) {
        let Some(changes) = changes(p, ids) else { return self.one_by_one(p, ids, rows) };
        let mut begin = 0;
        while begin < ids.len() {
            let mut count = ids.len() - begin;
            if changes <= FEW {
                count = ids[begin..].partition_point(|&id| id == ids[begin]);
                let mut max = F::Lane::LOWEST;
                for &item in self.maxima.rows(rows.start + begin..rows.start + begin + count) {
                    max = self.maxima.form.load(item, 0).max(max);
                }
                self.add(ids[begin] - p.first_segment, max);
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
    fn one_by_one(&mut self, p: &Params, ids: &[u32], rows: Range<usize>) {
        for (&id, &item) in ids.iter().zip(self.maxima.rows(rows)) {
            let segment = p.segment(id, 0);
            if segment != NO_SEGMENT {
                self.add(segment, self.maxima.form.load(item, 0));
            }
        }
    }

    /// Adds rows of many segments.
    #[inline(always)]
    fn short(&mut self, p: &Params, ids: &[u32], rows: Range<usize>) {
        let first = ids[0] - p.first_segment;
        self.turn_to(first);
        let before = self.state;
        let maxima = self.short.maxima(self.maxima.form, self.maxima.rows(rows), ids, before);
        let (count, last) = (maxima.len(), Key::unnumbered(maxima[maxima.len() - 1]));
        if count > 1 {
            // The first segment of a chunk is carried.
            let first_state = Key::unnumbered(maxima[0]);
            store_all(self.maxima.form, self.part, first + 1, &maxima[1..count - 1]);
            self.state = first_state;
            self.flush();
        }
        self.current = first + count as u32 - 1;
        self.state = last;
    }
}

/// Stores neighbouring segments, except those without rows.
#[inline(always)]
fn store_all<F: Form>(
    form: F,
    part: &mut Part<'_, F::Result, F::Carry>,
    first: u32,
    all: &[<F::Lane as Key>::Numbered],
) {
    let begin = (first as usize).wrapping_sub(part.first);
    // If ids do not ascend after all, segments of other parts are skipped.
    let results = part.results.get_mut(begin..).unwrap_or_default();
    for (result, &max) in results.iter_mut().zip(all) {
        let item = form.result(Key::unnumbered(max));
        *result = if F::Lane::number(max) == 0 { *result } else { item };
    }
}

/// How often the segments of some rows change; `None` unless they ascend and all ids are in range.
#[inline(always)]
fn changes(p: &Params, ids: &[u32]) -> Option<u32> {
    let (mut wrong, mut changes) = (0, 0);
    for (id, next) in ids.iter().zip(&ids[1..]) {
        changes += u32::from(id != next);
        wrong |= u32::from(id > next);
    }
    let (first, last) = (ids[0], ids[ids.len() - 1]);
    let end = (u64::from(p.first_segment) + u64::from(p.segments)).min(1 << 31);
    (wrong == 0 && first >= p.first_segment && u64::from(last) < end).then_some(changes)
}
