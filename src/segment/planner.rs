//! SegmentMax and ScatterMax as launches over chunks of rows, or over rows in any order.

mod chunks;
mod finish;
mod ids;
mod scatter;

use super::params::{IdForm, Params};
use super::tuning::Tuning;
use super::{ScatterMax, SegmentMax, Segments, maxima};
use crate::base::error::{Error, Result};
use crate::plan::{
    Axis, Builder, Kernel, MAX_ELEMENTS, Plan, Range, Region, Shader, Target, divisor,
};
use crate::tensor::key::{Ranking, key_words};
use crate::tensor::{ElementType, Outputs, Rules, TensorDesc};

/// The second input: ids, offsets or indices.
const IDS: usize = 1;

/// What all launches of a plan share.
struct Planner<'a> {
    tuning: &'a Tuning,
    /// What the second input is.
    segments_are: Segments,
    /// The buffers of the rows and of the maxima; the indices follow, if any.
    data: usize,
    values: usize,
    /// The data that the maxima of segments are joined with, if any.
    initial: Option<Initial>,
    rows: u64,
    /// Elements of a row.
    inner: u64,
    segments: u64,
    /// The bits and the key of a segment without rows.
    empty_bits: u64,
    empty: [u32; 2],
    /// Words of an index; `None` if indices are not a result.
    index_words: Option<u64>,
    /// Words of an item in scratch; `None` if results are stored as elements.
    item_words: Option<u64>,
    /// Whether rows are taken in any order.
    scatters: bool,
}

/// The data of a ScatterMax.
#[derive(Clone, Copy)]
struct Initial {
    buffer: usize,
    /// Whether an element of the data takes part if its segment has rows.
    joins: bool,
    /// How many consecutive rows have one position, and how many positions there are.
    positions: Axis,
}

/// The ids of rows, or offsets.
#[derive(Clone, Copy)]
struct RowIds {
    buffer: usize,
    element: ElementType,
    /// The id of the first segment.
    first_segment: u64,
    /// For `segment_scatter` alone: negative ids count back from this number; 0 if they name no
    /// segment.
    end: u64,
}

impl RowIds {
    /// Ids of all segments. Negative ids name no segment.
    fn new(buffer: usize, element: ElementType) -> Self {
        Self { buffer, element, first_segment: 0, end: 0 }
    }

    /// Ids of one word in scratch.
    fn words(buffer: usize) -> Self {
        Self::new(buffer, ElementType::U32)
    }

    /// Bytes of an id.
    fn size(&self) -> u64 {
        self.element.size() as u64
    }

    fn form(&self) -> IdForm {
        IdForm {
            id_words: self.size().div_ceil(4) as u32,
            id_bits: 8 * self.size() as u32,
            id_sign: u32::from(self.element.is_signed_integer()) << 31,
        }
    }

    /// The binding of some of the ids, and where they begin in it.
    fn range(&self, builder: &Builder<'_>, first: u64, count: u64) -> (Range, u32) {
        builder.range_of(self.buffer, first, count, self.size())
    }

    /// The shader of a kernel that reads these ids.
    fn shader(&self, builder: &Builder<'_>, kernel: &'static Kernel) -> Shader {
        let shader = builder.shader(kernel);
        if self.are_small() { shader.with("small_ids", true) } else { shader }
    }

    /// Whether several ids share a word.
    fn are_small(&self) -> bool {
        self.size() < 4
    }
}

/// Some segments of the result.
struct Piece {
    first: u64,
    count: u64,
    /// Scratch for their items.
    items: Option<usize>,
}

/// The plan of a SegmentMax; `outputs` are the maxima and, if any, the indices and the
/// status.
///
/// # Errors
/// [`Error::OverLimit`].
pub(crate) fn plan(
    operator: &SegmentMax,
    data: &TensorDesc,
    ids: &TensorDesc,
    outputs: Outputs<TensorDesc>,
    target: Target<'_>,
    tuning: &Tuning,
) -> Result<Plan> {
    let Rules { ranking, initial: joins, empty: empty_bits } =
        operator.rules(data.element_type())?;
    let mut builder = Builder::new(&[data, ids], outputs.clone(), ranking, target);
    let element = data.element_type();
    let inner: u64 = data.shape()[1..].iter().map(|&d| d as u64).product();
    let index_words = operator.indices.map(|i| i.element_type.size() as u64 / 4);
    // Rows are taken in any order in three cases: too few rows, of the data or of the carry list, fit
    // a binding; there are indices and no binding holds all rows; shaders may not bind enough
    // buffers, which are rows, ids, the result, the carry list and its ids and, with indices,
    // candidates.
    let storage_buffers = if index_words.is_some() { 6 } else { 5 };
    let widest = builder.capacity(builder.item().max(4));
    let scatters = operator.segments == Segments::Unsorted
        || builder.target.limits.max_storage_buffers < storage_buffers
        || widest / inner.max(1) < 8
        || (index_words.is_some() && data.len() as u64 > builder.capacity(builder.item()));
    let packed = maxima::is_packed(element);
    let item_words = match (scatters, index_words) {
        (true, _) => Some(scatter::item_words(element)),
        (false, Some(_)) => Some(1),
        // Several results share a word, unless a row is whole blocks.
        (false, None) if packed && !inner.is_multiple_of(builder.block()) => Some(2),
        (false, None) => None,
    };
    let planner = Planner {
        tuning,
        segments_are: operator.segments,
        data: 0,
        values: 2,
        initial: None,
        rows: data.shape()[0] as u64,
        inner,
        segments: outputs[0].shape()[0] as u64,
        empty_bits,
        empty: key_words(element, builder.ranking, empty_bits),
        index_words,
        item_words,
        scatters,
    };
    let row_ids = RowIds::new(IDS, ids.element_type());
    if operator.status {
        let status = planner.values + outputs.len() - 1;
        builder.fill_repeated(status, 0)?;
        planner.check_ids(&mut builder, row_ids, ids.len() as u64, status)?;
    }
    if !outputs[0].is_empty() {
        planner.all(&mut builder, row_ids)?;
        builder.join(planner.values, joins)?;
    }
    Ok(builder.finish())
}

/// The plan of a ScatterMax: rows of updates in any order, whose segments are parts of the data.
///
/// # Errors
/// [`Error::OverLimit`].
pub(crate) fn plan_scatter(
    operator: &ScatterMax,
    inputs: [&TensorDesc; 3],
    target: Target<'_>,
    tuning: &Tuning,
) -> Result<Plan> {
    let outputs = operator.infer(inputs)?;
    let scattered = operator.resolve(inputs)?;
    let [data, indices, _] = inputs;
    let element = data.element_type();
    let ranking = Ranking::new(element, operator.nan, operator.extremum);
    let mut builder = Builder::new(&inputs, outputs.clone(), ranking, target);
    let planner = Planner {
        tuning,
        segments_are: Segments::Unsorted,
        data: 2,
        values: 3,
        initial: Some(Initial {
            buffer: 0,
            joins: operator.include_data,
            positions: scattered.positions,
        }),
        rows: scattered.rows,
        inner: scattered.inner,
        segments: scattered.parts,
        empty_bits: 0,
        empty: [0; 2],
        index_words: operator.indices.map(|i| i.element_type.size() as u64 / 4),
        item_words: Some(scatter::item_words(element)),
        scatters: true,
    };
    let status = operator.status.then(|| planner.values + outputs.len() - 1);
    if let Some(status) = status {
        builder.fill_repeated(status, 0)?;
    }
    if status.is_none() && outputs[0].is_empty() {
        return Ok(builder.finish());
    }
    let ids = RowIds::new(IDS, indices.element_type());
    let ids = planner.locate(&mut builder, ids, &scattered, status)?;
    if !outputs[0].is_empty() {
        planner.all(&mut builder, ids)?;
    }
    Ok(builder.finish())
}

impl Planner<'_> {
    /// All segments, in as many pieces as the result's binding needs.
    fn all(&self, builder: &mut Builder<'_>, ids: RowIds) -> Result<()> {
        if self.item_words.is_none() || (self.rows == 0 && self.initial.is_none()) {
            builder.fill(self.values, self.empty_bits)?;
        }
        if self.rows == 0 {
            if self.index_words.is_some() {
                builder.fill_repeated(self.values + 1, u64::MAX)?;
            }
            if self.initial.is_none() {
                return Ok(());
            }
        }
        for (what, count) in [("numbering segments", self.segments), ("numbering rows", self.rows)]
        {
            Error::check_limit(what, count, ("31-bit number", MAX_ELEMENTS - 1))?;
        }
        let ids = match self.segments_are {
            Segments::Offsets => self.expand_offsets(builder, ids)?,
            _ => ids,
        };
        let fit = self.segments_of_piece(builder)?;
        let items = self.item_words.map(|words| builder.scratch_words(fit * self.inner * words));
        // Pieces are computed one after the other, so they may use the same scratch.
        let mut carries = Vec::new();
        let mut first = 0;
        while first < self.segments {
            let piece = Piece { first, count: fit.min(self.segments - first), items };
            let ids = RowIds { first_segment: first, ..ids };
            if let Some(items) = items {
                builder.fill_repeated(items, 0)?;
            }
            match self.scatters {
                true if self.rows == 0 => {}
                true => self.scatter(builder, ids, &piece)?,
                false => self.chunks(builder, ids, &piece, &mut carries)?,
            }
            if let Some(items) = items {
                self.finish(builder, items, &piece)?;
            }
            first += piece.count;
        }
        Ok(())
    }

    /// How many segments the bindings of elements, items and indices hold.
    fn segments_of_piece(&self, builder: &Builder<'_>) -> Result<u64> {
        let words = self.item_words.into_iter().chain(self.index_words).map(|words| 4 * words);
        let capacity = words.map(|bytes| builder.capacity(bytes)).min().unwrap_or(MAX_ELEMENTS);
        let capacity = capacity.min(builder.capacity(builder.item()));
        match (capacity / self.inner).min(self.segments) {
            0 => {
                let item = (4 * self.item_words.unwrap_or(1)).max(builder.item());
                Err(builder
                    .over_binding("a binding of one row of results in scratch", self.inner * item))
            }
            fit => Ok(fit),
        }
    }

    /// The binding of a piece's maxima or items, and where these begin in it.
    fn results(&self, builder: &Builder<'_>, piece: &Piece) -> (Range, u32) {
        let outputs = piece.count * self.inner;
        match (piece.items, self.item_words) {
            (Some(items), Some(words)) => builder.range_of(items, 0, outputs, 4 * words),
            _ => builder.range(Region::all(self.values).after(piece.first * self.inner), outputs),
        }
    }

    /// The parameters of a launch over rows with ids, except those of its elements, and the bindings
    /// of the ids and of the results.
    fn params(&self, builder: &Builder<'_>, rows: &Rows, piece: &Piece) -> (Params, Range, Range) {
        let (ids, ids_base) = rows.ids.range(builder, rows.first, rows.count);
        let (results, result_base) = self.results(builder, piece);
        let params = Params {
            by_columns: divisor(rows.columns),
            rows: rows.count as u32,
            inner: self.inner as u32,
            columns: rows.columns as u32,
            chunk: rows.chunk as u32,
            chunks: rows.count.div_ceil(rows.chunk) as u32,
            segments: piece.count as u32,
            first_segment: rows.ids.first_segment as u32,
            ids_base,
            id_form: rows.ids.form(),
            end: rows.ids.end as u32,
            result_base,
            first_row: rows.first as u32,
            last_row: (self.rows - 1) as u32,
            ranking: builder.ranking,
            ..bytemuck::Zeroable::zeroed()
        };
        (params, ids, results)
    }
}

/// The rows of a launch.
struct Rows {
    first: u64,
    count: u64,
    ids: RowIds,
    /// Rows of a chunk, and parts of a row.
    chunk: u64,
    columns: u64,
}
