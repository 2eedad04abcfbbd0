//! Segment ids or offsets on the host, read in place.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::base::error::Result;
use crate::base::threads;
use crate::tensor::{ElementType, Tensor};
use crate::vector::{Loop, PARALLEL_FROM, dispatch};

/// Ids, offsets or indices of any integer type.
#[derive(Clone, Copy)]
pub(crate) struct Ids<'a> {
    element_type: ElementType,
    bytes: &'a [u8],
}

/// The value of an expression for the ids, whatever their type.
macro_rules! with {
    (@$of:ty, $all:expr, $ids:ident => $body:expr) => {{
        let $ids: &[$of] = bytemuck::cast_slice($all.bytes);
        $body
    }};
    ($all:expr, $ids:ident => $body:expr) => {
        match $all.element_type {
            ElementType::I8 => with!(@i8, $all, $ids => $body),
            ElementType::U8 => with!(@u8, $all, $ids => $body),
            ElementType::I16 => with!(@i16, $all, $ids => $body),
            ElementType::U16 => with!(@u16, $all, $ids => $body),
            ElementType::I32 => with!(@i32, $all, $ids => $body),
            ElementType::U32 => with!(@u32, $all, $ids => $body),
            ElementType::U64 => with!(@u64, $all, $ids => $body),
            _ => with!(@i64, $all, $ids => $body),
        }
    };
}

impl<'a> Ids<'a> {
    /// The ids in a tensor.
    ///
    /// # Errors
    /// [`Error::WrongElementType`](crate::Error::WrongElementType) for a type that is not an
    /// integer.
    pub(crate) fn of(tensor: &'a Tensor) -> Result<Self> {
        let element_type = tensor.element_type();
        if !element_type.is_integer() {
            tensor.as_slice::<i64>()?;
        }
        Ok(Self { element_type, bytes: tensor.bytes() })
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len() / self.element_type.size()
    }

    /// An id. Values above `i64::MAX` become `i64::MAX`, which is no segment either.
    pub(crate) fn at(&self, position: usize) -> i64 {
        i64::try_from(self.exact(position)).unwrap_or(i64::MAX)
    }

    /// An id, unchanged.
    pub(crate) fn exact(&self, position: usize) -> i128 {
        with!(self, ids => ids[position].into())
    }

    pub(crate) fn iter(self) -> impl DoubleEndedIterator<Item = i64> + ExactSizeIterator + 'a {
        (0..self.len()).map(move |position| self.at(position))
    }

    /// The first position of ascending ids whose id is not below `min`, or the number of ids.
    pub(crate) fn first_at_least(&self, min: i64) -> usize {
        with!(self, ids => ids.partition_point(|&id| i128::from(id) < i128::from(min)))
    }

    /// The first position whose id satisfies a condition.
    pub(crate) fn find(&self, is_it: impl Fn(i128) -> bool + Sync) -> Option<usize> {
        let first = AtomicUsize::new(usize::MAX);
        with!(self, ids => {
            let parts = ids.chunks(threads::CHUNK_LEN).enumerate().collect();
            threads::each(parts, |(number, part): (usize, &[_])| {
                if let Some(at) = part.iter().position(|&id| is_it(id.into())) {
                    first.fetch_min(number * threads::CHUNK_LEN + at, Ordering::Relaxed);
                }
            });
        });
        Some(first.into_inner()).filter(|&first| first < usize::MAX)
    }

    /// The first id that is negative or below the one before it.
    pub(super) fn first_wrong(&self) -> Option<usize> {
        fn find<T: Copy + Default + PartialOrd>(ids: &[T]) -> Option<usize> {
            let mut previous = T::default();
            // A negative id is below the smallest valid one.
            ids.iter().position(|&id| std::mem::replace(&mut previous, id) > id)
        }
        with!(self, ids => if ascend(ids) { None } else { find(ids) })
    }
}

/// Whether no id is negative or below the one before it.
fn ascend<T: Copy + Ord + Default + Sync>(ids: &[T]) -> bool {
    let wrong = AtomicBool::new(ids.first().is_some_and(|&id| id < T::default()));
    // Each part begins with the last id of the one before.
    let parts = (0..ids.len()).step_by(PARALLEL_FROM);
    let parts = parts.map(|at| &ids[at.saturating_sub(1)..ids.len().min(at + PARALLEL_FROM)]);
    threads::each(parts.collect(), |part| {
        if dispatch(Descends(part)) {
            wrong.store(true, Ordering::Relaxed);
        }
    });
    !wrong.into_inner()
}

/// Finds an id that is below the one before it.
struct Descends<'a, T>(&'a [T]);

impl<T: Copy + Ord> Loop for Descends<'_, T> {
    type Output = bool;
    #[inline(always)]
    fn run(self) -> bool {
        let pairs = self.0.iter().zip(self.0.iter().skip(1));
        // There is no early exit, because it would prevent vectors.
        pairs.fold(0, |wrong, (before, id)| wrong | u32::from(id < before)) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Error;
    use crate::segment::SegmentMax;
    use crate::tensor::TensorDesc;

    #[test]
    fn an_id_out_of_order_is_found_wherever_it_is() {
        let tensor = |ids: &[i64]| Tensor::from_slice([ids.len()], ids).unwrap();
        let first_wrong = |ids: &[i64]| Ids::of(&tensor(ids)).unwrap().first_wrong();
        let ids: Vec<i64> = (0..3 * PARALLEL_FROM as i64).map(|row| row / 2).collect();
        assert_eq!(first_wrong(&ids), None);
        assert_eq!(first_wrong(&[]), None);
        assert_eq!(first_wrong(&[-1, 0]), Some(0));
        for at in [1, 2, PARALLEL_FROM - 1, PARALLEL_FROM, PARALLEL_FROM + 1, ids.len() - 1] {
            let mut wrong = ids.clone();
            wrong[at] = wrong[at - 1] - 1;
            assert_eq!(first_wrong(&wrong), Some(at));
        }
    }

    #[test]
    fn ids_of_u64_are_exact() {
        let data = TensorDesc::new(ElementType::U8, [3]).unwrap();
        let checked = |op: SegmentMax, ids: [u64; 3]| {
            op.checked(&data, &Tensor::from_slice([3], &ids).unwrap())
        };
        let max = i128::from(u64::MAX);
        let ids = [1, u64::MAX, u64::MAX - 1];
        match checked(SegmentMax::sorted().num_segments(2), ids) {
            Err(Error::UnsortedSegments { position: 2, value, previous, .. }) => {
                assert_eq!((value, previous), (max - 1, max));
            }
            other => panic!("{other:?}"),
        }
        let error = checked(SegmentMax::unsorted(), ids);
        assert!(
            matches!(error, Err(Error::SegmentTooLarge { value, .. }) if value >= max - 1),
            "{error:?}"
        );
        assert!(checked(SegmentMax::unsorted().num_segments(2), ids).is_ok());
        let counted = checked(SegmentMax::sorted(), [0, 0, 41]).unwrap();
        assert_eq!(counted.num_segments, Some(42));
    }

    #[test]
    fn ids_beyond_the_segments_are_found() {
        let check = |op: SegmentMax, ids: &Tensor| {
            let data = TensorDesc::new(ElementType::U8, ids.shape()).unwrap();
            match op.check_range(&data, ids) {
                Err(Error::SegmentOutOfRange { position, value, .. }) => Some((position, value)),
                found => found.map(|()| None).unwrap(),
            }
        };
        let ids = Tensor::from_slice([4], &[-1i8, 5, 4, 6]).unwrap();
        let op = SegmentMax::unsorted();
        assert_eq!(check(op.clone().num_segments(5), &ids), Some((1, 5)));
        assert_eq!(check(op.clone().num_segments(6), &ids), Some((3, 6)));
        for count in [7, 128, usize::MAX] {
            assert_eq!(check(op.clone().num_segments(count), &ids), None);
        }
        assert_eq!(check(op, &ids), None);
        let ids = Tensor::from_slice([3], &[0u64, 1, u64::MAX]).unwrap();
        for op in [SegmentMax::sorted(), SegmentMax::unsorted()] {
            assert_eq!(check(op.num_segments(2), &ids), Some((2, u64::MAX.into())));
        }
        let none = Tensor::from_slice([0], &[0i32; 0]).unwrap();
        assert_eq!(check(SegmentMax::sorted().num_segments(0), &none), None);
        assert_eq!(check(SegmentMax::offsets(), &ids), None);
    }

    #[test]
    fn negative_ids_are_found() {
        let signed = Tensor::from_slice([3], &[0i8, 127, -128]).unwrap();
        let ids = Ids::of(&signed).unwrap();
        assert_eq!((ids.first_wrong(), ids.exact(2), ids.first_at_least(1)), (Some(2), -128, 1));
        let first = Tensor::from_slice([1], &[-1i16]).unwrap();
        assert_eq!(Ids::of(&first).unwrap().first_wrong(), Some(0));
        assert!(Ids::of(&Tensor::from_slice([1], &[1.0f32]).unwrap()).is_err());
    }
}
