//! Segments whose ids ascend: launches down runs of rows, and down what each of them carries.

use super::super::builder::{Builder, Region};
use super::{DATA, Ids, MAX_RUN, MIN_RUN, Piece, Planner, over_binding};
use crate::error::Result;
use crate::kernel::{Kernel, Params};

/// Rows that one invocation takes to the end, without a carry list.
const LAST: u64 = 64;
/// The same for the carry list where invocations share no fetches: on lavapipe a launch of 16 rows takes
/// 30 µs, and one whose only invocation walks down 256 rows 42 µs.
const ALONE_MIN_RUN: u64 = 64;
const ALONE_LAST: u64 = 256;
/// Rows that an invocation of `segment_eights` takes at once. On lavapipe segments of about four rows run at
/// 0.52 of the fastest plain read by fours, 0.54 by eights, and 0.48 by sixteens.
const EIGHT: u64 = 8;
/// Blocks of a row that an invocation of `segment_strips` owns: a cache line. On lavapipe 1,000,000 rows
/// of 64 elements take 3.4 times as long block by block.
const STRIP: u64 = 4;
/// The carry list after a level of runs: its rows and their ids.
type Carry = (Region, Region);

impl Planner<'_> {
    /// Walks down the rows, and down what is carried, until one invocation can end it.
    pub(super) fn runs(
        &self,
        builder: &mut Builder<'_>,
        mut ids: Ids,
        piece: &Piece,
        carries: &mut Vec<Carry>,
    ) -> Result<()> {
        let mut source = Region::elements(DATA);
        let mut rows = self.rows;
        let in_blocks = self.item_words.is_none() && self.inner.is_multiple_of(self.block);
        let by_rows = self.index_words.is_some();
        let packed = self.item_words == Some(2);
        let alone = !builder.limits.coalesces;
        let in_strips = in_blocks && alone && self.inner.is_multiple_of(STRIP * self.block);
        let columns = match (in_blocks, in_strips) {
            (true, true) => self.inner / (STRIP * self.block),
            (true, false) => self.inner / self.block,
            _ => self.inner,
        };
        let carry_item = if by_rows || packed { 4 } else { builder.item(false) };
        for level in 0.. {
            let from_carry = level > 0;
            let source_item = if by_rows && from_carry { 4 } else { builder.item(source.keys) };
            let iterations = u64::from(builder.limits.max_iterations).max(4);
            let run = (rows * columns).div_ceil(u64::from(builder.limits.lanes).max(1));
            let (min_run, most_left) = match alone && from_carry {
                true => (ALONE_MIN_RUN, ALONE_LAST),
                false => (MIN_RUN, LAST),
            };
            let mut run = run.clamp(min_run, MAX_RUN).min(iterations);
            // Rows of a launch, as far as bindings reach.
            let mut fit = (builder.room(source_item) / self.inner).min(builder.room(4 * ids.words));
            fit = fit.min(builder.room(carry_item) * run / (2 * self.inner));
            if fit < 4 {
                let bytes = 4 * self.inner * source_item.max(carry_item);
                return Err(over_binding(builder, "four rows of segments", bytes));
            }
            run = run.min(fit);
            let last = rows <= fit && rows <= run.max(most_left.min(iterations));
            let in_eights = alone && self.inner == 1 && !by_rows && !from_carry && !last;
            let in_eights = in_eights && run >= EIGHT;
            if last {
                run = rows;
            } else if in_eights {
                run = run / EIGHT * EIGHT;
            }
            let fit = fit / run * run;
            let runs = rows.div_ceil(run);
            if level == carries.len() {
                let bytes = 2 * runs * self.inner * carry_item;
                let carry = builder.scratch_words(bytes.div_ceil(4));
                carries.push((carry, builder.scratch_words(2 * runs)));
            }
            let (carry, carry_ids) = carries[level];
            let mut first = 0;
            while first < rows {
                let mut count = fit.min(rows - first);
                // A run that is not full goes by itself, row by row.
                let in_eights = in_eights && count >= run;
                if in_eights {
                    count = count / run * run;
                }
                let (entry, entries) = (2 * (first / run), 2 * count.div_ceil(run));
                let mut params = self.params(builder, count, columns, run);
                params.last = last.into();
                params.segments = piece.count as u32;
                params.first_segment = ids.first_segment as u32;
                params.id_words = ids.words as u32;
                let (id_range, base) = builder.range_of(ids.buffer, first, count, 4 * ids.words);
                params.ids_base = base;
                let mut sources = Vec::new();
                if by_rows {
                    let all = self.rows * self.inner;
                    let (range, base) = builder.range(Region::elements(DATA), all);
                    params.base = base;
                    params.first_row = first as u32;
                    sources.extend([range, id_range]);
                    if from_carry {
                        let (range, base) = builder.range_of(
                            source.buffer,
                            first * self.inner,
                            count * self.inner,
                            4,
                        );
                        params.items_base = base;
                        sources.push(range);
                    }
                } else {
                    let (range, base) =
                        builder.range(source.after(first * self.inner), count * self.inner);
                    params.base = base;
                    sources.extend([range, id_range]);
                }
                let (out, base) = self.target(builder, piece);
                params.result_base = base;
                let (carry_range, base) = builder.range_of(
                    carry.buffer,
                    entry * self.inner,
                    entries * self.inner,
                    carry_item,
                );
                params.carry_base = base;
                let (carry_id_range, base) = builder.range_of(carry_ids.buffer, entry, entries, 4);
                params.carry_ids_base = base;
                let kernel = match (by_rows, in_blocks) {
                    (true, _) => Kernel::SegmentRows,
                    (false, true) if in_strips => Kernel::SegmentStrips,
                    (false, true) => Kernel::SegmentBlocks,
                    (false, false) if in_eights => Kernel::SegmentEights,
                    (false, false) => Kernel::SegmentElements,
                };
                let from_scratch = from_carry && (by_rows || packed);
                let shader = self.shader(builder, kernel, from_scratch, packed);
                let invocations = u64::from(params.runs) * columns;
                let results = vec![out, carry_range, carry_id_range];
                builder.push(
                    shader,
                    Params::Segment(Box::new(params)),
                    sources,
                    results,
                    invocations,
                )?;
                first += count;
            }
            if last {
                return Ok(());
            }
            source = Region { buffer: carry.buffer, first: 0, keys: packed };
            ids = Ids { buffer: carry_ids.buffer, words: 1, first_segment: 0 };
            rows = 2 * runs;
        }
        Ok(())
    }
}
