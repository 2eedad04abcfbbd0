//! The places of the maxima of rows.

use super::fold::chunk;
use super::rows::{Rows, blocks};
use super::{Elements, Load, Loop, dispatch};
use crate::tensor::key::{Key, KeyOrder, Lane};

/// Bytes of rows that are reduced together before they are searched; meanwhile they stay in the second-level
/// cache. With 16 KiB, rows of 1000 to 4000 `f32` took 1.2 times as long on an Intel Xeon: too few of them are
/// read at once.
const BATCH_BYTES: usize = 128 << 10;
/// Maximum number of such rows.
const MAX_ROWS: usize = 64;

/// The items of four vectors, at most.
const MAX_CHUNK: usize = 256;

/// Writes the place of the maximum in each of `out.len()` rows of `len` items: the first or the last item of
/// the highest rank. Rows are not empty.
pub(crate) fn places<O: KeyOrder>(
    order: O,
    items: &[O::Key],
    len: usize,
    last: bool,
    out: &mut [u32],
) {
    dispatch(Places { order, items, len, last, out });
}

struct Places<'a, O: KeyOrder> {
    order: O,
    items: &'a [O::Key],
    len: usize,
    last: bool,
    out: &'a mut [u32],
}

impl<O: KeyOrder> Loop for Places<'_, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { order, items, len, last, out } = self;
        debug_assert!(len > 0);
        // Shorter rows are reduced as keys with their places.
        if len < chunk::<O::Key>() {
            let tie_mask = if last { 0 } else { u32::MAX };
            return blocks(PlacedRanks { order, tie_mask }, items, len, out, |out, found| {
                for (row, (out, &found)) in out.iter_mut().zip(found).enumerate() {
                    *out = O::Key::place(found, tie_mask) - (row * len) as u32;
                }
            });
        }
        let numbers = numbers(last);
        let batch = (BATCH_BYTES / (len * size_of::<O::Key>())).clamp(1, MAX_ROWS);
        let mut maxima = [O::Key::LOWEST; MAX_ROWS];
        for (out, items) in out.chunks_mut(batch).zip(items.chunks(batch * len)) {
            let maxima = &mut maxima[..out.len()];
            Rows(Elements(order), items, len, maxima).run();
            for ((out, &max), row) in out.iter_mut().zip(&*maxima).zip(items.chunks_exact(len)) {
                let place = if order.is_alone(max) {
                    find(row, last, &numbers, |item| item == max)
                } else {
                    let rank = order.rank(order.key(max));
                    find(row, last, &numbers, |item| order.rank(order.key(item)) == rank)
                };
                *out = place as u32;
            }
        }
    }
}

/// Ranks with places. If ranks are equal, the higher place wins or, if `tie_mask` inverts places, the lower one.
#[derive(Clone, Copy)]
pub(super) struct PlacedRanks<O> {
    pub order: O,
    pub tie_mask: u32,
}

impl<O: KeyOrder> Load for PlacedRanks<O> {
    type Item = O::Key;
    type Lane = <O::Key as Key>::Placed;
    #[inline(always)]
    fn load(self, item: O::Key, position: u32) -> Self::Lane {
        self.order.rank(self.order.key(item)).placed(position ^ self.tie_mask)
    }
}

/// The numbers of the items of a chunk, from the first or the last one on. They have the type of the items, so
/// that a comparison of items selects them in vectors.
#[inline(always)]
fn numbers<K: Key>(last: bool) -> [K; MAX_CHUNK] {
    let mut numbers = [K::LOWEST; MAX_CHUNK];
    for (i, number) in numbers[..chunk::<K>()].iter_mut().enumerate() {
        *number = K::narrow(if last { chunk::<K>() - 1 - i } else { i } as u64);
    }
    numbers
}

/// The first or last place of an item, in a row that has it and at least [`chunk`] items.
#[inline(always)]
fn find<K: Key>(row: &[K], last: bool, numbers: &[K; MAX_CHUNK], is: impl Fn(K) -> bool) -> usize {
    let (chunk, absent) = (chunk::<K>(), K::narrow(u64::MAX));
    let mut seen = 0;
    loop {
        // A part of the last chunk may have been searched already.
        let begin = seen.min(row.len() - chunk);
        let begin = if last { row.len() - chunk - begin } else { begin };
        let items = &row[begin..][..chunk];
        seen += chunk;
        if seen >= row.len() || items.iter().fold(false, |any, &item| any | is(item)) {
            let items = items.iter().zip(numbers);
            let join = |first: K, (&item, &at)| first.min(if is(item) { at } else { absent });
            // Without the item, the result would be another place of the row.
            let at = (items.fold(absent, join).wide() as usize).min(chunk - 1);
            return begin + if last { chunk - 1 - at } else { at };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::ElementType;
    use crate::tensor::key::{Extremum, Nan, Ranking, with_order};
    use crate::vector::random_words;

    fn check<O: KeyOrder>(order: O, random: &mut impl FnMut() -> u64) {
        for len in (1..90).chain([127, 128, 129, 255, 256, 257, 300, 1000, 5000]) {
            // Few different items, so that many are equal, and rows of one item.
            let few: Vec<u64> = (0..4).map(|_| random()).collect();
            // Several blocks, and several batches.
            let rows = (70 + 3000 / len).min(200_000 / len);
            let items: Vec<O::Key> =
                (0..rows * len).map(|_| O::Key::narrow(few[random() as usize % 4])).collect();
            for last in [false, true] {
                let mut found = vec![0; rows];
                places(order, &items, len, last, &mut found);
                for (row, &found) in items.chunks_exact(len).zip(&found) {
                    let ranks: Vec<O::Key> =
                        row.iter().map(|&item| order.rank(order.key(item))).collect();
                    let max = ranks.iter().max().unwrap();
                    let expected = match last {
                        true => ranks.iter().rposition(|rank| rank == max),
                        false => ranks.iter().position(|rank| rank == max),
                    };
                    assert_eq!(Some(found as usize), expected, "{len} items, last: {last}");
                }
            }
        }
    }

    #[test]
    fn places_are_those_of_the_highest_rank() {
        let mut random = random_words();
        for element in ElementType::ALL {
            for nan in [Nan::Ignore, Nan::Propagate] {
                for extremum in [Extremum::Maximum, Extremum::Minimum] {
                    let ranking = Ranking::new(element, nan, extremum);
                    with_order!(element, ranking, order => check(order, &mut random));
                }
            }
        }
    }
}
