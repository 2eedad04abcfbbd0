//! The maxima of ascending segments of rows of one element, many rows at a time.

use std::ops::Range;

use super::chunks::Part;
use super::params::{NO_SEGMENT, Params};
use super::rows::Maxima;
use super::short::{BLOCK, Short};
use crate::tensor::key::{Key, Lane};
use crate::vector::{Load, Store, prefetch, vector};

/// How often the ids of a block change if its segments are worked on one by one, at most.
const FEW: u32 = 10;
/// Rows of many segments that are worked on together, at least, unless ids are far apart.
const MIN_ROWS: usize = 128;

/// A chunk on its way.
struct Chunk<'a, 'b, L: Load<Lane: Key>, R: Store, C: Store> {
    maxima: &'a Maxima<'a, L, R, C>,
    part: &'a mut Part<'b, R::Item, C::Item>,
    short: &'a mut Short<L::Lane>,
    /// Its place in the carry list, if it is carried.
    entry: Option<usize>,
    /// The segment that rows belong to now.
    current: u32,
    state: L::Lane,
    /// Whether that is the first one.
    first: bool,
}

/// Goes through some chunks.
#[inline(always)]
pub(super) fn visit<L, R, C>(
    p: &Params,
    maxima: &Maxima<'_, L, R, C>,
    ids: &[u32],
    mut part: Part<'_, R::Item, C::Item>,
) where
    L: Load<Lane: Key>,
    R: Store<Lane = L::Lane>,
    C: Store<Lane = L::Lane>,
{
    let short = &mut Short::new();
    for i in 0..part.chunks {
        let rows = p.rows_of(part.chunk + i);
        let entry = (p.last == 0).then_some(2 * i);
        let (current, state) = (NO_SEGMENT, L::Lane::LOWEST);
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

impl<L, R, C> Chunk<'_, '_, L, R, C>
where
    L: Load<Lane: Key>,
    R: Store<Lane = L::Lane>,
    C: Store<Lane = L::Lane>,
{
    /// The rows of the current segment have ended.
    #[inline(always)]
    fn flush(&mut self) {
        let entry = self.entry.filter(|_| self.first);
        flush(self.maxima, self.part, entry, self.current, self.state);
        self.first &= self.current == NO_SEGMENT;
    }

    /// The rows of the chunk have ended.
    #[inline(always)]
    fn end(&mut self) {
        let Some(entry) = self.entry else {
            return self.flush();
        };
        let last = if self.first { entry } else { entry + 1 };
        self.part.carry_ids[entry + 1] = NO_SEGMENT;
        self.part.carry_ids[last] = self.current;
        flush(self.maxima, self.part, Some(last), self.current, self.state);
    }

    /// Adds rows of one segment.
    #[inline(always)]
    fn add(&mut self, segment: u32, max: L::Lane) {
        if segment == self.current {
            self.state = self.state.max(max);
        } else {
            self.flush();
            (self.current, self.state) = (segment, max);
        }
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
        for line in items.chunks(vector::<L::Item>()) {
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
                let mut max = L::Lane::LOWEST;
                for &item in self.maxima.rows(rows.start + begin..rows.start + begin + count) {
                    max = self.maxima.load.load(item, 0).max(max);
                }
                self.add(ids[begin][0] - p.first_segment, max);
            } else {
                while count > MIN_ROWS && !Short::<L::Lane>::fits(&ids[begin..begin + count]) {
                    count /= 2;
                }
                let (ids, rows) = (&ids[begin..][..count], rows.start + begin..);
                let rows = rows.start..rows.start + count;
                match Short::<L::Lane>::fits(ids) {
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
                self.add(segment, self.maxima.load.load(item, 0));
            }
        }
    }

    /// Adds rows of many segments.
    #[inline(always)]
    fn short<const W: usize>(&mut self, p: &Params, ids: &[[u32; W]], rows: Range<usize>) {
        let first = ids[0][0] - p.first_segment;
        let mut before = L::Lane::LOWEST;
        if first == self.current {
            before = self.state;
        } else {
            self.flush();
        }
        let items = self.maxima.rows(rows);
        let maxima = self.short.maxima(self.maxima.load, items, ids, before);
        let count = maxima.len();
        let last = Key::unnumbered(maxima[count - 1]);
        if count > 1 {
            // The first segment of a chunk is carried.
            let entry = self.entry.filter(|_| self.first);
            let max = Key::unnumbered(maxima[0]);
            flush(self.maxima, self.part, entry, first, max);
            store_all(self.maxima, self.part, first + 1, &maxima[1..count - 1]);
            self.first = false;
        }
        (self.current, self.state) = (first + count as u32 - 1, last);
    }
}

/// Stores neighbouring segments, except those without rows.
#[inline(always)]
fn store_all<L, R, C>(
    maxima: &Maxima<'_, L, R, C>,
    part: &mut Part<'_, R::Item, C::Item>,
    first: u32,
    all: &[<L::Lane as Key>::Found],
) where
    L: Load<Lane: Key>,
    R: Store<Lane = L::Lane>,
    C: Store<Lane = L::Lane>,
{
    let begin = (first as usize).wrapping_sub(part.first);
    // What is not this part's is left out, if ids do not ascend after all.
    let results = part.results.get_mut(begin..).unwrap_or_default();
    for (result, &max) in results.iter_mut().zip(all) {
        let item = maxima.result.store(Key::unnumbered(max));
        *result = if L::Lane::number(max) == 0 { *result } else { item };
    }
}

/// Stores a segment whose rows have ended, or puts it on the carry list.
#[inline(always)]
fn flush<L, R, C>(
    maxima: &Maxima<'_, L, R, C>,
    part: &mut Part<'_, R::Item, C::Item>,
    entry: Option<usize>,
    segment: u32,
    state: L::Lane,
) where
    L: Load,
    R: Store<Lane = L::Lane>,
    C: Store<Lane = L::Lane>,
{
    if segment == NO_SEGMENT {
        return;
    }
    if let Some(entry) = entry {
        part.carry[entry] = maxima.carry.store(state);
        part.carry_ids[entry] = segment;
    } else if let Some(out) = part.results.get_mut((segment as usize).wrapping_sub(part.first)) {
        *out = maxima.result.store(state);
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
