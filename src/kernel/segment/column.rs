//! The maxima of ascending segments of one column, many rows at a time.

use std::ops::Range;

use bytemuck::Zeroable;

use super::runs::{Part, Values};
use super::{NONE, Params};
use crate::kernel::{Read, Write};
use crate::tensor::key::Lane;

/// Rows that are worked on together.
const BLOCK: usize = 256;
/// Segments of a block that are looked at one by one.
const FEW: usize = 3;
/// Rows before a block, which belong to no segment: what is looked back at from it is there.
const BEFORE: usize = BLOCK;

/// What a block is worked on with: behind [`BEFORE`] other ones, its rows.
struct Work<K> {
    ids: [u32; BEFORE + BLOCK],
    keys: [K; BEFORE + BLOCK],
    next: [K; BEFORE + BLOCK],
}

/// A run on its way.
struct Run<'a, 'b, R: Read, O: Write, C: Write> {
    values: &'a Values<'a, R, O, C>,
    part: &'a mut Part<'b, O::Item, C::Item>,
    work: &'a mut Work<R::Key>,
    /// Its place in the carry list, if it is carried.
    entry: Option<usize>,
    /// The segment that rows belong to now.
    current: u32,
    state: R::Key,
    /// Whether that is the first one.
    first: bool,
}

#[inline(always)]
pub(super) fn walk<R, O, C>(
    p: &Params,
    values: &Values<'_, R, O, C>,
    ids: &[u32],
    mut part: Part<'_, O::Item, C::Item>,
) where
    R: Read,
    O: Write<Key = R::Key>,
    C: Write<Key = R::Key>,
{
    let nothing = [R::Key::LOWEST; BEFORE + BLOCK];
    let work = &mut Work { ids: [NONE; BEFORE + BLOCK], keys: nothing, next: nothing };
    for i in 0..part.runs {
        let rows = p.rows_of(part.run + i);
        let entry = (p.last == 0).then_some(2 * i);
        let state = R::Key::LOWEST;
        let part = &mut part;
        let mut run = Run { values, part, work, entry, current: NONE, state, first: true };
        let mut begin = rows.start;
        while begin < rows.end {
            let end = rows.end.min(begin + BLOCK);
            run.block(p, ids, begin..end);
            begin = end;
        }
        run.end();
    }
}

impl<R, O, C> Run<'_, '_, R, O, C>
where
    R: Read,
    O: Write<Key = R::Key>,
    C: Write<Key = R::Key>,
{
    /// The rows of the current segment have ended.
    #[inline(always)]
    fn flush(&mut self) {
        let entry = self.entry.filter(|_| self.first);
        flush(self.values, self.part, entry, self.current, self.state);
        self.first &= self.current == NONE;
    }

    /// The rows of the run have ended.
    #[inline(always)]
    fn end(&mut self) {
        let Some(entry) = self.entry else { return self.flush() };
        let last = if self.first { entry } else { entry + 1 };
        self.part.carry_ids[entry + 1] = NONE;
        self.part.carry_ids[last] = self.current;
        flush(self.values, self.part, Some(last), self.current, self.state);
    }

    /// Rows of one segment.
    #[inline(always)]
    fn add(&mut self, id: u32, most: R::Key) {
        if id == self.current {
            self.state = self.state.max(most);
        } else {
            self.flush();
            (self.current, self.state) = (id, most);
        }
    }

    #[inline(always)]
    fn block(&mut self, p: &Params, ids: &[u32], rows: Range<usize>) {
        let Some(changes) = ascending(p, ids, rows.clone(), &mut self.work.ids) else {
            for row in rows {
                let id = p.row_id(ids, row);
                if id != NONE {
                    self.add(id, self.values.read.key(self.values.rows(row..row + 1)[0]));
                }
            }
            return;
        };
        if changes > FEW {
            return self.many(rows);
        }
        let mut begin = 0;
        while begin < rows.len() {
            let found = &self.work.ids[BEFORE + begin..BEFORE + rows.len()];
            let id = found[0];
            let count = if changes == 0 { rows.len() } else { found.partition_point(|&x| x == id) };
            let mut most = R::Key::LOWEST;
            let first = rows.start + begin;
            for &item in self.values.rows(first..first + count) {
                most = self.values.read.key(item).max(most);
            }
            self.add(id, most);
            begin += count;
        }
    }

    /// Rows of many segments. Every key becomes the maximum of its segment's up to it, of three times as
    /// many rows in each step: ids ascend, so where two are equal all between them are.
    #[inline(always)]
    fn many(&mut self, rows: Range<usize>) {
        let count = rows.len();
        let Work { ids, keys, next } = &mut *self.work;
        let (mut keys, mut next) = (&mut keys[..], &mut next[..]);
        for (key, &item) in keys[BEFORE..].iter_mut().zip(self.values.rows(rows)) {
            *key = self.values.read.key(item);
        }
        let mine = &ids[BEFORE..BEFORE + count];
        if mine[0] == self.current {
            keys[BEFORE] = keys[BEFORE].max(self.state);
        } else {
            let entry = self.entry.filter(|_| self.first);
            flush(self.values, self.part, entry, self.current, self.state);
            self.first &= self.current == NONE;
            self.current = mine[0];
        }
        let mut apart = 1;
        while apart < count {
            let once = BEFORE - apart;
            let twice = BEFORE - (2 * apart).min(BEFORE);
            let others =
                keys[once..].iter().zip(&keys[twice..]).zip(&ids[once..]).zip(&ids[twice..]);
            let all = next[BEFORE..][..count].iter_mut().zip(&keys[BEFORE..]).zip(mine);
            let mut equal = 0;
            for (((next, &key), &id), (((&a, &b), &a_id), &b_id)) in all.zip(others) {
                equal |= u32::from(id == a_id);
                let a = if id == a_id { a } else { R::Key::LOWEST };
                let b = if id == b_id { b } else { R::Key::LOWEST };
                *next = key.max(a).max(b);
            }
            if equal == 0 {
                break;
            }
            (keys, next) = (next, keys);
            apart *= 3;
        }
        let keys = &keys[BEFORE..][..count];
        // The first segment of a run is carried, the last one of the block goes on.
        let mut begin = 0;
        if let Some(entry) = self.entry.filter(|_| self.first) {
            begin = mine.partition_point(|&id| id == mine[0]);
            flush(self.values, self.part, Some(entry), self.current, keys[begin - 1]);
        }
        let last = mine[count - 1];
        let end = mine.partition_point(|&id| id < last);
        let mut items = [O::Item::zeroed(); BLOCK];
        for (item, &key) in items.iter_mut().zip(keys) {
            *item = self.values.out.item(key);
        }
        // All rows, not only the last one of each segment: what is stored last stays. What is
        // not this part's is left out, if ids do not ascend after all.
        let first = self.part.first as u32;
        let room = self.part.out.len();
        let inside = |id: &u32| *id >= first && ((*id - first) as usize) < room;
        let (mine, items) = (&mine[begin..end], &items[begin..end]);
        if let (Some(low), Some(high)) = (mine.first(), mine.last())
            && inside(low)
            && inside(high)
        {
            let (low, high) = (low - first, high - first);
            let out = &mut self.part.out[low as usize..=high as usize];
            for (&id, &item) in mine.iter().zip(items) {
                out[(id - first - low) as usize] = item;
            }
        } else {
            for (id, &item) in mine.iter().zip(items).filter(|(id, _)| inside(id)) {
                self.part.out[(id - first) as usize] = item;
            }
        }
        (self.current, self.state, self.first) = (last, keys[count - 1], false);
    }
}

/// Stores a segment whose rows have ended, or puts it on the carry list.
#[inline(always)]
fn flush<R, O, C>(
    values: &Values<'_, R, O, C>,
    part: &mut Part<'_, O::Item, C::Item>,
    entry: Option<usize>,
    id: u32,
    state: R::Key,
) where
    R: Read,
    O: Write<Key = R::Key>,
    C: Write<Key = R::Key>,
{
    if id == NONE {
        return;
    }
    if let Some(entry) = entry {
        part.carry[entry] = values.carry.item(state);
        part.carry_ids[entry] = id;
    } else if let Some(out) = part.out.get_mut((id as usize).wrapping_sub(part.first)) {
        *out = values.out.item(state);
    }
}

/// Finds the ids of some rows, and how often they change; `None` unless they ascend and all are inside.
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
    // In the order of what was subtracted, those outside come last.
    found[BEFORE - 1] = found[BEFORE];
    let mut changes = 0;
    for (&id, &before) in found[BEFORE..][..count].iter().zip(&found[BEFORE - 1..]) {
        changes += u32::from(before != id);
        wrong |= u32::from(before > id);
    }
    found[BEFORE - 1] = NONE;
    let last = found[BEFORE + count - 1];
    let inside = last < p.segments && u64::from(last) + u64::from(p.first_segment) < 1 << 31;
    (wrong == 0 && inside).then_some(changes as usize)
}
