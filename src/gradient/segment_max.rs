//! The gradient of SegmentMax.

use super::places::{self, Axis, Duplicates, Items, Places};
use super::{check_indices, data_of, position_type};
use crate::base::error::{Error, Result};
use crate::plan::{Feed, Plan, Target};
use crate::segment::{self as forward, SegmentMax, Segments};
use crate::tensor::{Inputs, Outputs, Tensor, TensorDesc, check_input};

/// The gradient with respect to the data of a [`SegmentMax`], computed from the gradient of the
/// maxima.
///
/// The gradient of each maximum goes to the element that equals it, in the first such row; if NaN
/// propagates, to the first NaN. All others get +0, also in rows that belong to no segment. Nothing
/// is added, so bits do not change. The gradient of a segment without rows is dropped.
///
/// The inputs are the data (`f32`, `f64`, `f16` or `bf16`), the ids or offsets, and the gradient of
/// the maxima, of the same type; or the indices that SegmentMax returned, and the gradient
/// ([`SegmentMaxBackward::from_indices`]). The result has the shape of the data. The first
/// dimension of the gradient is the number of segments.
///
/// ```
/// use wgmax::operator::{SegmentMax, SegmentMaxBackward};
/// use wgmax::{Device, Run, Tensor};
///
/// let data = Tensor::from_slice([4], &[1.0f32, 2.0, 4.0, 3.0])?;
/// let ids = Tensor::from_slice([4], &[0i32, 0, 2, 2])?;
/// let gradient = Tensor::from_slice([3], &[0.5f32, 8.0, 0.25])?;
/// let backward = SegmentMaxBackward::new(SegmentMax::sorted());
/// let found = backward.run(&Device::auto()?, [&data, &ids, &gradient])?;
/// assert_eq!(found[0].to_vec::<f32>()?, [0.0, 0.5, 0.25, 0.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[must_use]
#[non_exhaustive]
pub struct SegmentMaxBackward {
    /// The operator whose gradient this is.
    pub segment: SegmentMax,
    /// The shape of the data, if the first input is indices.
    pub shape: Option<Vec<usize>>,
}

impl SegmentMaxBackward {
    /// The gradient of a SegmentMax, from its data and ids. It does not matter whether the
    /// SegmentMax returns indices or a status.
    pub fn new(segment: SegmentMax) -> Self {
        Self { segment, shape: None }
    }

    /// The same from the indices that SegmentMax returned for data of this shape: those of
    /// [`SegmentMax::indices`], or `i64`. A gradient whose index names no row is dropped. If several
    /// segments name one element, which indices of SegmentMax never do, the element gets the gradient
    /// of the last one.
    pub fn from_indices(mut self, shape: impl Into<Vec<usize>>) -> Self {
        self.shape = Some(shape.into());
        self
    }

    /// As [`Operator::name`](crate::operator::Operator::name).
    pub(crate) fn name(&self) -> &'static str {
        self.segment.extremum.name_of("SegmentMaxBackward", "SegmentMinBackward")
    }

    /// The type and shape of the result: those of the data. The inputs are the [`TensorDesc`]s of the
    /// data, the ids and the gradient, or of the indices and the gradient.
    ///
    /// # Errors
    /// As [`SegmentMax::infer`] for data and ids; [`Error::WrongElementType`] for integers and
    /// [`Error::WrongInput`] for inputs that do not belong together; [`Error::BadAttribute`] for
    /// indices of another type than `i32` and `i64`, [`Error::IndexTooLarge`] if `i32` cannot number
    /// the rows; [`Error::InputCount`].
    pub fn infer<'a>(&self, inputs: impl Inputs<&'a TensorDesc>) -> Result<Outputs<TensorDesc>> {
        self.data(&inputs.into_inputs()).map(Outputs::one)
    }

    /// # Errors
    /// As [`SegmentMaxBackward::infer`].
    fn data(&self, inputs: &[&TensorDesc]) -> Result<TensorDesc> {
        match (&self.shape, inputs) {
            (None, &[data, ids, gradient]) => {
                data_of(self.segment.initial, data, None, gradient)?;
                let maxima = self.forward(data, gradient).infer([data, ids])?;
                check_input(self.name(), 2, &maxima[0], gradient)?;
                Ok(data.clone())
            }
            (Some(shape), &[indices, gradient]) => {
                let data = data_of(self.segment.initial, indices, Some(shape), gradient)?;
                let &[rows, ref row @ ..] = &shape[..] else {
                    return Err(Error::SegmentDataRank);
                };
                let maxima = [&[segments_of(gradient)], row].concat();
                let maxima = TensorDesc::new(data.element_type(), maxima)?;
                check_input(self.name(), 1, &maxima, gradient)?;
                let given = self.segment.indices.unwrap_or_default();
                check_indices(self.name(), given, rows, indices, gradient)?;
                Ok(data)
            }
            _ => Err(Error::input_count(self.name(), self.input_count(), inputs.len())),
        }
    }

    /// How many inputs there are.
    pub(crate) const fn input_count(&self) -> usize {
        if self.shape.is_some() { 2 } else { 3 }
    }

    /// The operator that finds the rows of the maxima.
    pub(crate) fn forward(&self, data: &TensorDesc, gradient: &TensorDesc) -> SegmentMax {
        let known = match (self.segment.segments, self.segment.num_segments) {
            (Segments::Offsets, given) | (_, given @ Some(_)) => given,
            _ => Some(segments_of(gradient)),
        };
        self.segment
            .clone()
            .num_segments(known)
            .indices(position_type(data.len() as u64))
            .status(false)
    }

    /// Checks the ids, as [`SegmentMax::checked`].
    ///
    /// # Errors
    /// As [`SegmentMax::checked`].
    pub(crate) fn check(
        &self,
        data: &TensorDesc,
        ids: &Tensor,
        gradient: &TensorDesc,
    ) -> Result<()> {
        self.data(&[data, ids.desc(), gradient])?;
        self.forward(data, gradient).checked(data, ids).map(drop)
    }

    /// The elements of the data that rows name.
    pub(crate) fn places(&self, data: &TensorDesc, gradient: &TensorDesc) -> Places {
        let axis = |size: usize, pitch: usize| Axis { size: size as u64, pitch: pitch as u64 };
        let inner = data.shape()[1..].iter().product();
        let items = vec![axis(gradient.shape()[0], 0), axis(inner, 1)];
        Places::new(items, vec![axis(data.shape()[0], inner)], data.len() as u64)
    }

    /// # Errors
    /// As [`SegmentMaxBackward::infer`], and [`Error::OverLimit`].
    pub(crate) fn plan_with(
        &self,
        inputs: &[&TensorDesc],
        target: Target<'_>,
        tuning: &forward::Tuning,
    ) -> Result<Plan> {
        let data = self.data(inputs)?;
        let gradient = inputs[inputs.len() - 1];
        let places = self.places(&data, gradient);
        // Given rows may belong to several segments.
        let duplicates = match self.shape.is_some() && segments_of(gradient) > 1 {
            true => Duplicates::LastWins,
            false => Duplicates::Absent,
        };
        let scatter = |indices: &TensorDesc| {
            let of = Items { indices: 0, values: 1 };
            places::plan(&[indices, gradient], of, &data, &places, duplicates, target)
        };
        let &[_, ids, _] = inputs else { return scatter(inputs[0]) };
        let segment = self.forward(&data, gradient);
        let outputs = segment.infer([&data, ids])?;
        let after = scatter(&outputs[1])?;
        let before = forward::plan(&segment, &data, ids, outputs, target, tuning)?;
        Ok(before.then(after, &[Feed::Result(1), Feed::Input]))
    }
}

/// The segments of a gradient: the size of its first axis. A scalar, which is refused, has one.
fn segments_of(gradient: &TensorDesc) -> usize {
    gradient.shape().first().copied().unwrap_or(1)
}
