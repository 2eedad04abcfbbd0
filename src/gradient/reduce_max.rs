//! The gradient of ReduceMax.

use super::places::{self, Axis, Duplicates, Items, Places};
use super::{check_indices, data_of, position_type};
use crate::base::error::Result;
use crate::plan::{Feed, Plan, Target};
use crate::reduce::{self as forward, ReduceMax};
use crate::tensor::{Indices, Inputs, Outputs, TensorDesc, check_input, one_of_each};

/// The gradient with respect to the data of a [`ReduceMax`], computed from the gradient of the
/// maxima.
///
/// The gradient of each maximum goes to the element that equals it: to the first of equal elements
/// in row-major order, or to the last if the reduction's [`indices`](ReduceMax::indices) select the
/// last. If NaN propagates, all NaNs are equal, and are the maximum. All other elements get +0.
/// Nothing is added, so bits do not change. The gradient of an empty set is dropped.
///
/// The inputs are the data and the gradient of the maxima, of the same type, `f32`, `f64`, `f16` or
/// `bf16`; or, instead of the data, the indices that the reduction gave
/// ([`ReduceMaxBackward::from_indices`]). The result has the shape of the data.
///
/// ```
/// use wgmax::operator::{ReduceMax, ReduceMaxBackward};
/// use wgmax::{Device, Run, Tensor};
///
/// let data = Tensor::from_slice([2, 3], &[1.0f32, 3.0, 3.0, 2.0, 0.0, 1.0])?;
/// let gradient = Tensor::from_slice([2], &[0.5f32, 0.25])?;
/// let backward = ReduceMaxBackward::new(ReduceMax::new().axes([1]));
/// let found = backward.run(&Device::auto()?, [&data, &gradient])?;
/// assert_eq!(found[0].to_vec::<f32>()?, [0.0, 0.5, 0.0, 0.25, 0.0, 0.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[must_use]
#[non_exhaustive]
pub struct ReduceMaxBackward {
    /// The reduction.
    pub reduce: ReduceMax,
    /// The shape of the data, if the first input is indices.
    pub shape: Option<Vec<usize>>,
}

impl ReduceMaxBackward {
    /// The gradient of a reduction, from its data. It does not matter whether the reduction returns
    /// indices or values.
    pub fn new(reduce: ReduceMax) -> Self {
        Self { reduce, shape: None }
    }

    /// The same from the indices that the reduction returned for data of this shape: those of
    /// [`ReduceMax::indices`], or of [`Indices::default`]. A gradient whose index names no element
    /// is dropped.
    pub fn from_indices(mut self, shape: impl Into<Vec<usize>>) -> Self {
        self.shape = Some(shape.into());
        self
    }

    /// As [`Operator::name`](crate::operator::Operator::name).
    pub(crate) fn name(&self) -> &'static str {
        self.reduce.extremum.name_of("ReduceMaxBackward", "ReduceMinBackward")
    }

    /// The type and shape of the result: those of the data. The inputs are the [`TensorDesc`]s of the
    /// data, or of the indices, and of the gradient.
    ///
    /// # Errors
    /// As [`ReduceMax::infer`] for the data;
    /// [`Error::WrongElementType`](crate::Error::WrongElementType) for integers and
    /// [`Error::WrongInput`](crate::Error::WrongInput) for inputs that do not belong together.
    pub fn infer<'a>(&self, inputs: impl Inputs<&'a TensorDesc>) -> Result<Outputs<TensorDesc>> {
        let [first, gradient] = one_of_each(self.name(), &inputs.into_inputs())?;
        self.data(first, gradient).map(Outputs::one)
    }

    /// # Errors
    /// As [`ReduceMaxBackward::infer`].
    fn data(&self, first: &TensorDesc, gradient: &TensorDesc) -> Result<TensorDesc> {
        let data = data_of(self.reduce.initial, first, self.shape.as_deref(), gradient)?;
        let maxima = self.reduce.clone().indices(None).values(true).infer(&data)?;
        check_input(self.name(), 1, &maxima[0], gradient)?;
        if self.shape.is_some() {
            let given = self.reduce.indices.unwrap_or_default();
            let reduced = self.reduce.reduced(data.rank())?;
            let sizes = data.shape().iter().zip(reduced).filter(|&(_, reduced)| reduced);
            let set = sizes.fold(1usize, |set, (&size, _)| set.saturating_mul(size));
            check_indices(self.name(), given, set, first, gradient)?;
        }
        Ok(data)
    }

    /// The reduction that finds the positions of the maxima; `None` if indices are given.
    pub(crate) fn forward(&self, data: &TensorDesc) -> Option<ReduceMax> {
        let last = self.reduce.indices.is_some_and(|indices| indices.last);
        let indices = Indices::new(position_type(data.len() as u64)).last(last);
        let reduce = self.reduce.clone().indices(indices).values(false);
        self.shape.is_none().then_some(reduce)
    }

    /// The elements of the data that positions name.
    ///
    /// # Errors
    /// As [`ReduceMax::infer`].
    pub(crate) fn places(&self, data: &TensorDesc) -> Result<Places> {
        let (mut items, mut positions, mut pitch) = (Vec::new(), Vec::new(), 1);
        let merged = forward::merge(data.shape(), &self.reduce.reduced(data.rank())?);
        for &(size, is_reduced) in merged.iter().rev() {
            let axes = if is_reduced { &mut positions } else { &mut items };
            axes.insert(0, Axis { size, pitch });
            pitch *= size;
        }
        Ok(Places::new(items, positions, data.len() as u64))
    }

    /// # Errors
    /// As [`ReduceMaxBackward::infer`], and [`Error::OverLimit`](crate::Error::OverLimit).
    pub(crate) fn plan_with(
        &self,
        inputs: [&TensorDesc; 2],
        target: Target<'_>,
        tuning: &forward::Tuning,
    ) -> Result<Plan> {
        let data = self.data(inputs[0], inputs[1])?;
        let places = self.places(&data)?;
        // Sets share no elements, so no two positions name the same one.
        let scatter = |indices: &TensorDesc| {
            let of = Items { indices: 0, values: 1 };
            places::plan(&[indices, inputs[1]], of, &data, &places, Duplicates::Absent, target)
        };
        // Indices are given, or the sets of empty data have no positions.
        let Some(reduce) = self.forward(&data).filter(|_| !data.is_empty()) else {
            return scatter(inputs[0]);
        };
        let resolved = reduce.resolve(&data)?;
        let after = scatter(&resolved.outputs[0])?;
        let before = forward::plan(resolved, target, tuning)?;
        Ok(before.then(after, &[Feed::Result(0), Feed::Input]))
    }
}
