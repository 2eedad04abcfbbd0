//! SegmentMax as launches over runs of rows, or over rows in any order.

mod runs;

use super::builder::{Builder, MAX_ELEMENTS, Region};
use super::{Limits, Plan, Range};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Params, Shader, divisor, segment};
use crate::operator::{SegmentMax, Segments};
use crate::tensor::TensorDesc;
use crate::tensor::key::key_words;

/// Rows of a run at least: two of them go to the carry list.
const MIN_RUN: u64 = 16;
/// And at most.
const MAX_RUN: u64 = 4096;
/// Ids that an invocation looks at where they are checked or made.
const IDS_OF_A_RUN: u64 = 32;

/// The buffers of the inputs and of the maxima; the indices follow, if they are wanted.
const DATA: usize = 0;
const IDS_BUFFER: usize = 1;
const VALUES: usize = 2;

/// What all launches share.
struct Planner<'a> {
    operator: &'a SegmentMax,
    rows: u64,
    inner: u64,
    segments: u64,
    /// Elements of a block of 16 bytes.
    block: u64,
    /// The key of a segment without rows.
    empty: [u32; 2],
    /// Words of an index; `None` where the rows are not wanted.
    index_words: Option<u64>,
    /// Words of an item in scratch; `None` where results are stored as elements.
    item_words: Option<u64>,
    /// Whether rows are taken in any order.
    scatters: bool,
}

/// Ids, of one or two words each.
#[derive(Clone, Copy)]
struct Ids {
    buffer: usize,
    words: u64,
    /// The id of the first segment.
    first_segment: u64,
}

/// Some segments of the result.
struct Piece {
    first: u64,
    count: u64,
    /// Scratch for their items.
    items: Option<usize>,
}

/// The plan of a SegmentMax; `outputs` are the maxima and, if they are wanted,
/// the indices and the status.
pub(crate) fn plan(
    operator: &SegmentMax,
    data: &TensorDesc,
    ids: &TensorDesc,
    outputs: Vec<TensorDesc>,
    limits: &Limits,
) -> Result<Plan> {
    let element = data.element_type();
    let mut builder = Builder::new(&[data, ids], outputs.clone(), operator.get_nan(), limits);
    let empty_bits = operator.get_empty_segment().bits(element);
    let inner: u64 = data.shape()[1..].iter().map(|&d| d as u64).product();
    let block = 16 / element.size() as u64;
    let index_words = operator.get_indices().map(|t| t.size() as u64 / 4);
    let unsorted = operator.get_segments() == Segments::Unsorted;
    // Rows so wide that few of them fit a binding, or of the carry list, go as unsorted ones do,
    // and so do winning rows among more than a binding holds.
    let widest = builder.room(element.size().max(4) as u64);
    let all = data.len() as u64;
    let scatters = unsorted
        || widest / inner.max(1) < 8
        || (index_words.is_some() && all > builder.room(builder.item(false)));
    let key_words_count = if element.size() == 8 { 2 } else { 1 };
    let item_words = match (scatters, index_words) {
        (true, _) => Some(key_words_count + 1),
        (false, Some(_)) => Some(1),
        // Neighbours of less than a word share words, unless a row is whole blocks.
        (false, None) if element.size() < 4 && !inner.is_multiple_of(block) => Some(2),
        _ => None,
    };
    let planner = Planner {
        operator,
        rows: data.shape()[0] as u64,
        inner,
        segments: outputs[0].shape()[0] as u64,
        block,
        empty: key_words(element, empty_bits),
        index_words,
        item_words,
        scatters,
    };
    let id_words = ids.element_type().size() as u64 / 4;
    if operator.get_status() {
        let status = VALUES + outputs.len() - 1;
        builder.fill_repeated(status, 0)?;
        if !unsorted {
            planner.check(&mut builder, ids.len() as u64, id_words, status)?;
        }
    }
    if !outputs[0].is_empty() {
        if planner.rows == 0 || item_words.is_none() {
            builder.fill(VALUES, empty_bits)?;
        }
        if planner.rows > 0 {
            planner.all(&mut builder, id_words)?;
        } else if index_words.is_some() {
            builder.fill_repeated(VALUES + 1, u64::MAX)?;
        }
    }
    Ok(builder.finish())
}

impl Planner<'_> {
    /// Looks for what is wrong with ids or offsets.
    fn check(
        &self,
        builder: &mut Builder<'_>,
        count: u64,
        words: u64,
        status: usize,
    ) -> Result<()> {
        // A piece begins with the last id of the one before.
        let most = builder.room(4 * words);
        if most < 2 && count > most {
            return Err(over_binding(builder, "two ids", 8 * words));
        }
        let run = IDS_OF_A_RUN.min(u64::from(builder.limits.max_iterations).max(4));
        let offsets = self.operator.get_segments() == Segments::Offsets;
        let mut first = 0;
        while first < count {
            let ids = most.min(count - first);
            let (source, base) = builder.range_of(IDS_BUFFER, first, ids, 4 * words);
            let params = segment::Params {
                rows: ids as u32,
                run: run as u32,
                // What offsets may not be above.
                last: offsets.into(),
                last_row: self.rows.min(MAX_ELEMENTS) as u32,
                ids_base: base,
                id_words: words as u32,
                ..bytemuck::Zeroable::zeroed()
            };
            let shader = Shader::untyped(Kernel::SegmentCheck, builder.limits.workgroup_size);
            let (result, _) = builder.range_of(status, 0, 1, 4);
            let params = Params::Segment(Box::new(params));
            builder.push(shader, params, vec![source], vec![result], ids.div_ceil(run))?;
            first += if first + ids == count { ids } else { ids - 1 };
        }
        Ok(())
    }

    /// All segments, in as many pieces as the result's binding asks for.
    fn all(&self, builder: &mut Builder<'_>, id_words: u64) -> Result<()> {
        if self.segments >= MAX_ELEMENTS || self.rows >= MAX_ELEMENTS {
            return Err(Error::OverLimit {
                what: "a number of segments or rows",
                needed: self.segments.max(self.rows),
                limit: "31-bit number",
                allowed: MAX_ELEMENTS - 1,
            });
        }
        let ids = match self.operator.get_segments() {
            Segments::Offsets => self.expand(builder, id_words)?,
            _ => Ids { buffer: IDS_BUFFER, words: id_words, first_segment: 0 },
        };
        let mut room = builder.room(builder.item(false));
        if let Some(words) = self.item_words {
            room = room.min(builder.room(4 * words));
        }
        if let Some(words) = self.index_words {
            room = room.min(builder.room(4 * words));
        }
        let fit = (room / self.inner).min(self.segments);
        if fit == 0 {
            return Err(over_binding(
                builder,
                "a row of the result, on its way,",
                self.inner * (4 * self.item_words.unwrap_or(1)).max(builder.item(false)),
            ));
        }
        let items =
            self.item_words.map(|words| builder.scratch_words(fit * self.inner * words).buffer);
        // One after the other, pieces may use the same scratch.
        let mut carries = Vec::new();
        let mut first = 0;
        while first < self.segments {
            let piece = Piece { first, count: fit.min(self.segments - first), items };
            let ids = Ids { first_segment: first, ..ids };
            if let Some(items) = items {
                builder.fill_repeated(items, 0)?;
            }
            match self.scatters {
                true => self.scatter(builder, ids, &piece)?,
                false => self.runs(builder, ids, &piece, &mut carries)?,
            }
            if let Some(items) = items {
                self.finish(builder, items, &piece)?;
            }
            first += piece.count;
        }
        Ok(())
    }

    /// Ids of one word, made of offsets.
    fn expand(&self, builder: &mut Builder<'_>, words: u64) -> Result<Ids> {
        let offsets = self.segments + 1;
        if offsets > builder.room(4 * words) {
            return Err(over_binding(builder, "offsets", offsets * 4 * words));
        }
        let ids = builder.scratch_words(self.rows).buffer;
        let most = builder.room(4) / 4 * 4;
        if most == 0 {
            return Err(over_binding(builder, "four ids", 16));
        }
        // A search takes as many steps as a number has bits.
        let run = (u64::from(builder.limits.max_iterations) / 32).clamp(1, IDS_OF_A_RUN);
        let mut first = 0;
        while first < self.rows {
            let rows = most.min(self.rows - first);
            let (source, base) = builder.range_of(IDS_BUFFER, 0, offsets, 4 * words);
            // The results of a piece begin its binding, or a little behind.
            let (result, result_base) = builder.range_of(ids, first, rows, 4);
            let params = segment::Params {
                rows: rows as u32,
                run: run as u32,
                runs: rows.div_ceil(run) as u32,
                segments: self.segments as u32,
                ids_base: base,
                id_words: words as u32,
                result_base,
                first_row: first as u32,
                ..bytemuck::Zeroable::zeroed()
            };
            let shader = Shader::untyped(Kernel::SegmentExpand, builder.limits.workgroup_size);
            let params = Params::Segment(Box::new(params));
            builder.push(shader, params, vec![source], vec![result], rows.div_ceil(run))?;
            first += rows;
        }
        Ok(Ids { buffer: ids, words: 1, first_segment: 0 })
    }

    /// Rows in any order, word by word of the items.
    fn scatter(&self, builder: &mut Builder<'_>, ids: Ids, piece: &Piece) -> Result<()> {
        let item_words = self.item_words.unwrap_or(2);
        let by_rows = self.index_words.is_some();
        let iterations = u64::from(builder.limits.max_iterations).max(4);
        let run = (self.rows * self.inner).div_ceil(u64::from(builder.limits.lanes).max(1));
        let run = run.clamp(MIN_RUN, MAX_RUN).min(iterations);
        let room = builder.room(builder.item(false)) / self.inner;
        let fit = room.min(builder.room(4 * ids.words));
        if fit == 0 {
            return Err(over_binding(
                builder,
                "a row of segments",
                self.inner * builder.item(false),
            ));
        }
        let kernel = if by_rows { Kernel::SegmentScatterRows } else { Kernel::SegmentScatter };
        // The mark is made with the first word.
        let words = if by_rows { item_words } else { item_words - 1 };
        for word in 0..words {
            let mut first = 0;
            while first < self.rows {
                let count = fit.min(self.rows - first);
                let mut params = self.params(builder, count, self.inner, run);
                let (source, base) = builder
                    .range(Region::elements(DATA).after(first * self.inner), count * self.inner);
                params.base = base;
                let (id_range, base) = builder.range_of(ids.buffer, first, count, 4 * ids.words);
                params.ids_base = base;
                params.id_words = ids.words as u32;
                params.segments = piece.count as u32;
                params.first_segment = ids.first_segment as u32;
                params.first_row = first as u32;
                params.word = word as u32;
                let (out, base) = self.target(builder, piece);
                params.result_base = base;
                let shader = self.shader(builder, kernel, false, false);
                let invocations = u64::from(params.runs) * self.inner;
                let params = Params::Segment(Box::new(params));
                builder.push(shader, params, vec![source, id_range], vec![out], invocations)?;
                first += count;
            }
        }
        Ok(())
    }

    /// Items become elements and indices.
    fn finish(&self, builder: &mut Builder<'_>, items: usize, piece: &Piece) -> Result<()> {
        let outputs = piece.count * self.inner;
        let item_words = self.item_words.unwrap_or(1);
        let first = piece.first * self.inner;
        let (out, result_base) = builder.range(Region::elements(VALUES).after(first), outputs);
        let (item_range, _) = builder.range_of(items, 0, outputs, 4 * item_words);
        let slot = if builder.item(false) == 8 { 2 } else { 4 };
        let invocations = (u64::from(result_base) % slot + outputs).div_ceil(slot);
        let Some(words) = self.index_words else {
            let mut params = self.params(builder, self.rows, self.inner, 1);
            params.result_base = result_base;
            params.outputs = outputs as u32;
            let shader = self.shader(builder, Kernel::SegmentFinish, false, false);
            let params = Params::Segment(Box::new(params));
            return builder.push(shader, params, vec![item_range], vec![out], invocations);
        };
        // Elements are looked up, in as many launches as bindings hold all rows.
        let fit = (builder.room(builder.item(false)) / self.inner).min(self.rows).max(1);
        for row in (0..self.rows).step_by(fit as usize) {
            let rows = fit.min(self.rows - row);
            let mut params = self.params(builder, rows, self.inner, 1);
            params.result_base = result_base;
            params.outputs = outputs as u32;
            params.first_row = row as u32;
            let region = Region::elements(DATA).after(row * self.inner);
            let (source, base) = builder.range(region, rows * self.inner);
            params.base = base;
            let (indices, base) = builder.range_of(VALUES + 1, first, outputs, 4 * words);
            params.index_base = base;
            params.index_words = words as u32;
            let shader = self.shader(builder, Kernel::SegmentFinishRows, false, false);
            let (sources, results) = (vec![source, item_range.clone()], vec![out.clone(), indices]);
            builder.push(
                shader,
                Params::Segment(Box::new(params)),
                sources,
                results,
                invocations,
            )?;
        }
        Ok(())
    }

    /// Where the results of a piece go: the maxima themselves, or scratch.
    fn target(&self, builder: &Builder<'_>, piece: &Piece) -> (Range, u32) {
        let outputs = piece.count * self.inner;
        match (piece.items, self.item_words) {
            (Some(items), Some(words)) => builder.range_of(items, 0, outputs, 4 * words),
            _ => builder.range(Region::elements(VALUES).after(piece.first * self.inner), outputs),
        }
    }

    fn params(&self, builder: &Builder<'_>, rows: u64, columns: u64, run: u64) -> segment::Params {
        segment::Params {
            rows: rows as u32,
            inner: self.inner as u32,
            columns: columns as u32,
            run: run as u32,
            runs: rows.div_ceil(run) as u32,
            nan_key: builder.nan_key,
            empty_low: self.empty[0],
            empty_high: self.empty[1],
            item_words: self.item_words.unwrap_or(1) as u32,
            last_row: (self.rows - 1) as u32,
            by_columns: divisor(columns),
            by_inner: divisor(self.inner),
            ..bytemuck::Zeroable::zeroed()
        }
    }

    fn shader(&self, builder: &Builder<'_>, kernel: Kernel, from: bool, to: bool) -> Shader {
        Shader {
            kernel,
            element: builder.element,
            from_scratch: from,
            to_scratch: to,
            words: false,
            shared: false,
            workgroup: builder.limits.workgroup_size,
        }
    }
}

fn over_binding(builder: &Builder<'_>, what: &'static str, bytes: u64) -> Error {
    Error::OverLimit {
        what,
        needed: bytes,
        limit: "max_storage_buffer_binding_size",
        allowed: builder.limits.max_binding_size,
    }
}
