//! ReduceMax and ReduceMin: the maximum or minimum along axes.

mod columns;
mod columns_index;
mod planner;
mod positions;
mod rows;
mod tuning;

pub(crate) use columns::{COLUMNS, Params as ColumnsParams, run as run_columns};
pub(crate) use planner::{merge, plan, reduce_axes};
pub(crate) use rows::ROWS;
pub(crate) use tuning::{CPU, Cut, Extents, HARDWARE, ShortRows, Start, Tuning};

use crate::base::error::{Error, Result};
use crate::plan::Kernel;
use crate::tensor::axes::{self, Duplicates};
use crate::tensor::key::{Extremum, Nan};
use crate::tensor::{
    ElementType, EmptySet, Indices, Inputs, Outputs, Rules, Scalar, TensorDesc, one_of_each,
};

/// The kernels of this module.
pub(crate) static KERNELS: [&Kernel; 4] =
    [&ROWS, &rows::SHORT_ROWS, &COLUMNS, &columns_index::COLUMNS_INDEX];

/// Zeroes the bytes after a launch's results, up to the end of their last word, as its shader does.
fn clear_word<T: bytemuck::Pod>(result: &mut [T], end: usize) {
    let per_word = (4 / size_of::<T>()).max(1);
    let rest = end..end.next_multiple_of(per_word).min(result.len());
    result[rest].fill(T::zeroed());
}

/// The maximum along axes of a tensor of any element type and rank, or the minimum: see
/// [`extremum`](Self::extremum).
///
/// An empty list of axes reduces nothing, an axis may be named only once, and NaN propagates by
/// default. A [dialect](crate::dialect) translates the rules of its specification to these.
///
/// ```
/// use wgmax::operator::ReduceMax;
/// use wgmax::{ElementType, TensorDesc};
///
/// let input = TensorDesc::new(ElementType::F32, [2, 3, 4])?;
/// let rows = ReduceMax::new().axes([-1]);
/// assert_eq!(rows.infer(&input)?[0].shape(), [2, 3]);
/// assert_eq!(rows.keep_dims(true).infer(&input)?[0].shape(), [2, 3, 1]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(default))]
#[must_use]
#[non_exhaustive]
pub struct ReduceMax {
    /// The axes that are reduced; `None` for all.
    pub axes: Option<Vec<i64>>,
    /// Whether a reduced axis is kept, as a dimension of 1.
    pub keep_dims: bool,
    /// Whether the maximum or the minimum is found.
    pub extremum: Extremum,
    /// How NaN is handled.
    pub nan: Nan,
    /// The result of an empty reduction, one with a reduced dimension of 0.
    pub empty_set: EmptySet,
    /// A value that joins each set, if any.
    pub initial: Option<Scalar>,
    /// How positions are given, if they are a result.
    pub indices: Option<Indices>,
    /// Whether the maxima are a result.
    pub values: bool,
    /// Whether positions count from the last element of a set, because the input is flipped.
    #[cfg_attr(feature = "serde", serde(skip))]
    counts_back: bool,
}

/// A ReduceMax on an input: the input of its planner.
pub(crate) struct Resolved<'a> {
    pub operator: &'a ReduceMax,
    pub input: &'a TensorDesc,
    /// The maxima, the indices, or both.
    pub outputs: Outputs<TensorDesc>,
    /// Whether each axis is reduced.
    pub reduced: Vec<bool>,
}

impl ReduceMax {
    /// Reduces all axes to a scalar; NaN propagates; the maximum of an empty set
    /// is [`EmptySet::Identity`].
    pub fn new() -> Self {
        Self {
            axes: None,
            keep_dims: false,
            extremum: Extremum::Maximum,
            nan: Nan::Propagate,
            empty_set: EmptySet::Identity,
            initial: None,
            indices: None,
            values: true,
            counts_back: false,
        }
    }

    /// The same for an input whose reduced axes are all flipped.
    pub(crate) fn counting_back(mut self) -> Self {
        self.counts_back = !self.counts_back;
        if let Some(positions) = &mut self.indices {
            positions.last = !positions.last;
        }
        self
    }

    /// Reduces these axes only. A negative axis counts from the back: -1 is the last one. An empty
    /// list reduces nothing, whatever [`keep_dims`](Self::keep_dims) says.
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

    /// Keeps each reduced axis as a dimension of 1; off by default.
    pub fn keep_dims(mut self, keep_dims: bool) -> Self {
        self.keep_dims = keep_dims;
        self
    }

    /// Selects the maximum (the default) or the minimum.
    pub fn extremum(mut self, extremum: Extremum) -> Self {
        self.extremum = extremum;
        self
    }

    /// How NaN is handled. It propagates by default.
    pub fn nan(mut self, nan: Nan) -> Self {
        self.nan = nan;
        self
    }

    /// The result of an empty set. [`EmptySet::Identity`] by default.
    pub fn empty_set(mut self, empty_set: EmptySet) -> Self {
        self.empty_set = empty_set;
        self
    }

    /// A value that joins each set, as one more element: the result is not below it (for minima, not
    /// above), and it is the result of an empty set. `None` by default. NumPy calls it `initial` too. It
    /// takes another pass over the results. With [`indices`](Self::indices) and for gradients it is an
    /// error.
    pub fn initial(mut self, initial: impl Into<Scalar>) -> Self {
        self.initial = Some(initial.into());
        self
    }

    /// How elements of a type are handled.
    ///
    /// # Errors
    /// As [`infer`](Self::infer).
    pub(crate) fn rules(&self, element_type: ElementType) -> Result<Rules> {
        let order = (self.nan, self.extremum);
        Rules::new(element_type, order, self.empty_set, (self.initial, self.indices))
    }

    /// Adds a second result, the position of each maximum within the reduced axes; `None`, the
    /// default, leaves it out. With positions, an empty set is an error, because it has none.
    ///
    /// With positions, +0 and -0 are equal, and a maximum has the bits of the element at its
    /// position. So a zero may have another sign than without positions, where +0 is above -0:
    ///
    /// ```
    /// use wgmax::operator::ReduceMax;
    /// use wgmax::{Device, ElementType, Run, Tensor};
    ///
    /// let zeros = Tensor::from_slice([2], &[-0.0f32, 0.0])?;
    /// let alone = ReduceMax::new().run(&Device::cpu(), &zeros)?;
    /// assert!(alone.values()?.as_slice::<f32>()?[0].is_sign_positive());
    /// let with = ReduceMax::new().indices(ElementType::I64).run(&Device::cpu(), &zeros)?;
    /// assert!(with.values()?.as_slice::<f32>()?[0].is_sign_negative());
    /// assert_eq!(with.indices()?.as_slice::<i64>()?, [0]);
    /// # Ok::<(), wgmax::Error>(())
    /// ```
    pub fn indices(mut self, indices: impl Into<Option<Indices>>) -> Self {
        self.indices = indices.into();
        self
    }

    /// Whether the maxima are a result; they are by default. Otherwise the [`indices`](Self::indices)
    /// are the only result.
    pub fn values(mut self, values: bool) -> Self {
        self.values = values;
        self
    }

    /// The types and shapes of the results: the maxima, and their positions. The shape is the
    /// input's with each reduced dimension replaced by 1 or left out; the other dimensions stay, zeros
    /// included. The input is one [`TensorDesc`].
    ///
    /// # Errors
    /// [`Error::InputCount`](crate::Error::InputCount);
    /// [`Error::AxisOutOfRange`](crate::Error::AxisOutOfRange) for an axis outside `-rank..rank` (for
    /// a scalar, any axis); [`Error::DuplicateAxis`](crate::Error::DuplicateAxis) for an axis that is
    /// named twice, also as n and n - rank; [`Error::BadAttribute`] for indices of another type than
    /// `i32` and `i64` or of another numbering than the natural one, and if there is no result at all;
    /// [`Error::InitialWithIndices`], [`Error::InitialOutOfRange`]; [`Error::EmptySet`] for indices of empty
    /// sets; [`Error::IndexTooLarge`] for indices that do not fit `i32`.
    pub fn infer<'a>(&self, input: impl Inputs<&'a TensorDesc>) -> Result<Outputs<TensorDesc>> {
        let [input] = one_of_each(self.name(), &input.into_inputs())?;
        Ok(self.resolve(input)?.outputs)
    }

    /// As [`Operator::name`](crate::operator::Operator::name).
    pub(crate) fn name(&self) -> &'static str {
        self.extremum.name_of("ReduceMax", "ReduceMin")
    }

    /// # Errors
    /// As [`infer`](Self::infer).
    pub(crate) fn resolve<'a>(&'a self, input: &'a TensorDesc) -> Result<Resolved<'a>> {
        let reduced = self.reduced(input.rank())?;
        let mut shape = Vec::with_capacity(input.rank());
        for (&dimension, &reduced) in input.shape().iter().zip(&reduced) {
            match reduced {
                false => shape.push(dimension),
                true if self.keep_dims => shape.push(1),
                true => {}
            }
        }
        self.rules(input.element_type())?;
        let values = TensorDesc::new(input.element_type(), shape)?;
        let indices = self.indices.map(|indices| {
            indices.check_natural()?;
            indices.check_type(0)?;
            let sizes = input.shape().iter().zip(&reduced).filter(|(_, reduced)| **reduced);
            let set = sizes.fold(1u64, |set, (&size, _)| set.saturating_mul(size as u64));
            if set == 0 && !values.is_empty() {
                return Err(Error::EmptySet { shape: input.shape().to_vec() });
            }
            indices.check_type(set)?;
            TensorDesc::new(indices.element_type, values.shape())
        });
        let outputs =
            Outputs::new(self.values.then_some(values.clone()), indices.transpose()?, None);
        if outputs.is_empty() {
            let expected = "true if there are no indices";
            return Err(Error::BadAttribute {
                attribute: "values",
                expected,
                value: "false".into(),
            });
        }
        Ok(Resolved { operator: self, input, outputs, reduced })
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

impl Default for ReduceMax {
    /// [`ReduceMax::new`].
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::ElementType;

    fn shape(operator: &ReduceMax, input: &[usize]) -> Vec<usize> {
        let input = TensorDesc::new(ElementType::F16, input).unwrap();
        let [output] = operator.infer(&input).unwrap().exactly().unwrap();
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
    fn positions_are_a_second_output_or_the_only_one() {
        let input = TensorDesc::new(ElementType::Bf16, [2, 0, 4]).unwrap();
        let narrow = Indices::new(ElementType::I32).last(true);
        let operator = ReduceMax::new().axes([0]).indices(narrow);
        let values = TensorDesc::new(ElementType::Bf16, [0, 4]).unwrap();
        let indices = TensorDesc::new(ElementType::I32, [0, 4]).unwrap();
        assert_eq!(operator.infer(&input).unwrap()[..], [values, indices.clone()]);
        assert_eq!(operator.clone().values(false).infer(&input).unwrap()[..], [indices]);
        let error = operator.clone().axes([1]).infer(&input).unwrap_err();
        assert!(matches!(error, Error::EmptySet { ref shape } if shape == &[2, 0, 4]), "{error}");
        let none = operator.clone().indices(None).values(false).infer(&input).unwrap_err();
        assert!(matches!(none, Error::BadAttribute { attribute: "values", .. }), "{none}");
        let floats = ElementType::F32;
        let error = operator.clone().indices(floats).infer(&input).unwrap_err();
        assert!(matches!(error, Error::BadAttribute { attribute: "indices", .. }), "{error}");
        let large = TensorDesc::new(ElementType::U8, [1, 1 << 31]).unwrap();
        let error = operator.clone().axes([1]).infer(&large).unwrap_err();
        assert!(matches!(error, Error::IndexTooLarge { elements } if elements == 1 << 31));
        assert!(operator.axes([0]).infer(&large).is_ok());
    }

    /// An initial value is of the input's type, and has no position.
    #[test]
    fn initial_values_are_checked() {
        let refused = |operator: &ReduceMax, t| {
            operator.infer(&TensorDesc::new(t, [2, 3]).unwrap()).unwrap_err().to_string()
        };
        let negative = ReduceMax::new().initial(-1);
        assert!(negative.infer(&TensorDesc::new(ElementType::I8, [2]).unwrap()).is_ok());
        for (initial, t, shown) in [
            (Scalar::from(-1), ElementType::U8, "-1 is not a value of u8"),
            (0.5.into(), ElementType::I32, "0.5 is not a value of i32"),
            (1e99.into(), ElementType::F32, "1e99 is not a value of f32"),
        ] {
            let error = refused(&ReduceMax::new().initial(initial), t);
            assert_eq!(error, format!("the initial value {shown}, the input's type"));
        }
        let error = refused(&negative.clone().indices(ElementType::I32), ElementType::F32);
        assert!(error.ends_with("-1 cannot be used with indices: it has no position"), "{error}");
    }

    #[test]
    fn the_mask_is_by_axis() {
        let some = ReduceMax::new().axes([-1, 0]);
        assert_eq!(some.reduced(3).unwrap(), [true, false, true]);
        assert_eq!(ReduceMax::new().reduced(2).unwrap(), [true, true]);
    }
}
