//! Lists of axes: reads them from tensors, and converts negative axes.

use super::element::{bits, integer};
use super::{ElementType, Tensor};
use crate::base::error::{Error, Result};

/// The ranks and types of an axes tensor that a specification allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AxesForm {
    /// Whether a scalar is allowed, as a single axis. 1-D is always allowed.
    pub(crate) scalar: bool,
    /// The integer types allowed.
    pub(crate) types: &'static [ElementType],
}

/// How an axis that is given twice is handled. The two numbers may differ: -1 and `rank - 1` are
/// the same axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duplicates {
    /// It counts once.
    Merge,
    /// It is an error.
    Refuse,
}

/// Reads axes from a tensor, in the tensor's order. They are not checked against any rank.
///
/// The tensor is `i32` or `i64`, and 1-D or a scalar for a single axis. The dialects have their own
/// rules and do not use this function.
///
/// ```
/// use wgmax::Tensor;
/// use wgmax::operator::{ReduceMax, axes_from_tensor};
/// let axes = Tensor::from_slice([2], &[0i64, -1])?;
/// let operator = ReduceMax::new().axes(axes_from_tensor(&axes)?);
/// assert_eq!(operator, ReduceMax::new().axes([0, -1]));
/// # Ok::<(), wgmax::Error>(())
/// ```
///
/// # Errors
/// [`Error::AxesRank`] for a tensor of rank 2 or more, [`Error::WrongElementType`] for another
/// element type.
pub fn axes_from_tensor(axes: &Tensor) -> Result<Vec<i64>> {
    AxesForm { scalar: true, types: &[ElementType::I32, ElementType::I64] }.read(axes)
}

impl AxesForm {
    /// Reads axes from a tensor of this form, as [`axes_from_tensor`] does.
    ///
    /// # Errors
    /// [`Error::AxesRank`], [`Error::WrongElementType`], and
    /// [`Error::AxisTooLarge`] for a `u64` that does not fit an `i64`.
    pub(crate) fn read(self, axes: &Tensor) -> Result<Vec<i64>> {
        let actual = axes.element_type();
        if !self.types.contains(&actual) {
            let names: Vec<_> = self.types.iter().map(|t| t.name()).collect();
            let expected = names.join(" or ");
            return Err(Error::WrongElementType { what: "axes", expected, actual });
        }
        match axes.shape().len() {
            1 => {}
            0 if self.scalar => {}
            rank => {
                let expected = if self.scalar { "a scalar or 1-D" } else { "1-D" };
                return Err(Error::AxesRank { rank, expected });
            }
        }
        let axes = axes.bytes().chunks_exact(actual.size()).map(|axis| integer(actual, bits(axis)));
        axes.map(|axis| i64::try_from(axis).map_err(|_| Error::AxisTooLarge { axis: axis as u64 }))
            .collect()
    }
}

/// Converts axes of a tensor of `rank` to ascending axes that are not negative.
///
/// # Errors
/// [`Error::AxisOutOfRange`] for an axis outside `-rank..rank`; a scalar has no valid axis.
/// [`Error::DuplicateAxis`] if duplicates are refused.
pub(crate) fn normalize(axes: &[i64], rank: usize, duplicates: Duplicates) -> Result<Vec<usize>> {
    let mask = mask(axes, rank, duplicates)?;
    Ok((0..rank).filter(|&axis| mask[axis]).collect())
}

/// For each axis of a tensor of `rank`, whether `axes` contains it.
///
/// # Errors
/// As [`normalize`].
pub(crate) fn mask(axes: &[i64], rank: usize, duplicates: Duplicates) -> Result<Vec<bool>> {
    let mut mask = vec![false; rank];
    for &axis in axes {
        let from_front = if axis < 0 { axis + rank as i64 } else { axis };
        let named = usize::try_from(from_front)
            .ok()
            .and_then(|axis| mask.get_mut(axis))
            .ok_or(Error::AxisOutOfRange { axis, rank })?;
        if std::mem::replace(named, true) && duplicates == Duplicates::Refuse {
            return Err(Error::DuplicateAxis { axis, rank });
        }
    }
    Ok(mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY_INTEGER: AxesForm = AxesForm {
        scalar: true,
        types: &[
            ElementType::I8,
            ElementType::U8,
            ElementType::I16,
            ElementType::U16,
            ElementType::I32,
            ElementType::U32,
            ElementType::I64,
            ElementType::U64,
        ],
    };

    #[test]
    fn counts_from_the_front_and_sorts() {
        let axes = normalize(&[-1, 0, -3], 4, Duplicates::Refuse).unwrap();
        assert_eq!(axes, [0, 1, 3]);
        assert_eq!(normalize(&[], 4, Duplicates::Refuse).unwrap(), [0usize; 0]);
        assert_eq!(normalize(&[], 0, Duplicates::Refuse).unwrap(), [0usize; 0]);
    }

    #[test]
    fn the_range_is_minus_rank_to_rank_minus_one() {
        for axis in [-3, 2] {
            assert!(normalize(&[axis], 3, Duplicates::Refuse).is_ok());
        }
        for axis in [-4, 3, i64::MIN, i64::MAX] {
            assert!(matches!(
                normalize(&[0, axis], 3, Duplicates::Merge),
                Err(Error::AxisOutOfRange { axis: a, rank: 3 }) if a == axis
            ));
        }
    }

    #[test]
    fn a_scalar_has_no_axis() {
        for axis in [0, -1, 1] {
            assert!(matches!(
                normalize(&[axis], 0, Duplicates::Merge),
                Err(Error::AxisOutOfRange { rank: 0, .. })
            ));
        }
    }

    #[test]
    fn duplicates_are_found_under_both_names() {
        for axes in [[1, 1], [1, -2], [-2, 1]] {
            assert_eq!(normalize(&axes, 3, Duplicates::Merge).unwrap(), [1]);
            assert!(matches!(
                normalize(&axes, 3, Duplicates::Refuse),
                Err(Error::DuplicateAxis { axis, rank: 3 }) if axis == axes[1]
            ));
        }
    }

    #[test]
    fn reads_every_integer_type() {
        let read = |axes: Tensor| ANY_INTEGER.read(&axes).unwrap();
        assert_eq!(read(Tensor::from_slice([2], &[-1i8, 2]).unwrap()), [-1, 2]);
        assert_eq!(read(Tensor::from_slice([2], &[255u8, 2]).unwrap()), [255, 2]);
        assert_eq!(read(Tensor::from_slice([2], &[-1i16, 2]).unwrap()), [-1, 2]);
        assert_eq!(read(Tensor::from_slice([2], &[65535u16, 2]).unwrap()), [65535, 2]);
        assert_eq!(read(Tensor::from_slice([2], &[-1i32, 2]).unwrap()), [-1, 2]);
        assert_eq!(read(Tensor::from_slice([1], &[u32::MAX]).unwrap()), [i64::from(u32::MAX)]);
        assert_eq!(read(Tensor::from_slice([1], &[i64::MIN]).unwrap()), [i64::MIN]);
        assert_eq!(read(Tensor::from_slice([], &[7u64]).unwrap()), [7]);
        assert_eq!(read(Tensor::from_slice([0], &[0u64; 0]).unwrap()), [0; 0]);
    }

    #[test]
    fn a_u64_beyond_i64_is_not_taken_for_a_negative_axis() {
        let axes = Tensor::from_slice([1], &[u64::MAX]).unwrap();
        assert!(matches!(ANY_INTEGER.read(&axes), Err(Error::AxisTooLarge { axis: u64::MAX })));
    }

    #[test]
    fn refuses_other_types_and_ranks() {
        let float = Tensor::from_slice([1], &[0f32]).unwrap();
        assert!(matches!(ANY_INTEGER.read(&float), Err(Error::WrongElementType { .. })));
        let short = Tensor::from_slice([1], &[0i16]).unwrap();
        let error = axes_from_tensor(&short).unwrap_err();
        assert_eq!(error.to_string(), "axes is i16, not i32 or i64");

        let table = Tensor::from_slice([1, 1], &[0i64]).unwrap();
        assert!(matches!(axes_from_tensor(&table), Err(Error::AxesRank { rank: 2, .. })));
        let scalar = Tensor::from_slice([], &[-1i64]).unwrap();
        assert_eq!(axes_from_tensor(&scalar).unwrap(), [-1]);
        let list_only = AxesForm { scalar: false, types: &[ElementType::I64] };
        assert!(matches!(list_only.read(&scalar), Err(Error::AxesRank { rank: 0, .. })));
    }
}
