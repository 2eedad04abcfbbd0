//! `shaders/reduce/rows.wgsl`: the maxima of contiguous rows, and their positions.

use super::clear_word;
use super::positions::{Counting, Launch, Out, each_part};
use crate::base::threads;
use crate::plan::{Call, Kernel, Lines, Placement, Shader, first_params};
use crate::tensor::key::{KeyOrder, Lane, Ranking, with_order};
use crate::vector::{self, Elements, PARALLEL_FROM};
use crate::wgsl::params;

/// The maximum of each row, or of each piece of one. `positions`: and its position.
/// `from_positions`: the elements are the maxima of an earlier launch.
pub(crate) static ROWS: Kernel = Kernel::new::<Params>("reduce_rows", "reduce/rows", run)
    .flags(&["positions", "from_positions"])
    .only(|_, flags| flags != 2)
    .reads_views(reads_in_place);

/// The maxima of short rows of whole blocks: an invocation reduces some rows by itself.
pub(super) static SHORT_ROWS: Kernel =
    Kernel::new::<Params>("reduce_short_rows", "reduce/short_rows", run)
        .reads_views(reads_in_place);

/// Minimum length of runs that are worth one call each.
const MIN_RUN: usize = 64;

/// Accepts views whose rows have no gaps or, without positions, consist of long runs.
fn reads_in_place(shader: &Shader, params: &[u32], view: &Placement) -> bool {
    let p: &Params = first_params(params);
    view.has_lines(p.base, p.len) || !shader.is("positions") && view.run() >= MIN_RUN
}

params! {
    pub(super) struct Params {
        /// The offset of the first row in the source, in elements.
        pub base: u32,
        /// Rows.
        pub rows: u32,
        /// Elements of a row.
        pub len: u32,
        /// Elements of a piece; the last one of a row may have fewer. In reduce/short_rows: rows
        /// of an invocation, which fill whole words.
        pub chunk: u32,
        /// The binary logarithm of the invocations that share a piece.
        pub threads_log2: u32,
        /// The offset of the first result, in elements.
        pub result_base: u32,
        pub ranking: Ranking,
        /// A divisor (see common/divide): pieces of a row.
        pub by_splits: [u32; 4],
        /// Only used with `positions`.
        pub positions: Counting,
    }
}

/// Bytes of rows that a thread takes at a time.
const MIN_PART: usize = 32 << 10;
const MAX_PART: usize = 1 << 20;

fn run(shader: &Shader, mut call: Call<'_, '_>) {
    let p: &Params = call.params();
    let lines = call.lines(p.base, p.len);
    with_order!(shader.element, p.ranking, order => {
        if shader.is("positions") {
            let results = (lines, (p.rows * p.by_splits[0]) as usize);
            let (launch, values, positions) = Launch::new(order, &p.positions, results, &mut call);
            launch.rows(p, values, positions);
        } else {
            let (source, result) = call.one();
            reduce(order, p, source, lines, result);
        }
    });
}

fn reduce<O: KeyOrder>(
    order: O,
    p: &Params,
    source: &[O::Key],
    lines: Lines<'_>,
    result: &mut [O::Key],
) {
    let elements = Elements(order);
    let (len, splits, chunk) = (p.len as usize, p.by_splits[0] as usize, p.chunk as usize);
    let (rows, first) = (p.rows as usize, p.result_base as usize);
    clear_word(result, first + rows * splits);
    let result = &mut result[first..first + rows * splits];
    // Each piece consists of one or more runs.
    let chunk = if splits == 1 { len } else { chunk };
    let piece = |number: usize| {
        let (row, skipped) = (number / splits, number % splits * chunk);
        let mut element = row * len + skipped;
        let end = element + chunk.min(len - skipped);
        let mut max = O::Key::LOWEST;
        while element < end {
            let run = lines.contiguous_from(element).min(end - element);
            let mut found = [O::Key::LOWEST];
            vector::rows(elements, &source[lines.offset(element)..][..run], run, &mut found);
            (max, element) = (max.max(order.key(found[0])), element + run);
        }
        order.bits(max)
    };
    let part = |mut first: usize, mut out: &mut [O::Key]| {
        while !out.is_empty() {
            let together = if splits == 1 { lines.together(first).min(out.len()) } else { 0 };
            let (some, rest) = out.split_at_mut(together.max(1));
            match together {
                0 => some[0] = piece(first),
                _ => {
                    let items = &source[lines.begin(first)..][..together * len];
                    vector::rows(elements, items, len, some);
                }
            }
            (first, out) = (first + some.len(), rest);
        }
    };
    if rows * len < PARALLEL_FROM {
        return part(0, result);
    }
    let item = size_of::<O::Key>();
    let units = self::part(rows * len * item, chunk.min(len) * item);
    threads::each_chunk(result, units, |i, out| part(i * units, out));
}

/// How many units of `unit` bytes a thread takes: few enough that all threads stay busy to the
/// end, and enough to read them in streams.
fn part(bytes: usize, unit: usize) -> usize {
    let some = (bytes / (8 * threads::count())).clamp(MIN_PART, MAX_PART);
    (some / unit.max(1)).max(1)
}

/// Short rows that are searched together.
const BATCH_ROWS: usize = 256;
/// Maximum bytes of such a row. Several stay in a cache.
const SHORT: usize = 32 << 10;
/// Bytes of the chunks of a long row. One of them is searched.
const CHUNK: usize = 2 << 10;

impl<O: KeyOrder> Launch<'_, O> {
    fn rows(&self, p: &Params, values: &mut [O::Key], positions: &mut [u32]) {
        let (len, splits, chunk) = (p.len as usize, p.by_splits[0] as usize, p.chunk as usize);
        let (first, outputs) = (p.result_base as usize, (p.rows * p.by_splits[0]) as usize);
        clear_word(values, first + outputs);
        let values = &mut values[first..first + outputs];
        let unit = chunk.min(len).max(1);
        let elements = outputs * unit;
        let item = size_of::<O::Key>();
        let count = part(elements * item, unit * item);
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

    /// Short rows, from row `first` on.
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

    /// The place of the maximum of a row: first each chunk is reduced as if it were a row.
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
