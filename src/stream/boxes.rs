//! Parts of a tensor along its axes, and the runs of neighbouring elements that they are made of.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

/// A part of a tensor: a range of each axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part(pub Vec<Range<usize>>);

/// Where the elements of a part lie in their tensor: runs of the same length.
pub(super) struct Runs {
    /// Elements of a run.
    pub len: usize,
    pub count: usize,
    /// The first element of the first run.
    first: usize,
    /// How many runs there are along each axis, and from one to the next.
    axes: Vec<(usize, usize)>,
}

impl Part {
    pub(super) fn whole(shape: &[usize]) -> Self {
        Self(shape.iter().map(|&size| 0..size).collect())
    }

    pub(super) fn shape(&self) -> Vec<usize> {
        self.0.iter().map(Range::len).collect()
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(Range::len).product()
    }

    /// Both halves along an axis, the first not the smaller one.
    pub(super) fn halves(&self, axis: usize) -> [Self; 2] {
        halves(&self.0[axis]).map(|half| {
            let mut part = self.clone();
            part.0[axis] = half;
            part
        })
    }

    /// The runs that the part is made of in a tensor of `shape`.
    pub(super) fn runs(&self, shape: &[usize]) -> Runs {
        let mut pitch = 1;
        let mut first = 0;
        let (mut len, mut whole) = (1, true);
        let mut axes = Vec::new();
        for (range, &size) in self.0.iter().zip(shape).rev() {
            first += range.start * pitch;
            match whole {
                true => len *= range.len(),
                false => axes.push((range.len(), pitch)),
            }
            whole &= range.len() == size;
            pitch *= size;
        }
        axes.reverse();
        let count = if len == 0 { 0 } else { axes.iter().map(|axis| axis.0).product() };
        Runs { len, count, first, axes }
    }
}

impl Runs {
    /// The first element of a run.
    pub(super) fn at(&self, mut number: usize) -> usize {
        let mut at = self.first;
        for &(count, pitch) in self.axes.iter().rev() {
            at += number % count * pitch;
            number /= count;
        }
        at
    }

    /// The elements of each run in the tensor, and in the part alone.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + '_ {
        (0..self.count).map(|number| {
            let (whole, part) = (self.at(number), number * self.len);
            (whole..whole + self.len, part..part + self.len)
        })
    }

    /// The part's bytes, copied only where they do not lie together. Items have so many bytes.
    pub(super) fn gather<'a>(&self, tensor: &'a [u8], item: usize) -> Cow<'a, [u8]> {
        let run = |number| &tensor[self.at(number) * item..][..self.len * item];
        match self.count {
            0 => Cow::Borrowed(&[]),
            1 => Cow::Borrowed(run(0)),
            _ => {
                let mut bytes = vec![0; self.count * self.len * item];
                bytes
                    .par_chunks_exact_mut(self.len * item)
                    .enumerate()
                    .for_each(|(number, bytes)| bytes.copy_from_slice(run(number)));
                Cow::Owned(bytes)
            }
        }
    }
}

/// Both halves of a range, the first not the smaller one.
pub(super) fn halves(range: &Range<usize>) -> [Range<usize>; 2] {
    let middle = range.start + range.len().div_ceil(2);
    [range.start..middle, middle..range.end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_gathered_run_by_run() {
        let tensor: Vec<u8> = (0..2 * 3 * 4 * 5).collect();
        let shape = [2, 3, 4, 5];
        for (part, len, count) in [
            ([0..2, 0..3, 0..4, 0..5], 120, 1),
            ([1..2, 0..3, 0..4, 0..5], 60, 1),
            ([1..2, 1..3, 0..4, 0..5], 40, 1),
            ([0..2, 1..3, 0..4, 0..5], 40, 2),
            ([0..2, 1..2, 1..3, 0..5], 10, 2),
            ([0..2, 0..3, 0..4, 4..5], 1, 24),
            ([0..2, 1..1, 0..4, 1..3], 2, 0),
            ([0..2, 0..3, 2..2, 0..5], 0, 0),
        ] {
            let expected: Vec<u8> = (0..120usize)
                .filter(|&i| {
                    [(i / 60, 0), (i / 20 % 3, 1), (i / 5 % 4, 2), (i % 5, 3)]
                        .iter()
                        .all(|(at, axis)| part[*axis].contains(at))
                })
                .map(|i| i as u8)
                .collect();
            let runs = Part(part.to_vec()).runs(&shape);
            assert_eq!((runs.len, runs.count), (len, count), "{part:?}");
            assert_eq!(runs.gather(&tensor, 1), expected, "{part:?}");
        }
    }

    #[test]
    fn a_scalar_is_one_run() {
        let runs = Part::whole(&[]).runs(&[]);
        assert_eq!((runs.len, runs.count, runs.at(0)), (1, 1, 0));
    }
}
