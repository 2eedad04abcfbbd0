//! The maxima of many short segments of rows of one element, without a branch that depends on ids.

use std::hint::select_unpredictable;

use crate::tensor::key::{Key, NUMBER_BITS};
use crate::vector::Load;

/// Rows that are reduced together.
pub(super) const BLOCK: usize = 512;
/// Maximum number of segments from the first to the last one of a block. No segment has the number
/// 0.
const MAX_SEGMENTS: u32 = (1 << NUMBER_BITS) - 1;

/// The largest key of each segment of some rows: entry n is that of the segment with number n.
type Table<K> = [<K as Key>::Numbered; 1 << NUMBER_BITS];

/// The buffers of a block of rows.
pub(super) struct Short<K: Key> {
    /// The key of each row, below the number of its segment.
    rows: [K::Numbered; BLOCK],
    /// The maxima of the first half of the rows and of the second half. Unused entries are 0.
    tables: [Table<K>; 2],
    /// Entries of the first table that the last block has used.
    used: usize,
}

impl<K: Key> Short<K> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        let nothing = K::LOWEST.numbered(0);
        Self { rows: [nothing; BLOCK], tables: [[nothing; 1 << NUMBER_BITS]; 2], used: 0 }
    }

    /// Whether there are enough numbers for the segments of these ascending ids.
    #[inline(always)]
    pub(super) fn fits(ids: &[u32]) -> bool {
        ids[ids.len() - 1] - ids[0] < MAX_SEGMENTS
    }

    /// The maxima of all segments from the first to the last one of a block, below their numbers. A
    /// segment without rows has the number 0. `before` is the maximum of earlier rows of the first
    /// segment.
    ///
    /// Numbers ascend, so the maximum of all rows so far is that of the last row's segment. Each
    /// row stores it; the last store of a segment remains. Each half of the rows has a table of its
    /// own, and the processor works on both halves at once.
    #[inline(always)]
    pub(super) fn maxima<L: Load<Lane = K>>(
        &mut self,
        load: L,
        items: &[L::Item],
        ids: &[u32],
        before: K,
    ) -> &[K::Numbered] {
        let (count, nothing) = (ids.len(), K::LOWEST.numbered(0));
        // Subtracted from ids: the first segment has the number 1.
        let base = ids[0].wrapping_sub(1);
        for ((row, &item), &id) in self.rows.iter_mut().zip(items).zip(ids) {
            *row = load.load(item, 0).numbered(id.wrapping_sub(base));
        }
        // The last row is repeated to make the halves equal.
        self.rows[count.min(BLOCK - 1)] = self.rows[count - 1];
        let half = count.div_ceil(2);

        let [first, second] = &mut self.tables;
        entries(first, self.used).fill(nothing);
        let (mut a, mut b) = (before.numbered(1), nothing);
        let (rows_a, rows_b) = self.rows[..2 * half].split_at(half);
        for (&row_a, &row_b) in rows_a.iter().zip(rows_b) {
            a = with_row::<K>(a, row_a);
            b = with_row::<K>(b, row_b);
            first[K::number(a)] = a;
            second[K::number(b)] = b;
        }

        let found = ids[count - 1].wrapping_sub(base) as usize + 1;
        self.used = found;
        for (a, b) in entries(first, found).iter_mut().zip(entries(second, found)) {
            *a = (*a).max(*b);
            *b = nothing;
        }
        &first[1..found]
    }
}

/// The first entries of a table: a multiple of 8, so that loops over vectors have no remainder.
#[inline(always)]
fn entries<T>(table: &mut [T], count: usize) -> &mut [T] {
    &mut table[..count.next_multiple_of(8)]
}

/// The maximum so far with one more row. If both are wider than a register, compilers use a branch
/// for their maximum. So their numbers select the key instead.
#[inline(always)]
fn with_row<K: Key>(max: K::Numbered, row: K::Numbered) -> K::Numbered {
    if const { size_of::<K::Numbered>() <= 8 } {
        return max.max(row);
    }
    let number = K::number(row);
    let before = select_unpredictable(K::number(max) == number, K::unnumbered(max), K::LOWEST);
    before.max(K::unnumbered(row)).numbered(number as u32)
}
