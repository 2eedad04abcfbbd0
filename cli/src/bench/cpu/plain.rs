//! The bandwidth ceiling of the CPU: plain passes that read words once, or read words and write
//! others once. The fastest way to run them is searched on the machine.

use std::array;
use std::collections::HashMap;
use std::fmt;
use std::hint::black_box;
use std::iter;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use wgmax::internals::{Extension, Loop, vectorised_up_to};

use crate::bench::times::seconds;
use crate::interrupt;

/// Words of which parts of loops are multiples, so that no remainder is read word by word: four of
/// the widest vectors.
const UNIT: usize = 64;

/// Words to read between two writes: 8 KiB.
const STEP: usize = 2048;

/// Bytes of a cache line. Vectors that begin with one do not lie in two.
const LINE: usize = 64;

/// How a plain pass is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    extension: Extension,
    /// Equal parts of a piece, which are read in turn, a few vectors of each. Processors fetch ahead
    /// within a page only; while one stream waits for its next page, the others go on.
    streams: usize,
    threads: usize,
    /// A thread takes the next piece when it has read its last.
    pieces: usize,
}

impl Shape {
    /// All that are tried: the two widest extensions, and up to eight streams on up to all threads.
    fn all() -> Vec<Self> {
        let widest = [Extension::Avx512, Extension::Avx2, Extension::Baseline];
        let extensions = widest.into_iter().filter(|extension| extension.is_detected()).take(2);
        let all = rayon::current_num_threads();
        let threads = iter::successors(Some(1), |threads| Some(2 * threads));
        let threads: Vec<usize> =
            threads.take_while(|&threads| threads < all).chain([all]).collect();
        let mut shapes = Vec::new();
        for extension in extensions {
            for streams in [1, 2, 4, 8] {
                for &threads in &threads {
                    let pieces = [1, 4, 16].map(|pieces| pieces * threads);
                    let pieces = if threads == 1 { &pieces[..1] } else { &pieces[..] };
                    let shape = |&pieces| Self { extension, streams, threads, pieces };
                    shapes.extend(pieces.iter().map(shape));
                }
            }
        }
        shapes
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
        let Self { extension, streams, threads, pieces } = self;
        let extension = match extension {
            Extension::Avx512 => "AVX-512",
            Extension::Avx2 => "AVX2",
            Extension::Baseline => "baseline",
        };
        write!(f, "{extension}, streams {streams}, threads {threads}, pieces {pieces}")
    }
}

/// Searches shapes, and keeps the best.
#[derive(Default)]
pub struct Plain {
    /// By whether a pass writes, and the logarithm of the words it reads.
    best: HashMap<(bool, u32), Vec<Shape>>,
}

impl Plain {
    const ROUNDS: usize = 8;
    /// Shapes of the last rounds on all threads, and as many on fewer. When other programs run,
    /// fewer threads may seem faster.
    const FINALISTS: usize = 3;

    /// The fastest shape on these words, and the seconds of its fastest pass. After a round at most
    /// half of the shapes stay. The finalists are kept, and alone run on other words of a similar
    /// length. `None` after a signal.
    pub fn search(&mut self, copies: &[&[u32]], out: &mut [u32]) -> Option<(Shape, f64)> {
        let key = (!out.is_empty(), copies[0].len().max(1).ilog2());
        let shapes = self.best.entry(key).or_insert_with(Shape::all);
        let mut times: Vec<(Shape, f64)> =
            shapes.iter().map(|&shape| (shape, f64::INFINITY)).collect();
        let mut copies = copies.iter().cycle();
        let mut time = |shape| copies.next().map_or(0.0, |words| pass(words, out, shape).0);
        // The first pass may be the first to touch the results.
        time(times[0].0);
        for _ in 0..Self::ROUNDS {
            for (shape, min) in &mut times {
                if interrupt::requested() {
                    return None;
                }
                *min = min.min(time(*shape));
            }
            times.sort_by(|a, b| a.1.total_cmp(&b.1));
            let places = Self::FINALISTS.max(times.len() / 4);
            let mut taken = [0; 2];
            times.retain(|(shape, _)| {
                let taken = &mut taken[usize::from(shape.threads == rayon::current_num_threads())];
                *taken += 1;
                *taken <= places
            });
        }
        *shapes = times.iter().map(|&(shape, _)| shape).collect();
        Some(times[0])
    }
}

/// Reads all words once and writes `out` once. Returns the seconds, and the maximum of the words.
pub fn pass(words: &[u32], out: &mut [u32], shape: Shape) -> (f64, u32) {
    let Shape { threads, pieces, .. } = shape;
    let cut = |len: usize, i: usize| (len as u128 * i as u128 / pieces as u128) as usize;
    let (results, mut rest) = (out.len(), &mut *out);
    let piece = |i: usize| {
        let written = cut(results, i + 1) - cut(results, i);
        let out = rest.split_off_mut(..written).unwrap_or_default();
        (&words[cut(words.len(), i)..cut(words.len(), i + 1)], out)
    };
    let queue = Mutex::new((0..pieces).map(piece).collect::<Vec<_>>().into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let max = AtomicU32::new(0);
    let work = || {
        while let Some((words, out)) = next() {
            max.fetch_max(shape.run(words, out), Ordering::Relaxed);
        }
    };
    let (time, ()) = seconds(|| {
        rayon::in_place_scope(|scope| {
            (1..threads).for_each(|_| scope.spawn(|_| work()));
            work();
        });
    });
    black_box(out);
    (time, max.into_inner())
}

/// Words to read in `S` streams, and results to write between.
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

    fn every_word_is_read(extension: Extension, streams: usize) {
        let shape = Shape { extension, streams, threads: 1, pieces: 1 };
        // Two units of each stream and a remainder; and steps of different length.
        for len in [0, 1, 63, 64, 2 * UNIT * streams + 77, 2 * STEP + UNIT * streams + 5] {
            // The words begin within a cache line.
            let mut words = vec![1; len + 3];
            let words = &mut words[3..];
            for results in [0, 1, len / 4, len + 9] {
                let mut out = vec![0; results];
                assert_eq!(shape.run(words, &mut out), len.min(1) as u32, "{shape}, {len}");
                assert!(out.iter().all(|&word| word == len.min(1) as u32), "{shape}, {len}");
            }
            for i in 0..len {
                words[i] = u32::MAX;
                assert_eq!(shape.run(words, &mut []), u32::MAX, "{shape}, {i} of {len}");
                let mut out = [0; 9];
                assert_eq!(shape.run(words, &mut out), u32::MAX, "{shape}, {i} of {len}, writing");
                assert_eq!(out[8], u32::MAX, "{shape}, {i} of {len}");
                words[i] = 1;
            }
        }
    }

    #[test]
    fn pieces_are_read_whole() {
        for extension in [Extension::Avx512, Extension::Avx2, Extension::Baseline] {
            for streams in [1, 2, 4, 8] {
                every_word_is_read(extension, streams);
            }
        }
    }

    #[test]
    fn passes_read_every_piece() {
        let mut shapes = Shape::all();
        let shape = shapes[0];
        shapes.extend([(1, 3), (3, 2), (5, 7)].map(|(threads, pieces)| Shape {
            threads,
            pieces,
            ..shape
        }));
        for shape in shapes {
            for len in [0, 1, 2, 40_003] {
                let mut words = vec![1; len];
                let cuts = (0..=shape.pieces).map(|i| len * i / shape.pieces);
                let at: Vec<usize> = cuts.flat_map(|cut| [cut.saturating_sub(1), cut]).collect();
                for i in at.into_iter().filter(|&i| i < len) {
                    for results in [0, 1, 999] {
                        let mut out = vec![0; results];
                        words[i] = u32::MAX;
                        let (_, max) = pass(&words, &mut out, shape);
                        assert_eq!(max, u32::MAX, "{shape}, {i} of {len}");
                        words[i] = 1;
                        // A piece may have results, but no words.
                        let least = u32::from(len >= shape.pieces);
                        assert!(out.iter().all(|&word| word >= least), "{shape}, {i} of {len}");
                    }
                }
            }
        }
    }

    /// The finalists alone run on other words of a similar length.
    #[test]
    fn finalists_are_kept() {
        let mut plain = Plain::default();
        let words = vec![1; 3000];
        let (shape, seconds) = plain.search(&[&words, &words[..2900]], &mut []).unwrap();
        assert!(Shape::all().contains(&shape) && seconds.is_finite());
        let finalists = plain.best[&(false, 11)].clone();
        let all = rayon::current_num_threads();
        let on_all = finalists.iter().filter(|shape| shape.threads == all).count();
        assert_eq!(on_all, Plain::FINALISTS);
        assert_eq!(finalists.len() - on_all, if all == 1 { 0 } else { Plain::FINALISTS });
        let (shape, _) = plain.search(&[&words[..2100]], &mut []).unwrap();
        assert!(finalists.contains(&shape));
        assert_eq!(plain.best.len(), 1);
    }
}
