//! Maxima of the columns of narrow or small matrices: a loop over each row would be too short for vectors.
//!
//! A column is a window whose taps are `width` keys apart. Windows slide over a buffer of several matrices;
//! of these, those that begin in a first row are used. Rows of a long matrix are merged first, some at a time.

use bytemuck::cast_slice_mut;

use super::fold::{whole, windows};
use super::places::PlacedRanks;
use super::{Elements, Load, Loop, Store, dispatch, vector};
use crate::tensor::key::{Key, KeyOrder, Lane};

/// The 128-bit words of a buffer of keys. Two of them and their items fit the first-level cache.
const BUFFER_WORDS: usize = 512;
/// A matrix is narrow if its rows have at most so many bytes and items, or all of it so many items.
const MAX_ROW_BYTES: usize = 256;
const MAX_ROW: usize = 128;
const MAX_SMALL: usize = 512;
/// Maximum rows of a matrix whose maxima have places: these fit 16 bits.
const MAX_ROWS: usize = 1 << 16;
/// Maximum bytes of a matrix as ranks with places, if its rows are not very narrow.
const MAX_PLACED: usize = 16 << 10;
/// Maximum keys of a buffer of ranks with places.
const MAX_RANKS: usize = BUFFER_WORDS * 4;
/// Keys after those of all matrices. Copies of results may reach into them.
const SLACK: usize = 16;

/// Whether [`matrices`] is faster than a loop over each row.
pub(crate) fn is_narrow<K: Key>(rows: usize, width: usize) -> bool {
    let narrow = width <= MAX_ROW && width * size_of::<K>() <= MAX_ROW_BYTES;
    width > 0 && rows > 1 && (narrow || rows.saturating_mul(width) <= MAX_SMALL)
}

/// Whether [`matrix_places`] is faster than a loop over each row. Wide integers hold fewer to a vector.
pub(crate) fn has_places<K: Key>(rows: usize, width: usize) -> bool {
    let very_narrow = match size_of::<K>() {
        1 | 2 => width <= 64,
        4 => width <= 8,
        _ => width <= 4,
    };
    let small = rows.saturating_mul(width) <= MAX_PLACED / size_of::<K::Placed>();
    rows <= MAX_ROWS && is_narrow::<K>(rows, width) && (very_narrow || small)
}

/// Writes the maxima of each column of narrow matrices, which follow each other. `out` has a row of results
/// for each.
pub(crate) fn matrices<O: KeyOrder>(
    elements: Elements<O>,
    items: &[O::Key],
    [rows, width]: [usize; 2],
    out: &mut [O::Key],
) {
    dispatch(Matrices { elements, items, rows, width, out });
}

struct Matrices<'a, O: KeyOrder> {
    elements: Elements<O>,
    items: &'a [O::Key],
    rows: usize,
    width: usize,
    out: &'a mut [O::Key],
}

impl<O: KeyOrder> Loop for Matrices<'_, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { elements, items, rows, width, out } = self;
        blocks(elements, items, [rows, width], None, out, |out, found| {
            for (out, &key) in out.iter_mut().zip(found) {
                *out = elements.store(key);
            }
        });
    }
}

/// Writes the row of the maximum of each column of narrow matrices, which follow each other: the first or the last
/// one of the highest rank.
pub(crate) fn matrix_places<O: KeyOrder>(
    order: O,
    items: &[O::Key],
    [rows, width]: [usize; 2],
    last: bool,
    out: &mut [u32],
) {
    dispatch(MatrixPlaces { order, items, rows, width, last, out });
}

struct MatrixPlaces<'a, O: KeyOrder> {
    order: O,
    items: &'a [O::Key],
    rows: usize,
    width: usize,
    last: bool,
    out: &'a mut [u32],
}

impl<O: KeyOrder> Loop for MatrixPlaces<'_, O> {
    type Output = ();
    const VECTORS: bool = <O::Key as Key>::Placed::VECTORS;
    #[inline(always)]
    fn run(self) {
        let Self { order, items, rows, width, last, out } = self;
        let tie_mask = if last { 0 } else { u32::MAX };
        let load = PlacedRanks { order, tie_mask };
        let (_, wide) = shape::<<O::Key as Key>::Placed>(rows, width);
        let mut numbers = [0; MAX_RANKS];
        for numbers in numbers.chunks_mut(wide) {
            for (row, numbers) in numbers.chunks_mut(width).enumerate() {
                numbers.fill(row as u32);
            }
        }
        blocks(load, items, [rows, width], Some(&numbers), out, |out, found| {
            for (out, &found) in out.iter_mut().zip(found) {
                *out = O::Key::place(found, tie_mask);
            }
        });
    }
}

/// The maxima of the columns of some matrices at a time: `store` writes those of a batch to its results. A
/// position is the number of a row; `numbers` are those of the items of several matrices.
#[inline(always)]
fn blocks<L: Load, T>(
    load: L,
    items: &[L::Item],
    [rows, width]: [usize; 2],
    numbers: Option<&[u32]>,
    out: &mut [T],
    store: impl Fn(&mut [T], &[L::Lane]),
) {
    let (mut keys, mut next) = ([0u128; BUFFER_WORDS], [0u128; BUFFER_WORDS]);
    let (keys, next) = (cast_slice_mut::<_, L::Lane>(&mut keys), cast_slice_mut(&mut next));
    let (len, space) = (rows * width, keys.len());
    let (together, wide) = shape::<L::Lane>(rows, width);
    let matrices = (space - SLACK) / wide;
    let whole = whole::<L::Lane>(wide);
    for (out, items) in
        out.chunks_mut(matrices * width).zip(items.chunks(matrices.saturating_mul(len)))
    {
        let count = out.len() / width;
        // If no rows are merged, all matrices at once.
        let (starts, last) = if together == rows { (1, 0) } else { (count, rows - together) };
        for number in 0..starts {
            let (items, keys) = (&items[number * len..], &mut keys[number * wide..]);
            let space = keys.len().min(items.len());
            // Vectors may reach beyond the end, into keys that are written later.
            let some = if together == rows { space } else { whole };
            load_row::<L, false>(load, items, (numbers, 0), &mut keys[..some.min(space)]);
            // The last rows may overlap those before.
            for row in (together..rows).step_by(together).map(|row| row.min(last)) {
                let items = &items[row * width..];
                let some = if whole <= keys.len().min(items.len()) { whole } else { wide };
                load_row::<L, true>(load, items, (numbers, row as u32), &mut keys[..some]);
            }
        }
        let (found, next) = windows(keys, next, count * wide, together, width);
        let mut picked = &*found;
        if width < wide {
            for number in 0..count {
                let (found, next) = (&found[number * wide..], &mut next[number * width..]);
                // A copy of few keys needs no call; a later one overwrites what follows a row.
                match width {
                    ..=SLACK => next[..SLACK].copy_from_slice(&found[..SLACK]),
                    _ => next[..width].copy_from_slice(&found[..width]),
                }
            }
            picked = next;
        }
        store(out, &picked[..count * width]);
    }
}

/// Items as keys or, with `MORE`, the maxima of both. Items count from a number on.
#[inline(always)]
fn load_row<L: Load, const MORE: bool>(
    load: L,
    items: &[L::Item],
    (numbers, first): (Option<&[u32]>, u32),
    keys: &mut [L::Lane],
) {
    let items = &items[..keys.len()];
    match numbers {
        None => {
            for (key, &item) in keys.iter_mut().zip(items) {
                let found = load.load(item, 0);
                *key = if MORE { found.max(*key) } else { found };
            }
        }
        Some(numbers) => {
            for ((key, &item), &number) in keys.iter_mut().zip(items).zip(numbers) {
                let found = load.load(item, first + number);
                *key = if MORE { found.max(*key) } else { found };
            }
        }
    }
}

/// How many rows of a matrix are taken as one, and the items of it: all, or evenly so many as four vectors have.
#[inline(always)]
fn shape<L: Lane>(rows: usize, width: usize) -> (usize, usize) {
    let some = match rows * width > 8 * vector::<L>() {
        true => (4 * vector::<L>() / width).max(1),
        false => rows,
    };
    let together = rows.div_ceil(rows.div_ceil(some));
    (together, together * width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::ElementType;
    use crate::tensor::key::{Extremum, Nan, Ranking, with_order};
    use crate::vector::random_words;

    fn check<O: KeyOrder>(order: O, random: &mut impl FnMut() -> u64) {
        let mut tried = 0;
        for width in [1, 2, 3, 7, 16, 100, 128, 200] {
            for rows in [2, 3, 5, 16, 40, 255, 700] {
                if !has_places::<O::Key>(rows, width) {
                    continue;
                }
                tried += 1;
                // Few different items, so that many are equal.
                let few: Vec<u64> = (0..4).map(|_| random()).collect();
                let len = rows * width;
                let count = 1 + 10_000 / len;
                let items: Vec<O::Key> =
                    (0..count * len).map(|_| O::Key::narrow(few[random() as usize % 4])).collect();
                let mut maxima = vec![O::Key::LOWEST; count * width];
                matrices(Elements(order), &items, [rows, width], &mut maxima);
                let mut places = [false, true].map(|last| {
                    let mut places = vec![u32::MAX; count * width];
                    matrix_places(order, &items, [rows, width], last, &mut places);
                    places.into_iter()
                });
                for (i, &max) in maxima.iter().enumerate() {
                    let (matrix, column) = (&items[i / width * len..][..len], i % width);
                    let keys =
                        || matrix[column..].iter().step_by(width).map(|&item| order.key(item));
                    let case = format!("column {i} of {rows} x {width}");
                    assert!(max == order.bits(keys().max().unwrap()), "{case}");
                    let ranks: Vec<_> = keys().map(|key| order.rank(key)).collect();
                    let best = ranks.iter().max().unwrap();
                    let found = places.each_mut().map(|places| places.next().unwrap() as usize);
                    let first = ranks.iter().position(|rank| rank == best).unwrap();
                    let last = ranks.iter().rposition(|rank| rank == best).unwrap();
                    assert_eq!(found, [first, last], "{case}");
                }
            }
        }
        assert!(tried > 25, "{tried}");
        assert!(!has_places::<O::Key>(MAX_ROWS + 1, 2));
    }

    #[test]
    fn columns_of_narrow_matrices_are_found() {
        let mut random = random_words();
        for element in ElementType::ALL {
            for (nan, extremum) in
                [(Nan::Ignore, Extremum::Maximum), (Nan::Propagate, Extremum::Minimum)]
            {
                let ranking = Ranking::new(element, nan, extremum);
                with_order!(element, ranking, order => check(order, &mut random));
            }
        }
    }
}
