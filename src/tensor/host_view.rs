//! Views of tensors in host memory.

use std::fmt;
use std::ops::Range;

use super::{Tensor, TensorDesc, View};
#[expect(unused_imports, reason = "named in documentation")]
use crate::base::error::Error;
use crate::base::error::Result;

/// A view of a tensor in host memory. Its elements need not be contiguous: it may be an array in
/// Fortran order, or a part of a larger array. Nothing is copied.
///
/// ```
/// use wgmax::operator::ReduceMax;
/// use wgmax::{Device, Run, Tensor, TensorView};
///
/// // Every second column.
/// let matrix = Tensor::from_slice([2, 4], &[1i16, 9, 3, 9, 4, 9, 2, 9])?;
/// let columns = TensorView::from(&matrix).step_by(1, 2)?;
/// let found = ReduceMax::new().axes([1]).run(&Device::cpu(), &columns)?;
/// assert_eq!(found[0].as_slice::<i16>()?, [3, 4]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone)]
pub struct TensorView {
    memory: Tensor,
    view: View,
}

impl TensorView {
    /// A view of a tensor's memory.
    ///
    /// # Errors
    /// [`Error::WrongElementType`], and [`Error::BadView`] if the view reaches beyond the tensor.
    pub fn new(memory: &Tensor, view: impl Into<View>) -> Result<Self> {
        let view = view.into();
        view.check_within(memory.element_type(), memory.bytes().len())?;
        Ok(Self { memory: memory.clone(), view })
    }

    /// The type and shape.
    pub fn desc(&self) -> &TensorDesc {
        self.view.desc()
    }

    /// The layout of the elements.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The tensor that this is a view of.
    pub fn memory(&self) -> &Tensor {
        &self.memory
    }

    /// As [`View::slice`].
    ///
    /// # Errors
    /// As [`View::slice`].
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        self.with(self.view.slice(axis, range)?)
    }

    /// As [`View::step_by`].
    ///
    /// # Errors
    /// As [`View::step_by`].
    pub fn step_by(&self, axis: usize, step: isize) -> Result<Self> {
        self.with(self.view.step_by(axis, step)?)
    }

    /// As [`View::permute`].
    ///
    /// # Errors
    /// As [`View::permute`].
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        self.with(self.view.permute(axes)?)
    }

    fn with(&self, view: View) -> Result<Self> {
        Self::new(&self.memory, view)
    }

    /// The elements as a contiguous tensor: a copy, unless the view is contiguous.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_tensor(&self) -> Result<Tensor> {
        self.memory.viewed(&self.view)
    }
}

impl From<Tensor> for TensorView {
    fn from(memory: Tensor) -> Self {
        Self { view: memory.desc().into(), memory }
    }
}

impl From<&Tensor> for TensorView {
    fn from(memory: &Tensor) -> Self {
        memory.clone().into()
    }
}

impl fmt::Debug for TensorView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TensorView({})", self.view)
    }
}
