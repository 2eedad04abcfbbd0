//! `shaders/reduce/columns_index.wgsl`: the maxima of columns, and their positions.

use std::ops::Range;

use super::columns::{self, TILE, reads_in_place};
use super::positions::{Counting, Launch, Out, each_part};
use crate::base::threads;
use crate::plan::{Call, Kernel, Shader};
use crate::tensor::key::{KeyOrder, Lane, with_order};
use crate::vector::{self, Elements, PARALLEL_FROM, has_places};
use crate::wgsl::params;

/// The maximum of each column, or of each piece of one, and its position. `from_positions`: the
/// elements are the maxima of an earlier launch.
pub(super) static COLUMNS_INDEX: Kernel =
    Kernel::new::<Params>("reduce_columns_index", "reduce/columns_index", run)
        .flags(&["from_positions", "aligned"])
        .blocks_and_words()
        .reads_views(reads_in_place);

params! {
    pub(super) struct Params {
        pub columns: columns::Params,
        pub padding: [u32; 2],
        pub positions: Counting,
    }
}

/// Rows of a group. The maxima of a group are compared with those of earlier groups; at the end the
/// winning group is read again, no longer from a cache, and searched. With groups of 32, 4096 columns of
/// 4096 took 1.2 times as long on an Intel Xeon.
const ROWS: usize = 8;
/// How many columns ahead memory is prefetched when single elements of columns are read.
const AHEAD: usize = 16;

fn run(shader: &Shader, mut call: Call<'_, '_>) {
    let params: &Params = call.params();
    with_order!(shader.element, params.columns.ranking, order => {
        let p = &params.columns;
        let results = (call.lines(p.base, p.width), p.outputs as usize);
        let (launch, values, positions) = Launch::new(order, &params.positions, results, &mut call);
        launch.columns(p, values, positions);
    });
}

impl<O: KeyOrder> Launch<'_, O> {
    fn columns(&self, p: &columns::Params, values: &mut [O::Key], positions: &mut [u32]) {
        let (first, outputs, width) =
            (p.result_base as usize, p.outputs as usize, p.width as usize);
        let values = &mut values[first..first + outputs];
        let elements = outputs * p.chunk as usize;
        let rows = p.len as usize / width;
        if p.splits == 1 && self.lines.view.is_none() && has_places::<O::Key>(rows, width) {
            return self.narrow(p, [rows, width], values, positions);
        }
        // Whole units, or parts of one.
        let share = outputs.div_ceil(2 * threads::count()).max(1);
        let count = match TILE / width {
            0 => share.clamp(64, TILE),
            units => units.min(share.div_ceil(width)) * width,
        };
        each_part(elements, count, values, positions, |first, mut out| {
            let mut done = 0;
            while done < out.values.len() {
                let number = first + done;
                let (unit, column) = (number / width, number % width);
                let columns = (width - column).min(out.values.len() - done);
                self.unit(p, unit, column..column + columns, &mut out, done);
                done += columns;
            }
        });
    }

    /// The columns of narrow matrices.
    fn narrow(
        &self,
        p: &columns::Params,
        [rows, width]: [usize; 2],
        values: &mut [O::Key],
        positions: &mut [u32],
    ) {
        let (len, base, last) = (rows * width, p.base as usize, self.positions.last());
        let count = (PARALLEL_FROM / len).max(1) * width;
        each_part(values.len() * rows, count, values, positions, |first, mut out| {
            let begin = base + first * rows;
            let items = &self.source[begin..][..out.values.len() * rows];
            let mut places = vec![0; out.values.len()];
            vector::matrix_places(self.order, items, [rows, width], last, &mut places);
            let first = (begin..).step_by(len).flat_map(|matrix| matrix..matrix + width);
            for (at, (&row, first)) in places.iter().zip(first).enumerate() {
                let row = row as usize;
                self.store(&mut out, at, first + row * width, row);
            }
        });
    }

    /// Some columns of a unit. Their results begin at `at`.
    fn unit(
        &self,
        p: &columns::Params,
        unit: usize,
        columns: Range<usize>,
        out: &mut Out<'_, O::Key>,
        at: usize,
    ) {
        let (len, width, splits) = (p.len as usize, p.width as usize, p.splits as usize);
        let matrix = unit / splits * (len / width);
        let first = unit % splits * p.chunk as usize;
        let rows = (len / width - first).min(p.chunk as usize);
        let begin = |row: usize| self.lines.begin(matrix + row) + columns.start;
        let count = columns.len();
        let mut keys = [O::Key::LOWEST; TILE];
        let (mut best, mut groups) = ([O::Key::LOWEST; TILE], [0u32; TILE]);
        for group in (first..first + rows).step_by(ROWS) {
            keys[..count].fill(O::Key::LOWEST);
            let some = group..(group + ROWS).min(first + rows);
            vector::columns(Elements(self.order), self.source, some, begin, &mut keys[..count]);
            let (order, last) = (self.order, self.positions.last() || group == first);
            let group = group as u32;
            let state = (&mut best[..count], &mut groups[..count]);
            vector::dispatch(Compare { order, keys: &keys[..count], state, group, last });
        }
        let rows_of = |i: usize| {
            let group = groups[i] as usize;
            group..(group + ROWS).min(first + rows)
        };
        for (i, &best) in best[..count].iter().enumerate() {
            let element = |row: usize| begin(row) + i;
            if i + AHEAD < count {
                let later = rows_of(i + AHEAD);
                later.for_each(|row| vector::prefetch(&self.source[element(row) + AHEAD..], 0));
            }
            let has = |&row: &usize| self.rank(self.source[element(row)]) == best;
            let mut rows = rows_of(i);
            let group = rows.start;
            let row = if self.positions.last() { rows.rfind(has) } else { rows.find(has) };
            let row = row.unwrap_or(group);
            self.store(out, at + i, element(row), row);
        }
    }
}

/// Raises the ranks of columns to those of keys. A column whose rank is replaced gets the group.
struct Compare<'a, O: KeyOrder> {
    order: O,
    keys: &'a [O::Key],
    /// The rank of each column, and the group of rows that has it.
    state: (&'a mut [O::Key], &'a mut [u32]),
    group: u32,
    /// Whether equal ranks are replaced too.
    last: bool,
}

impl<O: KeyOrder> vector::Loop for Compare<'_, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { order, keys, state: (best, groups), group, last } = self;
        for ((best, at), &key) in best.iter_mut().zip(groups).zip(keys) {
            let rank = order.rank(key);
            let takes = (rank > *best) | (last & (rank == *best));
            *best = if takes { rank } else { *best };
            *at = if takes { group } else { *at };
        }
    }
}
