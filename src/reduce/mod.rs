//! ReduceMax and ReduceMin: the maximum or minimum along axes.

mod columns;
mod planner;
mod rows;
mod tuning;

pub(crate) use columns::{COLUMNS, run as run_columns};
pub(crate) use planner::{Cut, Extents, Start, merge, plan, series};
pub(crate) use rows::{ROWS, run as run_rows};
pub(crate) use tuning::{CPU, HARDWARE, Special, Tuning};

use crate::error::Result;
use crate::plan::Kernel;
use crate::tensor::axes::{self, Duplicates};
use crate::tensor::key::{Extremum, Nan, finite_bits, infinite_bits};
use crate::tensor::{ElementType, TensorDesc};

/// The kernels of this room.
pub(crate) static KERNELS: [&Kernel; 2] = [&ROWS, &COLUMNS];

/// Sets what follows a launch's results to 0 up to the end of their last word, as its shader
/// does.
fn clear_word<T: bytemuck::Pod>(result: &mut [T], end: usize) {
    let per_word = (4 / size_of::<T>()).max(1);
    let rest = end..end.next_multiple_of(per_word).min(result.len());
    result[rest].fill(T::zeroed());
}

/// What the maximum of no elements at all is: what ReduceMax gives where a
/// reduced dimension is 0.
///
/// The two differ for floats alone. Of minima it is the other end: plus
/// infinity, or the largest finite value; the largest value of an integer type;
/// true for `bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EmptySet {
    /// Minus infinity for floats; the smallest value of an integer type (0 for
    /// an unsigned one); false for `bool`. What ONNX asks for.
    NegativeInfinity,
    /// The smallest *finite* value for floats (-3.4028235e38 for `f32`, -65504
    /// for `f16`); integers and `bool` as above. What oneDNN Graph and OpenVINO give.
    Lowest,
}

/// The maximum over some axes of a tensor of any element type and rank; or the
/// minimum, by [`extremum`](Self::extremum).
///
/// It stands on its own: an empty list of axes reduces nothing, an axis may be
/// named only once, and NaN propagates. What a specification says otherwise is
/// resolved by its [dialect](crate::dialect) before a `ReduceMax` is made.
///
/// ```
/// use wgmax::operator::ReduceMax;
/// use wgmax::{ElementType, TensorDesc};
///
/// let input = TensorDesc::new(ElementType::F32, [2, 3, 4])?;
/// let rows = ReduceMax::new().axes([-1]);
/// assert_eq!(rows.infer(&input)?.shape(), [2, 3]);
/// assert_eq!(rows.keep_dims(true).infer(&input)?.shape(), [2, 3, 1]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReduceMax {
    axes: Option<Vec<i64>>,
    keep_dims: bool,
    extremum: Extremum,
    nan: Nan,
    empty_set: EmptySet,
}

impl ReduceMax {
    /// Reduces all axes to a scalar; NaN propagates; the maximum of an empty set
    /// is [`EmptySet::NegativeInfinity`].
    pub fn new() -> Self {
        Self {
            axes: None,
            keep_dims: false,
            extremum: Extremum::Maximum,
            nan: Nan::Propagate,
            empty_set: EmptySet::NegativeInfinity,
        }
    }

    /// Reduces these axes only. A negative axis counts from the back: -1 is the
    /// last one. An empty list makes the operator the identity, whatever
    /// [`keep_dims`](Self::keep_dims) says.
    ///
    /// The axes are checked once the rank is known, by [`infer`](Self::infer).
    pub fn axes(mut self, axes: impl IntoIterator<Item = i64>) -> Self {
        self.axes = Some(axes.into_iter().collect());
        self
    }

    /// Reduces all axes, however many there are. This is the default.
    pub fn all_axes(mut self) -> Self {
        self.axes = None;
        self
    }

    /// Whether a reduced axis stays, as a dimension of 1. It does not by default.
    pub fn keep_dims(mut self, keep_dims: bool) -> Self {
        self.keep_dims = keep_dims;
        self
    }

    /// Whether the maximum or the minimum is wanted. The maximum by default.
    pub fn extremum(mut self, extremum: Extremum) -> Self {
        self.extremum = extremum;
        self
    }

    /// What a NaN does. It propagates by default.
    pub fn nan(mut self, nan: Nan) -> Self {
        self.nan = nan;
        self
    }

    /// What an empty set gives.
    pub fn empty_set(mut self, empty_set: EmptySet) -> Self {
        self.empty_set = empty_set;
        self
    }

    /// The axes as they were given; `None` for all.
    pub fn get_axes(&self) -> Option<&[i64]> {
        self.axes.as_deref()
    }

    /// Whether a reduced axis stays, as a dimension of 1.
    pub fn get_keep_dims(&self) -> bool {
        self.keep_dims
    }

    /// Whether the maximum or the minimum is wanted.
    pub fn get_extremum(&self) -> Extremum {
        self.extremum
    }

    /// What a NaN does.
    pub fn get_nan(&self) -> Nan {
        self.nan
    }

    /// What an empty set gives.
    pub fn get_empty_set(&self) -> EmptySet {
        self.empty_set
    }

    /// The output's type and shape: the input's type, and its shape with each
    /// reduced dimension replaced by 1 or left out. The other dimensions stay,
    /// zeros included.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`](crate::Error::AxisOutOfRange) for an axis
    /// outside `-rank..rank`, which for a scalar is any;
    /// [`Error::DuplicateAxis`](crate::Error::DuplicateAxis) for an axis that is
    /// named twice, be it once from each end.
    pub fn infer(&self, input: &TensorDesc) -> Result<TensorDesc> {
        let reduced = self.reduced(input.rank())?;
        let mut shape = Vec::with_capacity(input.rank());
        for (&dimension, reduced) in input.shape().iter().zip(reduced) {
            match reduced {
                false => shape.push(dimension),
                true if self.keep_dims => shape.push(1),
                true => {}
            }
        }
        TensorDesc::new(input.element_type(), shape)
    }

    /// For each axis of an input of `rank`, whether it is reduced.
    ///
    /// # Errors
    /// As [`ReduceMax::infer`].
    pub(crate) fn reduced(&self, rank: usize) -> Result<Vec<bool>> {
        match &self.axes {
            None => Ok(vec![true; rank]),
            Some(axes) => axes::mask(axes, rank, Duplicates::Refuse),
        }
    }
}

impl EmptySet {
    /// The bits of the element that it stands for.
    pub(crate) fn bits(self, element_type: ElementType, extremum: Extremum) -> u64 {
        match self {
            Self::NegativeInfinity => infinite_bits(element_type, extremum),
            Self::Lowest => finite_bits(element_type, extremum),
        }
    }
}

impl Default for ReduceMax {
    /// [`ReduceMax::new`].
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn shape(operator: &ReduceMax, input: &[usize]) -> Vec<usize> {
        let input = TensorDesc::new(ElementType::F16, input).unwrap();
        let output = operator.infer(&input).unwrap();
        assert_eq!(output.element_type(), ElementType::F16);
        output.shape().to_vec()
    }

    fn error(operator: &ReduceMax, input: &[usize]) -> Error {
        operator.infer(&TensorDesc::new(ElementType::F32, input).unwrap()).unwrap_err()
    }

    #[test]
    fn all_axes_are_the_default() {
        let all = ReduceMax::new();
        assert_eq!(shape(&all, &[2, 3, 4]), [0usize; 0]);
        assert_eq!(shape(&all.clone().keep_dims(true), &[2, 3, 4]), [1, 1, 1]);
        assert_eq!(all.clone().axes([1]).all_axes(), all);
    }

    #[test]
    fn some_axes_with_and_without_their_dimensions() {
        let some = ReduceMax::new().axes([-1, 0]);
        assert_eq!(shape(&some, &[2, 3, 4]), [3]);
        assert_eq!(shape(&some.keep_dims(true), &[2, 3, 4]), [1, 3, 1]);
        let size_one = ReduceMax::new().axes([1]);
        assert_eq!(shape(&size_one, &[2, 1, 1]), [2, 1]);
    }

    #[test]
    fn no_axes_are_the_identity() {
        for keep_dims in [false, true] {
            let none = ReduceMax::new().axes([]).keep_dims(keep_dims);
            assert_eq!(shape(&none, &[2, 1, 4]), [2, 1, 4]);
            assert_eq!(shape(&none, &[]), [0usize; 0]);
        }
    }

    #[test]
    fn a_kept_zero_stays_and_a_reduced_zero_goes() {
        let middle = ReduceMax::new().axes([1]);
        assert_eq!(shape(&middle, &[2, 0, 4]), [2, 4]);
        assert_eq!(shape(&middle.clone().keep_dims(true), &[2, 0, 4]), [2, 1, 4]);
        assert_eq!(shape(&middle, &[0, 3, 4]), [0, 4]);
        assert_eq!(shape(&middle, &[0, 0]), [0]);
        assert_eq!(shape(&ReduceMax::new(), &[0]), [0usize; 0]);
    }

    #[test]
    fn a_scalar_has_only_all_or_no_axes() {
        assert_eq!(shape(&ReduceMax::new(), &[]), [0usize; 0]);
        assert_eq!(shape(&ReduceMax::new().keep_dims(true), &[]), [0usize; 0]);
        for axis in [0, -1] {
            let error = error(&ReduceMax::new().axes([axis]), &[]);
            assert!(matches!(error, Error::AxisOutOfRange { axis: a, rank: 0 } if a == axis));
        }
    }

    #[test]
    fn refuses_bad_axes() {
        for axis in [3, -4] {
            let error = error(&ReduceMax::new().axes([0, axis]), &[2, 3, 4]);
            assert!(matches!(error, Error::AxisOutOfRange { axis: a, rank: 3 } if a == axis));
        }
        for axes in [[1, 1], [-2, 1]] {
            let error = error(&ReduceMax::new().axes(axes), &[2, 3, 4]);
            assert!(matches!(error, Error::DuplicateAxis { axis: 1, rank: 3 }));
        }
    }

    #[test]
    fn the_mask_is_by_axis() {
        let some = ReduceMax::new().axes([-1, 0]);
        assert_eq!(some.reduced(3).unwrap(), [true, false, true]);
        assert_eq!(ReduceMax::new().reduced(2).unwrap(), [true, true]);
    }
}
