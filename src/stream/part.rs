//! Parts of a tensor along its axes, and the contiguous runs of elements that they consist of.

use std::ops::Range;

use crate::base::error::Result;
use crate::tensor::{TensorDesc, View};

/// Contiguous elements: where they are in a tensor and in a part of it.
pub(super) type Run = (Range<usize>, Range<usize>);

/// A part of a tensor: a range of each axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part(pub Vec<Range<usize>>);

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

    /// This part of a view.
    pub(super) fn of(&self, view: &View) -> Result<View> {
        let mut ranges = self.0.iter().enumerate();
        ranges.try_fold(view.clone(), |view, (axis, range)| view.slice(axis, range.clone()))
    }

    /// The contiguous runs of the part's elements within a tensor: their places in that tensor, and
    /// in a tensor that holds only the part.
    pub(super) fn runs(&self, desc: &TensorDesc) -> Result<impl Iterator<Item = Run> + use<>> {
        Ok(self.of(&desc.into())?.loops().runs())
    }
}

/// The two halves of a range. If its length is odd, the first is the larger.
pub(super) fn halves(range: &Range<usize>) -> [Range<usize>; 2] {
    let middle = range.start + range.len().div_ceil(2);
    [range.start..middle, middle..range.end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::ElementType;

    #[test]
    fn a_part_has_the_elements_of_its_ranges() {
        let tensor: Vec<u8> = (0..2 * 3 * 4 * 5).collect();
        let desc = TensorDesc::new(ElementType::U8, [2, 3, 4, 5]).unwrap();
        for (part, runs) in [
            ([0..2, 0..3, 0..4, 0..5], 1),
            ([1..2, 0..3, 0..4, 0..5], 1),
            ([1..2, 1..3, 0..4, 0..5], 1),
            ([0..2, 1..3, 0..4, 0..5], 2),
            ([0..2, 1..2, 1..3, 0..5], 2),
            ([0..2, 0..3, 0..4, 4..5], 24),
            ([0..2, 1..1, 0..4, 1..3], 0),
            ([0..2, 0..3, 2..2, 0..5], 0),
        ] {
            let expected: Vec<u8> = (0..120usize)
                .filter(|&i| {
                    [(i / 60, 0), (i / 20 % 3, 1), (i / 5 % 4, 2), (i % 5, 3)]
                        .iter()
                        .all(|(at, axis)| part[*axis].contains(at))
                })
                .map(|i| i as u8)
                .collect();
            let part = Part(part.to_vec());
            let found = part.of(&(&desc).into()).unwrap();
            assert_eq!(found.gather(&tensor).unwrap(), expected, "{part:?}");
            let found: Vec<Run> = part.runs(&desc).unwrap().collect();
            assert_eq!(found.len(), runs, "{part:?}");
            for (whole, part) in found {
                assert_eq!(tensor[whole], expected[part]);
            }
        }
    }

    #[test]
    fn a_scalar_is_one_run() {
        let desc = TensorDesc::new(ElementType::U8, []).unwrap();
        let runs: Vec<Run> = Part::whole(&[]).runs(&desc).unwrap().collect();
        assert_eq!(runs, [(0..1, 0..1)]);
    }
}
