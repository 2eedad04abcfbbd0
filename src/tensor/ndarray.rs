//! Conversions from and to `ndarray` (feature `ndarray`).

use ndarray::{ArrayBase, ArrayD, Data, Dimension};

use super::{Element, Tensor, memory};
use crate::base::error::Result;

impl Tensor {
    /// A tensor with the shape and a copy of the elements of an array of any memory layout.
    ///
    /// # Errors
    /// As [`Tensor::from_slice`].
    pub fn from_ndarray<T, S, D>(array: &ArrayBase<S, D>) -> Result<Self>
    where
        T: Element,
        S: Data<Elem = T>,
        D: Dimension,
    {
        match array.as_slice() {
            Some(elements) => Self::from_slice(array.shape(), elements),
            None => Self::from_slice(array.shape(), &memory::collected(array.iter().copied())?),
        }
    }

    /// An array of dynamic dimension with the shape and a copy of the elements.
    ///
    /// # Errors
    /// [`Error::WrongElementType`](crate::Error::WrongElementType) if `T` is not the tensor's
    /// element type.
    pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
        let elements = self.to_vec::<T>()?;
        Ok(ArrayD::from_shape_vec(self.shape(), elements)
            .expect("a tensor has as many elements as its shape"))
    }
}
