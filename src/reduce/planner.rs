//! ReduceMax as a series of reductions of the middle axis of [outer, n, inner].

use bytemuck::Zeroable;

use super::Resolved;
use super::columns::{self, COLUMNS};
use super::columns_index::{self, COLUMNS_INDEX};
use super::positions::Counting;
use super::rows::{self, ROWS, SHORT_ROWS};
use super::tuning::{Cut, Extents, Start, Tuning};
use crate::base::error::{Error, Result};
use crate::plan::{Builder, Kernel, LaunchDesc, Plan, Range, Region, Target, divisor, gcd};
use crate::tensor::{Indices, Rules};

/// The plan of a reduction.
///
/// # Errors
/// [`Error::OverLimit`](crate::Error::OverLimit).
pub(crate) fn plan(resolved: Resolved<'_>, target: Target<'_>, tuning: &Tuning) -> Result<Plan> {
    let Resolved { operator, input, outputs, reduced } = resolved;
    let Rules { ranking, initial, empty } = operator.rules(input.element_type())?;
    let mut builder = Builder::new(&[input], outputs.clone(), ranking, target);
    if outputs[0].is_empty() {
        // Nothing to compute: an empty launch would be an error.
    } else if input.is_empty() {
        builder.fill(1, empty)?;
    } else {
        let axes = merge(input.shape(), &reduced);
        let (source, mut values) = (Region::all(0), Region::all(1));
        let Some(positions) = operator.indices else {
            reduce_axes(&mut builder, tuning, source, values, &axes)?;
            builder.join(1, initial)?;
            return Ok(builder.finish());
        };
        if !operator.values {
            values = builder.scratch(outputs[0].len() as u64);
        }
        let set: u64 = axes.iter().filter(|axis| axis.1).map(|axis| axis.0).product();
        let found = PositionBuffers::new(positions, values.buffer, outputs.len(), set)?;
        let (first, weight) = if operator.counts_back { (set - 1, u64::MAX) } else { (0, 1) };
        let mut planner = Planner { builder: &mut builder, tuning, found: Some(found) };
        planner.reduce_axes(source, values, axes, Steps { first, weight })?;
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

/// Reduces one axis after the other, without positions.
///
/// # Errors
/// [`Error::OverLimit`](crate::Error::OverLimit).
pub(crate) fn reduce_axes(
    builder: &mut Builder<'_>,
    tuning: &Tuning,
    source: Region,
    target: Region,
    axes: &[(u64, bool)],
) -> Result<()> {
    Planner { builder, tuning, found: None }.reduce_axes(source, target, axes.to_vec(), Steps::NONE)
}

/// A reduction that is being planned.
///
/// Its launches exchange elements. Nothing is lost: a partial result is stored as an element, whose
/// key is the same when it is read again. Results may begin within a word: a launch keeps the bytes
/// before its own, and launches run in the order of their results.
struct Planner<'a, 'b> {
    builder: &'a mut Builder<'b>,
    tuning: &'a Tuning,
    /// The buffers of positions, if positions are found.
    found: Option<PositionBuffers>,
}

/// Which buffers hold the positions of which elements.
struct PositionBuffers {
    /// As [`Counting::tie_mask`].
    tie_mask: u32,
    /// For each buffer of elements, the buffer of their positions and the words of a position.
    buffers: Vec<(usize, usize, u64)>,
}

/// The bindings of a launch, and where elements, results and their positions begin in them.
struct Bound {
    sources: Vec<Range>,
    results: Vec<Range>,
    base: u32,
    result_base: u32,
    counting: Option<Counting>,
}

/// How positions count along an axis: the position of the first element, and the step to the next.
/// Both are 0 for maxima of pieces of an axis, whose positions are complete.
#[derive(Clone, Copy)]
struct Steps {
    first: u64,
    weight: u64,
}

impl Steps {
    const NONE: Self = Self { first: 0, weight: 0 };

    /// The steps for the axis without its first `elements`.
    const fn after(self, elements: u64) -> Self {
        Self { first: self.first.wrapping_add(elements.wrapping_mul(self.weight)), ..self }
    }
}

impl PositionBuffers {
    /// # Errors
    /// [`Error::OverLimit`] for sets whose positions do not fit 31 bits.
    fn new(positions: Indices, values: usize, indices: usize, set: u64) -> Result<Self> {
        let limit = ("31-bit position", Counting::TIE_MASK.into());
        Error::check_limit("a set with positions", set, limit)?;
        let tie_mask = if positions.last { Counting::TIE_MASK } else { 0 };
        let words = positions.element_type.size() as u64 / 4;
        Ok(Self { tie_mask, buffers: vec![(values, indices, words)] })
    }
}

impl Planner<'_, '_> {
    /// Reduces one axis after the other, the longest first. With positions, it goes from the
    /// last axis to the first: equal candidates then have the same order along the axis and by
    /// position. Positions may count back from the last one, modulo 2^64 here and modulo 2^32 in
    /// kernels.
    fn reduce_axes(
        &mut self,
        mut source: Region,
        target: Region,
        mut axes: Vec<(u64, bool)>,
        mut steps: Steps,
    ) -> Result<()> {
        let product = |axes: &[(u64, bool)]| axes.iter().map(|axis| axis.0).product();
        loop {
            let reduced: Vec<usize> = (0..axes.len()).filter(|&i| axes[i].1).collect();
            let next = match self.found {
                Some(_) => reduced.last(),
                None => reduced.iter().max_by_key(|&&i| (axes[i].0, i)),
            };
            let e = match next {
                Some(&at) => Extents {
                    outer: product(&axes[..at]),
                    n: axes[at].0,
                    inner: product(&axes[at + 1..]),
                },
                // Every reduced axis has size 1: the maximum of each element alone.
                None => Extents { outer: 1, n: 1, inner: product(&axes) },
            };
            let Some(&at) = next.filter(|_| reduced.len() > 1) else {
                return self.reduce(source, target, e, steps);
            };
            let partial = self.scratch(e.outer * e.inner);
            self.reduce(source, partial, e, steps)?;
            source = partial;
            steps = Steps { first: 0, weight: steps.weight.wrapping_mul(e.n) };
            axes.remove(at);
        }
    }

    /// New scratch for elements and their positions.
    fn scratch(&mut self, elements: u64) -> Region {
        let region = self.builder.scratch(elements);
        if let Some(found) = &mut self.found {
            let positions = self.builder.scratch_words(elements);
            found.buffers.push((region.buffer, positions, 1));
        }
        region
    }

    /// How many elements fit one binding while their positions fit another.
    fn capacity(&self) -> u64 {
        let widest =
            self.found.iter().flat_map(|found| &found.buffers).map(|known| 4 * known.2).max();
        self.builder.capacity(self.builder.item().max(widest.unwrap_or(0)))
    }

    /// Reduces one axis, in pieces if bindings are smaller than the tensor.
    fn reduce(&mut self, source: Region, target: Region, e: Extents, steps: Steps) -> Result<()> {
        let capacity = self.capacity();
        let matrix = e.n * e.inner;
        if e.outer * matrix <= capacity {
            return self.launch(source, target, e, steps);
        }

        if e.n == 1 && e.inner > 1 {
            // Each element alone: it may be cut anywhere.
            let flat = Extents { outer: e.outer * e.inner, n: 1, inner: 1 };
            return self.reduce(source, target, flat, steps);
        }

        // Whole matrices. If possible, their number makes the next launch's results begin with a
        // word.
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
        // Pieces of one row each would not reduce anything.
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

    /// Reduces rows if no binding holds two. It takes some columns at a time: it copies their
    /// part of a row beside the maxima of the rows before, and reduces both into the other of two
    /// scratch buffers.
    fn by_columns(
        &mut self,
        source: Region,
        target: Region,
        e: Extents,
        steps: Steps,
    ) -> Result<()> {
        // A multiple of a block, so that the next part is aligned too.
        let block = self.builder.block();
        let part = self.capacity() / 2 / block * block;
        if part == 0 {
            return Err(self.builder.over_binding("a binding of two blocks of 16 bytes", 32));
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
        match e.inner {
            1 => self.rows(source, target, e, steps),
            _ => self.columns(source, target, e, steps),
        }
    }

    /// Where a launch begins in its bindings.
    fn start(&self, source: Region, target: Region) -> Start {
        let begin = |region| self.builder.range(region, 0).1.into();
        Start { source: begin(source), result: begin(target) }
    }

    /// The region of a launch's results if each row or column is cut into `pieces`.
    fn result(&mut self, target: Region, e: Extents, pieces: u64) -> Region {
        if pieces == 1 { target } else { self.scratch(e.outer * pieces * e.inner) }
    }

    /// Reduces the partial results of a launch that cuts each row or column into `pieces`.
    fn rest(&mut self, partial: Region, target: Region, e: Extents, pieces: u64) -> Result<()> {
        match pieces {
            1 => Ok(()),
            _ => self.reduce(partial, target, Extents { n: pieces, ..e }, Steps::NONE),
        }
    }

    /// The bindings of a launch: `ends` are the regions of its source and result, and how many
    /// elements each has.
    fn bind(&self, ends: [(Region, u64); 2], steps: Steps) -> Bound {
        let [(source, base), (result, result_base)] =
            ends.map(|(region, elements)| self.builder.range(region, elements));
        let (mut sources, mut results) = (vec![source], vec![result]);
        let counting = self.found.as_ref().map(|found| {
            let bind = |ranges: &mut Vec<Range>, (region, count): (Region, u64)| {
                let known = found.buffers.iter().find(|known| known.0 == region.buffer);
                let &(_, buffer, words) = known?;
                let (range, base) = self.builder.range_of(buffer, region.first, count, 4 * words);
                ranges.push(range);
                Some((base, words as u32))
            };
            let (source_base, _) = bind(&mut sources, ends[0]).unwrap_or((0, 0));
            let (result_base, words) = bind(&mut results, ends[1]).unwrap_or((0, 1));
            let (first, weight) = (steps.first as u32, steps.weight as u32);
            let (tie_mask, padding) = (found.tie_mask, [0; 2]);
            Counting { tie_mask, first, weight, source_base, result_base, words, padding }
        });
        Bound { sources, results, base, result_base, counting }
    }

    /// Reduces rows, in two steps if one would leave most of the device idle, or would take an
    /// invocation too many iterations.
    fn rows(&mut self, source: Region, target: Region, e: Extents, steps: Steps) -> Result<()> {
        let short = self.short_rows(e, self.start(source, target));
        let (kernel, threads, chunk, splits) = match short {
            Some(rows) => (&SHORT_ROWS, 1, rows, 1),
            None => self.cut_rows(e),
        };
        let purpose = match (short, splits) {
            (Some(_), _) => "maxima of short rows",
            (None, 1) => "maxima of rows",
            _ => "maxima of pieces of rows",
        };
        let (elements, outputs) = (e.outer * e.n, e.outer * splits);
        let to = self.result(target, e, splits);
        let Bound { sources, results, base, result_base, counting } =
            self.bind([(source, elements), (to, outputs)], steps);
        let mut shader = self.builder.shader(kernel);
        if counting.is_some() {
            shader = shader.with("positions", true).with("from_positions", sources.len() > 1);
        }
        let params = rows::Params {
            base,
            rows: e.outer as u32,
            len: e.n as u32,
            chunk: chunk as u32,
            threads_log2: threads.ilog2(),
            result_base,
            ranking: self.builder.ranking,
            by_splits: divisor(splits),
            positions: counting.unwrap_or_else(Counting::zeroed),
        };
        let units = match short {
            Some(rows) => outputs.div_ceil(rows),
            None => u64::from(result_base) % self.builder.per_word() + outputs,
        };
        let groups = units.div_ceil(self.builder.workgroup() / threads);
        let launch = LaunchDesc { purpose, shader, params: &params, sources, results };
        self.builder.push_groups(launch, groups)?;
        self.rest(to, target, e, splits)
    }

    /// How many rows an invocation reduces by itself, if rows are short and whole aligned blocks.
    fn short_rows(&self, e: Extents, at: Start) -> Option<u64> {
        let short = self.tuning.short_rows.filter(|_| self.found.is_none())?;
        let builder = &self.builder;
        let (block, per_word) = (builder.block(), builder.per_word());
        let bytes = e.n * builder.item();
        let aligned = at.source.is_multiple_of(block)
            && e.n.is_multiple_of(block)
            && at.result.is_multiple_of(per_word);
        if bytes > short.bytes || !aligned {
            return None;
        }
        let iterations = 1 + bytes.div_ceil(64);
        // So few rows that all invocations fill the device, and within the iterations of each. Their
        // results fill whole words.
        let rows = (short.total / bytes).min(e.outer / u64::from(builder.target.parallelism));
        let rows = rows.min(builder.max_iterations() / iterations);
        let rows = rows.max(per_word) / per_word * per_word;
        (per_word * iterations <= builder.max_iterations()).then_some(rows)
    }

    /// How rows are cut: the kernel, the invocations that share a piece, its elements, and the
    /// pieces of a row.
    fn cut_rows(&self, e: Extents) -> (&'static Kernel, u64, u64, u64) {
        let (tuning, builder) = (self.tuning, &self.builder);
        let parallelism = u64::from(builder.target.parallelism);
        let (workgroup, block) = (builder.workgroup(), builder.block());
        let blocks = e.n.div_ceil(block);
        // A workgroup's results fill whole words.
        let max_threads = tuning.max_threads_per_row.min(workgroup / builder.per_word());
        // Enough invocations share a row to read half a cache line together; one has a short row for itself.
        // A near cache keeps the rest of the line for their next loads. More share a longer row, and still
        // more if rows are too few to fill the device.
        let short = tuning.short_rows.is_some_and(|short| e.n * builder.item() <= short.bytes);
        let together = if short { 1 } else { tuning.line / 2 };
        let enough = parallelism.div_ceil(e.outer).max(together).min(blocks);
        let shared = (blocks / tuning.row_blocks).max(enough);
        let mut threads = shared.next_power_of_two().min(max_threads);
        // The ends of a piece take an iteration or two more.
        let max_iterations = builder.max_iterations() - 2;
        let splits_to_fill =
            (parallelism / (e.outer * max_threads)).min(blocks / (max_threads * tuning.min_blocks));
        let splits_to_end = blocks.div_ceil(threads * max_iterations);
        let mut splits = 1;
        if splits_to_fill > 1 || splits_to_end > 1 {
            threads = max_threads;
            splits = splits_to_fill.max(blocks.div_ceil(threads * max_iterations)).max(2);
        }
        let chunk = if splits == 1 { e.n } else { blocks.div_ceil(splits) * block };
        (&ROWS, threads, chunk, e.n.div_ceil(chunk))
    }

    /// How columns are cut. An invocation takes `unit` neighbouring columns. There are `width`
    /// columns: several rows of a matrix may be taken as one.
    fn cut_columns(&self, unit: u64, e: Extents, width: u64) -> Cut {
        let (units, pitch) = ((e.outer * width).div_ceil(unit), width.div_ceil(unit));
        let rows = (e.n * e.inner).div_ceil(width);
        let parallelism = u64::from(self.builder.target.parallelism);
        // Enough invocations share a column to fill the device, and to read all rows of a cache
        // line. At most so many that the workgroup still reads a cache line of each row.
        let (workgroup, line) = (self.builder.workgroup(), self.tuning.line);
        let max_threads = workgroup / line.min(pitch).next_power_of_two().min(workgroup);
        let enough = (parallelism / units).min(rows / self.tuning.min_blocks);
        let shared = enough.max((line / pitch).min(rows)).max(1);
        let threads = shared.min(max_threads).min(self.tuning.max_threads_per_column);
        let threads = 1 << threads.ilog2();
        let to_fill =
            (parallelism / (units * threads)).min(rows / (threads * self.tuning.min_rows));
        let to_end = rows.div_ceil(threads * self.builder.max_iterations());
        let chunk = rows.div_ceil(to_fill.max(to_end).max(1));
        Cut { width, chunk, splits: rows.div_ceil(chunk), tile: workgroup / threads }
    }

    /// Reduces columns, in two steps if one would leave most of the device idle, or would take an
    /// invocation too many iterations.
    fn columns(&mut self, source: Region, target: Region, e: Extents, steps: Steps) -> Result<()> {
        let parallelism = u64::from(self.builder.target.parallelism);
        let (item, block) = (self.builder.item(), self.builder.block());
        if self.found.is_some() {
            let cut = self.cut_columns(block.min(4), e, e.inner);
            return self.push_columns(&COLUMNS_INDEX, source, target, e, cut, steps);
        }

        // Few narrow columns: several rows are taken as one, and a later launch reduces the results.
        let mut width = e.inner;
        if e.inner * item < self.tuning.narrow && e.outer * e.inner < parallelism * block {
            // A whole number of blocks, so that reads are aligned.
            let unit = block / gcd(block, e.inner);
            let wanted = self.tuning.widened.div_ceil(e.inner * item).next_multiple_of(unit);
            let repeats = wanted.min(e.n / self.tuning.min_widened_rows) / unit * unit;
            width = e.inner * repeats.max(1);
        }
        let at = self.start(source, target);
        let special = self.tuning.columns.and_then(|of| of(self.builder, e, at, width));
        let (kernel, cut) =
            special.unwrap_or_else(|| (&COLUMNS, self.cut_columns(block, e, width)));
        self.push_columns(kernel, source, target, e, cut, steps)
    }

    /// A launch over columns, and the launches for its partial results if it takes columns in
    /// pieces.
    fn push_columns(
        &mut self,
        kernel: &'static Kernel,
        source: Region,
        target: Region,
        e: Extents,
        cut: Cut,
        steps: Steps,
    ) -> Result<()> {
        let (block, per_word) = (self.builder.block(), self.builder.per_word());
        // `unit` columns of an invocation are an output vector or a block. `stored` results are
        // stored together; some may belong to an earlier launch.
        let (unit, stored) = match self.found {
            Some(_) => (block.min(4), block.min(4)),
            None => (block, per_word),
        };
        let pieces = cut.splits * (cut.width / e.inner);
        let purpose = if pieces == 1 { "maxima of columns" } else { "maxima of pieces of columns" };
        let partial = self.result(target, e, pieces);
        let (matrix, outputs) = (e.n * e.inner, e.outer * cut.splits * cut.width);
        let Bound { sources, results, base, result_base, counting } =
            self.bind([(source, e.outer * matrix), (partial, outputs)], steps);
        let aligned = [base.into(), cut.width, result_base.into()];
        let aligned = aligned.iter().all(|x: &u64| x.is_multiple_of(unit))
            && matrix.is_multiple_of(cut.width);
        let shader = self.builder.shader(kernel);
        let columns = columns::Params {
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
        let mut groups = (u64::from(result_base) % stored + outputs).div_ceil(unit * cut.tile);
        if let Some(positions) = counting {
            let shader = shader.with("aligned", aligned).with("from_positions", sources.len() > 1);
            let params = &columns_index::Params { columns, padding: [0; 2], positions };
            self.builder
                .push_groups(LaunchDesc { purpose, shader, params, sources, results }, groups)?;
        } else {
            // A word holds parts of at most two rows of `width` results: a row has at least two
            // results, and rows of two begin at an even one.
            debug_assert!(cut.width > 2 || result_base.is_multiple_of(2) || per_word < 4);
            let mut shader = shader;
            if kernel == &COLUMNS {
                shader = shader.with("unaligned", !aligned);
            } else {
                let tiles = (cut.width / block).div_ceil(cut.tile);
                groups = (e.outer * cut.splits * tiles).div_ceil(self.builder.workgroup());
            }
            let launch = LaunchDesc { purpose, shader, params: &columns, sources, results };
            self.builder.push_groups(launch, groups)?;
        }
        self.rest(partial, target, e, pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Limits, Role};
    use crate::reduce::{HARDWARE, ReduceMax};
    use crate::tensor::{ElementType, TensorDesc};

    /// [`Plan::check`] detects a plan that is broken in this way.
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
