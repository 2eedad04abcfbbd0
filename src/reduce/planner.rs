//! ReduceMax as a series of reductions of the middle axis of [outer, n, inner].

use super::ReduceMax;
use super::columns::{self, COLUMNS};
use super::rows::{self, ROWS};
use super::tuning::Tuning;
use crate::error::Result;
use crate::plan::{Builder, Kernel, New, Plan, Region, Target, gcd};
use crate::tensor::TensorDesc;
use crate::tensor::key::Ranking;

/// A series of matrices: the axis of `n` is reduced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents {
    pub outer: u64,
    pub n: u64,
    pub inner: u64,
}

/// Where a launch's elements and results begin in their bindings, in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub source: u64,
    pub result: u64,
}

/// How columns are cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// Columns of a matrix; more than it has where several rows are taken as one.
    pub width: u64,
    /// Rows of a piece.
    pub chunk: u64,
    /// Pieces of a column.
    pub splits: u64,
    /// Blocks of results that a workgroup owns, or blocks of a row that an invocation owns.
    pub tile: u64,
}

/// The plan of a reduction of the axes that are `reduced`.
///
/// # Errors
/// [`Error::OverLimit`](crate::Error::OverLimit).
pub(crate) fn plan(
    operator: &ReduceMax,
    input: &TensorDesc,
    output: TensorDesc,
    reduced: &[bool],
    target: Target<'_>,
    tuning: &Tuning,
) -> Result<Plan> {
    let (element, extremum) = (input.element_type(), operator.get_extremum());
    let ranking = Ranking::new(element, operator.get_nan(), extremum);
    let mut builder = Builder::new(&[input], vec![output.clone()], ranking, target);
    if output.is_empty() {
        // Nothing to compute, and no dispatch of nothing.
    } else if input.is_empty() {
        builder.fill(1, operator.get_empty_set().bits(element, extremum))?;
    } else {
        let axes = merge(input.shape(), reduced);
        series(&mut builder, tuning, Region::all(0), Region::all(1), &axes)?;
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

/// Reduces one axis after the other, that which shrinks the tensor most first.
///
/// # Errors
/// [`Error::OverLimit`](crate::Error::OverLimit).
pub(crate) fn series(
    builder: &mut Builder<'_>,
    tuning: &Tuning,
    mut source: Region,
    target: Region,
    axes: &[(u64, bool)],
) -> Result<()> {
    let mut planner = Planner { builder, tuning };
    let mut axes = axes.to_vec();
    loop {
        let largest = (0..axes.len()).filter(|&i| axes[i].1).max_by_key(|&i| (axes[i].0, i));
        let Some(at) = largest else {
            // Every reduced axis has size 1: the maximum of each element alone.
            let inner = axes.iter().map(|a| a.0).product();
            return planner.reduce(source, target, Extents { outer: 1, n: 1, inner });
        };
        let outer = axes[..at].iter().map(|a| a.0).product();
        let inner = axes[at + 1..].iter().map(|a| a.0).product();
        let extents = Extents { outer, n: axes[at].0, inner };
        if axes.iter().filter(|a| a.1).count() == 1 {
            return planner.reduce(source, target, extents);
        }
        let partial = planner.builder.scratch(outer * inner);
        planner.reduce(source, partial, extents)?;
        source = partial;
        axes[at].0 = 1;
        let shape: Vec<usize> = axes.iter().map(|a| a.0 as usize).collect();
        let kinds: Vec<bool> = axes.iter().map(|a| a.1).collect();
        axes = merge(&shape, &kinds);
    }
}

/// A reduction of one axis on its way into a plan.
///
/// Between its launches lie elements. Nothing is lost: every partial result has an element, and
/// the element of its key has that key again. Results may begin within a word: launches keep
/// what is before theirs, and come in the order of their results.
struct Planner<'a, 'b> {
    builder: &'a mut Builder<'b>,
    tuning: &'a Tuning,
}

impl Planner<'_, '_> {
    /// Reduces one axis, in pieces where bindings are too small for the whole.
    fn reduce(&mut self, source: Region, target: Region, e: Extents) -> Result<()> {
        let capacity = self.builder.capacity(self.builder.item());
        let matrix = e.n * e.inner;
        if e.outer * matrix <= capacity {
            return self.launch(source, target, e);
        }

        if e.n == 1 && e.inner > 1 {
            // Each element alone: any cut will do.
            let flat = Extents { outer: e.outer * e.inner, n: 1, inner: 1 };
            return self.reduce(source, target, flat);
        }

        // Whole matrices, as many as let the next launch's results begin a word, if that can be.
        let per_word = self.builder.per_word();
        let fit = capacity / matrix;
        let fit = if fit > per_word { fit / per_word * per_word } else { fit };
        if fit > 0 {
            let mut done = 0;
            while done < e.outer {
                let outer = fit.min(e.outer - done);
                let (from, to) = (source.after(done * matrix), target.after(done * e.inner));
                self.launch(from, to, Extents { outer, ..e })?;
                done += outer;
            }
            return Ok(());
        }

        let rows = (capacity / e.inner).min(e.n);
        // Pieces of one row each would come out as they went in.
        if rows < 2 {
            return self.by_columns(source, target, e);
        }
        let pieces = e.n.div_ceil(rows);
        let partial = self.builder.scratch(e.outer * pieces * e.inner);
        for matrix_index in 0..e.outer {
            for piece in 0..pieces {
                let n = rows.min(e.n - piece * rows);
                let first = matrix_index * matrix + piece * rows * e.inner;
                let result = (matrix_index * pieces + piece) * e.inner;
                let one = Extents { outer: 1, n, inner: e.inner };
                self.launch(source.after(first), partial.after(result), one)?;
            }
        }
        self.reduce(partial, target, Extents { n: pieces, ..e })
    }

    /// Reduces rows of which no binding holds two, some columns after the other: a row's part
    /// is copied beside the maxima of the rows before it, and both are reduced into the other of
    /// two scratch buffers.
    fn by_columns(&mut self, source: Region, target: Region, e: Extents) -> Result<()> {
        // The blocks of the next part are aligned.
        let block = self.builder.block();
        let part = self.builder.capacity(self.builder.item()) / 2 / block * block;
        if part == 0 {
            return Err(self.builder.over_binding("two blocks of elements", 32));
        }
        let pair = [self.builder.scratch(2 * part), self.builder.scratch(2 * part)];
        for matrix in 0..e.outer {
            let mut first = 0;
            while first < e.inner {
                let width = part.min(e.inner - first);
                let at = |row| source.after((matrix * e.n + row) * e.inner + first);
                let one = Extents { outer: 1, n: 1, inner: width };
                let [mut here, mut there] = pair;
                self.launch(at(0), here, one)?;
                for row in 1..e.n {
                    self.launch(at(row), here.after(width), one)?;
                    let last = row == e.n - 1;
                    let into = if last { target.after(matrix * e.inner + first) } else { there };
                    self.launch(here, into, Extents { n: 2, ..one })?;
                    (here, there) = (there, here);
                }
                first += width;
            }
        }
        Ok(())
    }

    /// Reduces one axis that the bindings hold.
    fn launch(&mut self, source: Region, target: Region, e: Extents) -> Result<()> {
        if e.inner == 1 { self.rows(source, target, e) } else { self.columns(source, target, e) }
    }

    /// Where a launch begins in its bindings.
    fn start(&self, source: Region, target: Region) -> Start {
        let begin = |region| self.builder.range(region, 0).1.into();
        Start { source: begin(source), result: begin(target) }
    }

    /// Reduces rows, in two steps where one would leave most of the device idle or an invocation
    /// running too long.
    fn rows(&mut self, source: Region, target: Region, e: Extents) -> Result<()> {
        let at = self.start(source, target);
        let special = self.tuning.special.and_then(|s| s.rows(self.builder, e, at));
        if let Some((kernel, rows)) = special {
            let cut = rows::Cut { kernel, threads: 1, chunk: rows, splits: 1 };
            let groups = e.outer.div_ceil(rows).div_ceil(self.builder.workgroup());
            return self.push_rows("maxima of short rows", source, target, e, cut, groups);
        }
        let parallelism = u64::from(self.builder.target.parallelism);
        let (workgroup, block) = (self.builder.workgroup(), self.builder.block());
        let blocks = e.n.div_ceil(block);
        // A workgroup's results fill whole words.
        let max_threads = self.tuning.max_threads_per_row.min(workgroup / self.builder.per_word());
        // Neighbours read lines together, two where rows do not begin with one. A longer row is
        // shared by more, and by more still where there are too few rows to fill the device.
        let lines = if e.n.is_multiple_of(block) { 1 } else { 2 };
        let enough = parallelism.div_ceil(e.outer).max(lines * self.tuning.line).min(blocks);
        let shared = (blocks / self.tuning.min_blocks).max(enough);
        let mut threads = shared.next_power_of_two().min(max_threads);
        // Parts of a piece at its ends take an iteration or two more.
        let max_iterations = self.builder.max_iterations() - 2;
        let splits_to_fill = (parallelism / (e.outer * max_threads))
            .min(blocks / (max_threads * self.tuning.min_blocks));
        let splits_to_end = blocks.div_ceil(threads * max_iterations);
        let mut splits = 1;
        if splits_to_fill > 1 || splits_to_end > 1 {
            threads = max_threads;
            splits = splits_to_fill.max(blocks.div_ceil(threads * max_iterations)).max(2);
        }
        let chunk = if splits == 1 { e.n } else { blocks.div_ceil(splits) * block };
        let splits = e.n.div_ceil(chunk);
        let cut = rows::Cut { kernel: &ROWS, threads, chunk, splits };
        let units = e.outer * splits;
        let groups = |at: u64, units: u64| (at + units).div_ceil(workgroup / threads);
        if splits == 1 {
            let groups = groups(at.result % self.builder.per_word(), units);
            return self.push_rows("maxima of rows", source, target, e, cut, groups);
        }
        let partial = self.builder.scratch(units);
        let purpose = "maxima of pieces of rows";
        self.push_rows(purpose, source, partial, e, cut, groups(0, units))?;
        self.reduce(partial, target, Extents { n: splits, ..e })
    }

    fn push_rows(
        &mut self,
        purpose: &'static str,
        source: Region,
        target: Region,
        e: Extents,
        cut: rows::Cut,
        groups: u64,
    ) -> Result<()> {
        let (source, base) = self.builder.range(source, e.outer * e.n);
        let (result, result_base) = self.builder.range(target, e.outer * cut.splits);
        let params = rows::Params {
            base,
            rows: e.outer as u32,
            len: e.n as u32,
            splits: cut.splits as u32,
            chunk: cut.chunk as u32,
            threads_per_row: cut.threads as u32,
            result_base,
            ranking: self.builder.ranking,
        };
        let shader = self.builder.shader(cut.kernel);
        let (sources, results) = (vec![source], vec![result]);
        let launch = New { purpose, shader, params: &params, sources, results };
        self.builder.push_groups(launch, groups)
    }

    /// Reduces columns, in two steps where one would leave most of the device idle or an
    /// invocation running too long.
    fn columns(&mut self, source: Region, target: Region, e: Extents) -> Result<()> {
        let parallelism = u64::from(self.builder.target.parallelism);
        let (item, block) = (self.builder.item(), self.builder.block());
        let matrix = e.n * e.inner;
        let at = self.start(source, target);

        // Few narrow columns: several rows are taken as one, and the maximum of what they give
        // is left to a next launch.
        let mut width = e.inner;
        if e.inner * item < self.tuning.narrow && e.outer * e.inner < parallelism * block {
            // A whole number of blocks, so that reads are aligned.
            let unit = block / gcd(block, e.inner);
            let wanted = self.tuning.widened.div_ceil(e.inner * item).next_multiple_of(unit);
            let repeats = wanted.min(e.n / self.tuning.min_widened_rows) / unit * unit;
            width = e.inner * repeats.max(1);
        }
        let special = self.tuning.special.and_then(|s| s.columns(self.builder, e, at, width));
        if let Some((kernel, cut)) = special {
            return self.push_columns(kernel, source, target, e, cut);
        }
        let rows = matrix.div_ceil(width);
        let (blocks, pitch) = ((e.outer * width).div_ceil(block), width.div_ceil(block));
        // So many share a column as fill the device, and as read a line of neighbouring rows;
        // what is left of the workgroup reads a line of a row.
        let (workgroup, line) = (self.builder.workgroup(), self.tuning.line);
        let max_threads = workgroup / line.min(pitch).next_power_of_two().min(workgroup);
        let enough = (parallelism / blocks).min(rows / self.tuning.min_blocks);
        let shared = enough.max((line / pitch).min(rows)).max(1);
        let threads = shared.min(max_threads).min(self.tuning.max_threads_per_column);
        let threads = 1 << threads.ilog2();
        let to_fill =
            (parallelism / (blocks * threads)).min(rows / (threads * self.tuning.min_rows));
        let to_end = rows.div_ceil(threads * self.builder.max_iterations());
        let chunk = rows.div_ceil(to_fill.max(to_end).max(1));
        let splits = rows.div_ceil(chunk);
        let cut = Cut { width, chunk, splits, tile: workgroup / threads };
        self.push_columns(&COLUMNS, source, target, e, cut)
    }

    /// A launch over columns, and what is left where it takes them in pieces.
    fn push_columns(
        &mut self,
        kernel: &'static Kernel,
        source: Region,
        target: Region,
        e: Extents,
        cut: Cut,
    ) -> Result<()> {
        let (block, per_word) = (self.builder.block(), self.builder.per_word());
        let pieces = cut.splits * (cut.width / e.inner);
        let (partial, purpose) = match pieces {
            1 => (target, "maxima of columns"),
            _ => (self.builder.scratch(e.outer * pieces * e.inner), "maxima of pieces of columns"),
        };
        let matrix = e.n * e.inner;
        let outputs = e.outer * cut.splits * cut.width;
        let (source_range, base) = self.builder.range(source, e.outer * matrix);
        let (result, result_base) = self.builder.range(partial, outputs);
        let blocks = [base.into(), cut.width, result_base.into()];
        let unaligned = !blocks.iter().all(|x: &u64| x.is_multiple_of(block))
            || !matrix.is_multiple_of(cut.width);
        // A word of results lies in at most two units: of two columns, as the results of pieces
        // and parts of an even number of columns do, which begin at even places.
        debug_assert!(cut.width > 2 || result_base.is_multiple_of(2) || per_word < 4);
        let shader = self.builder.shader(kernel);
        let shader = if kernel == &COLUMNS { shader.with("unaligned", unaligned) } else { shader };
        let params = columns::Params {
            base,
            outputs: outputs as u32,
            len: matrix as u32,
            width: cut.width as u32,
            splits: cut.splits as u32,
            chunk: cut.chunk as u32,
            result_base,
            ranking: self.builder.ranking,
            tile: cut.tile as u32,
        };
        let skew = u64::from(result_base) % per_word;
        let groups = match kernel == &COLUMNS {
            true => (skew + outputs).div_ceil(block * cut.tile),
            false => {
                let tiles = (cut.width / block).div_ceil(cut.tile);
                (e.outer * cut.splits * tiles).div_ceil(self.builder.workgroup())
            }
        };
        let (sources, results) = (vec![source_range], vec![result]);
        let launch = New { purpose, shader, params: &params, sources, results };
        self.builder.push_groups(launch, groups)?;
        match pieces {
            1 => Ok(()),
            _ => self.reduce(partial, target, Extents { n: pieces, ..e }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Limits, Role};
    use crate::reduce::HARDWARE;
    use crate::tensor::ElementType;

    /// What [`Plan::check`] looks for is found in a plan that is broken so.
    #[test]
    fn a_broken_plan_is_noticed() {
        let limits = Limits { max_binding_size: 1 << 20, ..Limits::cpu() };
        let target = Target { limits: &limits, parallelism: 1024, words_per_fill: 1 };
        let input = TensorDesc::new(ElementType::F32, [100, 1000]).unwrap();
        let output = TensorDesc::new(ElementType::F32, [100]).unwrap();
        let operator = ReduceMax::new();
        let plan = plan(&operator, &input, output, &[false, true], target, &HARDWARE).unwrap();
        plan.check(&limits).unwrap();
        let broken = |breaks: fn(&mut Plan)| {
            let mut plan = plan.clone();
            breaks(&mut plan);
            plan.check(&limits).unwrap_err()
        };
        let found = [
            (broken(|p| p.launches[0].sources[0].buffer = 9), "of no buffer"),
            (broken(|p| p.launches[0].sources[0].size = 0), "empty"),
            (broken(|p| p.launches[0].sources[0].offset = 4), "multiple of 16"),
            (broken(|p| p.launches[0].sources[0].offset = 16), "beyond a buffer"),
            (broken(|p| p.launches[0].results[0].size = 1 << 40), "beyond a buffer"),
            (broken(|p| p.launches[0].results[0].buffer = 0), "bound again"),
            (broken(|p| p.buffers[1].role = Role::Input), "an input is written"),
            (broken(|p| p.launches[0].grid[1] = 0), "a grid of"),
            (broken(|p| p.launches[0].shader.workgroup *= 2), "workgroups of"),
        ];
        for (reason, part) in found {
            assert!(reason.contains(part), "{reason}");
        }
        let smaller = Limits { max_binding_size: 1000, ..limits.clone() };
        assert!(plan.check(&smaller).unwrap_err().contains("larger than 1000"));
        let fewer = Limits { max_storage_buffers: 1, ..limits };
        assert!(plan.check(&fewer).unwrap_err().contains("2 storage buffers"));
    }
}
