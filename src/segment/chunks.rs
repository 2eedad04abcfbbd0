//! `shaders/segment/groups.wgsl` and `shaders/segment/chunks.wgsl` on the CPU: chunks of rows whose ids
//! ascend.

use std::ops::Range;

use bytemuck::{Pod, cast_slice_mut};

use super::params::{NO_SEGMENT, Params};
use crate::base::threads;
use crate::plan::Call;
use crate::vector::PARALLEL_FROM;

/// What a kernel computes from the rows of a segment, for each of their columns.
pub(super) trait Visit: Sync {
    /// The maximum of the rows so far.
    type State: Copy + Send;
    /// An item of the result.
    type Result: Pod + Send;
    /// An item of the carry list.
    type Carry: Pod + Send;
    /// The state before the first row.
    fn nothing(&self) -> Self::State;
    /// How many states a row of so many columns has, at least as many. Those of the columns are stored.
    #[inline(always)]
    fn state_count(&self, columns: usize) -> usize {
        columns
    }
    /// Adds all columns of some rows.
    fn add_rows(&self, states: &mut [Self::State], rows: Range<usize>);
    fn result(&self, state: Self::State) -> Self::Result;
    fn carry(&self, state: Self::State) -> Self::Carry;
    /// Goes through some chunks.
    fn visit(&self, p: &Params, ids: &[u32], part: Part<'_, Self::Result, Self::Carry>);
}

/// Some chunks, and where their results are stored.
pub(super) struct Part<'a, R, C> {
    /// The first chunk.
    pub chunk: usize,
    pub chunks: usize,
    /// The segment of the first result.
    pub first: usize,
    pub results: &'a mut [R],
    pub carry: &'a mut [C],
    pub carry_ids: &'a mut [u32],
}

/// Runs a launch whose sources are rows and ids, and whose results are the maxima, the carry list
/// and its ids.
pub(super) fn run<V: Visit>(visit: &V, call: Call<'_, '_>) {
    let p: &Params = call.params();
    let [results, carry, carry_ids] = call.results else {
        unreachable!("planners bind what a kernel declares")
    };
    let ids = &p.id_form.words(call.sources[1]);
    let (first, outputs) = (p.result_base as usize, p.segments as usize * p.inner as usize);
    let results: &mut [V::Result] = cast_slice_mut(results);
    let carry: &mut [V::Carry] = cast_slice_mut(carry);
    let carry_ids: &mut [u32] = cast_slice_mut(carry_ids);
    let all = Part {
        chunk: 0,
        chunks: p.chunks as usize,
        first: 0,
        results: &mut results[first..][..outputs],
        carry: &mut carry[p.carry_base as usize..],
        carry_ids: &mut carry_ids[p.carry_ids_base as usize..],
    };
    let work = p.rows as usize * p.inner as usize;
    if work < PARALLEL_FROM {
        visit.visit(p, ids, all);
    } else {
        threads::each(split(p, ids, all), |part| visit.visit(p, ids, part));
    }
}

/// Divides chunks into parts for all threads. A part stores the segments from that of its first row up
/// to, but not including, that of the next part's first row. If ids do not ascend, the rest is not
/// stored.
fn split<'a, R, C>(p: &Params, ids: &[u32], all: Part<'a, R, C>) -> Vec<Part<'a, R, C>> {
    let (inner, chunks) = (p.inner as usize, p.chunks as usize);
    let count = (4 * threads::count()).min(chunks);
    let share = chunks.div_ceil(count.max(1)).max(1);
    let count = chunks.div_ceil(share);

    let mut firsts = vec![p.segments as usize; count + 1];
    for part in (1..count).rev() {
        let rows = p.rows_of(part * share).start..p.rows_of((part + 1) * share - 1).end;
        let found = rows.map(|row| p.row_segment(ids, row)).find(|&id| id != NO_SEGMENT);
        firsts[part] = found.map_or(firsts[part + 1], |id| (id as usize).min(firsts[part + 1]));
    }
    firsts[0] = 0;

    let Part { mut results, mut carry, mut carry_ids, .. } = all;
    let mut parts = Vec::with_capacity(count);
    for part in 0..count {
        let chunk = part * share;
        let chunks = share.min(chunks - chunk);
        let entries = if p.last == 1 { 0 } else { 2 * chunks };
        let outputs = (firsts[part + 1] - firsts[part]) * inner;
        parts.push(Part {
            chunk,
            chunks,
            first: firsts[part],
            results: results.split_off_mut(..outputs).unwrap_or_default(),
            carry: carry.split_off_mut(..entries * inner).unwrap_or_default(),
            carry_ids: carry_ids.split_off_mut(..entries).unwrap_or_default(),
        });
    }
    parts
}

/// Goes through some chunks row by row, with all columns of a row at once. The state of a chunk is in
/// variables: in a structure with methods, rows of 64 elements took 1.2 times as long.
#[inline(always)]
pub(super) fn all_columns<V: Visit>(
    p: &Params,
    visit: &V,
    ids: &[u32],
    part: Part<'_, V::Result, V::Carry>,
) {
    let (inner, carries) = (p.inner as usize, p.last == 0);
    let mut states = vec![visit.nothing(); visit.state_count(inner)];
    let Part { chunk, chunks, first: first_segment, results, carry, carry_ids } = part;
    let mut store = |segment: u32, states: &[V::State]| {
        let at = (segment as usize).wrapping_sub(first_segment).wrapping_mul(inner);
        if let Some(results) = results.get_mut(at..at.wrapping_add(inner)) {
            results.iter_mut().zip(states).for_each(|(out, &state)| *out = visit.result(state));
        }
    };
    for i in 0..chunks {
        states.fill(visit.nothing());
        let (mut current, mut first) = (NO_SEGMENT, true);
        let mut keep = |entry: usize, states: &[V::State]| {
            let carry = &mut carry[entry * inner..][..inner];
            carry.iter_mut().zip(states).for_each(|(out, &state)| *out = visit.carry(state));
        };
        let mut rows = p.rows_of(chunk + i);
        while let Some(row) = rows.next() {
            let next = p.row_segment(ids, row);
            if next == NO_SEGMENT {
                continue;
            }
            if next != current {
                if current != NO_SEGMENT {
                    if carries && first {
                        keep(2 * i, &states);
                        carry_ids[2 * i] = current;
                    } else {
                        store(current, &states);
                    }
                    first = false;
                }
                states.fill(visit.nothing());
                current = next;
            }
            // All consecutive rows of the segment.
            rows.start += p.alike(ids, rows.clone());
            visit.add_rows(&mut states, row..rows.start);
        }
        if carries {
            let entry = if first { 2 * i } else { 2 * i + 1 };
            if current != NO_SEGMENT {
                keep(entry, &states);
            }
            carry_ids[entry] = current;
            if first {
                carry_ids[2 * i + 1] = NO_SEGMENT;
            }
        } else if current != NO_SEGMENT {
            store(current, &states);
        }
    }
}
