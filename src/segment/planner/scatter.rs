//! Rows in any order.

use super::{DATA, Piece, Planner, RowIds, Rows};
use crate::error::Result;
use crate::plan::{Builder, New, Region};
use crate::segment::scatter::SCATTER;

impl Planner<'_> {
    /// Takes rows in any order, one launch for each word of the items.
    pub(super) fn scatter(
        &self,
        builder: &mut Builder<'_>,
        ids: RowIds,
        piece: &Piece,
    ) -> Result<()> {
        let item_words = self.item_words.unwrap_or(2);
        let argmax = self.index_words.is_some();
        let chunk = (self.rows * self.inner).div_ceil(builder.target.parallelism.into());
        let chunk = chunk.clamp(self.tuning.min_chunk, self.tuning.max_chunk);
        let chunk = chunk.min(builder.max_iterations());
        let fit = (builder.capacity(builder.item()) / self.inner).min(builder.capacity(ids.size()));
        if fit == 0 {
            let bytes = self.inner * builder.item();
            return Err(builder.over_binding("a row of segments", bytes));
        }
        // A mark is made with the first word.
        let words = if argmax { item_words } else { item_words - 1 };
        for word in 0..words {
            let mut first = 0;
            while first < self.rows {
                let count = fit.min(self.rows - first);
                let rows = Rows { first, count, ids, chunk, columns: self.inner };
                self.scatter_word(builder, &rows, piece, word)?;
                first += count;
            }
        }
        Ok(())
    }

    /// Finds one word of the items, as far as some rows tell it.
    fn scatter_word(
        &self,
        builder: &mut Builder<'_>,
        rows: &Rows,
        piece: &Piece,
        word: u64,
    ) -> Result<()> {
        let (mut params, ids, result) = self.params(builder, rows, piece);
        let region = Region::all(DATA).after(rows.first * self.inner);
        let (source, base) = builder.range(region, rows.count * self.inner);
        params.base = base;
        params.item_words = self.item_words.unwrap_or(2) as u32;
        params.word = word as u32;
        let argmax = self.index_words.is_some();
        let launch = New {
            purpose: match (argmax, word + 1 == u64::from(params.item_words)) {
                (true, true) => "rows of the maxima of segments in any order",
                _ => "maxima of segments in any order",
            },
            shader: rows.ids.shader(builder, &SCATTER).with("argmax", argmax),
            params: &params,
            sources: vec![source, ids],
            results: vec![result],
        };
        builder.push(launch, u64::from(params.chunks) * self.inner)
    }
}
