//! ReduceMax as a series of reductions of the middle axis of [outer, n, inner].

use bytemuck::Zeroable;

use super::columns::{self, COLUMNS};
use super::columns_index::{self, COLUMNS_INDEX};
use super::positions;
use super::rows::{self, ROWS};
use super::tuning::{Cut, Extents, Start, Tuning};
use super::{Positions, Resolved};
use crate::error::{Error, Result};
use crate::plan::{Builder, Kernel, New, Plan, Range, Region, Target, gcd};
use crate::tensor::key::Ranking;

/// The plan of a reduction.
///
/// # Errors
/// [`Error::OverLimit`](crate::Error::OverLimit).
pub(crate) fn plan(resolved: Resolved<'_>, target: Target<'_>, tuning: &Tuning) -> Result<Plan> {
    let Resolved { operator, input, outputs, reduced } = resolved;
    let (element, extremum) = (input.element_type(), operator.get_extremum());
    let ranking = Ranking::new(element, operator.get_nan(), extremum);
    let mut builder = Builder::new(&[input], outputs.clone(), ranking, target);
    if outputs[0].is_empty() {
        // Nothing to compute, and no dispatch of nothing.
    } else if input.is_empty() {
        builder.fill(1, operator.get_empty_set().bits(element, extremum))?;
    } else {
        let axes = merge(input.shape(), &reduced);
        let (source, values) = (Region::all(0), Region::all(1));
        match operator.get_indices() {
            None => series(&mut builder, tuning, source, values, &axes)?,
            Some(positions) => {
                let results = outputs[0].len() as u64;
                let values = match operator.get_values() {
                    true => values,
                    false => builder.scratch(results),
                };
                let found = Found::new(positions, values.buffer, outputs.len(), &axes)?;
                let mut planner = Planner { builder: &mut builder, tuning, found: Some(found) };
                planner.with_positions(source, values, axes, operator.counts_back)?;
            }
        }
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
    let mut planner = Planner { builder, tuning, found: None };
    let mut axes = axes.to_vec();
    loop {
        let largest = (0..axes.len()).filter(|&i| axes[i].1).max_by_key(|&i| (axes[i].0, i));
        let Some(at) = largest else {
            // Every reduced axis has size 1: the maximum of each element alone.
            let inner = axes.iter().map(|a| a.0).product();
            let alone = Extents { outer: 1, n: 1, inner };
            return planner.reduce(source, target, alone, Steps::NONE);
        };
        let outer = axes[..at].iter().map(|a| a.0).product();
        let inner = axes[at + 1..].iter().map(|a| a.0).product();
        let extents = Extents { outer, n: axes[at].0, inner };
        if axes.iter().filter(|a| a.1).count() == 1 {
            return planner.reduce(source, target, extents, Steps::NONE);
        }
        let partial = planner.builder.scratch(outer * inner);
        planner.reduce(source, partial, extents, Steps::NONE)?;
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
    /// Where positions are wanted: where they lie.
    found: Option<Found>,
}

/// The positions of what lies in buffers of elements.
struct Found {
    /// What places are exclusive-ored with.
    mirror: u32,
    /// Buffers of elements; and those of their positions, with the words of one.
    buffers: Vec<(usize, usize, u64)>,
}

/// How positions go on along an axis: that of its first element, and how far the next one's is.
/// Both are 0 where the elements are pieces of an axis, which have all of their positions.
#[derive(Clone, Copy)]
struct Steps {
    first: u64,
    weight: u64,
}

impl Steps {
    const NONE: Self = Self { first: 0, weight: 0 };

    /// Those from an element of the axis on.
    const fn after(self, elements: u64) -> Self {
        Self { first: self.first.wrapping_add(elements.wrapping_mul(self.weight)), ..self }
    }
}

impl Found {
    /// # Errors
    /// [`Error::OverLimit`] for sets whose positions do not fit 31 bits.
    fn new(
        positions: Positions,
        values: usize,
        indices: usize,
        axes: &[(u64, bool)],
    ) -> Result<Self> {
        let set: u64 = axes.iter().filter(|axis| axis.1).map(|axis| axis.0).product();
        let allowed = u64::from(positions::Positions::MIRROR);
        if set > allowed {
            let (what, limit) = ("a set whose positions are wanted", "31-bit position");
            return Err(Error::OverLimit { what, needed: set, limit, allowed });
        }
        let mirror = if positions.last { positions::Positions::MIRROR } else { 0 };
        let words = positions.element_type.size() as u64 / 4;
        Ok(Self { mirror, buffers: vec![(values, indices, words)] })
    }

    /// Adds the bindings of positions to those of a launch: of its source and of its result, with
    /// how many elements they have.
    fn bind(
        &self,
        builder: &Builder<'_>,
        [(source, elements), (result, outputs)]: [(Region, u64); 2],
        steps: Steps,
        sources: &mut Vec<Range>,
        results: &mut Vec<Range>,
    ) -> positions::Positions {
        let bind = |ranges: &mut Vec<Range>, region: Region, count| {
            let (buffer, words) = self.of(region.buffer)?;
            let (range, base) = builder.range_of(buffer, region.first, count, 4 * words);
            ranges.push(range);
            Some((base, words as u32))
        };
        let (source_base, _) = bind(sources, source, elements).unwrap_or((0, 0));
        let (result_base, words) = bind(results, result, outputs).unwrap_or((0, 1));
        let (first, weight) = (steps.first as u32, steps.weight as u32);
        positions::Positions { mirror: self.mirror, first, weight, source_base, result_base, words }
    }

    /// The positions of the elements in a buffer: their buffer, and the words of one.
    fn of(&self, values: usize) -> Option<(usize, u64)> {
        let known = self.buffers.iter().find(|known| known.0 == values);
        known.map(|&(_, positions, words)| (positions, words))
    }
}

impl Planner<'_, '_> {
    /// Reduces one axis after the other, from the last one on: so of equal elements that come in
    /// the order of one axis, the positions do too. They may count back from the last one, modulo
    /// 2^64 here and modulo 2^32 in kernels.
    fn with_positions(
        &mut self,
        mut source: Region,
        target: Region,
        mut axes: Vec<(u64, bool)>,
        back: bool,
    ) -> Result<()> {
        let set: u64 = axes.iter().filter(|axis| axis.1).map(|axis| axis.0).product();
        let (mut first, mut weight) = if back { (set - 1, u64::MAX) } else { (0, 1u64) };
        loop {
            let at = axes.iter().rposition(|axis| axis.1);
            let outer = axes[..at.unwrap_or(0)].iter().map(|axis| axis.0).product();
            let (n, inner) = match at {
                Some(at) => (axes[at].0, axes[at + 1..].iter().map(|axis| axis.0).product()),
                None => (1, axes.iter().map(|axis| axis.0).product()),
            };
            let (e, steps) = (Extents { outer, n, inner }, Steps { first, weight });
            if axes.iter().filter(|axis| axis.1).count() <= 1 {
                return self.reduce(source, target, e, steps);
            }
            let partial = self.scratch(outer * inner);
            self.reduce(source, partial, e, steps)?;
            source = partial;
            (first, weight) = (0, weight.wrapping_mul(n));
            at.map(|at| axes.remove(at));
        }
    }

    /// New scratch for so many elements, and for their positions.
    fn scratch(&mut self, elements: u64) -> Region {
        let region = self.builder.scratch(elements);
        if let Some(found) = &mut self.found {
            let positions = self.builder.scratch_words(elements);
            found.buffers.push((region.buffer, positions, 1));
        }
        region
    }

    /// How many elements a binding holds, and their positions another one.
    fn capacity(&self) -> u64 {
        let widest =
            self.found.iter().flat_map(|found| &found.buffers).map(|known| 4 * known.2).max();
        self.builder.capacity(self.builder.item().max(widest.unwrap_or(0)))
    }

    /// Reduces one axis, in pieces where bindings are too small for the whole.
    fn reduce(&mut self, source: Region, target: Region, e: Extents, steps: Steps) -> Result<()> {
        let capacity = self.capacity();
        let matrix = e.n * e.inner;
        if e.outer * matrix <= capacity {
            return self.launch(source, target, e, steps);
        }

        if e.n == 1 && e.inner > 1 {
            // Each element alone: any cut will do.
            let flat = Extents { outer: e.outer * e.inner, n: 1, inner: 1 };
            return self.reduce(source, target, flat, steps);
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
                self.launch(from, to, Extents { outer, ..e }, steps)?;
                done += outer;
            }
            return Ok(());
        }

        let rows = (capacity / e.inner).min(e.n);
        // Pieces of one row each would come out as they went in.
        if rows < 2 {
            return self.by_columns(source, target, e, steps);
        }
        let pieces = e.n.div_ceil(rows);
        let partial = self.scratch(e.outer * pieces * e.inner);
        for matrix_index in 0..e.outer {
            for piece in 0..pieces {
                let n = rows.min(e.n - piece * rows);
                let first = matrix_index * matrix + piece * rows * e.inner;
                let result = (matrix_index * pieces + piece) * e.inner;
                let one = Extents { outer: 1, n, inner: e.inner };
                let steps = steps.after(piece * rows);
                self.launch(source.after(first), partial.after(result), one, steps)?;
            }
        }
        self.reduce(partial, target, Extents { n: pieces, ..e }, Steps::NONE)
    }

    /// Reduces rows of which no binding holds two, some columns after the other: a row's part
    /// is copied beside the maxima of the rows before it, and both are reduced into the other of
    /// two scratch buffers.
    fn by_columns(
        &mut self,
        source: Region,
        target: Region,
        e: Extents,
        steps: Steps,
    ) -> Result<()> {
        // The blocks of the next part are aligned.
        let block = self.builder.block();
        let part = self.capacity() / 2 / block * block;
        if part == 0 {
            return Err(self.builder.over_binding("two blocks of elements", 32));
        }
        let pair = [self.scratch(2 * part), self.scratch(2 * part)];
        for matrix in 0..e.outer {
            let mut first = 0;
            while first < e.inner {
                let width = part.min(e.inner - first);
                let at = |row| source.after((matrix * e.n + row) * e.inner + first);
                let one = Extents { outer: 1, n: 1, inner: width };
                let [mut here, mut there] = pair;
                self.launch(at(0), here, one, steps)?;
                for row in 1..e.n {
                    self.launch(at(row), here.after(width), one, steps.after(row))?;
                    let last = row == e.n - 1;
                    let into = if last { target.after(matrix * e.inner + first) } else { there };
                    self.launch(here, into, Extents { n: 2, ..one }, Steps::NONE)?;
                    (here, there) = (there, here);
                }
                first += width;
            }
        }
        Ok(())
    }

    /// Reduces one axis that the bindings hold.
    fn launch(&mut self, source: Region, target: Region, e: Extents, steps: Steps) -> Result<()> {
        match (e.inner, &self.found) {
            (1, _) => self.rows(source, target, e, steps),
            (_, None) => self.columns(source, target, e),
            (_, Some(_)) => self.columns_index(source, target, e, steps),
        }
    }

    /// Where a launch begins in its bindings.
    fn start(&self, source: Region, target: Region) -> Start {
        let begin = |region| self.builder.range(region, 0).1.into();
        Start { source: begin(source), result: begin(target) }
    }

    /// Reduces rows, in two steps where one would leave most of the device idle or an invocation
    /// running too long.
    fn rows(&mut self, source: Region, target: Region, e: Extents, steps: Steps) -> Result<()> {
        let at = self.start(source, target);
        let special = self.tuning.special.filter(|_| self.found.is_none());
        let special = special.and_then(|s| (s.rows)(self.builder, e, at));
        if let Some((kernel, rows)) = special {
            let cut = rows::Cut { kernel, threads: 1, chunk: rows, splits: 1 };
            let groups = e.outer.div_ceil(rows).div_ceil(self.builder.workgroup());
            let purpose = "maxima of short rows";
            return self.push_rows(purpose, (source, target), e, cut, groups, steps);
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
            return self.push_rows("maxima of rows", (source, target), e, cut, groups, steps);
        }
        let partial = self.scratch(units);
        let purpose = "maxima of pieces of rows";
        self.push_rows(purpose, (source, partial), e, cut, groups(0, units), steps)?;
        self.reduce(partial, target, Extents { n: splits, ..e }, Steps::NONE)
    }

    fn push_rows(
        &mut self,
        purpose: &'static str,
        (from, to): (Region, Region),
        e: Extents,
        cut: rows::Cut,
        groups: u64,
        steps: Steps,
    ) -> Result<()> {
        let (elements, outputs) = (e.outer * e.n, e.outer * cut.splits);
        let (source, base) = self.builder.range(from, elements);
        let (result, result_base) = self.builder.range(to, outputs);
        let (mut sources, mut results) = (vec![source], vec![result]);
        let mut shader = self.builder.shader(cut.kernel);
        let mut positions = positions::Positions::zeroed();
        if let Some(found) = &self.found {
            let ends = [(from, elements), (to, outputs)];
            positions = found.bind(self.builder, ends, steps, &mut sources, &mut results);
            shader = shader.with("positions", true).with("from_positions", sources.len() > 1);
        }
        let params = rows::Params {
            base,
            rows: e.outer as u32,
            len: e.n as u32,
            splits: cut.splits as u32,
            chunk: cut.chunk as u32,
            threads_per_row: cut.threads as u32,
            result_base,
            ranking: self.builder.ranking,
            padding: [0; 3],
            positions,
        };
        let launch = New { purpose, shader, params: &params, sources, results };
        self.builder.push_groups(launch, groups)
    }

    /// How columns are cut of which invocations take several side by side, `units` in all and `pitch`
    /// a row: the units of a workgroup, and the rows of a piece.
    fn cut_columns(&self, units: u64, pitch: u64, rows: u64) -> (u64, u64) {
        let parallelism = u64::from(self.builder.target.parallelism);
        // So many share a column as fill the device, and as read a line of neighbouring rows;
        // what is left of the workgroup reads a line of a row.
        let (workgroup, line) = (self.builder.workgroup(), self.tuning.line);
        let max_threads = workgroup / line.min(pitch).next_power_of_two().min(workgroup);
        let enough = (parallelism / units).min(rows / self.tuning.min_blocks);
        let shared = enough.max((line / pitch).min(rows)).max(1);
        let threads = shared.min(max_threads).min(self.tuning.max_threads_per_column);
        let threads = 1 << threads.ilog2();
        let to_fill =
            (parallelism / (units * threads)).min(rows / (threads * self.tuning.min_rows));
        let to_end = rows.div_ceil(threads * self.builder.max_iterations());
        (workgroup / threads, rows.div_ceil(to_fill.max(to_end).max(1)))
    }

    /// As [`Planner::columns`], where positions are wanted.
    fn columns_index(
        &mut self,
        source: Region,
        target: Region,
        e: Extents,
        steps: Steps,
    ) -> Result<()> {
        // Results of an output vector.
        let vector = if self.builder.item() == 8 { 2 } else { 4 };
        let (vectors, pitch) = ((e.outer * e.inner).div_ceil(vector), e.inner.div_ceil(vector));
        let (tile, chunk) = self.cut_columns(vectors, pitch, e.n);
        let splits = e.n.div_ceil(chunk);
        let (to, purpose) = match splits {
            1 => (target, "maxima of columns"),
            _ => (self.scratch(e.outer * splits * e.inner), "maxima of pieces of columns"),
        };
        let (elements, outputs) = (e.outer * e.n * e.inner, e.outer * splits * e.inner);
        let (range, base) = self.builder.range(source, elements);
        let (result, result_base) = self.builder.range(to, outputs);
        let (mut sources, mut results) = (vec![range], vec![result]);
        let columns = columns::Params {
            base,
            outputs: outputs as u32,
            len: (e.n * e.inner) as u32,
            width: e.inner as u32,
            splits: splits as u32,
            chunk: chunk as u32,
            result_base,
            ranking: self.builder.ranking,
            tile: tile as u32,
        };
        let ends = [(source, elements), (to, outputs)];
        let found = self.found.as_ref().expect("positions are wanted");
        let positions = found.bind(self.builder, ends, steps, &mut sources, &mut results);
        let params = columns_index::Params { columns, padding: [0; 2], positions };
        let aligned = [base.into(), e.inner, result_base.into()];
        let aligned = aligned.iter().all(|x: &u64| x.is_multiple_of(vector));
        let shader = self.builder.shader(&COLUMNS_INDEX).with("aligned", aligned);
        let shader = shader.with("from_positions", sources.len() > 1);
        let skew = u64::from(result_base) % vector;
        let groups = (skew + outputs).div_ceil(vector * tile);
        self.builder
            .push_groups(New { purpose, shader, params: &params, sources, results }, groups)?;
        match splits {
            1 => Ok(()),
            _ => self.reduce(to, target, Extents { n: splits, ..e }, Steps::NONE),
        }
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
        let special = self.tuning.special.and_then(|s| (s.columns)(self.builder, e, at, width));
        if let Some((kernel, cut)) = special {
            return self.push_columns(kernel, source, target, e, cut);
        }
        let rows = matrix.div_ceil(width);
        let (blocks, pitch) = ((e.outer * width).div_ceil(block), width.div_ceil(block));
        let (tile, chunk) = self.cut_columns(blocks, pitch, rows);
        let cut = Cut { width, chunk, splits: rows.div_ceil(chunk), tile };
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
            _ => self.reduce(partial, target, Extents { n: pieces, ..e }, Steps::NONE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Limits, Role};
    use crate::reduce::{HARDWARE, ReduceMax};
    use crate::tensor::{ElementType, TensorDesc};

    /// What [`Plan::check`] looks for is found in a plan that is broken so.
    #[test]
    fn a_broken_plan_is_noticed() {
        let limits = Limits { max_binding_size: 1 << 20, ..Limits::cpu() };
        let target = Target { limits: &limits, parallelism: 1024, words_per_fill: 1 };
        let input = TensorDesc::new(ElementType::F32, [100, 1000]).unwrap();
        let operator = ReduceMax::new().axes([1]);
        let plan = plan(operator.resolve(&input).unwrap(), target, &HARDWARE).unwrap();
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
