//! Conversions from and to `ndarray` (feature `ndarray`).

use ndarray::{ArrayBase, ArrayD, Data, Dimension};

use super::{Element, Tensor};
use crate::error::Result;

impl Tensor {
    /// A tensor from an array of any dimension and memory layout; the elements are copied in
    /// row-major order.
    ///
    /// # Errors
    /// [`Error::ShapeOverflow`](crate::Error::ShapeOverflow).
    pub fn from_ndarray<T, S, D>(array: &ArrayBase<S, D>) -> Result<Self>
    where
        T: Element,
        S: Data<Elem = T>,
        D: Dimension,
    {
        match array.as_slice() {
            Some(elements) => Self::from_slice(array.shape(), elements),
            None => Self::from_slice(array.shape(), &array.iter().copied().collect::<Vec<T>>()),
        }
    }

    /// The tensor as an array of dynamic dimension; the elements are copied.
    ///
    /// # Errors
    /// [`Error::WrongElementType`](crate::Error::WrongElementType) if `T` is another type than the
    /// tensor's.
    pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
        let elements = self.to_vec::<T>()?;
        Ok(ArrayD::from_shape_vec(self.shape(), elements)
            .expect("as many elements as the shape has"))
    }
}
