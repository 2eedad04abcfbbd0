//! The maxima of rows, as `segment_blocks` and `segment_elements` find them on the CPU.

use std::ops::Range;

use super::chunks::{Part, Visit, all_columns};
use super::column;
use super::params::Params;
use super::rows::Maxima;
use crate::tensor::key::{Key, Lane};
use crate::vector::{self, Load, Loop, Store, dispatch};

/// Bytes of a row from which on the rows of a segment are read in several streams. On an AMD EPYC rows
/// of 256 bytes take 2.3 times as long so, and rows of 2 KiB two thirds.
const MIN_STREAM: usize = 1024;

impl<L, R, C> Visit for Maxima<'_, L, R, C>
where
    L: Load<Lane: Key>,
    R: Store<Lane = L::Lane>,
    C: Store<Lane = L::Lane>,
{
    type State = L::Lane;
    type Result = R::Item;
    type Carry = C::Item;

    #[inline(always)]
    fn nothing(&self) -> L::Lane {
        L::Lane::LOWEST
    }

    #[inline(always)]
    fn add_rows(&self, states: &mut [L::Lane], rows: Range<usize>) {
        let row = |i: usize| self.rows(rows.start + i..rows.start + i + 1);
        let order = match self.inner * size_of::<L::Item>() < MIN_STREAM {
            true => vector::RowOrder::Neighbours,
            false => vector::RowOrder::Streams,
        };
        vector::merge_rows(self.load, states, rows.len(), order, row);
    }

    #[inline(always)]
    fn result(&self, state: L::Lane) -> R::Item {
        self.result.store(state)
    }

    #[inline(always)]
    fn carry(&self, state: L::Lane) -> C::Item {
        self.carry.store(state)
    }

    fn visit(&self, p: &Params, ids: &[u32], part: Part<'_, R::Item, C::Item>) {
        dispatch(VisitPart(p, self, ids, part));
    }
}

struct VisitPart<'a, 'b, L: Load, R: Store, C: Store>(
    &'a Params,
    &'a Maxima<'a, L, R, C>,
    &'a [u32],
    Part<'b, R::Item, C::Item>,
);

impl<L, R, C> Loop for VisitPart<'_, '_, L, R, C>
where
    L: Load<Lane: Key>,
    R: Store<Lane = L::Lane>,
    C: Store<Lane = L::Lane>,
{
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(p, maxima, ids, part) = self;
        match maxima.inner {
            1 => column::visit(p, maxima, ids, part),
            _ => all_columns(p, maxima, ids, part),
        }
    }
}
