//! Segments whose ids ascend: levels of launches over chunks of rows, of which each level goes
//! through what the one before carried.

use super::{DATA, Piece, Planner, RowIds, Rows};
use crate::error::Result;
use crate::plan::{Builder, Kernel, New, Range, Region, Shader};
use crate::segment::argmax::ARGMAX;
use crate::segment::blocks::BLOCKS;
use crate::segment::elements::{ELEMENTS, is_packed};

/// What an invocation has of each row.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// So many blocks.
    Blocks(u64),
    Element,
    /// The row of an element's maximum.
    Argmax,
}

/// The carry list after a level: the buffers of its rows and of their ids.
type Carry = (usize, usize);

/// The rows of a level: those of the data, or what the level before carried.
#[derive(Clone, Copy)]
struct Level {
    number: usize,
    source: usize,
    rows: u64,
    ids: RowIds,
}

/// How the rows of a level are cut.
struct Cut {
    /// Rows of a chunk.
    chunk: u64,
    /// Rows of a launch, whole chunks.
    fit: u64,
    /// Whether one chunk of each column ends the level, so that nothing is carried.
    last: bool,
    /// The kernel for whole chunks, where it is not the general one.
    special: Option<&'static Kernel>,
}

/// Storage buffers of the kernels: rows and ids, the result, the carry list and its ids; where rows
/// are wanted, also the candidates.
pub(super) const fn storage_buffers(index_words: Option<u64>) -> u32 {
    if index_words.is_some() { 6 } else { 5 }
}

impl Planner<'_> {
    /// Goes through the rows, and through what is carried, until one invocation can end it.
    /// `carries` are the carry lists of other pieces, which have the same levels.
    pub(super) fn chunks(
        &self,
        builder: &mut Builder<'_>,
        ids: RowIds,
        piece: &Piece,
        carries: &mut Vec<Carry>,
    ) -> Result<()> {
        let mut level = Level { number: 0, source: DATA, rows: self.rows, ids };
        loop {
            let cut = self.cut(builder, level)?;
            let entries = 2 * level.rows.div_ceil(cut.chunk);
            if level.number == carries.len() {
                let bytes = entries * self.inner * self.carry_item(builder);
                let carry = builder.scratch_words(bytes.div_ceil(4));
                carries.push((carry, builder.scratch_words(entries)));
            }
            let carry = carries[level.number];
            let mut first = 0;
            while first < level.rows {
                let mut count = cut.fit.min(level.rows - first);
                let mut kernel = None;
                // A chunk that is not full gets a launch of the general kernel.
                if cut.special.is_some() && count >= cut.chunk {
                    kernel = cut.special;
                    count = count / cut.chunk * cut.chunk;
                }
                let columns = self.columns(builder);
                let rows = Rows { first, count, ids: level.ids, chunk: cut.chunk, columns };
                self.push_chunks(builder, level, &rows, (cut.last, kernel), piece, carry)?;
                first += count;
            }
            if cut.last {
                return Ok(());
            }
            level = Level {
                number: level.number + 1,
                source: carry.0,
                rows: entries,
                ids: RowIds { buffer: carry.1, words: 1, first_segment: 0 },
            };
        }
    }

    /// Cuts the rows of a level.
    fn cut(&self, builder: &Builder<'_>, level: Level) -> Result<Cut> {
        let from_carry = level.number > 0;
        let (min_chunk, last_chunk) = match from_carry {
            true => (self.tuning.carry_min_chunk, self.tuning.carry_last_chunk),
            false => (self.tuning.min_chunk, self.tuning.last_chunk),
        };
        let max_iterations = builder.max_iterations();
        let parallelism = u64::from(builder.target.parallelism);
        let chunk = (level.rows * self.columns(builder)).div_ceil(parallelism);
        let chunk = chunk.clamp(min_chunk, self.tuning.max_chunk).min(max_iterations);
        // Rows of a launch, as far as bindings reach.
        let (source_item, carry_item) =
            (self.source_item(builder, level), self.carry_item(builder));
        let fit = (builder.capacity(source_item) / self.inner)
            .min(builder.capacity(4 * level.ids.words))
            .min(builder.capacity(carry_item) * chunk / (2 * self.inner));
        if fit < 4 {
            let bytes = 4 * self.inner * source_item.max(carry_item);
            return Err(builder.over_binding("four rows of segments", bytes));
        }
        let chunk = chunk.min(fit);
        if level.rows <= fit && level.rows <= chunk.max(last_chunk.min(max_iterations)) {
            let chunk = level.rows;
            return Ok(Cut { chunk, fit: fit / chunk * chunk, last: true, special: None });
        }
        let single = self.inner == 1 && self.part(builder) == Part::Element && !from_carry;
        let special = self.tuning.special.filter(|_| single);
        let (kernel, chunk) = match special.and_then(|special| special.single_elements(chunk)) {
            Some((kernel, at_once)) => (Some(kernel), chunk / at_once * at_once),
            None => (None, chunk),
        };
        Ok(Cut { chunk, fit: fit / chunk * chunk, last: false, special: kernel })
    }

    /// A launch over chunks. `last` is whether nothing is carried.
    fn push_chunks(
        &self,
        builder: &mut Builder<'_>,
        level: Level,
        rows: &Rows,
        (last, special): (bool, Option<&'static Kernel>),
        piece: &Piece,
        carry: Carry,
    ) -> Result<()> {
        let mut params = self.params(builder, rows, piece);
        params.last = last.into();
        let (mut sources, base, candidates_base) = self.sources(builder, level, rows);
        (params.base, params.candidates_base) = (base, candidates_base);
        let ids = rows.ids;
        let (id_range, base) = builder.range_of(ids.buffer, rows.first, rows.count, 4 * ids.words);
        params.ids_base = base;
        sources.insert(1, id_range);
        let (result, base) = self.results(builder, piece);
        params.result_base = base;
        let chunks = u64::from(params.chunks);
        let (entry, entries) = (2 * (rows.first / rows.chunk), 2 * chunks);
        let (inner, item) = (self.inner, self.carry_item(builder));
        let (carry_range, base) = builder.range_of(carry.0, entry * inner, entries * inner, item);
        params.carry_base = base;
        let (carry_ids, base) = builder.range_of(carry.1, entry, entries, 4);
        params.carry_ids_base = base;
        let launch = New {
            purpose: match (level.number > 0, self.part(builder) == Part::Argmax) {
                (false, false) => "maxima of segments within chunks of rows",
                (false, true) => "rows of the maxima of segments within chunks of rows",
                (true, false) => "maxima of segments that span chunks",
                (true, true) => "rows of the maxima of segments that span chunks",
            },
            shader: special.map_or_else(
                || self.chunk_shader(builder, level.number > 0),
                |kernel| builder.shader(kernel),
            ),
            params: &params,
            sources,
            results: vec![result, carry_range, carry_ids],
        };
        builder.push(launch, chunks * rows.columns)
    }

    /// The bindings of a launch's elements and candidates, and where in them they begin.
    fn sources(&self, builder: &Builder<'_>, level: Level, rows: &Rows) -> (Vec<Range>, u32, u32) {
        let (first, count) = (rows.first * self.inner, rows.count * self.inner);
        let item = self.source_item(builder, level);
        let (range, base) = builder.range_of(level.source, first, count, item);
        if self.part(builder) != Part::Argmax {
            return (vec![range], base, 0);
        }
        // Any row may be looked up.
        let (data, data_base) = builder.range(Region::all(DATA), self.rows * self.inner);
        match level.number {
            0 => (vec![data], data_base, 0),
            _ => (vec![data, range], data_base, base),
        }
    }

    fn chunk_shader(&self, builder: &Builder<'_>, from_carry: bool) -> Shader {
        match self.part(builder) {
            Part::Blocks(blocks) => builder.shader(&BLOCKS).with("column_tile", blocks > 1),
            Part::Element => {
                let keys = from_carry && is_packed(builder.element);
                builder.shader(&ELEMENTS).with("from_carry", keys)
            }
            Part::Argmax => builder.shader(&ARGMAX).with("from_carry", from_carry),
        }
    }

    /// What an invocation has of each row.
    fn part(&self, builder: &Builder<'_>) -> Part {
        if self.index_words.is_some() {
            return Part::Argmax;
        }
        let (block, tile) = (builder.block(), self.tuning.blocks_per_thread);
        match self.item_words {
            None if self.inner.is_multiple_of(tile * block) => Part::Blocks(tile),
            None if self.inner.is_multiple_of(block) => Part::Blocks(1),
            _ => Part::Element,
        }
    }

    /// Parts of a row.
    fn columns(&self, builder: &Builder<'_>) -> u64 {
        match self.part(builder) {
            Part::Blocks(blocks) => self.inner / (blocks * builder.block()),
            Part::Element | Part::Argmax => self.inner,
        }
    }

    /// Bytes of an item of the carry list: of an element, a key of a packed element, or a row.
    fn carry_item(&self, builder: &Builder<'_>) -> u64 {
        if self.item_words.is_some() { 4 } else { builder.item() }
    }

    /// Bytes of an item of a level's rows.
    fn source_item(&self, builder: &Builder<'_>, level: Level) -> u64 {
        if level.number > 0 { self.carry_item(builder) } else { builder.item() }
    }
}
