//! The maxima of ascending segments of rows of one element, many rows at a time.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::chunks::Part;
use super::maxima::Maxima;
use super::params::{NO_SEGMENT, Params};
use crate::fault::{self, Fault};
use crate::tensor::key::Lane;
use crate::vector::{Load, Store};

/// Rows that are worked on together.
const BLOCK: usize = 256;
/// Segments of a block that are worked on one by one, at most.
const FEW: usize = 3;
/// Rows before a block, of no segment: what is read from before the block is there.
const BEFORE: usize = BLOCK;

/// What a block is worked on with: its rows, behind [`BEFORE`] others.
struct Work<K> {
    segments: [u32; BEFORE + BLOCK],
    keys: [K; BEFORE + BLOCK],
    next: [K; BEFORE + BLOCK],
}

/// A chunk on its way.
struct Chunk<'a, 'b, L: Load, R: Store, C: Store> {
    maxima: &'a Maxima<'a, L, R, C>,
    part: &'a mut Part<'b, R::Item, C::Item>,
    work: &'a mut Work<L::Lane>,
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
    L: Load,
    R: Store<Lane = L::Lane>,
    C: Store<Lane = L::Lane>,
{
    let nothing = [L::Lane::LOWEST; BEFORE + BLOCK];
    let work = &mut Work { segments: [NO_SEGMENT; BEFORE + BLOCK], keys: nothing, next: nothing };
    for i in 0..part.chunks {
        let rows = p.rows_of(part.chunk + i);
        let entry = (p.last == 0).then_some(2 * i);
        let (current, state) = (NO_SEGMENT, L::Lane::LOWEST);
        let part = &mut part;
        let mut chunk = Chunk { maxima, part, work, entry, current, state, first: true };
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
    L: Load,
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
            self.current = fault::or(Fault::LastSegment, self.current, NO_SEGMENT);
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
        let Some(changes) = ascending(p, ids, rows.clone(), &mut self.work.segments) else {
            for row in rows {
                let segment = p.row_segment(ids, row);
                if segment != NO_SEGMENT {
                    let item = self.maxima.rows(row..row + 1)[0];
                    self.add(segment, self.maxima.load.load(item, 0));
                }
            }
            return;
        };
        if changes > FEW {
            return self.many(rows);
        }
        let mut begin = 0;
        while begin < rows.len() {
            let found = &self.work.segments[BEFORE + begin..BEFORE + rows.len()];
            let segment = found[0];
            let count =
                if changes == 0 { rows.len() } else { found.partition_point(|&x| x == segment) };
            let mut max = L::Lane::LOWEST;
            let first = rows.start + begin;
            for &item in self.maxima.rows(first..first + count) {
                max = self.maxima.load.load(item, 0).max(max);
            }
            self.add(segment, max);
            begin += count;
        }
    }

    /// Rows of many segments.
    #[inline(always)]
    fn many(&mut self, rows: Range<usize>) {
        let count = rows.len();
        let Work { segments, keys, next } = &mut *self.work;
        for (key, &item) in keys[BEFORE..].iter_mut().zip(self.maxima.rows(rows)) {
            *key = self.maxima.load.load(item, 0);
        }
        let mine = &segments[BEFORE..BEFORE + count];
        if mine[0] == self.current {
            let before = fault::or(Fault::BlockBorder, self.state, L::Lane::LOWEST);
            keys[BEFORE] = keys[BEFORE].max(before);
        } else {
            let entry = self.entry.filter(|_| self.first);
            let ended = fault::or(Fault::BlockEnd, self.current, NO_SEGMENT);
            flush(self.maxima, self.part, entry, ended, self.state);
            self.first &= self.current == NO_SEGMENT;
            self.current = mine[0];
        }
        let keys = running_maxima(segments, keys, next, count);
        // The first segment of a chunk is carried, the last one of the block goes on.
        let mut begin = 0;
        if let Some(entry) = self.entry.filter(|_| self.first) {
            begin = mine.partition_point(|&segment| segment == mine[0]);
            let max = keys[fault::or(Fault::CarryFirst, begin, 1) - 1];
            flush(self.maxima, self.part, Some(entry), self.current, max);
        }
        let last = mine[count - 1];
        let end = mine.partition_point(|&segment| segment < last);
        let mut items = [R::Item::zeroed(); BLOCK];
        for (item, &key) in items.iter_mut().zip(keys) {
            *item = self.maxima.result.store(key);
        }
        store_all(self.part, &mine[begin..end], &items[begin..end]);
        (self.current, self.state, self.first) = (last, keys[count - 1], false);
    }
}

/// Makes every key of a block the maximum of those of its segment up to it, of three times as many
/// rows in each step: ids ascend, so where two are equal all between them are.
#[inline(always)]
fn running_maxima<'a, K: Lane>(
    segments: &[u32; BEFORE + BLOCK],
    keys: &'a mut [K; BEFORE + BLOCK],
    next: &'a mut [K; BEFORE + BLOCK],
    count: usize,
) -> &'a [K] {
    let (mut keys, mut next) = (&mut keys[..], &mut next[..]);
    let mine = &segments[BEFORE..BEFORE + count];
    let reach = fault::or(Fault::RunningMaxima, count, count.min(243));
    let mut apart = 1;
    while apart < reach {
        let once = BEFORE - apart;
        let twice = BEFORE - (2 * apart).min(BEFORE);
        let others = keys[once..].iter().zip(&keys[twice..]);
        let others = others.zip(&segments[once..]).zip(&segments[twice..]);
        let all = next[BEFORE..][..count].iter_mut().zip(&keys[BEFORE..]).zip(mine);
        let mut equal = 0;
        for (((next, &key), &segment), (((&a, &b), &a_segment), &b_segment)) in all.zip(others) {
            equal |= u32::from(segment == a_segment);
            let a = if segment == a_segment { a } else { K::LOWEST };
            let b = if segment == b_segment { b } else { K::LOWEST };
            *next = key.max(a).max(b);
        }
        if equal == 0 {
            break;
        }
        (keys, next) = (next, keys);
        apart *= 3;
    }
    &keys[BEFORE..][..count]
}

/// Stores all rows, not only the last one of each segment: what is stored last stays. What is not
/// this part's is left out, if ids do not ascend after all.
#[inline(always)]
fn store_all<X: Pod, Y>(part: &mut Part<'_, X, Y>, segments: &[u32], items: &[X]) {
    let first = part.first as u32;
    let capacity = part.results.len();
    let inside = |segment: &u32| *segment >= first && ((*segment - first) as usize) < capacity;
    if let (Some(low), Some(high)) = (segments.first(), segments.last())
        && inside(low)
        && inside(high)
    {
        let (low, high) = (low - first, high - first);
        let results = &mut part.results[low as usize..=high as usize];
        for (&segment, &item) in segments.iter().zip(items) {
            results[(segment - first - low) as usize] = item;
        }
    } else {
        for (&segment, &item) in segments.iter().zip(items).filter(|(s, _)| inside(s)) {
            part.results[(segment - first) as usize] = item;
        }
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

/// Finds the segments of some rows, and how often they change; `None` unless they ascend and all
/// ids are in range.
#[inline(always)]
fn ascending(
    p: &Params,
    ids: &[u32],
    rows: Range<usize>,
    found: &mut [u32; BEFORE + BLOCK],
) -> Option<usize> {
    let (words, count) = (p.id_words as usize, rows.len());
    let ids = &ids[(p.ids_base as usize + rows.start) * words..][..count * words];
    let mut wrong = 0;
    if words == 1 {
        for (found, &id) in found[BEFORE..].iter_mut().zip(ids) {
            *found = id.wrapping_sub(p.first_segment);
        }
    } else {
        for (found, id) in found[BEFORE..].iter_mut().zip(ids.as_chunks::<2>().0) {
            *found = id[0].wrapping_sub(p.first_segment);
            wrong |= id[1];
        }
    }
    // In the order of what was subtracted, ids out of range come last.
    found[BEFORE - 1] = found[BEFORE];
    let mut changes = 0;
    for (&segment, &before) in found[BEFORE..][..count].iter().zip(&found[BEFORE - 1..]) {
        changes += u32::from(before != segment);
        wrong |= u32::from(before > segment);
    }
    found[BEFORE - 1] = NO_SEGMENT;
    let last = found[BEFORE + count - 1];
    let inside = last < p.segments && u64::from(last) + u64::from(p.first_segment) < 1 << 31;
    (wrong == 0 && inside).then_some(changes as usize)
}
