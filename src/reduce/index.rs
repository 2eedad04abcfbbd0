//! `shaders/reduce/rows_index.wgsl` and `columns_index.wgsl`: the maxima of rows and columns, and
//! where they are.
//!
//! Some elements are reduced first, as where no positions are wanted. Then those are looked through
//! for the position among which the maximum was found: they are in a cache, or few.

use std::ops::Range;

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use super::{clear_word, columns, rows};
use crate::plan::{Call, Kernel, Lines, Shader};
use crate::tensor::key::{KeyOrder, Lane, with_order};
use crate::threads;
use crate::vector::{self, Elements, PARALLEL_FROM};
use crate::wgsl::params;

/// The maximum of each row, or of each piece of one, and where it is. `from_positions`: the elements
/// are what an earlier launch has found.
pub(super) static ROWS_INDEX: Kernel =
    Kernel::new::<RowsParams>("reduce_rows_index", "reduce/rows_index", run_rows)
        .flags(&["from_positions"])
        .in_place(rows::reads_in_place);
/// The same down columns.
pub(super) static COLUMNS_INDEX: Kernel =
    Kernel::new::<ColumnsParams>("reduce_columns_index", "reduce/columns_index", run_columns)
        .flags(&["from_positions", "aligned"])
        .mixed()
        .in_place(columns::reads_in_place);

params! {
    /// How positions count.
    pub(super) struct Positions {
        /// What places are exclusive-ored with, so that of equal elements that with the smaller one
        /// counts: 0 where it is the first, 0x7fffffff where it is the last.
        pub mirror: u32,
        /// The position of the axis's first element, and how far that of the next one is.
        pub first: u32,
        pub weight: u32,
        /// In `from_positions`: where the positions of the elements begin in their binding.
        pub source_base: u32,
        /// Where the positions of the results begin, and words of one.
        pub result_base: u32,
        pub words: u32,
    }

    pub(super) struct RowsParams {
        pub rows: rows::Params,
        pub padding: [u32; 3],
        pub positions: Positions,
    }

    pub(super) struct ColumnsParams {
        pub columns: columns::Params,
        pub padding: [u32; 2],
        pub positions: Positions,
    }
}

impl Positions {
    /// What places are exclusive-ored with where the last of equal elements counts. No place is as
    /// large as the mirror of none.
    pub const MIRROR: u32 = u32::MAX >> 1;

    /// Whether the last of equal elements counts.
    fn last(&self) -> bool {
        self.mirror != 0
    }

    /// The position of an element, at a place of its axis.
    fn of(&self, earlier: Option<&[u32]>, element: usize, place: usize) -> u32 {
        let before = earlier.map_or(0, |earlier| earlier[self.source_base as usize + element]);
        let behind = (place as u32).wrapping_mul(self.weight);
        before.wrapping_add(self.first).wrapping_add(behind)
    }
}

/// Short rows whose places are found together.
const BATCH_ROWS: usize = 256;
/// Bytes of the longest ones, of which several stay in a cache.
const SHORT: usize = 32 << 10;
/// Bytes of the chunks of a long row, of which one is looked through.
const CHUNK: usize = 2 << 10;

/// A launch.
struct Launch<'a, O: KeyOrder> {
    order: O,
    positions: &'a Positions,
    source: &'a [O::Key],
    /// Where the rows begin, of all matrices.
    lines: Lines<'a>,
    /// What an earlier launch has found.
    earlier: Option<&'a [u32]>,
}

/// Some of the results: elements, and words of positions.
struct Out<'a, K> {
    values: &'a mut [K],
    positions: &'a mut [u32],
}

impl<'a, O: KeyOrder> Launch<'a, O> {
    /// The launch, and all its results.
    fn new<'b>(
        order: O,
        positions: &'a Positions,
        (lines, outputs): (Lines<'a>, usize),
        call: &'b mut Call<'a, '_>,
    ) -> (Self, &'b mut [O::Key], &'b mut [u32]) {
        let source: &[O::Key] = cast_slice(call.sources[0]);
        let earlier = call.sources.get(1).map(|bytes| cast_slice(bytes));
        let [values, indices] = &mut *call.results else {
            unreachable!("planners bind what a kernel declares")
        };
        let (values, indices): (&mut [O::Key], &mut [u32]) =
            (cast_slice_mut(values), cast_slice_mut(indices));
        let words = positions.words as usize;
        let first = positions.result_base as usize * words;
        let launch = Self { order, positions, source, lines, earlier };
        (launch, values, &mut indices[first..first + outputs * words])
    }

    /// The rank of an element.
    #[inline(always)]
    fn rank(&self, element: O::Key) -> O::Key {
        self.order.rank(self.order.key(element))
    }

    /// Stores a result of some: the element of the source, at a place of its axis.
    fn store(&self, out: &mut Out<'_, O::Key>, at: usize, element: usize, place: usize) {
        // As read again: the canonical NaN.
        out.values[at] = self.order.bits(self.order.key(self.source[element]));
        // Those that have positions come one after the other.
        let position =
            self.positions.of(self.earlier, element.wrapping_sub(self.lines.base), place);
        match self.positions.words {
            1 => out.positions[at] = position,
            _ => out.positions[2 * at..][..2].copy_from_slice(&[position, 0]),
        }
    }
}

/// Results in parts of so many, for threads if there are enough elements.
fn each_part<K: Pod + Send>(
    elements: usize,
    count: usize,
    values: &mut [K],
    positions: &mut [u32],
    part: impl Fn(usize, Out<'_, K>) + Sync,
) {
    if values.is_empty() {
        return;
    }
    let words = positions.len() / values.len();
    let parts = values.chunks_mut(count).zip(positions.chunks_mut(count * words));
    let parts = parts.enumerate().map(|(i, (values, positions))| (i, Out { values, positions }));
    if elements < PARALLEL_FROM {
        parts.for_each(|(i, out)| part(i * count, out));
    } else {
        threads::each(parts.collect(), |(i, out)| part(i * count, out));
    }
}

fn run_rows(shader: &Shader, mut call: Call<'_, '_>) {
    let params: &RowsParams = call.params();
    with_order!(shader.element, params.rows.ranking, order => {
        let p = &params.rows;
        let outputs = (p.rows * p.splits) as usize;
        let results = (call.lines(p.base, p.len), outputs);
        let (launch, values, positions) = Launch::new(order, &params.positions, results, &mut call);
        launch.rows(p, values, positions);
    });
}

impl<O: KeyOrder> Launch<'_, O> {
    fn rows(&self, p: &rows::Params, values: &mut [O::Key], positions: &mut [u32]) {
        let (len, splits, chunk) = (p.len as usize, p.splits as usize, p.chunk as usize);
        let (first, outputs) = (p.result_base as usize, (p.rows * p.splits) as usize);
        clear_word(values, first + outputs);
        let values = &mut values[first..first + outputs];
        let unit = chunk.min(len).max(1);
        let elements = outputs * unit;
        let item = size_of::<O::Key>();
        let count = rows::part(elements * item, unit * item);
        each_part(elements, count, values, positions, |first, mut out| {
            if splits == 1 && len * item <= SHORT {
                return self.batches(len, first, &mut out);
            }
            for i in 0..out.values.len() {
                let (row, skipped) = ((first + i) / splits, (first + i) % splits * chunk);
                let begin = self.lines.begin(row);
                let piece = &self.source[begin + skipped..][..chunk.min(len - skipped)];
                let place = skipped + self.long(piece);
                self.store(&mut out, i, begin + place, place);
            }
        });
    }

    /// Short rows from one on.
    fn batches(&self, len: usize, first: usize, out: &mut Out<'_, O::Key>) {
        let mut places = [0; BATCH_ROWS];
        let mut done = 0;
        while done < out.values.len() {
            let together = self.lines.together(first + done).min(BATCH_ROWS);
            let places = &mut places[..together.min(out.values.len() - done)];
            let begin = self.lines.begin(first + done);
            let rows = &self.source[begin..][..places.len() * len];
            vector::places(self.order, rows, len, self.positions.last(), places);
            for (i, &place) in places.iter().enumerate() {
                self.store(out, done + i, begin + i * len + place as usize, place as usize);
            }
            done += places.len();
        }
    }

    /// The place of the maximum of a row: that of each chunk is found as if it were a row.
    fn long(&self, row: &[O::Key]) -> usize {
        let chunk = CHUNK / size_of::<O::Key>();
        let mut maxima = vec![O::Key::LOWEST; row.len().div_ceil(chunk)];
        let (items, rest) = row.split_at(row.len() / chunk * chunk);
        let (whole, last) = maxima.split_at_mut(items.len() / chunk);
        vector::rows(Elements(self.order), items, chunk, whole);
        vector::rows(Elements(self.order), rest, rest.len(), last);
        let first = self.place(&maxima) * chunk;
        first + self.place(&row[first..row.len().min(first + chunk)])
    }

    /// The place of the maximum of some items.
    fn place(&self, items: &[O::Key]) -> usize {
        let mut place = [0];
        vector::places(self.order, items, items.len(), self.positions.last(), &mut place);
        place[0] as usize
    }
}

/// Rows of which the maxima are found before they are compared with those of the rows before. With
/// more, more rows are looked through in the end, which are no longer in a cache: with 32, 4096
/// columns of 4096 took 1.2 times as long on an Intel Xeon.
const ROWS: usize = 8;
/// How many columns ahead memory is asked for where single elements of columns are looked at.
const AHEAD: usize = 16;
/// Columns whose keys are held at once.
const TILE: usize = 2048;

fn run_columns(shader: &Shader, mut call: Call<'_, '_>) {
    let params: &ColumnsParams = call.params();
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

    /// Some columns of a unit, which are the results `at` and following of some.
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

/// Raises the ranks of columns to those of keys, and notes where.
struct Compare<'a, O: KeyOrder> {
    order: O,
    keys: &'a [O::Key],
    /// The rank of each column, and the group of rows that has it.
    state: (&'a mut [O::Key], &'a mut [u32]),
    group: u32,
    /// Whether equal ranks are noted too.
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
