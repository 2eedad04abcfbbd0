//! The gradients of ScatterMax.

use super::places::{self, Axis, Duplicates, ItemAxis, Items, Places};
use super::{check_indices, data_of, position_type};
use crate::base::error::{Error, Result};
use crate::plan::{Feed, Plan, Target};
use crate::segment::{self as forward, ScatterBy, ScatterMax};
use crate::tensor::axes;
use crate::tensor::{ElementType, Indices, Inputs, Outputs, Tensor, TensorDesc, check_input};

/// The gradients with respect to the data and the updates of a [`ScatterMax`], computed from the
/// gradient of its result.
///
/// The gradient of each maximum goes to the element that equals it: to that of the data or, if that
/// is smaller or takes no part, to the first such update in row-major order. If NaN propagates, all
/// NaNs are equal, and are the maximum. The gradient of an element without updates goes to the data.
/// All others get +0. Nothing is added, so bits do not change.
///
/// The inputs are the data (`f32`, `f64`, `f16` or `bf16`), the indices, the updates and the gradient,
/// of the data's type and shape; or the indices that ScatterMax returned, and the gradient
/// ([`ScatterMaxBackward::from_indices`]). The results are the gradient of the data and that of the
/// updates.
///
/// ```
/// use wgmax::operator::{ScatterMax, ScatterMaxBackward};
/// use wgmax::{Device, Run, Tensor};
///
/// let data = Tensor::from_slice([3], &[1.0f32, 2.0, 3.0])?;
/// let indices = Tensor::from_slice([3], &[0i64, -1, 0])?;
/// let updates = Tensor::from_slice([3], &[5.0f32, 0.5, 7.0])?;
/// let gradient = Tensor::from_slice([3], &[0.5f32, 8.0, 0.25])?;
/// let backward = ScatterMaxBackward::new(ScatterMax::along(0));
/// let found = backward.run(&Device::auto()?, [&data, &indices, &updates, &gradient])?;
/// assert_eq!(found[0].to_vec::<f32>()?, [0.0, 8.0, 0.25]);
/// assert_eq!(found[1].to_vec::<f32>()?, [0.0, 0.0, 0.5]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[must_use]
#[non_exhaustive]
pub struct ScatterMaxBackward {
    /// The operator whose gradients these are.
    pub scatter: ScatterMax,
    /// The shape of the scatter's own indices, if the first input is those of the winners.
    pub shape: Option<Vec<usize>>,
}

impl ScatterMaxBackward {
    /// The gradients of a ScatterMax, from its inputs. It does not matter whether the ScatterMax returns
    /// indices or a status.
    pub fn new(scatter: ScatterMax) -> Self {
        Self { scatter, shape: None }
    }

    /// The same from the indices that ScatterMax returned, those of [`ScatterMax::indices`], or `i64`.
    /// `shape` is that of the indices that ScatterMax took, on which the shape of the updates depends.
    /// A gradient whose index is neither -1 nor names an update is dropped. If several elements of the
    /// data name one update, which indices of ScatterMax never do, the update gets the gradient of the
    /// last one.
    pub fn from_indices(mut self, shape: impl Into<Vec<usize>>) -> Self {
        self.shape = Some(shape.into());
        self
    }

    /// As [`Operator::name`](crate::operator::Operator::name).
    pub(crate) fn name(&self) -> &'static str {
        self.scatter.extremum.name_of("ScatterMaxBackward", "ScatterMinBackward")
    }

    /// The types and shapes of the results: those of the data and of the updates. The inputs are the
    /// [`TensorDesc`]s of the data, the indices, the updates and the gradient, or of the indices of the
    /// winners and the gradient.
    ///
    /// # Errors
    /// As [`ScatterMax::infer`] for its inputs; [`Error::WrongElementType`] for integers and
    /// [`Error::WrongInput`] for inputs that do not belong together; [`Error::BadAttribute`] for indices of
    /// another type than `i32` and `i64`, and for a shape that does not belong to the data,
    /// [`Error::IndexTooLarge`] if `i32` cannot number the updates; [`Error::InputCount`].
    pub fn infer<'a>(&self, inputs: impl Inputs<&'a TensorDesc>) -> Result<Outputs<TensorDesc>> {
        let [data, updates] = self.operands(&inputs.into_inputs())?;
        Ok(Outputs::with_updates(data, updates))
    }

    /// The data and the updates.
    ///
    /// # Errors
    /// As [`ScatterMaxBackward::infer`].
    fn operands(&self, inputs: &[&TensorDesc]) -> Result<[TensorDesc; 2]> {
        match (&self.shape, inputs) {
            (None, &[data, indices, updates, gradient]) => {
                data_of(None, data, None, gradient)?;
                self.scatter.resolve([data, indices, updates])?;
                check_input(self.name(), 3, data, gradient)?;
                Ok([data.clone(), updates.clone()])
            }
            (Some(shape), &[winners, gradient]) => {
                data_of(None, winners, Some(shape), gradient)?;
                let updates = self.updates(shape, gradient)?;
                let indices = TensorDesc::new(ElementType::I64, shape.clone())?;
                let found = self.scatter.resolve([gradient, &indices, &updates]);
                let positions = found.map_err(|error| self.of_shape(error))?.positions;
                let given = self.scatter.indices.unwrap_or_default();
                let count = usize::try_from(positions.size).unwrap_or(usize::MAX);
                check_indices(self.name(), given, count, winners, gradient)?;
                Ok([gradient.clone(), updates])
            }
            _ => Err(Error::input_count(self.name(), self.input_count(), inputs.len())),
        }
    }

    /// The updates of indices of this shape.
    ///
    /// # Errors
    /// [`Error::BadAttribute`], [`Error::ShapeOverflow`].
    fn updates(&self, indices: &[usize], data: &TensorDesc) -> Result<TensorDesc> {
        let shape = match (self.scatter.by, indices.split_last()) {
            (ScatterBy::Axis(_), _) => indices.to_vec(),
            (ScatterBy::Vectors, Some((&length, rows))) if length <= data.rank() => {
                [rows, &data.shape()[length..]].concat()
            }
            _ => return Err(self.bad_shape()),
        };
        TensorDesc::new(data.element_type(), shape)
    }

    /// The error of a shape that does not belong to the data; other errors as they are.
    fn of_shape(&self, error: Error) -> Error {
        match error {
            Error::WrongInput { .. } | Error::ScatterIndicesShape { .. } => self.bad_shape(),
            error => error,
        }
    }

    fn bad_shape(&self) -> Error {
        Error::BadAttribute {
            attribute: "shape",
            expected: "a shape of indices that belongs to the data",
            value: format!("{:?}", self.shape.as_deref().unwrap_or_default()),
        }
    }

    /// How many inputs there are.
    pub(crate) const fn input_count(&self) -> usize {
        if self.shape.is_some() { 2 } else { 4 }
    }

    /// The operator that finds the winners.
    ///
    /// # Errors
    /// As [`ScatterMax::infer`].
    pub(crate) fn forward(&self, inputs: [&TensorDesc; 3]) -> Result<ScatterMax> {
        let positions = self.scatter.resolve(inputs)?.positions.size;
        let indices = Indices::new(position_type(positions));
        Ok(self.scatter.clone().indices(indices).status(false))
    }

    /// Checks the indices, as [`ScatterMax::checked`].
    ///
    /// # Errors
    /// As [`ScatterMaxBackward::infer`], and [`Error::IndexOutOfRange`].
    pub(crate) fn check(
        &self,
        data: &TensorDesc,
        indices: &Tensor,
        [updates, gradient]: [&TensorDesc; 2],
    ) -> Result<()> {
        self.operands(&[data, indices.desc(), updates, gradient])?;
        self.scatter.checked(data, indices, updates)
    }

    /// The elements of the data and those of the updates that winners name.
    ///
    /// # Errors
    /// As [`ScatterMaxBackward::infer`].
    pub(crate) fn places(&self, inputs: &[&TensorDesc]) -> Result<[Places; 2]> {
        let [data, updates] = self.operands(inputs)?;
        let size = |size: usize| size as u64;
        let shape = data.shape();
        let places = match self.scatter.by {
            ScatterBy::Axis(axis) => {
                let axis = axes::normalize(&[axis], shape.len(), axes::Duplicates::Refuse)?[0];
                let mut items: Vec<ItemAxis> = Vec::new();
                let (mut pitch, mut positions) = (1, Vec::new());
                for (at, (&all, &own)) in shape.iter().zip(updates.shape()).enumerate().rev() {
                    let (all, own) = (size(all), size(own));
                    let next = match at == axis {
                        true => ItemAxis::from(Axis { size: all, pitch: 0 }),
                        false => ItemAxis { axis: Axis { size: all, pitch }, bound: own },
                    };
                    if at == axis {
                        positions.push(Axis { size: own, pitch });
                    }
                    match items.last_mut() {
                        // Axes without bounds count as one.
                        Some(inner) if inner.continues(next) => {
                            inner.axis.size *= next.axis.size;
                            inner.bound = inner.axis.size;
                        }
                        _ => items.push(next),
                    }
                    pitch *= own;
                }
                items.reverse();
                Places::new(items, positions, size(updates.len()))
            }
            ScatterBy::Vectors => {
                let indices = self.shape.as_deref().unwrap_or_else(|| inputs[1].shape());
                let (parts, inner) = shape.split_at(indices.last().map_or(0, |&length| length));
                let product = |sizes: &[usize]| sizes.iter().map(|&s| size(s)).product::<u64>();
                let rows = product(&indices[..indices.len() - 1]);
                let axis = |size, pitch| Axis { size, pitch };
                let items = vec![axis(product(parts), 0), axis(product(inner), 1)];
                Places::new(items, vec![axis(rows, product(inner))], size(updates.len()))
            }
        };
        Ok([Places::own(size(data.len())), places])
    }

    /// # Errors
    /// As [`ScatterMaxBackward::infer`], and [`Error::OverLimit`].
    pub(crate) fn plan_with(
        &self,
        inputs: &[&TensorDesc],
        target: Target<'_>,
        tuning: &forward::Tuning,
    ) -> Result<Plan> {
        let outputs = self.infer(inputs)?;
        let [own, places] = self.places(inputs)?;
        let gradient = inputs[inputs.len() - 1];
        // Several elements of the data may have the same given winner.
        let duplicates = match self.shape.is_some() {
            true => Duplicates::LastWins,
            false => Duplicates::Absent,
        };
        let store = |winners: &TensorDesc| {
            let of = Items { indices: 0, values: 1 };
            let results = [(&own, Duplicates::Absent), (&places, duplicates)];
            places::plan_all(&[winners, gradient], of, outputs.clone(), &results, target)
        };
        let &[data, indices, updates, _] = inputs else { return store(inputs[0]) };
        let scatter = self.forward([data, indices, updates])?;
        let after = store(&scatter.infer([data, indices, updates])?[1])?;
        let before = forward::plan_scatter(&scatter, [data, indices, updates], target, tuning)?;
        Ok(before.then(after, &[Feed::Result(1), Feed::Input]))
    }
}
