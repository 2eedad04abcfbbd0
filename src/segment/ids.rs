//! Segment ids or offsets on the host, read where they lie.

use crate::error::Result;
use crate::tensor::{ElementType, Tensor};

/// Ids or offsets of either type.
#[derive(Clone, Copy)]
pub(crate) enum Ids<'a> {
    Narrow(&'a [i32]),
    Wide(&'a [i64]),
}

impl<'a> Ids<'a> {
    /// The ids in a tensor.
    ///
    /// # Errors
    /// [`Error::WrongElementType`](crate::Error::WrongElementType) for a type other than `i32` and
    /// `i64`.
    pub(crate) fn of(tensor: &'a Tensor) -> Result<Self> {
        match tensor.element_type() {
            ElementType::I32 => tensor.as_slice().map(Self::Narrow),
            _ => tensor.as_slice().map(Self::Wide),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Narrow(ids) => ids.len(),
            Self::Wide(ids) => ids.len(),
        }
    }

    pub(crate) fn at(&self, position: usize) -> i64 {
        match self {
            Self::Narrow(ids) => ids[position].into(),
            Self::Wide(ids) => ids[position],
        }
    }

    pub(crate) fn iter(self) -> impl DoubleEndedIterator<Item = i64> + ExactSizeIterator + 'a {
        (0..self.len()).map(move |position| self.at(position))
    }

    /// The first position of ascending ids whose id is not below `min`, or their number.
    pub(crate) fn first_at_least(&self, min: i64) -> usize {
        match self {
            Self::Narrow(ids) => ids.partition_point(|&id| i64::from(id) < min),
            Self::Wide(ids) => ids.partition_point(|&id| id < min),
        }
    }
}
