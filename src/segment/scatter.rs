//! `shaders/segment/scatter.wgsl`: the maxima of segments of rows in any order.

use std::cmp::Reverse;
use std::iter::once;
use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut, try_cast_slice_mut};

use super::params::{NO_SEGMENT, Params};
use super::rows::words;
use crate::base::threads;
use crate::plan::{Call, Kernel, Shader};
use crate::tensor::key::{Key, KeyOrder, Lane, with_order};
use crate::tensor::memory::{self, Words};
use crate::vector::{self, Elements, Load, Loop, PARALLEL_FROM, dispatch, merge_rows};

/// One word of the items of all segments: of the keys of the maxima or, with `argmax`, of the ranks by
/// which candidates are compared, or the rows.
pub(super) static SCATTER: Kernel =
    Kernel::new::<Params>("segment_scatter", "segment/scatter", run)
        .flags(&["argmax", "small_ids"]);

/// Rows of fewer bytes are not sorted: each goes to its segment at once, as in the shader.
const SORTED_FROM: usize = 32;
/// Rows that are sorted together: so many that their numbers take little memory.
const BATCH: usize = 4 << 20;
/// How many rows ahead to prefetch, and how many cache lines of a row: processors fetch the rest of a
/// longer row by themselves.
const AHEAD: usize = 32;
const LINES: usize = 8;
/// Rows of one element whose keys and segments are computed together, and how many rows ahead to
/// prefetch: on an AMD EPYC one thread took 30 ms for 8 Mi rows and 1 Mi segments, and 45 ms with 32.
const BLOCK: usize = 128;

fn run(shader: &Shader, call: Call<'_, '_>) {
    let p: &Params = call.params();
    with_order!(shader.element, p.ranking, order => {
        let rows = Rows {
            p,
            order,
            argmax: shader.is("argmax"),
            source: &cast_slice(call.sources[0])[p.base as usize..],
            ids: &p.id_form.words(call.sources[1]),
        };
        let items: &mut [u32] = cast_slice_mut(call.results[0]);
        let item_words = p.item_words as usize;
        let items = &mut items[p.result_base as usize * item_words..];
        let items = &mut items[..p.segments as usize * p.inner as usize * item_words];
        rows.scatter(items);
    });
}

/// Rows with ids in any order.
struct Rows<'a, O: KeyOrder> {
    p: &'a Params,
    order: O,
    /// Whether the last word of an item is to be the complement of the row, not a mark.
    argmax: bool,
    source: &'a [O::Key],
    ids: &'a [u32],
}

/// Numbers of rows, those of one key after the other, and where those of each key end.
#[derive(Default)]
struct Sorted {
    rows: Vec<u32>,
    ends: Vec<u32>,
}

impl Sorted {
    /// Leaves out rows whose key is not below `keys`.
    fn new(
        rows: impl Iterator<Item = u32> + Clone,
        keys: usize,
        key: impl Fn(u32) -> usize,
    ) -> Self {
        let mut ends = vec![0; keys];
        for row in rows.clone() {
            if let Some(end) = ends.get_mut(key(row)) {
                *end += 1;
            }
        }
        let mut all = 0;
        for end in &mut ends {
            (all, *end) = (all + *end, all);
        }
        let mut sorted = vec![0; all as usize];
        for row in rows {
            if let Some(end) = ends.get_mut(key(row)) {
                sorted[*end as usize] = row;
                *end += 1;
            }
        }
        Self { rows: sorted, ends }
    }

    /// The rows of a key.
    fn of(&self, key: usize) -> &[u32] {
        let begin = if key == 0 { 0 } else { self.ends[key - 1] };
        &self.rows[begin as usize..self.ends[key] as usize]
    }
}

/// The rows of a range of segments in some chunks of a batch, and the items of the range.
struct Share<'a> {
    range: usize,
    /// The first segment of the range.
    first: usize,
    /// The number of rows.
    rows: usize,
    /// The rows of each chunk, sorted by ranges.
    chunks: &'a [Sorted],
    items: &'a mut [u32],
}

impl<O: KeyOrder> Rows<'_, O> {
    /// The segment of a row.
    #[inline(always)]
    fn segment(&self, row: usize) -> usize {
        self.p.row_segment_from_end(self.ids, row) as usize
    }

    fn scatter(&self, items: &mut [u32]) {
        match self.p.inner as usize * size_of::<O::Key>() {
            ..SORTED_FROM => self.scatter_each(items),
            _ => self.scatter_sorted(items),
        }
    }

    /// Goes through the rows in their order. Each thread but one has items of its own, which are
    /// joined at the end.
    fn scatter_each(&self, items: &mut [u32]) {
        let (rows, p) = (self.p.rows as usize, self.p);
        // A thread with items of its own needs at least two rows for each segment to be worth it.
        let max_threads = match rows * p.inner as usize {
            ..PARALLEL_FROM => 1,
            _ => rows / (2 * p.segments as usize).max(1),
        };
        let mut own = self.copies(threads::count().min(max_threads).max(1) - 1, items);
        let mut all: Vec<&mut [u32]> =
            own.iter_mut().map(|own| &mut cast_slice_mut(own)[..items.len()]).collect();
        all.push(&mut *items);
        let step = all.len() * BATCH;
        for first in (0..rows).step_by(step) {
            let batch = first..rows.min(first + step);
            let each = batch.len().div_ceil(all.len());
            let share = |i| batch.end.min(first + i * each);
            threads::each(all.iter_mut().enumerate().collect(), |(i, items)| {
                let chunk = share(i)..share(i + 1);
                match self.argmax {
                    false => dispatch(SomeRows(self, chunk, items, Elements(self.order))),
                    true => dispatch(SomeRows(self, chunk, items, Ranks(self.order))),
                }
            });
        }
        join(once((items, &own)));
    }

    /// The items of rows of one element as numbers, the mark beside the key: one comparison joins both.
    #[inline(always)]
    fn scatter_numbers(&self, rows: Range<usize>, numbers: &mut [u64]) {
        let (mut keys, mut segments) = ([0; BLOCK], [[0; BLOCK]; 2]);
        let find = |segments: &mut [usize; BLOCK], first: usize| {
            let rows = first..rows.end.min(first + BLOCK);
            segments.iter_mut().zip(rows).for_each(|(to, row)| *to = self.segment(row));
        };
        find(&mut segments[1], rows.start);
        for first in rows.clone().step_by(BLOCK) {
            segments.swap(0, 1);
            // Keys and segments by vectors.
            find(&mut segments[1], first + BLOCK);
            let source = &self.source[first..rows.end.min(first + BLOCK)];
            for (key, &bits) in keys.iter_mut().zip(source) {
                [*key, _] = words(self.order.key(bits));
            }
            let [now, later] = &segments;
            for ((&key, &segment), later) in keys[..source.len()].iter().zip(now).zip(later) {
                vector::prefetch(numbers, later.wrapping_mul(size_of::<u64>()));
                if let Some(number) = numbers.get_mut(segment) {
                    let found: u64 = bytemuck::cast([key, 1]);
                    *number = found.max(*number);
                }
            }
        }
    }

    /// So many copies of items, in which other threads raise them; none if there is no memory for all.
    fn copies(&self, count: usize, items: &[u32]) -> Vec<Words> {
        // In huge pages: otherwise most of the time goes to looking up pages.
        let new = (0..count).map(|_| memory::zeroed(items.len().div_ceil(2)));
        let mut copies: Vec<Words> = new.collect::<Result<_, _>>().unwrap_or_default();
        // To find a later word, a thread needs the earlier ones.
        if self.p.word > 0 {
            let copy = |copy: &mut Words| {
                cast_slice_mut(copy)[..items.len()].copy_from_slice(items);
            };
            threads::unwatched(|| threads::each(copies.iter_mut().collect(), copy));
        }
        copies
    }

    /// Sorts the numbers of the rows by ranges of segments, then those of each range by segments, and goes
    /// through the rows of each segment.
    fn scatter_sorted(&self, items: &mut [u32]) {
        let (rows, segments) = (self.p.rows as usize, self.p.segments as usize);
        let threads = match rows * self.p.inner as usize {
            ..PARALLEL_FROM => 1,
            elements => threads::count().min(elements / (PARALLEL_FROM / 4)),
        };
        // Each range has a power of two of segments. Each thread gets at least two ranges, if there are so
        // many segments.
        let most = if threads == 1 { segments } else { segments.div_ceil(4 * threads) };
        let shift = most.next_power_of_two().ilog2();
        let ranges = segments.div_ceil(1 << shift);
        let range_of = |row: u32| match self.segment(row as usize) {
            segment if segment < segments => segment >> shift,
            _ => usize::MAX,
        };
        let batch = BATCH.max(segments);
        for first in (0..rows).step_by(batch) {
            let batch = first..rows.min(first + batch);
            let len = batch.len().div_ceil(threads);
            let chunks = batch.clone().step_by(len).map(|first| (first, Sorted::default()));
            let mut chunks: Vec<_> = chunks.collect();
            // The progress is that of the longest part of the work.
            threads::unwatched(|| {
                threads::each(chunks.iter_mut().collect(), |(first, sorted)| {
                    let rows = *first as u32..batch.end.min(*first + len) as u32;
                    *sorted = Sorted::new(rows, ranges, range_of);
                });
            });
            let chunks: Vec<_> = chunks.into_iter().map(|(_, sorted)| sorted).collect();
            self.raise_ranges(&chunks, ranges, shift, items);
        }
    }

    /// Raises the items of ranges of `1 << shift` segments. If a range has more than its share of the rows, several
    /// threads raise its items, in copies of them.
    fn raise_ranges(&self, chunks: &[Sorted], ranges: usize, shift: u32, items: &mut [u32]) {
        let item_words = self.p.item_words as usize;
        let len = (self.p.inner as usize * item_words) << shift;
        let rows: usize = chunks.iter().map(|chunk| chunk.rows.len()).sum();
        // A copy is worth it if its rows have several times as many bytes.
        let least = ((16 * item_words) << shift) / size_of::<O::Key>();
        let share = rows.div_ceil(chunks.len()).max(least);
        let mut pieces = vec![Vec::new(); ranges];
        threads::unwatched(|| {
            threads::each_chunk(&mut pieces, 16, |number, pieces| {
                for (range, pieces) in (16 * number..).zip(pieces) {
                    *pieces = self::pieces(chunks, range, share);
                }
            });
        });
        let copies = pieces.iter().zip(items.chunks(len));
        let copies = copies.map(|(pieces, items)| self.copies(pieces.len().max(1) - 1, items));
        let mut copies: Vec<Vec<Words>> = copies.collect();
        let mut shares = Vec::with_capacity(ranges);
        let of_ranges = pieces.iter().zip(items.chunks_mut(len)).zip(&mut copies).enumerate();
        for (range, ((pieces, items), copies)) in of_ranges {
            // Without memory for copies, the range is one share.
            let whole = [(usize::MAX, chunks)];
            let pieces = if pieces.len() > copies.len() + 1 { &whole[..] } else { pieces };
            let (first, len) = (range << shift, items.len());
            let copies = copies.iter_mut().map(|copy| &mut cast_slice_mut(copy)[..len]);
            let pieces = pieces.iter().zip(once(items).chain(copies));
            shares.extend(pieces.map(|(&(rows, chunks), items)| Share {
                range,
                first,
                rows,
                chunks,
                items,
            }));
        }
        // The longest first, so that threads end at about the same time.
        shares.sort_unstable_by_key(|share| Reverse(share.rows));
        threads::each(shares, |share| match self.argmax {
            false => dispatch(SomeSegments(self, share, Elements(self.order))),
            true => dispatch(SomeSegments(self, share, Ranks(self.order))),
        });
        join(items.chunks_mut(len).zip(&copies));
    }

    /// The elements of a row.
    #[inline(always)]
    fn row(&self, row: u32) -> &[O::Key] {
        let inner = self.p.inner as usize;
        &self.source[row as usize * inner..][..inner]
    }
}

/// Neighbouring chunks with at least `share` rows of a range each, and how many rows: all chunks if there are fewer.
fn pieces(chunks: &[Sorted], range: usize, share: usize) -> Vec<(usize, &[Sorted])> {
    let rows_of = |chunk: &Sorted| chunk.of(range).len();
    let mut left: usize = chunks.iter().map(rows_of).sum();
    let (mut first, mut rows, mut pieces) = (0, 0, Vec::new());
    for (i, chunk) in chunks.iter().enumerate() {
        let count = rows_of(chunk);
        (rows, left) = (rows + count, left - count);
        if rows > 0 && left == 0 || rows >= share && left >= share {
            pieces.push((rows, &chunks[first..=i]));
            (first, rows) = (i + 1, 0);
        }
    }
    pieces
}

/// Raises items to those of their copies.
fn join<'a>(all: impl Iterator<Item = (&'a mut [u32], &'a Vec<Words>)>) {
    const LEN: usize = 1 << 10;
    let parts = all.filter(|(_, copies)| !copies.is_empty()).flat_map(|(items, copies)| {
        let parts = items.chunks_mut(LEN).enumerate();
        parts.map(move |(i, items)| (i * LEN, items, copies))
    });
    let join = |(first, items, copies): (usize, &mut [u32], &Vec<Words>)| {
        for copy in copies {
            let copy: &[u32] = &cast_slice(copy)[first..];
            items.iter_mut().zip(copy).for_each(|(item, &copy)| *item = copy.max(*item));
        }
    };
    threads::unwatched(|| threads::each(parts.collect(), join));
}

/// Some rows, and the items of all segments.
struct SomeRows<'a, 'b, O: KeyOrder, L>(&'a Rows<'a, O>, Range<usize>, &'b mut [u32], L);

impl<O: KeyOrder, L: Load<Item = O::Key, Lane = O::Key>> Loop for SomeRows<'_, '_, O, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(rows, chunk, items, load) = self;
        let p = rows.p;
        let (item_words, word) = (p.item_words as usize, p.word as usize);
        let line = p.inner as usize * item_words;
        if p.inner == 1
            && !rows.argmax
            && item_words == 2
            && let Ok(numbers) = try_cast_slice_mut(items)
        {
            return rows.scatter_numbers(chunk, numbers);
        }
        let last = chunk.end.max(1) - 1;
        for row in chunk {
            let later = rows.segment(last.min(row + AHEAD));
            vector::prefetch(items, later.wrapping_mul(line * size_of::<u32>()));
            let segment = rows.segment(row);
            if segment == NO_SEGMENT as usize {
                continue;
            }
            let items = items[segment * line..][..line].chunks_exact_mut(item_words);
            for (item, &bits) in items.zip(rows.row(row as u32)) {
                let [low, high] = words(load.load(bits, 0));
                let (key, words) =
                    if size_of::<O::Key>() == 8 { ([high, low], 2) } else { ([low; 2], 1) };
                let is_key = word < words;
                let found = if is_key { key[word] } else { !(p.first_row + row as u32) };
                // Without branches, which nothing could predict.
                let takes = (0..word).fold(true, |takes, i| takes & (item[i] == key[i]));
                item[word] = item[word].max(if takes { found } else { 0 });
                if !rows.argmax && word == 0 {
                    item[item_words - 1] = 1;
                }
            }
        }
    }
}

/// The segments of a share.
struct SomeSegments<'a, 'b, O: KeyOrder, L>(&'a Rows<'a, O>, Share<'b>, L);

impl<O: KeyOrder, L: Load<Item = O::Key, Lane = O::Key>> Loop for SomeSegments<'_, '_, O, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(rows, share, load) = self;
        let p = rows.p;
        let (inner, item_words, word) = (p.inner as usize, p.item_words as usize, p.word as usize);
        let line = inner * item_words;
        let of_range = share.chunks.iter().flat_map(|chunk| chunk.of(share.range)).copied();
        let Sorted { rows: sorted, ends } =
            Sorted::new(of_range, share.items.len() / line, |row| {
                rows.segment(row as usize) - share.first
            });
        let (mut keys, mut found) = (vec![O::Key::LOWEST; inner], vec![0; inner]);
        let (mut begin, mut asked) = (0, 0);
        for (&end, items) in ends.iter().zip(share.items.chunks_exact_mut(line)) {
            let own = &sorted[begin..end as usize];
            if own.is_empty() {
                continue;
            }
            let wanted = sorted.len().min(begin + own.len() + AHEAD);
            for &later in &sorted[asked..wanted] {
                let lines = rows.row(later).chunks(vector::vector::<O::Key>());
                lines.take(LINES).for_each(|line| vector::prefetch(line, 0));
            }
            asked = wanted;
            let row = |i: usize| rows.row(own[i]);
            if rows.argmax && word + 1 == item_words {
                for (key, item) in keys.iter_mut().zip(items.chunks_exact(item_words)) {
                    let (low, high) = if word == 2 { (item[1], item[0]) } else { (item[0], 0) };
                    *key = O::Key::from_words(low, high);
                }
                found.fill(0);
                for (i, &number) in own.iter().enumerate() {
                    let number = !(p.first_row + number);
                    for ((found, &key), &bits) in found.iter_mut().zip(&keys).zip(row(i)) {
                        let is = load.load(bits, 0) == key;
                        *found = if is { number.max(*found) } else { *found };
                    }
                }
                for (item, &found) in items.chunks_exact_mut(item_words).zip(&found) {
                    item[word] = item[word].max(found);
                }
            } else {
                keys.fill(O::Key::LOWEST);
                merge_rows(load, &mut keys, own.len(), vector::RowOrder::Anywhere, row);
                for (item, &key) in items.chunks_exact_mut(item_words).zip(&keys) {
                    let [low, high] = words(key);
                    match (size_of::<O::Key>(), word) {
                        (8, 0) => item[0] = item[0].max(high),
                        (8, _) if item[0] == high => item[1] = item[1].max(low),
                        (8, _) => {}
                        _ => item[0] = item[0].max(low),
                    }
                    if !rows.argmax && word == 0 {
                        item[item_words - 1] = 1;
                    }
                }
            }
            begin += own.len();
        }
    }
}

/// Elements as ranks: the winner's row is a result.
#[derive(Clone, Copy)]
struct Ranks<O>(O);

impl<O: KeyOrder> Load for Ranks<O> {
    type Item = O::Key;
    type Lane = O::Key;
    #[inline(always)]
    fn load(self, item: O::Key, _: u32) -> O::Key {
        self.0.rank(self.0.key(item))
    }
}
