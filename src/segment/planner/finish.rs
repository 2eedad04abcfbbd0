//! Results from items.

use super::{Axis, Initial, Piece, Planner};
use crate::base::error::Result;
use crate::plan::{Builder, LaunchDesc, Region, divisor};
use crate::segment::finish::{FINISH, Params};

impl Planner<'_> {
    /// Turns items into elements and indices.
    pub(super) fn finish(
        &self,
        builder: &mut Builder<'_>,
        items: usize,
        piece: &Piece,
    ) -> Result<()> {
        let outputs = piece.count * self.inner;
        let item_words = self.item_words.unwrap_or(1);
        let first = piece.first * self.inner;
        let (values, result_base) = builder.range(Region::all(self.values).after(first), outputs);
        let (item_range, _) = builder.range_of(items, 0, outputs, 4 * item_words);
        let one = Axis { size: u64::MAX, pitch: 1 };
        let positions = self.initial.map_or(one, |initial| initial.positions);
        // Results of an invocation: an output vector.
        let vector = builder.vector();
        let invocations = (u64::from(result_base) % vector + outputs).div_ceil(vector);
        let mut params = Params {
            by_inner: divisor(self.inner),
            item_words: item_words as u32,
            outputs: outputs as u32,
            result_base,
            ranking: builder.ranking,
            empty_low: self.empty[0],
            empty_high: self.empty[1],
            rows: self.rows as u32,
            inner: self.inner as u32,
            joins: self.initial.is_some_and(|initial| initial.joins).into(),
            by_pitch: divisor(positions.pitch.max(1)),
            by_positions: divisor(positions.size.max(1)),
            ..bytemuck::Zeroable::zeroed()
        };
        // With indices, elements are looked up in the rows: a launch for each binding of rows.
        let argmax = self.index_words.is_some() && self.rows > 0;
        let fit = match argmax {
            true => (builder.capacity(builder.item()) / self.inner).min(self.rows).max(1),
            false => 1,
        };
        let all = if argmax { self.rows } else { 1 };
        for row in (0..all).step_by(fit as usize) {
            let (mut sources, mut results) = (vec![item_range.clone()], vec![values.clone()]);
            if let Some(Initial { buffer, .. }) = self.initial {
                let (data, _) = builder.range(Region::all(buffer).after(first), outputs);
                sources.insert(0, data);
            }
            if let (true, Some(index_words)) = (argmax, self.index_words) {
                let rows = fit.min(self.rows - row);
                let region = Region::all(self.data).after(row * self.inner);
                let (source, base) = builder.range(region, rows * self.inner);
                let (indices, index_base) =
                    builder.range_of(self.values + 1, first, outputs, 4 * index_words);
                sources.insert(0, source);
                results.push(indices);
                let (rows, first_row) = (rows as u32, row as u32);
                let index_words = index_words as u32;
                params = Params { rows, first_row, base, index_base, index_words, ..params };
            }
            let initial = self.initial.is_some();
            // Elements and indices, in one launch or one after the other.
            let (parts, purpose) = match argmax {
                true if initial => (1, "elements or indices from items and the data"),
                true => (2, "elements and indices from items"),
                false => (1, "elements from items"),
            };
            for (part, results) in results.chunks(parts).enumerate() {
                let launch = LaunchDesc {
                    purpose,
                    shader: builder
                        .shader(&FINISH)
                        .with("argmax", argmax)
                        .with("initial", initial)
                        .with("places", part > 0),
                    params: &params,
                    sources: sources.clone(),
                    results: results.to_vec(),
                };
                builder.push(launch, invocations)?;
            }
        }
        Ok(())
    }
}
