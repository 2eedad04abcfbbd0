//! The gradient of MaxPool.

use super::pool::{self, Planes};
use super::{Tuning, data_of, tile};
use crate::base::error::{Error, Result};
use crate::plan::{Builder, Feed, Plan, Target};
use crate::pool::{self as forward, MaxPool};
use crate::reduce;
use crate::tensor::key::Ranking;
use crate::tensor::{
    ElementType, Indices, Inputs, Numbering, Outputs, TensorDesc, check_input, one_of_each,
};

/// The gradient with respect to the data of a [`MaxPool`], computed from the gradient of the maxima.
///
/// Each window passes its gradient on to its maximum: to the first of equal elements, in row-major
/// order, as the indices of the pooling do. The gradient of an element is the sum of what windows pass
/// on to it: the sum starts at +0, and adds the gradients of the windows in row-major order. Each
/// addition is rounded to nearest, ties to even, in `f32`, or in `f64` for data of `f64`; sums of `f16`
/// and `bf16` are rounded once more at the end. So every bit is defined. -0, subnormal numbers,
/// infinities and NaN follow IEEE 754; a NaN is the canonical quiet one. The gradient of a window
/// without elements is dropped. oneDNN Graph's `MaxPoolBackward` computes the same, without a defined
/// order of additions.
///
/// The inputs are the data and the gradient of the maxima, of the same type, `f32`, `f64`, `f16` or
/// `bf16`; or, instead of the data, the indices that the pooling gave
/// ([`MaxPoolBackward::from_indices`]). The result has the shape of the data.
///
/// Streaming does not divide planes. [`Error::OverLimit`] is returned if a binding cannot hold the
/// elements that are covered by all windows at one place along the first axis of a plane.
///
/// ```
/// use wgmax::operator::{MaxPool, MaxPoolBackward};
/// use wgmax::{Device, Run, Tensor};
///
/// let data = Tensor::from_slice([1, 1, 4], &[1.0f32, 3.0, 2.0, 0.0])?;
/// let gradient = Tensor::from_slice([1, 1, 3], &[0.5f32, 0.25, 4.0])?;
/// let backward = MaxPoolBackward::new(MaxPool::new([2]));
/// let found = backward.run(&Device::auto()?, [&data, &gradient])?;
/// assert_eq!(found[0].to_vec::<f32>()?, [0.0, 0.75, 4.0, 0.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[must_use]
#[non_exhaustive]
pub struct MaxPoolBackward {
    /// The pooling.
    pub pool: MaxPool,
    /// The shape of the data, if the first input is indices.
    pub shape: Option<Vec<usize>>,
}

impl MaxPoolBackward {
    /// The gradient of a pooling, from its data. It does not matter whether the pooling returns
    /// indices.
    pub fn new(pool: MaxPool) -> Self {
        Self { pool, shape: None }
    }

    /// The same from the indices that the pooling returned for data of this shape: those of
    /// [`MaxPool::indices`], or of [`Indices::default`]. They must be row-major, and must not count
    /// from a spatial axis other than the first.
    ///
    /// If an index names no element of its window, some gradients are unspecified.
    pub fn from_indices(mut self, shape: impl Into<Vec<usize>>) -> Self {
        self.shape = Some(shape.into());
        self
    }

    /// How the indices of the first input count.
    fn indices(&self) -> Indices {
        self.pool.indices.unwrap_or_default()
    }

    /// As [`Operator::name`](crate::operator::Operator::name).
    pub(crate) fn name(&self) -> &'static str {
        let extremum = self.pool.extremum;
        match self.pool.output_sizes {
            None => extremum.name_of("MaxPoolBackward", "MinPoolBackward"),
            Some(_) => extremum.name_of("AdaptiveMaxPoolBackward", "AdaptiveMinPoolBackward"),
        }
    }

    /// The type and shape of the result: those of the data. The inputs are the [`TensorDesc`]s of the
    /// data, or of the indices, and of the gradient.
    ///
    /// # Errors
    /// As [`MaxPool::infer`] for the data; [`Error::WrongElementType`] and [`Error::WrongInput`]
    /// for inputs that do not belong together, [`Error::BadAttribute`] for indices with an
    /// unsupported numbering.
    pub fn infer<'a>(&self, inputs: impl Inputs<&'a TensorDesc>) -> Result<Outputs<TensorDesc>> {
        let [first, gradient] = one_of_each(self.name(), &inputs.into_inputs())?;
        self.data(first, gradient).map(Outputs::one)
    }

    /// # Errors
    /// As [`MaxPoolBackward::infer`].
    pub(crate) fn data(&self, first: &TensorDesc, gradient: &TensorDesc) -> Result<TensorDesc> {
        let data = data_of(self.pool.initial, first, self.shape.as_deref(), gradient)?;
        let indices = self.shape.is_some().then(|| self.indices());
        let results = self.pool.clone().indices(indices).infer(&data)?;
        check_input(self.name(), 1, &results[0], gradient)?;
        if let (Some(expected), Some(indices)) = (results.get(1), indices) {
            check_input(self.name(), 0, expected, first)?;
            let bad = |expected, value| {
                Err(Error::BadAttribute { attribute: "indices", expected, value })
            };
            if indices.is_column_major() {
                return bad("row-major for a gradient", "column-major".to_string());
            }
            let axis = indices.axis();
            let from = if axis < 0 { axis + data.rank() as i64 } else { axis };
            if from > self.pool.first_spatial() as i64 {
                let expected = "from no spatial axis but the first for a gradient";
                return bad(expected, format!("from axis {axis}"));
            }
        }
        Ok(data)
    }

    /// # Errors
    /// As [`MaxPoolBackward::infer`], and [`Error::OverLimit`].
    pub(crate) fn plan_with(
        &self,
        inputs: [&TensorDesc; 2],
        target: Target<'_>,
        tunings: (&forward::Tuning, &reduce::Tuning, &Tuning),
    ) -> Result<Plan> {
        let data = self.data(inputs[0], inputs[1])?;
        self.plan_planes(inputs, &data, (0, &data), target, tunings)
    }

    /// The plan for some planes of the data, from `first` on, and their part of the inputs. Given
    /// indices count in all data, `whole`.
    ///
    /// # Errors
    /// [`Error::OverLimit`].
    pub(crate) fn plan_planes(
        &self,
        inputs: [&TensorDesc; 2],
        data: &TensorDesc,
        (first, whole): (u64, &TensorDesc),
        target: Target<'_>,
        tunings: (&forward::Tuning, &reduce::Tuning, &Tuning),
    ) -> Result<Plan> {
        let (pools, reductions, gradients) = tunings;
        let windows = self.pool.windows(data)?;
        if inputs[1].is_empty() && !data.is_empty() {
            // No window, no gradient.
            let output = Outputs::one(data.clone());
            let mut builder = Builder::new(&inputs, output, Ranking::MAXIMUM, target);
            builder.fill(2, 0)?;
            return Ok(builder.finish());
        }
        let (count, inner) = self.pool.planes(data);
        let axes = Planes { first, count, windows: &windows, inner };
        if self.shape.is_some() {
            let modulus = self.pool.clone().indices(self.indices()).index_modulus(whole)?;
            return pool::plan(inputs, data, &axes, modulus, target, gradients);
        }
        let ranking = Ranking::new(data.element_type(), self.pool.nan, self.pool.extremum);
        match tile::plan(inputs, data, &axes, ranking, target, pools) {
            Ok(None) | Err(Error::OverLimit { .. }) => {}
            Ok(Some(plan)) => return Ok(plan),
            Err(error) => return Err(error),
        }
        // Positions in all data are distances in memory, which more kernels find. If they do not fit 32
        // bits, take positions in a plane.
        let (axis, first) = match data.len() <= i32::MAX as usize {
            true => (0, 0),
            false => (self.pool.first_spatial() as i64, first),
        };
        let axes = Planes { first, ..axes };
        let indices = Indices::new(ElementType::I32).numbering(Numbering::FromAxis(axis));
        let pool = self.pool.clone().indices(indices);
        // These indices are internal: a caller cannot choose their type.
        let resolved = pool.resolve(data).map_err(|error| match error {
            Error::IndexTooLarge { elements: needed } => Error::OverLimit {
                what: "the gradient of a plane",
                needed,
                limit: "elements of a plane",
                allowed: i32::MAX as u64,
            },
            error => error,
        })?;
        let second = [&resolved.outputs[1], inputs[1]];
        let after = pool::plan(second, data, &axes, resolved.modulus, target, gradients)?;
        let before = forward::plan(resolved, target, pools, reductions)?;
        Ok(before.then(after, &[Feed::Result(1), Feed::Input]))
    }
}
