//! Results from items.

use super::{DATA, INDICES, Piece, Planner, VALUES};
use crate::base::error::Result;
use crate::plan::{Builder, LaunchDesc, Region, divisor};
use crate::segment::finish::{FINISH, Params};

impl Planner<'_> {
    /// Makes elements and indices of items.
    pub(super) fn finish(
        &self,
        builder: &mut Builder<'_>,
        items: usize,
        piece: &Piece,
    ) -> Result<()> {
        let outputs = piece.count * self.inner;
        let item_words = self.item_words.unwrap_or(1);
        let first = piece.first * self.inner;
        let (values, result_base) = builder.range(Region::all(VALUES).after(first), outputs);
        let (item_range, _) = builder.range_of(items, 0, outputs, 4 * item_words);
        // Results of an invocation: an output vector.
        let vector = if builder.item() == 8 { 2 } else { 4 };
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
            ..bytemuck::Zeroable::zeroed()
        };
        // With indices, elements are looked up, in as many launches as bindings hold all rows.
        let argmax = self.index_words.is_some();
        let fit = match argmax {
            true => (builder.capacity(builder.item()) / self.inner).min(self.rows).max(1),
            false => self.rows,
        };
        for row in (0..self.rows).step_by(fit as usize) {
            let (mut sources, mut results) = (vec![item_range.clone()], vec![values.clone()]);
            if let Some(index_words) = self.index_words {
                let rows = fit.min(self.rows - row);
                let region = Region::all(DATA).after(row * self.inner);
                let (source, base) = builder.range(region, rows * self.inner);
                let (indices, index_base) =
                    builder.range_of(INDICES, first, outputs, 4 * index_words);
                sources.insert(0, source);
                results.push(indices);
                let (rows, first_row) = (rows as u32, row as u32);
                let index_words = index_words as u32;
                params = Params { rows, first_row, base, index_base, index_words, ..params };
            }
            let launch = LaunchDesc {
                purpose: match argmax {
                    true => "elements and indices from items",
                    false => "elements from items",
                },
                shader: builder.shader(&FINISH).with("argmax", argmax),
                params: &params,
                sources,
                results,
            };
            builder.push(launch, invocations)?;
        }
        Ok(())
    }
}
