//! `shaders/segment/scatter.wgsl`: the maxima of segments of rows in any order.

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut, try_cast_slice_mut};

use super::params::{NO_SEGMENT, Params};
use super::rows::words;
use crate::base::threads;
use crate::plan::{Call, Kernel, Shader};
use crate::tensor::key::{Key, KeyOrder, Lane, with_order};
use crate::tensor::memory;
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

/// Some segments, from `first` on: the numbers of their rows in a batch, and their items.
struct Share<'a> {
    first: usize,
    counts: &'a [u32],
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
        // In huge pages: otherwise most of the time goes to looking up pages.
        let own =
            (1..threads::count().min(max_threads)).map(|_| memory::zeroed(items.len().div_ceil(2)));
        let mut own: Vec<memory::Words> = own.collect::<Result<_, _>>().unwrap_or_default();
        let mut all: Vec<&mut [u32]> =
            own.iter_mut().map(|own| &mut cast_slice_mut(own)[..items.len()]).collect();
        // To find a later word, a thread needs the earlier ones.
        if p.word > 0 {
            let earlier: &[u32] = items;
            threads::each(all.iter_mut().collect(), |own| own.copy_from_slice(earlier));
        }
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
        threads::each_chunk(items, threads::CHUNK_LEN, |chunk, items| {
            for own in &own {
                let own: &[u32] = &cast_slice(own)[chunk * threads::CHUNK_LEN..];
                items.iter_mut().zip(own).for_each(|(item, &own)| *item = own.max(*item));
            }
        });
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

    /// Sorts the numbers of the rows by segments, and goes through the rows of each segment.
    fn scatter_sorted(&self, items: &mut [u32]) {
        let p = self.p;
        let (inner, item_words) = (p.inner as usize, p.item_words as usize);
        let (rows, segments) = (p.rows as usize, p.segments as usize);
        let line = inner * item_words;
        let threads = if rows * inner < PARALLEL_FROM { 1 } else { threads::count().min(8) };
        let batch = BATCH.max(segments);
        for first in (0..rows).step_by(batch) {
            let batch = first..rows.min(first + batch);
            let mut counts = vec![0; segments];
            for row in batch.clone() {
                if let Some(count) = counts.get_mut(self.segment(row)) {
                    *count += 1;
                }
            }
            let shares = shares(&counts, line, threads, &mut *items);
            threads::each(shares, |share| match self.argmax {
                false => dispatch(SomeSegments(self, batch.clone(), share, Elements(self.order))),
                true => dispatch(SomeSegments(self, batch.clone(), share, Ranks(self.order))),
            });
        }
    }

    /// The numbers of a batch's rows, those of one segment after the other.
    fn sorted(&self, batch: Range<usize>, share: &Share<'_>) -> Vec<u32> {
        let mut next = Vec::with_capacity(share.counts.len());
        let mut all = 0;
        for &count in share.counts {
            next.push(all);
            all += count;
        }
        let mut sorted = vec![0; all as usize];
        for row in batch {
            let segment = self.segment(row).wrapping_sub(share.first);
            if let Some(next) = next.get_mut(segment) {
                sorted[*next as usize] = row as u32;
                *next += 1;
            }
        }
        sorted
    }

    /// The elements of a row.
    #[inline(always)]
    fn row(&self, row: u32) -> &[O::Key] {
        let inner = self.p.inner as usize;
        &self.source[row as usize * inner..][..inner]
    }
}

/// Segments for each thread, with about equally many rows.
fn shares<'a>(
    counts: &'a [u32],
    line: usize,
    threads: usize,
    mut items: &'a mut [u32],
) -> Vec<Share<'a>> {
    let all: usize = counts.iter().map(|&count| count as usize).sum();
    let enough = all.div_ceil(threads).max(1);
    let mut shares = Vec::with_capacity(threads);
    let (mut first, mut rows, mut left) = (0, 0, all);
    // Segments after the last one with rows belong to no share.
    for (segment, &count) in counts.iter().enumerate() {
        rows += count as usize;
        left -= count as usize;
        if rows >= enough || rows > 0 && left == 0 {
            let counts = &counts[first..=segment];
            let (some, rest) = items.split_at_mut(counts.len() * line);
            shares.push(Share { first, counts, items: some });
            (first, rows, items) = (segment + 1, 0, rest);
        }
    }
    shares
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

/// The segments of a share, of the rows of a batch.
struct SomeSegments<'a, 'b, O: KeyOrder, L>(&'a Rows<'a, O>, Range<usize>, Share<'b>, L);

impl<O: KeyOrder, L: Load<Item = O::Key, Lane = O::Key>> Loop for SomeSegments<'_, '_, O, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(rows, batch, share, load) = self;
        let p = rows.p;
        let (inner, item_words, word) = (p.inner as usize, p.item_words as usize, p.word as usize);
        let sorted = rows.sorted(batch, &share);
        let (mut keys, mut found) = (vec![O::Key::LOWEST; inner], vec![0; inner]);
        let (mut begin, mut asked) = (0, 0);
        let segments = share.counts.iter().zip(share.items.chunks_exact_mut(inner * item_words));
        for (&count, items) in segments.filter(|(count, _)| **count > 0) {
            let own = &sorted[begin..begin + count as usize];
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
            begin += count as usize;
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
