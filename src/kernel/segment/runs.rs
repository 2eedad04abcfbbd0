//! The twin of `shaders/segment_runs.wgsl`.

use std::ops::Range;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use rayon::prelude::*;

use super::{NONE, Params};
use crate::cpu::fold;
use crate::cpu::simd::{Loop, dispatch};
use crate::kernel::{PARALLEL_FROM, Read, Write};
use crate::tensor::key::{Keyed, Lane};

/// What is made of the rows of a segment, for each column.
pub(super) trait Walk: Sync {
    type State: Copy + Send;
    /// What the result holds, and the carry list.
    type Out: Pod + Send;
    type Carry: Pod + Send;
    fn nothing(&self) -> Self::State;
    /// All columns of a row.
    fn add_row(&self, states: &mut [Self::State], row: usize);
    fn out(&self, state: Self::State) -> Self::Out;
    fn carry(&self, state: Self::State) -> Self::Carry;
    /// Some runs.
    fn walk(&self, p: &Params, ids: &[u32], part: Part<'_, Self::Out, Self::Carry>);
}

/// The maxima.
pub(super) struct Values<'a, R: Read, O, C> {
    source: &'a [R::Item],
    pub inner: usize,
    pub read: R,
    pub out: O,
    pub carry: C,
}

impl<'a, R: Read, O, C> Values<'a, R, O, C> {
    pub(super) fn new(p: &Params, source: &'a [R::Item], read: R, out: O, carry: C) -> Self {
        Self { source: &source[p.base as usize..], inner: p.inner as usize, read, out, carry }
    }

    /// The elements of some rows.
    #[inline(always)]
    pub(super) fn rows(&self, rows: Range<usize>) -> &[R::Item] {
        &self.source[rows.start * self.inner..rows.end * self.inner]
    }
}

impl<R, O, C> Walk for Values<'_, R, O, C>
where
    R: Read,
    O: Write<Key = R::Key>,
    C: Write<Key = R::Key>,
{
    type State = R::Key;
    type Out = O::Item;
    type Carry = C::Item;

    #[inline(always)]
    fn nothing(&self) -> R::Key {
        R::Key::LOWEST
    }

    #[inline(always)]
    fn add_row(&self, states: &mut [R::Key], row: usize) {
        fold::merge(self.read, states, self.rows(row..row + 1));
    }

    #[inline(always)]
    fn out(&self, state: R::Key) -> O::Item {
        self.out.item(state)
    }

    #[inline(always)]
    fn carry(&self, state: R::Key) -> C::Item {
        self.carry.item(state)
    }

    fn walk(&self, p: &Params, ids: &[u32], part: Part<'_, O::Item, C::Item>) {
        dispatch(Runs(p, self, ids, part));
    }
}

/// The rows of the maxima.
pub(super) struct Rows<'a, T: Keyed> {
    p: &'a Params,
    source: &'a [T::Bits],
    candidates: Option<&'a [u32]>,
    nan: T::Key,
}

impl<'a, T: Keyed> Rows<'a, T> {
    pub(super) fn new(
        p: &'a Params,
        source: &'a [T::Bits],
        candidates: Option<&'a [u32]>,
        nan: T::Key,
    ) -> Self {
        Self { p, source, candidates, nan }
    }
}

impl<T: Keyed> Walk for Rows<'_, T> {
    type State = (T::Key, u32);
    type Out = u32;
    type Carry = u32;

    fn nothing(&self) -> Self::State {
        (T::Key::LOWEST, NONE)
    }

    #[inline(always)]
    fn add_row(&self, states: &mut [Self::State], row: usize) {
        let inner = self.p.inner as usize;
        for (column, state) in states.iter_mut().enumerate() {
            let candidate = match self.candidates {
                Some(rows) => {
                    rows[self.p.items_base as usize + row * inner + column].min(self.p.last_row)
                }
                None => self.p.first_row + row as u32,
            };
            let at = self.p.base as usize + candidate as usize * inner + column;
            let key = T::rank(T::key(self.source[at], self.nan));
            if key > state.0 || (key == state.0 && candidate < state.1) {
                *state = (key, candidate);
            }
        }
    }

    fn out(&self, state: Self::State) -> u32 {
        !state.1
    }

    fn carry(&self, state: Self::State) -> u32 {
        state.1
    }

    fn walk(&self, p: &Params, ids: &[u32], part: Part<'_, u32, u32>) {
        all_columns(p, self, ids, part);
    }
}

/// The results and the carry list of some runs.
pub(super) struct Part<'a, X, Y> {
    /// The first run.
    pub run: usize,
    pub runs: usize,
    /// The segments that may be stored, and their results.
    pub first: usize,
    pub out: &'a mut [X],
    pub carry: &'a mut [Y],
    pub carry_ids: &'a mut [u32],
}

/// The maxima of a part.
struct Runs<'a, 'b, R: Read, O: Write, C: Write>(
    &'a Params,
    &'a Values<'a, R, O, C>,
    &'a [u32],
    Part<'b, O::Item, C::Item>,
);

impl<R, O, C> Loop for Runs<'_, '_, R, O, C>
where
    R: Read,
    O: Write<Key = R::Key>,
    C: Write<Key = R::Key>,
{
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(p, values, ids, part) = self;
        match values.inner {
            1 => super::column::walk(p, values, ids, part),
            _ => all_columns(p, values, ids, part),
        }
    }
}

/// `results`: the result, the carry list and its ids.
pub(super) fn twin<W: Walk>(p: &Params, walk: &W, ids: &[u8], results: &mut [&mut [u8]]) {
    let [out, carry, carry_ids] = results else {
        unreachable!("planners bind what a kernel declares")
    };
    let ids: &[u32] = cast_slice(ids);
    let out: &mut [W::Out] = cast_slice_mut(out);
    let carry: &mut [W::Carry] = cast_slice_mut(carry);
    let carry_ids: &mut [u32] = cast_slice_mut(carry_ids);
    let (inner, runs, segments) = (p.inner as usize, p.runs as usize, p.segments as usize);
    let mut out = &mut out[p.result_base as usize..][..segments * inner];
    let mut carry = &mut carry[p.carry_base as usize..];
    let mut carry_ids = &mut carry_ids[p.carry_ids_base as usize..];
    let work = p.rows as usize * inner;
    let threads = rayon::current_num_threads();
    let count = if work < PARALLEL_FROM { 1 } else { (threads * 4).min(runs) };
    let share = runs.div_ceil(count.max(1)).max(1);
    let count = runs.div_ceil(share);

    // Where ids ascend, what a part stores lies between the ids of its first row
    // and of the next part's. Where they do not, the rest is left out.
    let mut firsts = vec![segments; count + 1];
    for part in (0..count).rev() {
        let rows = p.rows_of(part * share).start..p.rows_of((part + 1) * share - 1).end;
        let id = rows.map(|row| p.row_id(ids, row)).find(|&id| id != NONE);
        firsts[part] = id.map_or(firsts[part + 1], |id| (id as usize).min(firsts[part + 1]));
    }
    if let Some(first) = firsts.first_mut() {
        *first = 0;
    }
    let mut parts = Vec::with_capacity(count);
    for part in 0..count {
        let runs = share.min(runs - part * share);
        let (mine, rest) = out.split_at_mut((firsts[part + 1] - firsts[part]) * inner);
        out = rest;
        let entries = if p.last == 1 { 0 } else { 2 * runs };
        let (my_carry, rest) = carry.split_at_mut(entries * inner);
        carry = rest;
        let (my_ids, rest) = carry_ids.split_at_mut(entries);
        carry_ids = rest;
        parts.push(Part {
            run: part * share,
            runs,
            first: firsts[part],
            out: mine,
            carry: my_carry,
            carry_ids: my_ids,
        });
    }
    if count == 1 {
        parts.into_iter().for_each(|part| walk.walk(p, ids, part));
    } else {
        parts.into_par_iter().for_each(|part| walk.walk(p, ids, part));
    }
}

#[inline(always)]
fn all_columns<W: Walk>(p: &Params, walk: &W, ids: &[u32], part: Part<'_, W::Out, W::Carry>) {
    let (inner, carries) = (p.inner as usize, p.last == 0);
    let mut states = vec![walk.nothing(); inner];
    let Part { run, runs, first: first_id, out, carry, carry_ids } = part;
    let mut store = |id: u32, states: &[W::State]| {
        let at = (id as usize).wrapping_sub(first_id).wrapping_mul(inner);
        if let Some(out) = out.get_mut(at..at.wrapping_add(inner)) {
            out.iter_mut().zip(states).for_each(|(out, &state)| *out = walk.out(state));
        }
    };
    for i in 0..runs {
        states.fill(walk.nothing());
        let (mut current, mut first) = (NONE, true);
        let mut keep = |entry: usize, states: &[W::State]| {
            let carry = &mut carry[entry * inner..][..inner];
            carry.iter_mut().zip(states).for_each(|(out, &state)| *out = walk.carry(state));
        };
        for row in p.rows_of(run + i) {
            let next = p.row_id(ids, row);
            if next == NONE {
                continue;
            }
            if next != current {
                if current != NONE {
                    if carries && first {
                        keep(2 * i, &states);
                        carry_ids[2 * i] = current;
                    } else {
                        store(current, &states);
                    }
                    first = false;
                }
                states.fill(walk.nothing());
                current = next;
            }
            walk.add_row(&mut states, row);
        }
        if carries {
            let entry = if first { 2 * i } else { 2 * i + 1 };
            if current != NONE {
                keep(entry, &states);
            }
            carry_ids[entry] = current;
            if first {
                carry_ids[2 * i + 1] = NONE;
            }
        } else if current != NONE {
            store(current, &states);
        }
    }
}
