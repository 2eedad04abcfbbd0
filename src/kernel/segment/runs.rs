//! The twin of `shaders/segment_runs.wgsl`.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use rayon::prelude::*;

use super::{NONE, Params};
use crate::kernel::PARALLEL_FROM;
use crate::tensor::key::{Key, Keyed};

/// What is made of the rows of a segment, for each column.
pub(super) trait Walk: Sync {
    type State: Copy + Send;
    /// What the result holds, and the carry list.
    type Out: Pod + Send;
    type Carry: Pod + Send;
    fn nothing(&self) -> Self::State;
    /// One column of a row.
    fn add(&self, state: Self::State, row: usize, column: usize) -> Self::State;
    /// All columns of a row.
    fn add_row(&self, states: &mut [Self::State], row: usize);
    fn out(&self, state: Self::State) -> Self::Out;
    fn carry(&self, state: Self::State) -> Self::Carry;
}

/// The maxima.
pub(super) struct Values<'a, R, F, O, C> {
    source: &'a [R],
    base: usize,
    inner: usize,
    key: F,
    out: O,
    carry: C,
}

impl<'a, R, F, O, C> Values<'a, R, F, O, C> {
    pub(super) fn new(p: &Params, source: &'a [R], key: F, out: O, carry: C) -> Self {
        let (base, inner) = (p.base as usize, p.inner as usize);
        Self { source, base, inner, key, out, carry }
    }
}

impl<R, K, X, Y, F, O, C> Walk for Values<'_, R, F, O, C>
where
    R: Pod + Sync,
    K: Key,
    X: Pod + Send,
    Y: Pod + Send,
    F: Fn(R) -> K + Sync,
    O: Fn(K) -> X + Sync,
    C: Fn(K) -> Y + Sync,
{
    type State = K;
    type Out = X;
    type Carry = Y;

    fn nothing(&self) -> K {
        K::LOWEST
    }

    #[inline(always)]
    fn add(&self, state: K, row: usize, column: usize) -> K {
        (self.key)(self.source[self.base + row * self.inner + column]).max(state)
    }

    #[inline(always)]
    fn add_row(&self, states: &mut [K], row: usize) {
        let found = &self.source[self.base + row * self.inner..][..self.inner];
        for (state, &bits) in states.iter_mut().zip(found) {
            *state = (self.key)(bits).max(*state);
        }
    }

    #[inline(always)]
    fn out(&self, state: K) -> X {
        (self.out)(state)
    }

    #[inline(always)]
    fn carry(&self, state: K) -> Y {
        (self.carry)(state)
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
    fn add(&self, state: Self::State, row: usize, column: usize) -> Self::State {
        let inner = self.p.inner as usize;
        let candidate = match self.candidates {
            Some(rows) => {
                rows[self.p.items_base as usize + row * inner + column].min(self.p.last_row)
            }
            None => self.p.first_row + row as u32,
        };
        let at = self.p.base as usize + candidate as usize * inner + column;
        let key = T::rank(T::key(self.source[at], self.nan));
        if key > state.0 || (key == state.0 && candidate < state.1) {
            (key, candidate)
        } else {
            state
        }
    }

    #[inline(always)]
    fn add_row(&self, states: &mut [Self::State], row: usize) {
        for (column, state) in states.iter_mut().enumerate() {
            *state = self.add(*state, row, column);
        }
    }

    fn out(&self, state: Self::State) -> u32 {
        !state.1
    }

    fn carry(&self, state: Self::State) -> u32 {
        state.1
    }
}

/// The results and the carry list of some runs.
struct Part<'a, X, Y> {
    /// The first run.
    run: usize,
    runs: usize,
    /// The segments that may be stored, and their results.
    first: usize,
    out: &'a mut [X],
    carry: &'a mut [Y],
    carry_ids: &'a mut [u32],
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
    let some = |part: Part<'_, W::Out, W::Carry>| {
        crate::cpu::simd::dispatch(|| match inner {
            1 => one_column(p, walk, ids, part),
            _ => all_columns(p, walk, ids, part),
        });
    };
    if count == 1 {
        parts.into_iter().for_each(some);
    } else {
        parts.into_par_iter().for_each(some);
    }
}

/// Rows of one element: what there is stays in registers.
#[inline(always)]
fn one_column<W: Walk>(p: &Params, walk: &W, ids: &[u32], part: Part<'_, W::Out, W::Carry>) {
    let carries = p.last == 0;
    for i in 0..part.runs {
        let mut state = walk.nothing();
        let (mut current, mut first) = (NONE, true);
        for row in p.rows_of(part.run + i) {
            let next = p.row_id(ids, row);
            if next == current && next != NONE {
                state = walk.add(state, row, 0);
                continue;
            }
            if next == NONE {
                continue;
            }
            if current != NONE {
                if carries && first {
                    part.carry[2 * i] = walk.carry(state);
                    part.carry_ids[2 * i] = current;
                } else if let Some(out) =
                    part.out.get_mut((current as usize).wrapping_sub(part.first))
                {
                    *out = walk.out(state);
                }
                first = false;
            }
            state = walk.add(walk.nothing(), row, 0);
            current = next;
        }
        if carries {
            let entry = if first { 2 * i } else { 2 * i + 1 };
            if current != NONE {
                part.carry[entry] = walk.carry(state);
            }
            part.carry_ids[entry] = current;
            if first {
                part.carry_ids[2 * i + 1] = NONE;
            }
        } else if current != NONE
            && let Some(out) = part.out.get_mut((current as usize).wrapping_sub(part.first))
        {
            *out = walk.out(state);
        }
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
