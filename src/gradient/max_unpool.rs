//! MaxUnpool.

use super::places::{self, Axis, Duplicates, Items, Places};
use super::{check_float, check_type};
use crate::base::error::{Error, Result};
use crate::plan::{Plan, Target};
use crate::segment::Ids;
use crate::tensor::{ElementType, Inputs, Outputs, Tensor, TensorDesc, check_input, one_of_each};

/// Stores each value at the element that its index names: a partial inverse of a pooling. All other
/// elements are +0.
///
/// The inputs are the values, of type `f32`, `f64`, `f16` or `bf16`, and an index for each, of type
/// `i32` or `i64`, as [`MaxPool::indices`](crate::operator::MaxPool::indices) returns them with
/// numbering from axis 0. If several values have the same index, the last of them in row-major
/// order is stored. Bits do not change. ONNX's `MaxUnpool` computes the same.
///
/// For tensors on the host, an index that names no element is an error
/// ([`Error::IndexOutOfRange`]). Indices on a device are not checked, and a value with such an
/// index is dropped.
///
/// ```
/// use wgmax::operator::MaxUnpool;
/// use wgmax::{Device, Run, Tensor};
///
/// let values = Tensor::from_slice([1, 1, 2], &[3.0f32, 2.0])?;
/// let indices = Tensor::from_slice([1, 1, 2], &[1i64, 2])?;
/// let unpool = MaxUnpool::new([1, 1, 4]);
/// let found = unpool.run(&Device::auto()?, [&values, &indices])?;
/// assert_eq!(found[0].to_vec::<f32>()?, [0.0, 3.0, 2.0, 0.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[must_use]
#[non_exhaustive]
pub struct MaxUnpool {
    /// The shape of the result.
    pub shape: Vec<usize>,
    /// The shape in which indices count.
    pub indices_within: Vec<usize>,
}

impl MaxUnpool {
    /// A result of this shape. Indices count its elements in row-major order.
    pub fn new(shape: impl Into<Vec<usize>>) -> Self {
        let shape = shape.into();
        Self { indices_within: shape.clone(), shape }
    }

    /// Indices count in a smaller tensor of this shape, which begins at the origin of the result,
    /// has the same rank, and is no larger along any axis.
    pub fn indices_within(mut self, shape: impl Into<Vec<usize>>) -> Self {
        self.indices_within = shape.into();
        self
    }

    /// The type and shape of the result. The inputs are the [`TensorDesc`]s of the values and of the
    /// indices.
    ///
    /// # Errors
    /// [`Error::InputCount`]; [`Error::WrongElementType`] for values or indices of other types,
    /// [`Error::WrongInput`] for indices of another shape than the values, [`Error::BadAttribute`]
    /// for a shape of [`indices_within`](Self::indices_within()) that exceeds the result,
    /// [`Error::ShapeOverflow`].
    pub fn infer<'a>(&self, inputs: impl Inputs<&'a TensorDesc>) -> Result<Outputs<TensorDesc>> {
        let [values, indices] = one_of_each("MaxUnpool", &inputs.into_inputs())?;
        self.result(values, indices).map(Outputs::one)
    }

    /// # Errors
    /// As [`MaxUnpool::infer`].
    fn result(&self, values: &TensorDesc, indices: &TensorDesc) -> Result<TensorDesc> {
        check_float("the values", values)?;
        let is_index = |t| matches!(t, ElementType::I32 | ElementType::I64);
        check_type("the indices", "i32 or i64", indices, is_index)?;
        let expected = TensorDesc::new(indices.element_type(), values.shape())?;
        check_input("MaxUnpool", 1, &expected, indices)?;
        let within = &self.indices_within;
        let inside = within.iter().zip(&self.shape).all(|(size, all)| size <= all);
        if within.len() != self.shape.len() || !inside {
            return Err(Error::BadAttribute {
                attribute: "indices_within",
                expected: "of the result's rank, and no larger along any axis",
                value: format!("{within:?}"),
            });
        }
        TensorDesc::new(values.element_type(), self.shape.clone())
    }

    /// Checks that each index names an element.
    ///
    /// # Errors
    /// As [`MaxUnpool::infer`], and [`Error::IndexOutOfRange`].
    pub(crate) fn check(&self, values: &TensorDesc, indices: &Tensor) -> Result<()> {
        self.result(values, indices.desc())?;
        let elements: usize = self.indices_within.iter().product();
        let indices = Ids::of(indices)?;
        let wrong = indices.find(|index| !(0..elements as i128).contains(&index));
        wrong.map_or(Ok(()), |position| {
            let value = indices.exact(position);
            Err(Error::IndexOutOfRange { position, value, elements })
        })
    }

    /// The elements of the result that indices name.
    pub(crate) fn places(&self, result: &TensorDesc) -> Places {
        let mut pitch = 1;
        let mut axes: Vec<Axis> = Vec::new();
        let mut whole = true;
        for (&all, &size) in self.shape.iter().zip(&self.indices_within).rev() {
            let size = size as u64;
            // Inner axes that are whole count as one.
            match axes.last_mut() {
                Some(axis) if whole => axis.size *= size,
                _ => axes.push(Axis { size, pitch }),
            }
            whole = size == all as u64;
            pitch *= all as u64;
        }
        axes.reverse();
        Places::new(Vec::<Axis>::new(), axes, result.len() as u64)
    }

    /// # Errors
    /// As [`MaxUnpool::infer`], and [`Error::OverLimit`].
    pub(crate) fn plan_with(&self, inputs: [&TensorDesc; 2], target: Target<'_>) -> Result<Plan> {
        let result = self.result(inputs[0], inputs[1])?;
        let (of, places) = (Items { values: 0, indices: 1 }, self.places(&result));
        places::plan(&inputs, of, &result, &places, Duplicates::LastWins, target)
    }
}
