//! Maxima of many keys: the vector loops that twins share.
//!
//! What is `#[inline(always)]` here is meant for [`Loop::run`], and becomes vector instructions there.

use bytemuck::{cast_slice, cast_slice_mut};

use super::simd::{Loop, dispatch};
use crate::kernel::{Read, Write};
use crate::tensor::key::{Key, Lane};

/// The maxima of rows of `len` items each, as many as `out` has room for.
pub(crate) fn rows<R: Read>(read: R, items: &[R::Item], len: usize, out: &mut [R::Key]) {
    dispatch(Rows(read, items, len, out));
}

/// Turns keys into items.
pub(crate) fn store<W: Write>(write: W, keys: &[W::Key], out: &mut [W::Item]) {
    dispatch(Store(write, keys, out));
}

struct Store<'a, W: Write>(W, &'a [W::Key], &'a mut [W::Item]);

impl<W: Write> Loop for Store<'_, W> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (out, &key) in self.2.iter_mut().zip(self.1) {
            *out = self.0.item(key);
        }
    }
}

/// Words of the buffers for a block of short rows: a few of them stay in the first cache.
const BLOCK: usize = 512;

/// Keys of 64 bytes, a vector at most.
pub(crate) const fn vector<K>() -> usize {
    64 / size_of::<K>()
}

struct Rows<'a, R: Read>(R, &'a [R::Item], usize, &'a mut [R::Key]);

impl<R: Read> Loop for Rows<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(read, items, len, out) = self;
        let lanes = vector::<R::Key>();
        if len >= 4 * lanes {
            for (out, row) in out.iter_mut().zip(items.chunks_exact(len)) {
                *out = long(read, row);
            }
        } else if len > lanes {
            by_lanes(read, items, len, lanes, out);
        } else if len > lanes / 2 && len < lanes {
            by_lanes(read, items, len, lanes / 2, out);
        } else {
            short(read, items, len, out);
        }
    }
}

/// The maximum of four vectors of items or more.
#[inline(always)]
fn long<R: Read>(read: R, row: &[R::Item]) -> R::Key {
    let chunk = 4 * vector::<R::Key>();
    let mut most = R::Key::LOWEST;
    for &item in &row[..row.len() / chunk * chunk] {
        most = read.key(item).max(most);
    }
    // The last items once more, which changes no maximum: a rest would be done one by one.
    for &item in &row[row.len() - chunk..][..chunk] {
        most = read.key(item).max(most);
    }
    most
}

/// Rows of `lanes` items or more: each is made into so many keys, and then those of many rows are
/// halved together.
#[inline(always)]
fn by_lanes<R: Read>(read: R, items: &[R::Item], len: usize, lanes: usize, out: &mut [R::Key]) {
    let (mut keys, mut next) = ([0u64; BLOCK], [0u64; BLOCK]);
    let (keys, next) = (cast_slice_mut::<_, R::Key>(&mut keys), cast_slice_mut(&mut next));
    let rows = keys.len() / lanes;
    for (items, out) in items.chunks(len * rows).zip(out.chunks_mut(rows)) {
        for (keys, row) in keys.chunks_exact_mut(lanes).zip(items.chunks_exact(len)) {
            let (first, last) = (&row[..lanes], &row[len - lanes..][..lanes]);
            for ((key, &a), &b) in keys.iter_mut().zip(first).zip(last) {
                *key = read.key(a).max(read.key(b));
            }
            for chunk in row[..len - 1].chunks_exact(lanes).skip(1) {
                merge(read, keys, chunk);
            }
        }
        halve(keys, next, lanes, out);
    }
}

/// The maxima of rows of `len` keys, a power of two.
#[inline(always)]
fn halve<'a, K: Key>(mut keys: &'a mut [K], mut next: &'a mut [K], len: usize, out: &mut [K]) {
    let mut left = out.len() * len;
    while left > out.len() {
        let pairs: &[K::Pair] = cast_slice(&keys[..left]);
        for (next, &pair) in next.iter_mut().zip(pairs) {
            *next = K::most(pair);
        }
        (keys, next) = (next, keys);
        left /= 2;
    }
    out.copy_from_slice(&keys[..left]);
}

/// Rows of fewer items than half a vector has lanes, many of them at once.
#[inline(always)]
fn short<R: Read>(read: R, items: &[R::Item], len: usize, out: &mut [R::Key]) {
    if len == 0 {
        return out.fill(R::Key::LOWEST);
    }
    let (mut keys, mut next) = ([0u64; BLOCK], [0u64; BLOCK]);
    let (keys, next) = (cast_slice_mut::<_, R::Key>(&mut keys), cast_slice_mut(&mut next));
    let rows = keys.len() / len;
    for (items, out) in items.chunks(len * rows).zip(out.chunks_mut(rows)) {
        let count = out.len() * len;
        for (key, &item) in keys[..count].iter_mut().zip(items) {
            *key = read.key(item);
        }
        if len.is_power_of_two() {
            halve(keys, next, len, out);
            continue;
        }
        // Every key becomes the maximum of the `len` from it on, across rows too, without any
        // shuffling; of which the first of each row is wanted.
        let found = windows(&mut keys[..count], next, len, 1).0;
        for (out, row) in out.iter_mut().zip(found.chunks(len)) {
            *out = row[0];
        }
    }
}

/// The maxima of `taps` keys from each on, `apart` from one another, in [`steps`] steps; and the
/// other buffer.
#[inline(always)]
pub(crate) fn windows<'a, K: Lane>(
    mut keys: &'a mut [K],
    mut next: &'a mut [K],
    taps: usize,
    apart: usize,
) -> (&'a mut [K], &'a mut [K]) {
    let mut left = keys.len();
    let mut done = 1;
    while done < taps {
        // Three times as many taps, if there are as many: the last ones may overlap.
        let last = (2 * done).min(taps - done);
        left -= last * apart;
        let from = &keys[..left + last * apart];
        if last > done {
            let rows = from.iter().zip(&from[done * apart..]).zip(&from[last * apart..]);
            for (next, ((&a, &b), &c)) in next[..left].iter_mut().zip(rows) {
                *next = a.max(b).max(c);
            }
        } else {
            for ((next, &a), &b) in next[..left].iter_mut().zip(from).zip(&from[last * apart..]) {
                *next = a.max(b);
            }
        }
        (keys, next) = (next, keys);
        done += last;
    }
    (&mut keys[..left], next)
}

/// How often [`windows`] goes from one buffer to the other.
pub(crate) const fn steps(taps: usize) -> u32 {
    let (mut done, mut steps) = (1usize, 0);
    while done < taps {
        done = done.saturating_mul(3);
        steps += 1;
    }
    steps
}

/// Maxima, place by place.
#[inline(always)]
pub(crate) fn merge<R: Read>(read: R, keys: &mut [R::Key], items: &[R::Item]) {
    for (key, &item) in keys.iter_mut().zip(items) {
        *key = read.key(item).max(*key);
    }
}

/// Adds the maxima down some columns of a matrix to `keys`: those of rows that begin at `begins`, in items.
pub(crate) fn columns<R: Read>(
    read: R,
    items: &[R::Item],
    begins: impl Iterator<Item = usize>,
    keys: &mut [R::Key],
) {
    dispatch(Columns(read, items, begins, keys));
}

struct Columns<'a, R: Read, B>(R, &'a [R::Item], B, &'a mut [R::Key]);

impl<R: Read, B: Iterator<Item = usize>> Loop for Columns<'_, R, B> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(read, items, begins, keys) = self;
        merge_rows(read, items, begins, keys);
    }
}

/// Rows that are merged at once, so that keys are loaded and stored less often.
const AT_ONCE: usize = 4;

/// As [`merge`], for rows that begin at `begins`.
#[inline(always)]
pub(crate) fn merge_rows<R: Read>(
    read: R,
    items: &[R::Item],
    mut begins: impl Iterator<Item = usize>,
    keys: &mut [R::Key],
) {
    let count = keys.len();
    let mut rows = [&items[..0]; AT_ONCE];
    loop {
        let mut found = 0;
        while found < AT_ONCE {
            let Some(begin) = begins.next() else { break };
            rows[found] = &items[begin..][..count];
            found += 1;
        }
        if found < AT_ONCE {
            for row in &rows[..found] {
                merge(read, keys, row);
            }
            return;
        }
        let [a, b, c, d] = rows;
        for ((((key, &a), &b), &c), &d) in keys.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let (ab, cd) = (read.key(a).max(read.key(b)), read.key(c).max(read.key(d)));
            *key = ab.max(cd).max(*key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Elements;
    use crate::tensor::ElementType;
    use crate::tensor::key::{Keyed, with_keyed};

    /// Bytes of every kind, NaNs of all types among them.
    fn bytes(count: usize) -> Vec<u64> {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let some = [
            u64::MAX,
            0,
            0x7fc0_7e00_ffc0_fe00,
            0xfff8_0000_0000_0000,
            1 << 63,
            0x7c00_fc00_7f80_ff80,
        ];
        (0..count)
            .map(|_| match next() % 16 {
                i @ 0..6 => some[i as usize],
                _ => next(),
            })
            .collect()
    }

    fn check<T: Keyed>(nan: u32) {
        let bytes = bytes(4000);
        let items: &[T::Bits] = cast_slice(&bytes);
        let read = Elements::<T> { nan: T::Key::nan(nan) };
        let most = |items: &mut dyn Iterator<Item = T::Bits>| {
            items.fold(T::Key::LOWEST, |a, item| a.max(read.key(item)))
        };
        for len in (1..300).chain([511, 512, 700, 1000]) {
            // From any place, and so many rows that there are several blocks.
            let items = &items[len % 7..];
            let count = (items.len() / len).min(1 + 1500 / len);
            let mut found = vec![T::Key::LOWEST; count];
            rows(read, items, len, &mut found);
            for (i, &found) in found.iter().enumerate() {
                let expected = most(&mut items[i * len..][..len].iter().copied());
                assert!(found == expected, "row {i} of {len}");
            }
            for height in [1, 3, 4, 9] {
                let begin = |row: usize| row * (items.len() - len) / 9;
                let mut found = vec![T::Key::LOWEST; len];
                columns(read, items, (0..height).map(begin), &mut found);
                for (i, &found) in found.iter().enumerate() {
                    let mut column = (0..height).map(|row| items[begin(row) + i]);
                    assert!(found == most(&mut column), "column {i} of {len} in {height} rows");
                }
            }
        }
        rows(read, &[], 0, &mut [T::Key::LOWEST; 3]);
    }

    #[test]
    fn folds_are_maxima_for_all_types_and_lengths() {
        for element in ElementType::ALL {
            for nan in [0, u32::MAX] {
                with_keyed!(element, T => check::<T>(nan));
            }
        }
    }

    #[test]
    fn windows_are_maxima() {
        for (taps, apart) in [(1, 1), (2, 1), (3, 1), (4, 1), (7, 2), (13, 1), (5, 20)] {
            let mut keys: Vec<u32> = bytes(200).into_iter().map(|x| x as u32).collect();
            let source = keys.clone();
            let (first, mut next) = (keys.as_ptr(), vec![0; keys.len()]);
            let found = windows(&mut keys, &mut next, taps, apart).0;
            assert_eq!(found.len(), 200 - (taps - 1) * apart);
            let swapped = found.as_ptr() != first;
            assert_eq!(swapped, steps(taps) % 2 == 1);
            for (i, &found) in found.iter().enumerate() {
                let expected = (0..taps).map(|tap| source[i + tap * apart]).max();
                assert_eq!(Some(found), expected, "{taps} taps {apart} apart: {i}");
            }
        }
    }
}
