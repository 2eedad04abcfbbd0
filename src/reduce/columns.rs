//! `shaders/reduce/columns.wgsl`: the maximum down columns.

use super::clear_word;
use crate::base::threads;
use crate::plan::{Call, Kernel, Lines, Placement, Shader, first_params};
use crate::tensor::key::{KeyOrder, Lane, Ranking, with_order};
use crate::vector::{self, Elements, PARALLEL_FROM};
use crate::wgsl::params;

/// The maximum of each column, or of each piece of one. `unaligned`: rows or results are not whole
/// aligned blocks.
pub(crate) static COLUMNS: Kernel = Kernel::new::<Params>("reduce_columns", "reduce/columns", run)
    .flags(&["unaligned"])
    .reads_views(reads_in_place);

/// Accepts views whose rows have no gaps, if no row overlaps another. For kernels whose parameters
/// begin with those of columns.
pub(super) fn reads_in_place(_: &Shader, params: &[u32], view: &Placement) -> bool {
    let p: &Params = first_params(params);
    p.len.is_multiple_of(p.width) && view.has_lines(p.base, p.width)
}

params! {
    pub(crate) struct Params: inline {
        /// The offset of the first matrix in the source, in elements.
        pub base: u32,
        /// Results: matrices * splits * width.
        pub outputs: u32,
        /// Elements of a matrix, at least width. If it is no multiple of width, the last row is the
        /// last `width` elements: it overlaps the row before.
        pub len: u32,
        /// Columns.
        pub width: u32,
        /// Pieces of a column.
        pub splits: u32,
        /// Rows of a piece; the last piece may have fewer.
        pub chunk: u32,
        /// The offset of the first result, in elements.
        pub result_base: u32,
        pub ranking: Ranking,
        /// Blocks of results that a workgroup owns, a power of two. In software/column_tiles:
        /// blocks of a row that an invocation owns.
        pub tile: u32,
    }
}

/// Columns whose keys are held at once: the keys stay in the first cache, and rows of so many
/// elements are long enough for the processor to prefetch.
pub(super) const TILE: usize = 2048;

pub(crate) fn run(shader: &Shader, mut call: Call<'_, '_>) {
    let params: &Params = call.params();
    with_order!(shader.element, params.ranking, order => {
        let lines = call.lines(params.base, params.width);
        let (source, result) = call.one();
        let (len, width) = (params.len as usize, params.width as usize);
        let rows = len.div_ceil(width);
        let whole = params.splits == 1 && rows * width == len && lines.view.is_none();
        Matrices { p: params, source, lines, load: Elements(order), rows, whole }.run(result);
    });
}

/// A launch: a series of matrices, each cut into units of some rows.
struct Matrices<'a, O: KeyOrder> {
    p: &'a Params,
    source: &'a [O::Key],
    lines: Lines<'a>,
    load: Elements<O>,
    /// Rows of a matrix.
    rows: usize,
    /// Whether units are matrices, whose rows follow each other.
    whole: bool,
}

impl<O: KeyOrder> Matrices<'_, O> {
    fn is_narrow(&self) -> bool {
        self.whole && vector::is_narrow::<O::Key>(self.rows, self.p.width as usize)
    }

    fn run(&self, result: &mut [O::Key]) {
        let (outputs, first) = (self.p.outputs as usize, self.p.result_base as usize);
        clear_word(result, first + outputs);
        let result = &mut result[first..first + outputs];
        let (width, chunk) = (self.p.width as usize, self.p.chunk as usize);
        let work = outputs * chunk;
        let threads = threads::count();
        if work < PARALLEL_FROM {
            self.part(0, result);
        } else if self.is_narrow() || width <= TILE && outputs / width >= threads {
            let some = (PARALLEL_FROM / (width * chunk)).max(1) * width;
            threads::each_chunk(result, some, |i, out| self.part(i * some, out));
        } else {
            // Wide rows: a thread takes some columns of all rows.
            let units = (outputs / width).max(1);
            let share = width.div_ceil((2 * threads).div_ceil(units)).max(64).min(width);
            let parts = result.chunks_mut(width).enumerate().flat_map(|(unit, out)| {
                let parts = out.chunks_mut(share).enumerate();
                parts.map(move |(i, out)| (unit * width + i * share, out))
            });
            threads::each(parts.collect(), |(first, out)| self.part(first, out));
        }
    }

    /// Computes results from `first` on, as many at a time as stay in the cache: whole units, if
    /// one fits.
    fn part(&self, first: usize, result: &mut [O::Key]) {
        let width = self.p.width as usize;
        if self.is_narrow() {
            let items = &self.source[self.p.base as usize + first * self.rows..];
            let items = &items[..result.len() * self.rows];
            return vector::matrices(self.load, items, [self.rows, width], result);
        }
        let (mut unit, mut column) = (first / width, first % width);
        let mut keys = [O::Key::LOWEST; TILE];
        let count = if width > TILE { TILE } else { TILE / width * width };
        for out in result.chunks_mut(count) {
            let keys = &mut keys[..out.len()];
            keys.fill(O::Key::LOWEST);
            let mut rest = &mut keys[..];
            while !rest.is_empty() {
                let columns = (width - column).min(rest.len());
                let (some, others) = rest.split_at_mut(columns);
                self.add(unit, column, some);
                rest = others;
                column += columns;
                if column == width {
                    (unit, column) = (unit + 1, 0);
                }
            }
            vector::store(self.load, keys, out);
        }
    }

    /// Raises `keys` to the maxima of a unit's columns, from `column` on.
    fn add(&self, unit: usize, column: usize, keys: &mut [O::Key]) {
        let p = self.p;
        let (len, width, splits) = (p.len as usize, p.width as usize, p.splits as usize);
        let matrix = unit / splits;
        let chunk = p.chunk as usize;
        let begin = unit % splits * chunk;
        let rows = begin..self.rows.min(begin + chunk);
        if self.lines.view.is_some() {
            let row = |row: usize| self.lines.begin(matrix * self.rows + row) + column;
            return vector::columns(self.load, self.source, rows, row, keys);
        }
        let matrix = &self.source[p.base as usize + matrix * len..][..len];
        // The last row may overlap the one before.
        let row = |row: usize| (row * width).min(len - width) + column;
        vector::columns(self.load, matrix, rows, row, keys);
    }
}
