//! Parts of a tensor along its axes, and the contiguous spans of elements that they consist of.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Result;
use crate::tensor::memory;
use crate::threads;

/// A part of a tensor: a range of each axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part(pub Vec<Range<usize>>);

/// The contiguous spans of a part within its tensor, all of the same length.
pub(super) struct Spans {
    /// Elements of a span.
    pub len: usize,
    pub count: usize,
    /// The tensor's element at which the first span starts.
    first: usize,
    /// For each outer axis, the number of spans along it and their distance in elements.
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

    /// The two halves along `axis`. If the size is odd, the first is the larger.
    pub(super) fn halves(&self, axis: usize) -> [Self; 2] {
        halves(&self.0[axis]).map(|half| {
            let mut part = self.clone();
            part.0[axis] = half;
            part
        })
    }

    /// The spans of the part in a tensor of `shape`.
    pub(super) fn spans(&self, shape: &[usize]) -> Spans {
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
        Spans { len, count, first, axes }
    }
}

impl Spans {
    /// The tensor's element at which a span starts.
    pub(super) fn start(&self, mut number: usize) -> usize {
        let mut at = self.first;
        for &(count, pitch) in self.axes.iter().rev() {
            at += number % count * pitch;
            number /= count;
        }
        at
    }

    /// For each span, its elements in the tensor and in a tensor that holds only the part.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + '_ {
        (0..self.count).map(|number| {
            let (whole, part) = (self.start(number), number * self.len);
            (whole..whole + self.len, part..part + self.len)
        })
    }

    /// The part's bytes; `item` is the size of an element in bytes. One span is borrowed, several
    /// are copied.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the host cannot hold the copy.
    pub(super) fn gather<'a>(&self, tensor: &'a [u8], item: usize) -> Result<Cow<'a, [u8]>> {
        let span = |number| &tensor[self.start(number) * item..][..self.len * item];
        Ok(match self.count {
            0 => Cow::Borrowed(&[]),
            1 => Cow::Borrowed(span(0)),
            _ => {
                let mut bytes = memory::repeated(0, self.count * self.len * item)?;
                // Many short spans at a time.
                let some = (SOME_BYTES / (self.len * item).max(1)).max(1);
                threads::each_chunk(&mut bytes, some * self.len * item, |chunk, bytes| {
                    let spans = bytes.chunks_exact_mut(self.len * item).enumerate();
                    spans.for_each(|(i, bytes)| bytes.copy_from_slice(span(chunk * some + i)));
                });
                Cow::Owned(bytes)
            }
        })
    }
}

/// Bytes that a thread copies at a time, at least.
const SOME_BYTES: usize = 1 << 18;

/// The two halves of a range. If its length is odd, the first is the larger.
pub(super) fn halves(range: &Range<usize>) -> [Range<usize>; 2] {
    let middle = range.start + range.len().div_ceil(2);
    [range.start..middle, middle..range.end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_gathered_span_by_span() {
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
            let spans = Part(part.to_vec()).spans(&shape);
            assert_eq!((spans.len, spans.count), (len, count), "{part:?}");
            assert_eq!(spans.gather(&tensor, 1).unwrap(), expected, "{part:?}");
        }
    }

    #[test]
    fn a_scalar_is_one_span() {
        let spans = Part::whole(&[]).spans(&[]);
        assert_eq!((spans.len, spans.count, spans.start(0)), (1, 1, 0));
    }
}
