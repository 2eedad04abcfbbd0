//! The results of an operator by name, and lists of inputs.

use std::ops::Deref;

use super::{TensorDesc, View};
use crate::base::error::{Error, Result};

/// The results of an operator: tensors on the host or on a device, or their types and shapes.
///
/// They have names and an order: the [values](Self::values), the [indices](Self::indices) and the
/// [status](Self::status), as far as the operator has them. This type derefs to a slice in that
/// order; `into_vec`, `into_iter` and `try_into` take the results out.
///
/// ```
/// use wgmax::operator::ReduceMax;
/// use wgmax::{Device, ElementType, Run, Tensor};
///
/// let input = Tensor::from_slice([2, 2], &[1.0f32, 2.0, 4.0, 3.0])?;
/// let rows = ReduceMax::new().axes([1]).indices(ElementType::I64);
/// let found = rows.run(&Device::cpu(), &input)?;
/// assert_eq!(found.values()?.as_slice::<f32>()?, [2.0, 4.0]);
/// assert_eq!(found.indices()?.as_slice::<i64>()?, [1, 0]);
/// let [values, indices] = found.exactly()?;
/// assert_eq!(values.shape(), indices.shape());
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Outputs<T> {
    names: Names,
    items: Vec<T>,
}

/// Which results an operator has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Names {
    pub values: bool,
    pub indices: bool,
    pub status: bool,
}

impl Names {
    /// Values only.
    pub(crate) const VALUES: Self = Self { values: true, indices: false, status: false };
}

impl<T> Outputs<T> {
    pub(crate) fn new(values: Option<T>, indices: Option<T>, status: Option<T>) -> Self {
        let (v, i, s) = (values.is_some(), indices.is_some(), status.is_some());
        let names = Names { values: v, indices: i, status: s };
        Self { names, items: values.into_iter().chain(indices).chain(status).collect() }
    }

    /// Results in the order of their names, one for each.
    pub(crate) fn of(names: Names, items: Vec<T>) -> Self {
        Self { names, items }
    }

    /// The only result.
    pub(crate) fn one(item: T) -> Self {
        Self { names: Names::VALUES, items: vec![item] }
    }

    /// Two gradients: that of the data, named the values, and that of the updates, which has no name.
    pub(crate) fn with_updates(data: T, updates: T) -> Self {
        Self { names: Names::VALUES, items: vec![data, updates] }
    }

    /// Results without names: those of a chain.
    pub(crate) fn unnamed(items: Vec<T>) -> Self {
        Self { names: Names { values: false, indices: false, status: false }, items }
    }

    /// The maxima or minima; the gradient of the data; the result of MaxUnpool. The gradient of the updates of a
    /// scatter follows, without a name.
    ///
    /// # Errors
    /// [`Error::NoSuchResult`] for a ReduceMax without [values](crate::operator::ReduceMax::values).
    pub fn values(&self) -> Result<&T> {
        self.named("values", self.names.values, 0)
    }

    /// The positions of the maxima or minima.
    ///
    /// # Errors
    /// [`Error::NoSuchResult`] if the operator does not return them.
    pub fn indices(&self) -> Result<&T> {
        self.named("indices", self.names.indices, usize::from(self.names.values))
    }

    /// The status of [`SegmentMax`](crate::operator::SegmentMax::status) or
    /// [`ScatterMax`](crate::operator::ScatterMax::status).
    ///
    /// # Errors
    /// [`Error::NoSuchResult`] if the operator does not return it.
    pub fn status(&self) -> Result<&T> {
        self.named("status", self.names.status, self.items.len().wrapping_sub(1))
    }

    fn named(&self, name: &'static str, is_there: bool, at: usize) -> Result<&T> {
        let found = self.items.get(at).filter(|_| is_there);
        found.ok_or(Error::NoSuchResult { name, results: self.items.len() })
    }

    /// All results, if there are `N`.
    ///
    /// # Errors
    /// [`Error::ResultCount`].
    pub fn exactly<const N: usize>(self) -> Result<[T; N]> {
        let actual = self.items.len();
        self.items.try_into().map_err(|_| Error::ResultCount { expected: N, actual })
    }

    /// The results in their order.
    pub fn into_vec(self) -> Vec<T> {
        self.items
    }

    /// Other results with the same names.
    pub(crate) fn with<U>(&self, items: Vec<U>) -> Outputs<U> {
        Outputs::of(self.names, items)
    }
}

impl<T> Deref for Outputs<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> IntoIterator for Outputs<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Outputs<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

/// The inputs of an operator: one, as a reference, or several, as an array, a slice or a vector.
/// Functions take them as `impl Inputs<...>`.
pub trait Inputs<T> {
    /// The inputs in their order.
    fn into_inputs(self) -> Vec<T>;
}

impl<T, U: Into<T>, const N: usize> Inputs<T> for [U; N] {
    fn into_inputs(self) -> Vec<T> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<T, U: Clone + Into<T>, const N: usize> Inputs<T> for &[U; N] {
    fn into_inputs(self) -> Vec<T> {
        self.as_slice().into_inputs()
    }
}

impl<T, U: Clone + Into<T>> Inputs<T> for &[U] {
    fn into_inputs(self) -> Vec<T> {
        self.iter().map(|input| input.clone().into()).collect()
    }
}

impl<T, U: Into<T>> Inputs<T> for Vec<U> {
    fn into_inputs(self) -> Vec<T> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<T, U: Clone + Into<T>> Inputs<T> for &Vec<U> {
    fn into_inputs(self) -> Vec<T> {
        self.as_slice().into_inputs()
    }
}

impl<'a> Inputs<&'a TensorDesc> for &'a TensorDesc {
    fn into_inputs(self) -> Vec<&'a TensorDesc> {
        vec![self]
    }
}

impl Inputs<View> for &TensorDesc {
    fn into_inputs(self) -> Vec<View> {
        vec![self.into()]
    }
}

impl Inputs<View> for &View {
    fn into_inputs(self) -> Vec<View> {
        vec![self.clone()]
    }
}

/// The inputs of an operator that takes `N`.
///
/// # Errors
/// [`Error::InputCount`].
pub(crate) fn one_of_each<'a, const N: usize>(
    operator: &str,
    inputs: &[&'a TensorDesc],
) -> Result<[&'a TensorDesc; N]> {
    inputs.try_into().map_err(|_| Error::input_count(operator, N, inputs.len()))
}

/// Refuses an input of another type or shape.
///
/// # Errors
/// [`Error::WrongInput`].
pub(crate) fn check_input(
    operator: &'static str,
    position: usize,
    expected: &TensorDesc,
    actual: &TensorDesc,
) -> Result<()> {
    if expected == actual {
        return Ok(());
    }
    Err(Error::WrongInput {
        of: operator,
        position,
        expected_type: expected.element_type(),
        expected_shape: expected.shape().to_vec(),
        actual_type: actual.element_type(),
        actual_shape: actual.shape().to_vec(),
    })
}
