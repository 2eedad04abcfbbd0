//! Rows in any order.

use super::{Piece, Planner, RowIds, Rows};
use crate::base::error::Result;
use crate::plan::{Builder, LaunchDesc, Region, divisor};
use crate::segment::params::Params;
use crate::segment::scatter::SCATTER;
use crate::tensor::ElementType;

/// Words of an item: a key, and a mark or a row.
pub(super) fn item_words(element: ElementType) -> u64 {
    if element.size() == 8 { 3 } else { 2 }
}

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
        let width = (self.tuning.alternating / self.inner).max(1);
        let fit = (builder.capacity(builder.item()) / self.inner).min(builder.capacity(ids.size()));
        if fit == 0 {
            let bytes = self.inner * builder.item();
            return Err(builder.over_binding("a binding of one row", bytes));
        }
        // The launch for the first word also sets the mark.
        let words = if argmax { item_words } else { item_words - 1 };
        for word in 0..words {
            let mut first = 0;
            while first < self.rows {
                let count = fit.min(self.rows - first);
                let rows = Rows { first, count, ids, chunk, columns: self.inner };
                let region = Region::all(self.data).after(first * self.inner);
                let (source, base) = builder.range(region, count * self.inner);
                let (params, id_range, result) = self.params(builder, &rows, piece);
                let params = Params {
                    base,
                    item_words: item_words as u32,
                    word: word as u32,
                    width: width as u32,
                    by_width: divisor(width),
                    chunks: (count.div_ceil(chunk * width) * width) as u32,
                    ..params
                };
                let launch = LaunchDesc {
                    purpose: match argmax && word + 1 == item_words {
                        true => "rows of the maxima of segments in any order",
                        false => "maxima of segments in any order",
                    },
                    shader: ids.shader(builder, &SCATTER).with("argmax", argmax),
                    params: &params,
                    sources: vec![source, id_range],
                    results: vec![result],
                };
                builder.push(launch, u64::from(params.chunks) * self.inner)?;
                first += count;
            }
        }
        Ok(())
    }
}
