//! The rows that have the maxima of ascending segments: found among all rows, or among candidates
//! that earlier launches carried.

use std::ops::Range;

use bytemuck::cast_slice;

use super::chunks::{self, Part, Visit, all_columns};
use super::params::Params;
use crate::plan::Call;
use crate::tensor::key::{KeyOrder, Lane};

pub(super) fn rows(order: impl KeyOrder, call: Call<'_, '_>) {
    let p: &Params = call.params();
    let candidates = call.sources.get(2).map(|bytes| cast_slice(bytes));
    let source = cast_slice(call.sources[0]);
    chunks::run(&Rows { p, source, candidates, order }, call);
}

/// Rows, or candidates.
struct Rows<'a, O: KeyOrder> {
    p: &'a Params,
    source: &'a [O::Key],
    candidates: Option<&'a [u32]>,
    order: O,
}

impl<O: KeyOrder> Visit for Rows<'_, O> {
    /// The key by which candidates are compared, and the row.
    type State = (O::Key, u32);
    type Result = u32;
    type Carry = u32;

    fn nothing(&self) -> Self::State {
        (O::Key::LOWEST, u32::MAX)
    }

    #[inline(always)]
    fn add_rows(&self, states: &mut [Self::State], rows: Range<usize>) {
        let p = self.p;
        let inner = p.inner as usize;
        for row in rows {
            for (column, state) in states.iter_mut().enumerate() {
                let candidate = match self.candidates {
                    Some(rows) => {
                        rows[p.candidates_base as usize + row * inner + column].min(p.last_row)
                    }
                    None => p.first_row + row as u32,
                };
                let at = candidate as usize * inner + column;
                let key = self.order.rank(self.order.key(self.source[at]));
                if key > state.0 || (key == state.0 && candidate < state.1) {
                    *state = (key, candidate);
                }
            }
        }
    }

    fn result(&self, state: Self::State) -> u32 {
        !state.1
    }

    fn carry(&self, state: Self::State) -> u32 {
        state.1
    }

    fn visit(&self, p: &Params, ids: &[u32], part: Part<'_, u32, u32>) {
        all_columns(p, self, ids, part);
    }
}
