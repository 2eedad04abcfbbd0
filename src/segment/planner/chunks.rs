//! Segments whose ids ascend: levels of launches over chunks of rows. Each level reduces the carry
//! list of the one before.

use super::{Piece, Planner, RowIds, Rows};
use crate::base::error::Result;
use crate::plan::{Builder, Kernel, LaunchDesc, Range, Region, Shader, divisor};
use crate::segment::maxima::{BLOCKS, ELEMENTS, is_packed, run_rows};

/// What goes through a chunk of rows.
#[derive(Clone, Copy)]
struct Team {
    kernel: &'static Kernel,
    /// Parts of a row, one for each invocation.
    columns: u64,
    /// A workgroup; otherwise an invocation by itself.
    group: Option<Group>,
    /// Whether the kernel takes whole chunks only.
    whole: bool,
}

/// A workgroup: how many columns it has, and runs of rows for each.
#[derive(Clone, Copy)]
struct Group {
    width: u64,
    runs: u64,
    /// Rows of a run that an invocation takes together.
    step: u64,
}

/// The carry list after a level: the buffers of its rows and of their ids.
type Carry = (usize, usize);

/// The rows of a level: those of the data, or the carry list of the level before.
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
    /// Whether one chunk of each column has all rows, so that nothing is carried.
    last: bool,
    team: Team,
}

impl Planner<'_> {
    /// Goes through the rows, and then through carry lists, until one chunk has all rows. `carries`
    /// are the carry lists of earlier pieces, which have the same levels.
    pub(super) fn chunks(
        &self,
        builder: &mut Builder<'_>,
        ids: RowIds,
        piece: &Piece,
        carries: &mut Vec<Carry>,
    ) -> Result<()> {
        let mut level = Level { number: 0, source: self.data, rows: self.rows, ids };
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
                let mut team = cut.team;
                if team.whole {
                    // The general kernel takes the last chunk if it is not full.
                    match count / cut.chunk * cut.chunk {
                        0 => team = self.team(builder, level),
                        whole => count = whole,
                    }
                }
                let (ids, columns) = (level.ids, team.columns);
                let rows = Rows { first, count, ids, chunk: cut.chunk, columns };
                self.push_chunks(builder, level, &rows, (cut.last, team), piece, carry)?;
                first += count;
            }
            if cut.last {
                return Ok(());
            }
            level = Level {
                number: level.number + 1,
                source: carry.0,
                rows: entries,
                ids: RowIds::words(carry.1),
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
        let team = self.team(builder, level);
        let parallelism = u64::from(builder.target.parallelism);
        // Rows for each invocation.
        let share = (level.rows * team.columns).div_ceil(parallelism);
        let share = share.clamp(min_chunk, self.tuning.max_chunk);
        // The chunk that a team then takes.
        let whole = |share: u64| match team.group {
            Some(Group { runs, step, .. }) => runs * step * (share / step).clamp(1, max_iterations),
            None => share.min(max_iterations),
        };
        let (chunk, last_chunk) = (whole(share), whole(last_chunk));
        // Maximum rows of a launch, by the bindings.
        let (source_item, carry_item) =
            (self.source_item(builder, level), self.carry_item(builder));
        let fit = |chunk: u64| {
            (builder.capacity(source_item) / self.inner)
                .min(builder.capacity(level.ids.size()))
                .min(builder.capacity(carry_item) * chunk / (2 * self.inner))
        };
        let cut = |chunk: u64, last, team| {
            let fit = fit(chunk);
            if fit < 4 {
                let bytes = 4 * self.inner * source_item.max(carry_item);
                return Err(builder.over_binding("a binding of four rows", bytes));
            }
            let chunk = chunk.min(fit);
            Ok(Cut { chunk, fit: fit / chunk * chunk, last, team })
        };
        let general = cut(chunk, false, team)?;
        if level.rows <= general.fit && level.rows <= general.chunk.max(last_chunk) {
            let (chunk, fit) = (level.rows, level.rows);
            return Ok(Cut { chunk, fit, last: true, team });
        }
        let share = share.min(max_iterations).min(general.fit);
        let column = self.inner == 1 && !self.has_blocks(builder) && self.index_words.is_none();
        let column = column && !from_carry && !level.ids.are_small();
        match self.tuning.unrolled {
            Some((kernel, at_once)) if column && share >= at_once => {
                let team = Team { kernel, columns: 1, group: None, whole: true };
                cut(share / at_once * at_once, false, team)
            }
            _ => Ok(general),
        }
    }

    /// What goes through the chunks of a level, full or not.
    fn team(&self, builder: &Builder<'_>, level: Level) -> Team {
        let (workgroup, blocks) = (builder.workgroup(), self.inner / builder.block());
        let alone = |kernel, columns| Team { kernel, columns, group: None, whole: false };
        let (kernel, columns, max_width, step) = match (self.has_blocks(builder), level.number) {
            (false, _) if self.tuning.single => return alone(&ELEMENTS, self.inner),
            (false, _) => {
                let step = run_rows(builder.element, self.index_words.is_some());
                (&ELEMENTS, self.inner, workgroup, step)
            }
            (true, number) => match self.tuning.column_tiles {
                Some((kernel, tile)) if blocks.is_multiple_of(tile) => {
                    return alone(kernel, blocks / tile);
                }
                _ if number == 0 => (&BLOCKS, blocks, self.tuning.blocks_of_group, 1),
                _ => (&BLOCKS, blocks, self.tuning.carry_blocks_of_group, 1),
            },
        };
        // Workgroups have equally many columns.
        let width = columns.div_ceil(columns.div_ceil(max_width.min(workgroup)));
        let group = Some(Group { width, runs: workgroup / width, step });
        Team { kernel, columns, group, whole: false }
    }

    /// A launch over chunks. With `last`, nothing is carried.
    fn push_chunks(
        &self,
        builder: &mut Builder<'_>,
        level: Level,
        rows: &Rows,
        (last, team): (bool, Team),
        piece: &Piece,
        carry: Carry,
    ) -> Result<()> {
        let (mut params, ids, result) = self.params(builder, rows, piece);
        params.last = last.into();
        if let Some(Group { width, runs, step }) = team.group {
            params.width = width as u32;
            params.runs = runs as u32;
            params.run_rows = rows.chunk.div_ceil(runs) as u32;
            params.tile = (runs * step) as u32;
            params.tiles = rows.chunk.div_ceil(runs * step) as u32;
            params.by_width = divisor(width);
            params.by_parts = divisor(rows.columns.div_ceil(width));
        }
        let (mut sources, base, candidates_base) = self.sources(builder, level, rows);
        (params.base, params.candidates_base) = (base, candidates_base);
        sources.insert(1, ids);
        let chunks = u64::from(params.chunks);
        let (entry, entries) = (2 * (rows.first / rows.chunk), 2 * chunks);
        let (inner, item) = (self.inner, self.carry_item(builder));
        let (carry_range, base) = builder.range_of(carry.0, entry * inner, entries * inner, item);
        params.carry_base = base;
        let (carry_ids, base) = builder.range_of(carry.1, entry, entries, 4);
        params.carry_ids_base = base;
        let launch = LaunchDesc {
            purpose: match (level.number > 0, self.index_words.is_some()) {
                (false, false) => "maxima of segments within chunks of rows",
                (false, true) => "rows of the maxima of segments within chunks of rows",
                (true, false) => "maxima of segments that span chunks",
                (true, true) => "rows of the maxima of segments that span chunks",
            },
            shader: self.shader(builder, level, team),
            params: &params,
            sources,
            results: vec![result, carry_range, carry_ids],
        };
        match team.group {
            Some(_) => builder.push_groups(launch, chunks * u64::from(params.by_parts[0])),
            None => builder.push(launch, chunks * rows.columns),
        }
    }

    /// The bindings of a launch's elements and candidates, and where these begin in them.
    fn sources(&self, builder: &Builder<'_>, level: Level, rows: &Rows) -> (Vec<Range>, u32, u32) {
        let (first, count) = (rows.first * self.inner, rows.count * self.inner);
        let item = self.source_item(builder, level);
        let (range, base) = builder.range_of(level.source, first, count, item);
        if self.index_words.is_none() {
            return (vec![range], base, 0);
        }
        // The kernel may look up any row.
        let (data, _) = builder.range(Region::all(self.data), self.rows * self.inner);
        match level.number {
            0 => (vec![data], 0, 0),
            _ => (vec![data, range], 0, base),
        }
    }

    fn shader(&self, builder: &Builder<'_>, level: Level, team: Team) -> Shader {
        let shader = level.ids.shader(builder, team.kernel);
        if team.kernel != &ELEMENTS {
            return shader;
        }
        let argmax = self.index_words.is_some();
        let from_carry = level.number > 0 && (argmax || is_packed(builder.element));
        let single = team.group.is_none();
        shader.with("from_carry", from_carry).with("single", single).with("argmax", argmax)
    }

    /// Whether invocations take blocks of rows, not elements.
    fn has_blocks(&self, builder: &Builder<'_>) -> bool {
        self.item_words.is_none() && self.inner.is_multiple_of(builder.block())
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
