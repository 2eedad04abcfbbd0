//! Ids of one word or two, from what the second input holds, and their status.

use super::{IDS, Planner, RowIds};
use crate::error::Result;
use crate::plan::{Builder, MAX_ELEMENTS, New};
use crate::segment::check_ids::{self, CHECK_IDS};
use crate::segment::expand_offsets::{self, EXPAND_OFFSETS};
use crate::segment::widen_ids::{self, WIDEN_IDS};
use crate::tensor::TensorDesc;

impl Planner<'_> {
    /// The ids or offsets of the second input. Those of 1 and 2 bytes are widened in scratch.
    ///
    /// Unsigned ones are taken as they are: what has the top bit is no segment either way.
    pub(super) fn ids(&self, builder: &mut Builder<'_>, desc: &TensorDesc) -> Result<RowIds> {
        let (count, size) = (desc.len() as u64, desc.element_type().size() as u64);
        if size >= 4 {
            return Ok(RowIds { buffer: IDS, words: size / 4, first_segment: 0 });
        }
        let buffer = builder.scratch_words(count);
        let fit = builder.capacity(4) / 4 * 4;
        if fit == 0 {
            return Err(builder.over_binding("four ids", 16));
        }
        let chunk = self.tuning.ids_per_thread.min(builder.max_iterations());
        for first in (0..count).step_by(fit as usize) {
            let ids = fit.min(count - first);
            let (source, base) = builder.range_of(IDS, first, ids, size);
            let (result, result_base) = builder.range_of(buffer, first, ids, 4);
            let params = widen_ids::Params {
                count: ids as u32,
                chunk: chunk as u32,
                base,
                bits: 8 * size as u32,
                signed: desc.element_type().is_signed_integer().into(),
                result_base,
                padding: [0; 2],
            };
            let launch = New {
                purpose: "ids of one word",
                shader: builder.shader(&WIDEN_IDS),
                params: &params,
                sources: vec![source],
                results: vec![result],
            };
            builder.push(launch, ids.div_ceil(chunk))?;
        }
        Ok(RowIds { buffer, words: 1, first_segment: 0 })
    }

    /// Looks for what is wrong with ids or offsets, and counts the rows that have no segment.
    pub(super) fn check_ids(
        &self,
        builder: &mut Builder<'_>,
        ids: RowIds,
        desc: &TensorDesc,
        status: usize,
    ) -> Result<()> {
        let (count, words) = (desc.len() as u64, ids.words);
        // A launch begins with the last id of the one before.
        let fit = builder.capacity(4 * words);
        if fit < 2 && count > fit {
            return Err(builder.over_binding("two ids", 8 * words));
        }
        let chunk = self.tuning.ids_per_thread.min(builder.max_iterations());
        let mut first = 0;
        while first < count {
            let launched = fit.min(count - first);
            let (source, base) = builder.range_of(ids.buffer, first, launched, 4 * words);
            let (result, _) = builder.range_of(status, 0, 2, 4);
            let last = first + launched == count;
            let params = check_ids::Params {
                count: launched as u32,
                chunk: chunk as u32,
                base,
                id_words: words as u32,
                sign: if desc.element_type().is_signed_integer() { 1 << 31 } else { 0 },
                form: check_ids::form(self.operator.get_segments()),
                rows: self.rows.min(MAX_ELEMENTS) as u32,
                segments: self.segments.min(MAX_ELEMENTS) as u32,
                counted: (first > 0).into(),
                last: last.into(),
                padding: [0; 2],
            };
            let launch = New {
                purpose: "the status of ids",
                shader: builder.shader(&CHECK_IDS),
                params: &params,
                sources: vec![source],
                results: vec![result],
            };
            builder.push(launch, launched.div_ceil(chunk))?;
            first += if last { launched } else { launched - 1 };
        }
        Ok(())
    }

    /// Ids of one word, made of offsets.
    pub(super) fn expand_offsets(
        &self,
        builder: &mut Builder<'_>,
        RowIds { buffer, words: offset_words, .. }: RowIds,
    ) -> Result<RowIds> {
        let offsets = self.segments + 1;
        if offsets > builder.capacity(4 * offset_words) {
            return Err(builder.over_binding("offsets", offsets * 4 * offset_words));
        }
        let ids = builder.scratch_words(self.rows);
        let fit = builder.capacity(4) / 4 * 4;
        if fit == 0 {
            return Err(builder.over_binding("four ids", 16));
        }
        // A search takes as many steps as a number has bits.
        let chunk = (builder.max_iterations() / 32).clamp(1, self.tuning.ids_per_thread);
        let mut first = 0;
        while first < self.rows {
            let rows = fit.min(self.rows - first);
            let (source, base) = builder.range_of(buffer, 0, offsets, 4 * offset_words);
            let (result, result_base) = builder.range_of(ids, first, rows, 4);
            let chunks = rows.div_ceil(chunk);
            let params = expand_offsets::Params {
                rows: rows as u32,
                first_row: first as u32,
                chunk: chunk as u32,
                chunks: chunks as u32,
                segments: self.segments as u32,
                base,
                offset_words: offset_words as u32,
                result_base,
            };
            let launch = New {
                purpose: "ids from offsets",
                shader: builder.shader(&EXPAND_OFFSETS),
                params: &params,
                sources: vec![source],
                results: vec![result],
            };
            builder.push(launch, chunks)?;
            first += rows;
        }
        Ok(RowIds { buffer: ids, words: 1, first_segment: 0 })
    }
}
