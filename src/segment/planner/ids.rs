//! Ids from offsets or indices, and the status of ids.

use super::{Planner, RowIds};
use crate::base::error::{Error, Result};
use crate::plan::{Builder, LaunchDesc, MAX_ELEMENTS};
use crate::segment::check_ids::{self, CHECK_IDS};
use crate::segment::expand_offsets::{self, EXPAND_OFFSETS};
use crate::segment::locate::{self, LOCATE};
use crate::segment::scatter_max::Scattered;

impl Planner<'_> {
    /// Finds errors in ids or offsets, and counts the rows that have no segment.
    pub(super) fn check_ids(
        &self,
        builder: &mut Builder<'_>,
        ids: RowIds,
        count: u64,
        status: usize,
    ) -> Result<()> {
        // A launch begins with the last id of the one before.
        let fit = builder.capacity(ids.size());
        if fit < 2 && count > fit {
            return Err(builder.over_binding("a binding of two ids", 2 * ids.size()));
        }
        let chunk = self.tuning.ids_per_thread.min(builder.max_iterations());
        let mut first = 0;
        while first < count {
            let launched = fit.min(count - first);
            let (source, base) = ids.range(builder, first, launched);
            let (result, _) = builder.range_of(status, 0, 2, 4);
            let (step, last) = (launched.div_ceil(chunk), first + launched == count);
            let params = check_ids::Params {
                count: launched as u32,
                step: step as u32,
                base,
                id_form: ids.form(),
                form: self.segments_are as u32,
                rows: self.rows.min(MAX_ELEMENTS) as u32,
                segments: self.segments.min(MAX_ELEMENTS) as u32,
                counted: (first > 0).into(),
                last: last.into(),
                padding: 0,
            };
            let launch = LaunchDesc {
                purpose: "the status of ids",
                shader: ids.shader(builder, &CHECK_IDS),
                params: &params,
                sources: vec![source],
                results: vec![result],
            };
            builder.push(launch, step)?;
            first += if last { launched } else { launched - 1 };
        }
        Ok(())
    }

    /// Ids of one word, from offsets.
    pub(super) fn expand_offsets(
        &self,
        builder: &mut Builder<'_>,
        offsets: RowIds,
    ) -> Result<RowIds> {
        let count = self.segments + 1;
        if count > builder.capacity(offsets.size()) {
            return Err(builder.over_binding("a binding of offsets", count * offsets.size()));
        }
        let ids = builder.scratch_words(self.rows);
        let fit = builder.capacity(4) / 4 * 4;
        if fit == 0 {
            return Err(builder.over_binding("a binding of four ids", 16));
        }
        // A search takes as many steps as a number has bits.
        let chunk = (builder.max_iterations() / 32).clamp(1, self.tuning.ids_per_thread);
        let mut first = 0;
        while first < self.rows {
            let rows = fit.min(self.rows - first);
            let (source, base) = offsets.range(builder, 0, count);
            let (result, result_base) = builder.range_of(ids, first, rows, 4);
            let chunks = rows.div_ceil(chunk);
            let params = expand_offsets::Params {
                rows: rows as u32,
                first_row: first as u32,
                chunk: chunk as u32,
                chunks: chunks as u32,
                segments: self.segments as u32,
                base,
                id_form: offsets.form(),
                result_base,
                padding: [0; 2],
            };
            let launch = LaunchDesc {
                purpose: "ids from offsets",
                shader: offsets.shader(builder, &EXPAND_OFFSETS),
                params: &params,
                sources: vec![source],
                results: vec![result],
            };
            builder.push(launch, chunks)?;
            first += rows;
        }
        Ok(RowIds::words(ids))
    }

    /// The ids of rows of updates: the parts of the data that they belong to, in scratch. If indices are
    /// ids already, returns them, with [`end`](RowIds::end) set. Counts the rows that belong to no part in
    /// the buffer `status`, if any.
    pub(super) fn locate(
        &self,
        builder: &mut Builder<'_>,
        ids: RowIds,
        scattered: &Scattered,
        status: Option<usize>,
    ) -> Result<RowIds> {
        let Scattered { rows, axes, indexed, .. } = scattered;
        let longest = indexed.iter().map(|axis| axis.size).max().unwrap_or(0);
        for (what, needed, limit, allowed) in [
            ("numbering rows", *rows, "31-bit number", MAX_ELEMENTS - 1),
            ("numbering the elements of an axis", longest, "31-bit number", MAX_ELEMENTS - 1),
            (
                "scattering",
                (axes.len() + indexed.len()) as u64,
                "axes of updates and of indices",
                locate::MAX_AXES as u64,
            ),
        ] {
            Error::check_limit(what, needed, (limit, allowed))?;
        }
        // If an axis has all parts, its indices are ids.
        if let [all] = indexed[..]
            && all.size == scattered.parts
            && axes.is_empty()
            && status.is_none()
        {
            let end = if ids.element.is_signed_integer() { all.size } else { 0 };
            return Ok(RowIds { end, ..ids });
        }
        let parts = builder.scratch_words((*rows).max(1));
        if *rows == 0 || indexed.is_empty() {
            // All rows belong to the only part.
            builder.fill_repeated(parts, 0)?;
            return Ok(RowIds::words(parts));
        }
        let of_row = indexed.len() as u64;
        let fit = (builder.capacity(ids.size()) / of_row).min(builder.capacity(4));
        if fit == 0 {
            return Err(
                builder.over_binding("a binding of the indices of a row", of_row * ids.size())
            );
        }
        let mut axis = [[0; 4]; locate::MAX_AXES];
        for (to, from) in axis.iter_mut().zip(axes.iter().rev()) {
            *to = from.packed();
        }
        for (to, from) in axis[axes.len()..].iter_mut().zip(indexed) {
            *to = [from.size as u32, 0, 0, from.pitch as u32];
        }
        let mut first = 0;
        while first < *rows {
            let count = fit.min(rows - first);
            let (source, base) = ids.range(builder, first * of_row, count * of_row);
            let (result, result_base) = builder.range_of(parts, first, count, 4);
            let params = locate::Params {
                rows: count as u32,
                first_row: first as u32,
                base,
                id_form: ids.form(),
                result_base,
                axes: axes.len() as u32,
                indexed: of_row as u32,
                padding: [0; 3],
                axis,
            };
            let status = status.map(|status| builder.range_of(status, 0, 2, 4).0);
            let launch = LaunchDesc {
                purpose: "the parts of the data that updates go to",
                shader: ids.shader(builder, &LOCATE).with("status", status.is_some()),
                params: &params,
                sources: vec![source],
                results: [result].into_iter().chain(status).collect(),
            };
            builder.push(launch, count)?;
            first += count;
        }
        Ok(RowIds::words(parts))
    }
}
