//! ReduceMax as a series of reductions of the middle axis of [outer, n, inner].

use super::builder::{Builder, Region, gcd};
use super::{Limits, Plan, Range};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Params, Shader, reduce_columns, reduce_rows};
use crate::tensor::TensorDesc;
use crate::tensor::key::Nan;

/// Blocks (16 bytes) that an invocation should read before a row is shared by
/// more of them, or a reduction is split over more workgroups.
const MIN_BLOCKS: u64 = 4;
/// Rows that a piece of a column should have at least.
const MIN_ROWS: u64 = 16;
/// Narrower columns (in bytes) than this are widened by taking several rows as one.
const NARROW: u64 = 256;
/// What they are widened to, in bytes.
const WIDENED: u64 = 4096;

// Where invocations share no fetches:
/// Blocks that an invocation should walk through at least before a row is split.
const ALONE_BLOCKS: u64 = 16;
/// Bytes of a row, at most, that `reduce_short` reduces together with its neighbours, and bytes that an
/// invocation walks through. On lavapipe rows of 64 bytes take 0.43 of the time one by one, of 256
/// bytes 0.37, of 1024 bytes 0.55, and of 8192 bytes about all of it.
const SHORT: u64 = 2048;
const SHORT_WALK: u64 = 16384;
/// Rows that an invocation of `reduce_strips` reads at once, at most, and blocks of a row that it walks
/// along. On lavapipe 4096 x 4096 elements take 1.5 times as long by 16 rows, 1.1 times by 32; by 32 blocks 1.2 times.
const STRIP_ROWS: u64 = 64;
const STRIP: u64 = 128;
/// Invocations that keep all cores busy.
const STRIPS: u64 = 512;

/// A matrix series: the axis of `n` is reduced.
#[derive(Clone, Copy)]
struct Extents {
    outer: u64,
    n: u64,
    inner: u64,
}

/// How columns are cut: rows of a piece and pieces of a column, of a matrix that is so many columns
/// wide; and the blocks of a row that an invocation walks along.
struct Cut {
    width: u64,
    chunk: u64,
    splits: u64,
    strip: u64,
}

/// The plan of a ReduceMax; `empty_bits` is the element that an empty set gives.
pub(crate) fn plan(
    input: &TensorDesc,
    output: TensorDesc,
    reduced: &[bool],
    nan: Nan,
    empty_bits: u64,
    limits: &Limits,
) -> Result<Plan> {
    let mut builder = Builder::new(&[input], vec![output.clone()], nan, limits);
    if output.is_empty() {
        // Nothing to compute, and no dispatch of nothing.
    } else if input.is_empty() {
        builder.fill(1, empty_bits)?;
    } else {
        let axes = merge(input.shape(), reduced);
        builder.series(Region::elements(0), Region::elements(1), &axes)?;
    }
    Ok(builder.finish())
}

/// Drops axes of size 1 and merges neighbours of one kind, so that kinds alternate.
pub(crate) fn merge(shape: &[usize], reduced: &[bool]) -> Vec<(u64, bool)> {
    let mut axes: Vec<(u64, bool)> = Vec::new();
    for (&size, &reduced) in shape.iter().zip(reduced).filter(|(size, _)| **size != 1) {
        match axes.last_mut() {
            Some((last, kind)) if *kind == reduced => *last *= size as u64,
            _ => axes.push((size as u64, reduced)),
        }
    }
    axes
}

impl Builder<'_> {
    /// Reduces one axis after the other, that which shrinks the tensor most first.
    pub(super) fn series(
        &mut self,
        mut source: Region,
        target: Region,
        axes: &[(u64, bool)],
    ) -> Result<()> {
        let mut axes = axes.to_vec();
        loop {
            let largest = (0..axes.len()).filter(|&i| axes[i].1).max_by_key(|&i| (axes[i].0, i));
            let Some(at) = largest else {
                // Every reduced axis has size 1: the maximum of each element alone.
                let inner = axes.iter().map(|a| a.0).product();
                return self.reduce(source, target, Extents { outer: 1, n: 1, inner });
            };
            let outer = axes[..at].iter().map(|a| a.0).product();
            let inner = axes[at + 1..].iter().map(|a| a.0).product();
            let extents = Extents { outer, n: axes[at].0, inner };
            if axes.iter().filter(|a| a.1).count() == 1 {
                return self.reduce(source, target, extents);
            }
            let partial = self.scratch(outer * inner, source.keys);
            self.reduce(source, partial, extents)?;
            source = partial;
            axes[at].0 = 1;
            let shape: Vec<usize> = axes.iter().map(|a| a.0 as usize).collect();
            let kinds: Vec<bool> = axes.iter().map(|a| a.1).collect();
            axes = merge(&shape, &kinds);
        }
    }

    /// Reduces one axis, in pieces where bindings are too small for the whole.
    fn reduce(&mut self, source: Region, target: Region, e: Extents) -> Result<()> {
        let source_room = self.room(self.item(source.keys));
        let target_room = self.room(self.item(target.keys));
        let matrix = e.n * e.inner;
        if e.outer * matrix <= source_room && e.outer * e.inner <= target_room {
            return self.split(source, target, e);
        }

        if e.n == 1 && e.inner > 1 {
            // Each element alone: any cut will do.
            let flat = Extents { outer: e.outer * e.inner, n: 1, inner: 1 };
            return self.reduce(source, target, flat);
        }

        // Whole matrices, as many as keep the next piece's results on a word of its own.
        let fit = (source_room / matrix).min(target_room / e.inner);
        let whole_words = (4 / self.item(target.keys)).max(1);
        let fit = if fit >= e.outer { e.outer } else { fit / whole_words * whole_words };
        if fit > 0 {
            let mut done = 0;
            while done < e.outer {
                let outer = fit.min(e.outer - done);
                self.split(
                    source.after(done * matrix),
                    target.after(done * e.inner),
                    Extents { outer, ..e },
                )?;
                done += outer;
            }
            return Ok(());
        }

        // Pieces of each matrix, into keys, which share no word.
        let key_room = self.room(self.item(true));
        let rows = (source_room / e.inner).min(e.n);
        // Pieces of one row each would come out as they went in.
        if rows < 2 || e.inner > key_room {
            return self.by_columns(source, target, e);
        }
        let pieces = e.n.div_ceil(rows);
        let partial = self.scratch(e.outer * pieces * e.inner, true);
        for matrix_index in 0..e.outer {
            for piece in 0..pieces {
                let n = rows.min(e.n - piece * rows);
                let first = source.first + matrix_index * matrix + piece * rows * e.inner;
                let result = (matrix_index * pieces + piece) * e.inner;
                self.split(
                    Region { first, ..source },
                    Region { first: result, ..partial },
                    Extents { outer: 1, n, inner: e.inner },
                )?;
            }
        }
        self.reduce(partial, target, Extents { n: pieces, ..e })
    }

    /// Reduces rows of which no binding holds two, some columns after the other: a row's part
    /// becomes keys beside the maxima of the rows before it, and both are reduced into the
    /// other of two scratch buffers.
    fn by_columns(&mut self, source: Region, target: Region, e: Extents) -> Result<()> {
        let room = self.room(self.item(true)) / 2;
        let fit =
            room.min(self.room(self.item(source.keys))).min(self.room(self.item(target.keys)));
        // The next part's results begin on a word of their own, and its blocks are aligned.
        let block = 16 / self.item(source.keys).min(self.item(target.keys));
        let part = fit / block * block;
        if part == 0 {
            return Err(Error::OverLimit {
                what: "two blocks of keys",
                needed: 2 * block * self.item(true),
                limit: "max_storage_buffer_binding_size",
                allowed: self.limits.max_binding_size,
            });
        }
        let per_word = (4 / self.item(target.keys)).max(1);
        if e.outer > 1 && !e.inner.is_multiple_of(per_word) {
            // Matrices share words of the result; keys share none.
            let keys = self.scratch(e.outer * e.inner, true);
            self.by_columns(source, keys, e)?;
            return self.reduce(keys, target, Extents { outer: e.outer * e.inner, n: 1, inner: 1 });
        }
        let pair = [self.scratch(2 * part, true), self.scratch(2 * part, true)];
        for matrix in 0..e.outer {
            let mut first = 0;
            while first < e.inner {
                let width = part.min(e.inner - first);
                let at = |row| source.after((matrix * e.n + row) * e.inner + first);
                let one = Extents { outer: 1, n: 1, inner: width };
                let [mut here, mut there] = pair;
                self.split(at(0), here, one)?;
                for row in 1..e.n {
                    self.split(at(row), here.after(width), one)?;
                    let last = row == e.n - 1;
                    let into = if last { target.after(matrix * e.inner + first) } else { there };
                    self.split(here, into, Extents { n: 2, ..one })?;
                    (here, there) = (there, here);
                }
                first += width;
            }
        }
        Ok(())
    }

    /// Reduces one axis that the bindings hold, in two steps where one would
    /// leave most of the device idle or an invocation running too long.
    fn split(&mut self, source: Region, target: Region, e: Extents) -> Result<()> {
        if e.inner == 1 { self.rows(source, target, e) } else { self.columns(source, target, e) }
    }

    fn shader(&self, kernel: Kernel, source: Region, target: Region) -> Shader {
        Shader {
            kernel,
            element: self.element,
            from_scratch: source.keys,
            to_scratch: target.keys,
            words: false,
            shared: false,
            workgroup: self.limits.workgroup_size,
        }
    }

    fn rows(&mut self, source: Region, target: Region, e: Extents) -> Result<()> {
        let lanes_wanted = u64::from(self.limits.lanes);
        let workgroup = u64::from(self.limits.workgroup_size);
        let block = 16 / self.item(source.keys);
        let blocks = e.n.div_ceil(block);
        if self.short_rows(source, target, e)? {
            return Ok(());
        }
        // A row of a few blocks is one invocation's; a longer one is shared, and
        // shared by more where there are too few rows to fill the device.
        let per_cell = (4 / self.item(target.keys)).max(1);
        let enough = lanes_wanted.div_ceil(e.outer).min(blocks);
        let mut lanes =
            (blocks / MIN_BLOCKS).max(enough).max(1).next_power_of_two().min(workgroup / per_cell);
        // Parts of a piece at its ends take an iteration or two more.
        let most = u64::from(self.limits.max_iterations).max(4) - 2;
        let mut shared = workgroup;
        let mut min_blocks = MIN_BLOCKS;
        if !self.limits.coalesces {
            (lanes, shared, min_blocks) = (1, 1, ALONE_BLOCKS);
        }
        let splits_to_fill =
            (lanes_wanted / (e.outer * shared)).min(blocks / (shared * min_blocks));
        let splits_to_end = blocks.div_ceil(lanes * most);
        let mut splits = 1;
        if splits_to_fill > 1 || splits_to_end > 1 {
            lanes = shared;
            splits = splits_to_fill.max(blocks.div_ceil(lanes * most)).max(2);
        }
        let chunk = if splits == 1 { e.n } else { blocks.div_ceil(splits) * block };
        let splits = e.n.div_ceil(chunk);
        let partial = match splits {
            1 => target,
            _ => self.scratch(e.outer * splits, true),
        };
        let shader = self.shader(Kernel::ReduceRows, source, partial);
        let (source_range, base) = self.range(source, e.outer * e.n);
        let (result, result_base) = self.result_range(partial, e.outer * splits, &shader);
        let params = reduce_rows::Params {
            base,
            rows: e.outer as u32,
            len: e.n as u32,
            splits: splits as u32,
            chunk: chunk as u32,
            lanes: lanes as u32,
            result_base,
            nan_key: self.nan_key,
        };
        let groups = (e.outer * splits).div_ceil(workgroup / lanes);
        self.push_groups(shader, Params::Rows(params), vec![source_range], vec![result], groups)?;
        match splits {
            1 => Ok(()),
            _ => self.reduce(partial, target, Extents { n: splits, ..e }),
        }
    }

    /// Many short rows, if the device is one for them and they are whole blocks. Whether it was done.
    fn short_rows(&mut self, source: Region, target: Region, e: Extents) -> Result<bool> {
        let item = self.item(source.keys);
        if self.limits.coalesces || e.n * item > SHORT {
            return Ok(false);
        }
        let lanes_wanted = u64::from(self.limits.lanes);
        let (source_range, base) = self.range(source, e.outer * e.n);
        let whole = [u64::from(base), e.n].iter().all(|x| x.is_multiple_of(16 / item));
        let shader = self.shader(Kernel::ReduceShort, source, target);
        let cell = shader.per_cell() as u64;
        let iterations = 1 + (e.n * item).div_ceil(64);
        // As many rows as fill the device, and as an invocation may end.
        let most = (SHORT_WALK / (e.n * item)).min(e.outer / lanes_wanted);
        let most = most.min(u64::from(self.limits.max_iterations) / iterations);
        let chunk = most.max(cell) / cell * cell;
        if !whole || cell * iterations > self.limits.max_iterations.into() {
            return Ok(false);
        }
        let (result, result_base) = self.result_range(target, e.outer, &shader);
        let params = reduce_rows::Params {
            base,
            rows: e.outer as u32,
            len: e.n as u32,
            splits: 1,
            chunk: chunk as u32,
            lanes: 1,
            result_base,
            nan_key: self.nan_key,
        };
        let invocations = e.outer.div_ceil(chunk);
        self.push(shader, Params::Rows(params), vec![source_range], vec![result], invocations)?;
        Ok(true)
    }

    fn columns(&mut self, source: Region, target: Region, e: Extents) -> Result<()> {
        let lanes_wanted = u64::from(self.limits.lanes);
        let item = self.item(source.keys);
        let block = 16 / item;
        let matrix = e.n * e.inner;

        // Few narrow columns: several rows are taken as one, and the maximum of
        // what they give is left to a next launch.
        let mut width = e.inner;
        if e.inner * item < NARROW && e.outer * e.inner < lanes_wanted * block {
            let repeats = (WIDENED / (e.inner * item)).min(e.n / MIN_ROWS);
            // A whole number of blocks, so that reads are aligned.
            let unit = block / gcd(block, e.inner);
            let repeats = repeats / unit * unit;
            width = e.inner * repeats.max(1);
        }
        let rows = matrix.div_ceil(width);
        if self.strips(source, target, e, width)? {
            return Ok(());
        }
        let lanes = (e.outer * width).div_ceil(block);
        let to_fill = (lanes_wanted / lanes).min(rows / MIN_ROWS);
        // Of a row a launch there would be as many as before.
        let to_end = rows.div_ceil(u64::from(self.limits.max_iterations).max(4));
        let chunk = rows.div_ceil(to_fill.max(to_end).max(1));
        let splits = rows.div_ceil(chunk);

        let base = self.range(source, e.outer * matrix).1;
        let aligned = [u64::from(base), width, matrix].iter().all(|x| x.is_multiple_of(block));
        let kernel = if aligned { Kernel::ReduceColumns } else { Kernel::ReduceColumnsGeneral };
        let cut = Cut { width, chunk, splits, strip: 0 };
        let invocations = (e.outer * splits * width).div_ceil(block);
        self.push_columns(kernel, source, target, e, &cut, invocations)
    }

    /// A launch over columns, and what is left where it takes them in pieces. Between the two lie keys,
    /// or packed elements where a kernel makes whole blocks of them.
    fn push_columns(
        &mut self,
        kernel: Kernel,
        source: Region,
        target: Region,
        e: Extents,
        cut: &Cut,
        invocations: u64,
    ) -> Result<()> {
        let pieces = cut.splits * (cut.width / e.inner);
        let partial = match pieces {
            1 => target,
            _ => self.scratch(e.outer * pieces * e.inner, kernel != Kernel::ReduceStrips),
        };
        let matrix = e.n * e.inner;
        let (source_range, base) = self.range(source, e.outer * matrix);
        let shader = self.shader(kernel, source, partial);
        let outputs = e.outer * cut.splits * cut.width;
        let (result, result_base) = self.result_range(partial, outputs, &shader);
        let params = reduce_columns::Params {
            base,
            outputs: outputs as u32,
            len: matrix as u32,
            width: cut.width as u32,
            splits: cut.splits as u32,
            chunk: cut.chunk as u32,
            result_base,
            nan_key: self.nan_key,
            strip: cut.strip as u32,
        };
        self.push(shader, Params::Columns(params), vec![source_range], vec![result], invocations)?;
        match pieces {
            1 => Ok(()),
            _ => self.reduce(partial, target, Extents { n: pieces, ..e }),
        }
    }

    /// Columns in strips, if the device is one for them and all of it is whole blocks. Whether it was done.
    fn strips(&mut self, source: Region, target: Region, e: Extents, width: u64) -> Result<bool> {
        if self.limits.coalesces {
            return Ok(false);
        }
        let block = 16 / self.item(false);
        let matrix = e.n * e.inner;
        let rows = matrix.div_ceil(width);
        // Rows are read by eights; what a piece has not is read again, which must not be much.
        let eights = rows.div_ceil(rows.div_ceil(STRIP_ROWS)).next_multiple_of(8);
        let chunk = eights.min(rows);
        let splits = rows.div_ceil(chunk);
        let wasteful = 3 * splits * eights > 4 * rows;
        let pieces = splits * (width / e.inner);
        let base = self.range(source, e.outer * matrix).1;
        let outputs = e.outer * splits * width;
        let blocks = outputs / block;
        let strip = (blocks / STRIPS).clamp(1, STRIP).min(width / block);
        let iterations = strip * (1 + chunk.div_ceil(8));
        let whole = [u64::from(base), width, matrix].iter().all(|x| x.is_multiple_of(block))
            && (pieces > 1 || target.first.is_multiple_of(block));
        let keys = source.keys || (pieces == 1 && target.keys);
        if wasteful
            || keys
            || !whole
            || iterations > self.limits.max_iterations.into()
            || outputs > self.room(self.item(false))
        {
            return Ok(false);
        }
        let cut = Cut { width, chunk, splits, strip };
        let invocations = e.outer * splits * (width / block).div_ceil(strip);
        self.push_columns(Kernel::ReduceStrips, source, target, e, &cut, invocations)?;
        Ok(true)
    }

    /// The binding of a result, and where it begins in cells.
    fn result_range(&self, region: Region, items: u64, shader: &Shader) -> (Range, u32) {
        let (range, base) = self.range(region, items);
        (range, base / shader.per_cell() as u32)
    }
}
