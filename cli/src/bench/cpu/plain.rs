//! The bandwidth ceiling of the CPU: plain passes that read words once, or read words and write others
//! once.

use std::array;
use std::fmt;
use std::hint::black_box;

use rayon::prelude::*;
use wgmax::internals::{Extension, Loop, vectorised_up_to};

use crate::bench::times::seconds;

/// Loops are cut into multiples of this many words, so that no remainder is read word by word: four of
/// the widest vectors.
const UNIT: usize = 64;

/// Words to read between two writes: 8 KiB.
const STEP: usize = 2048;

/// Bytes of a cache line. A vector that begins a line is within it.
const LINE: usize = 64;

/// Passes of each shape. The fastest counts.
const ROUNDS: usize = 6;

/// How a plain pass is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub extension: Extension,
    /// Equal parts of a piece, which are read in turn, a few vectors of each: 1, 2, 4 or 8. Processors
    /// prefetch only within a page; while one stream waits for its next page, the others continue.
    pub streams: usize,
    /// Pieces, which the threads take one after the other.
    pub pieces: usize,
}

impl Shape {
    /// The shapes that are tried: one thread, which is enough for data in its cache, and all threads
    /// in the shapes that were fastest on the machines that `BENCHMARKS.md` names.
    pub fn usual() -> Vec<Self> {
        let threads = rayon::current_num_threads();
        let widest = [Extension::Avx512, Extension::Avx2].into_iter().find(|e| e.is_detected());
        let extension = widest.unwrap_or(Extension::Baseline);
        let ways = [(4, 1), (1, 4 * threads), (4, threads), (8, 16 * threads)];
        ways.map(|(streams, pieces)| Self { extension, streams, pieces }).to_vec()
    }

    /// Reads a piece and writes its results. Returns the maximum of its words.
    fn run(self, words: &[u32], out: &mut [u32]) -> u32 {
        match self.streams {
            1 => vectorised_up_to(self.extension, Piece::<1>(words, out)),
            2 => vectorised_up_to(self.extension, Piece::<2>(words, out)),
            4 => vectorised_up_to(self.extension, Piece::<4>(words, out)),
            _ => vectorised_up_to(self.extension, Piece::<8>(words, out)),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { extension, streams, pieces } = self;
        write!(f, "{extension:?}, streams {streams}, pieces {pieces}")
    }
}

/// The seconds of the fastest pass of each shape, the fastest shape first. In each round the shapes read
/// different copies of the words, because a copy that was just read may be in a cache.
pub fn race(shapes: &[Shape], copies: &[&[u32]], out: &mut [u32]) -> Vec<(Shape, f64)> {
    let mut times: Vec<(Shape, f64)> = shapes.iter().map(|&s| (s, f64::INFINITY)).collect();
    for round in 0..ROUNDS {
        for (i, (shape, min)) in times.iter_mut().enumerate() {
            let words = copies[(round + i * copies.len() / shapes.len()) % copies.len()];
            *min = min.min(pass(words, out, *shape).0);
        }
    }
    times.sort_by(|a, b| a.1.total_cmp(&b.1));
    times
}

/// Reads all words once and writes `out` once. Returns the seconds, and the maximum of the words.
pub fn pass(words: &[u32], out: &mut [u32], shape: Shape) -> (f64, u32) {
    let cut = |len: usize, i: usize| (len as u128 * i as u128 / shape.pieces as u128) as usize;
    let (results, mut rest) = (out.len(), &mut *out);
    let piece = |i: usize| {
        let written = cut(results, i + 1) - cut(results, i);
        let out = rest.split_off_mut(..written).unwrap_or_default();
        (&words[cut(words.len(), i)..cut(words.len(), i + 1)], out)
    };
    let mut pieces: Vec<(&[u32], &mut [u32])> = (0..shape.pieces).map(piece).collect();
    let (time, max) = seconds(|| match &mut pieces[..] {
        [(words, out)] => shape.run(words, out),
        pieces => {
            let maxima = pieces.par_iter_mut().with_max_len(1);
            maxima.map(|(words, out)| shape.run(words, out)).max().unwrap_or(0)
        }
    });
    black_box(out);
    (time, max)
}

/// Words to read in `S` streams, and results to write in between.
struct Piece<'a, const S: usize>(&'a [u32], &'a mut [u32]);

impl<const S: usize> Loop for Piece<'_, S> {
    type Output = u32;
    #[inline(always)]
    fn run(self) -> u32 {
        let Self(words, out) = self;
        let (head, words) = words.split_at(words.as_ptr().align_offset(LINE).min(words.len()));
        let len = words.len() / S / UNIT * UNIT;
        let (streams, rest) = words.split_at(S * len);
        let mut max = maximum([head]).max(maximum([rest]));
        let step = if out.is_empty() { len.max(1) } else { STEP / S };
        let steps = len.div_ceil(step).max(1);
        let mut written = 0;
        for i in 0..steps {
            let (start, end) = (i * step, len.min((i + 1) * step));
            let parts: [&[u32]; S] = array::from_fn(|s| &streams[s * len..][start..end]);
            max = maximum(parts).max(max);
            let end = (out.len() as u128 * (i + 1) as u128 / steps as u128) as usize;
            out[written..end].fill(max);
            written = end;
        }
        max
    }
}

/// The maximum of words in slices of the same length. The compiler gives each slice several
/// accumulators, as many as there are registers for.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "iterators over the slices are not vectorised")]
fn maximum<const S: usize>(parts: [&[u32]; S]) -> u32 {
    let len = parts[0].len();
    let parts = parts.map(|part| &part[..len]);
    let mut maxima = [0; S];
    for i in 0..len {
        maxima = array::from_fn(|s| parts[s][i].max(maxima[s]));
    }
    maxima.into_iter().fold(0, u32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_word_is_read(shape: Shape) {
        // Two units of each stream and a remainder; and steps of different length.
        let streams = shape.streams;
        for len in [0, 1, 63, 64, 2 * UNIT * streams + 77, 2 * STEP + UNIT * streams + 5] {
            // The words begin within a cache line.
            let mut words = vec![1; len + 3];
            let words = &mut words[3..];
            for results in [0, 1, len / 4, len + 9] {
                let mut out = vec![0; results];
                assert_eq!(pass(words, &mut out, shape).1, len.min(1) as u32, "{shape}, {len}");
                let min_word = u32::from(len >= shape.pieces);
                assert!(out.iter().all(|&word| word >= min_word), "{shape}, {len}");
            }
            for i in 0..len {
                words[i] = u32::MAX;
                let mut out = [0; 9];
                assert_eq!(pass(words, &mut [], shape).1, u32::MAX, "{shape}, {i} of {len}");
                assert_eq!(pass(words, &mut out, shape).1, u32::MAX, "{shape}, {i} of {len}");
                words[i] = 1;
            }
        }
    }

    #[test]
    fn passes_read_every_word() {
        for extension in [Extension::Avx512, Extension::Avx2, Extension::Baseline] {
            for streams in [1, 2, 4, 8] {
                every_word_is_read(Shape { extension, streams, pieces: 1 });
            }
            every_word_is_read(Shape { extension, streams: 4, pieces: 3 });
        }
        Shape::usual().into_iter().for_each(every_word_is_read);
    }
}
