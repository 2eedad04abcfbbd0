//! A tensor in host memory.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Element, ElementType, TensorDesc, View, Words, check_type, memory, zeroed};
use crate::base::error::{Error, Result};
use crate::base::threads;

/// A dense tensor in host memory, in row-major order.
///
/// Elements are stored as in files and on devices: little-endian, without padding. The address of the
/// first element is a multiple of the element size. Clones share the data, which may be a memory-mapped file.
///
/// ```
/// use wgmax::{ElementType, Tensor};
///
/// let t = Tensor::from_slice([2, 3], &[1.5f32, 2.0, -0.0, 4.0, f32::NAN, 6.0])?;
/// assert_eq!((t.element_type(), t.shape()), (ElementType::F32, &[2, 3][..]));
/// assert_eq!(t.reshape([6])?.as_slice::<f32>()?[..2], [1.5, 2.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone)]
pub struct Tensor {
    desc: TensorDesc,
    data: Data,
}

#[derive(Clone)]
enum Data {
    /// Memory that this crate allocated.
    Own(Arc<dyn Memory>),
    /// Memory of the caller.
    Shared(Arc<dyn AsRef<[u8]> + Send + Sync>),
}

/// Memory that this crate has allocated. Its address is a multiple of 8.
pub(crate) trait Memory: Send + Sync {
    fn bytes(&self) -> &[u8];
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// Owned bytes whose address is a multiple of 8.
struct Aligned {
    words: Words,
    len: usize,
}

impl Aligned {
    fn zeroed(len: usize) -> Result<Self> {
        Ok(Self { words: zeroed(len.div_ceil(8))?, len })
    }
}

impl Memory for Aligned {
    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }
}

impl Tensor {
    /// A tensor with a copy of the elements' bytes, little-endian and in row-major order.
    ///
    /// # Errors
    /// [`Error::ShapeOverflow`]; [`Error::TooManyAxes`]; [`Error::WrongByteLength`];
    /// [`Error::InvalidBool`] for a `bool` that is neither 0 nor 1; [`Error::OutOfMemory`].
    pub fn from_bytes(
        element_type: ElementType,
        shape: impl Into<Vec<usize>>,
        bytes: &[u8],
    ) -> Result<Self> {
        let desc = TensorDesc::new(element_type, shape)?;
        Self::check(&desc, bytes)?;
        Self::filled(desc, |data| data.copy_from_slice(bytes))
    }

    /// A tensor that shares existing bytes, such as a memory-mapped file. The bytes are copied only
    /// if their address is not a multiple of an element's size.
    ///
    /// # Errors
    /// As [`Tensor::from_bytes`].
    pub fn from_shared(
        element_type: ElementType,
        shape: impl Into<Vec<usize>>,
        data: Arc<dyn AsRef<[u8]> + Send + Sync>,
    ) -> Result<Self> {
        let desc = TensorDesc::new(element_type, shape)?;
        let bytes = (*data).as_ref();
        if bytes.as_ptr().align_offset(element_type.size()) != 0 {
            return Self::from_bytes(element_type, desc.shape, bytes);
        }
        Self::check(&desc, bytes)?;
        Ok(Self { desc, data: Data::Shared(data) })
    }

    /// A tensor in memory of this crate.
    pub(crate) fn from_memory(desc: TensorDesc, memory: Arc<dyn Memory>) -> Result<Self> {
        Self::check(&desc, memory.bytes())?;
        Ok(Self { desc, data: Data::Own(memory) })
    }

    /// A tensor with a copy of `elements`, in row-major order.
    ///
    /// ```
    /// use wgmax::Tensor;
    /// let t = Tensor::from_slice([2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// assert_eq!(t.shape(), [2, 3]);
    /// # Ok::<(), wgmax::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ShapeOverflow`], [`Error::TooManyAxes`], [`Error::WrongByteLength`],
    /// [`Error::OutOfMemory`].
    pub fn from_slice<T: Element>(shape: impl Into<Vec<usize>>, elements: &[T]) -> Result<Self> {
        Self::from_bytes(T::TYPE, shape, bytemuck::cast_slice(elements))
    }

    /// A new tensor. `fill` writes the elements' bytes, which are zero before.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn filled(desc: TensorDesc, fill: impl FnOnce(&mut [u8])) -> Result<Self> {
        let mut data = Aligned::zeroed(desc.byte_len())?;
        fill(data.bytes_mut());
        Ok(Self { desc, data: Data::Own(Arc::new(data)) })
    }

    /// A tensor whose elements are the first bytes of `words`.
    pub(crate) fn from_words(desc: TensorDesc, words: Words) -> Result<Self> {
        let data = Aligned { words, len: desc.byte_len() };
        Self::from_memory(desc, Arc::new(data))
    }

    /// A contiguous tensor with the elements of a view of this tensor's memory. No copy is made if the
    /// view is contiguous and has all elements.
    pub(crate) fn viewed(&self, view: &View) -> Result<Self> {
        if view.is_contiguous() && view.desc().byte_len() == self.bytes().len() {
            return Ok(Self { desc: view.desc().clone(), data: self.data.clone() });
        }
        let desc = view.desc().clone();
        let (loops, item) = (view.loops(), desc.element_type().size());
        Self::filled(desc, |bytes| {
            if !bytes.is_empty() {
                loops.gather(item, self.bytes(), bytes);
            }
        })
    }

    /// A new tensor with this tensor's elements at the offsets of a view. The view covers the whole new
    /// tensor. No copy is made if the view is contiguous.
    pub(crate) fn scattered(&self, desc: &TensorDesc, view: &View) -> Result<Self> {
        let data = self.data.clone();
        if view.is_contiguous() {
            return Ok(Self { desc: desc.clone(), data });
        }
        let (loops, item) = (view.loops(), desc.element_type().size());
        Self::filled(desc.clone(), |bytes| loops.scatter(item, self.bytes(), bytes))
    }

    fn check_len(desc: &TensorDesc, bytes: &[u8]) -> Result<()> {
        let expected = desc.byte_len();
        if bytes.len() != expected {
            return Err(Error::WrongByteLength {
                element_type: desc.element_type,
                shape: desc.shape.clone(),
                expected,
                actual: bytes.len(),
            });
        }
        Ok(())
    }

    fn check(desc: &TensorDesc, bytes: &[u8]) -> Result<()> {
        Self::check_len(desc, bytes)?;
        if desc.element_type == ElementType::Bool
            && !are_bools(bytes)
            && let Some(index) = bytes.iter().position(|&b| b > 1)
        {
            return Err(Error::InvalidBool { index, byte: bytes[index] });
        }
        Ok(())
    }

    /// The type and shape.
    pub fn desc(&self) -> &TensorDesc {
        &self.desc
    }

    /// The element type.
    pub fn element_type(&self) -> ElementType {
        self.desc.element_type
    }

    /// The dimensions, outermost first; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.desc.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.desc.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.desc.is_empty()
    }

    /// The bytes of the elements: little-endian, in row-major order, without padding.
    pub fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Own(memory) => memory.bytes(),
            Data::Shared(data) => (**data).as_ref(),
        }
    }

    /// The bytes of the elements, writable. `None` if a clone shares them, if they are the caller's
    /// ([`Tensor::from_shared`]), and for `bool`, whose bytes must stay 0 or 1 (see
    /// [`Tensor::bools_as_u8`]).
    ///
    /// ```
    /// use wgmax::Tensor;
    /// let mut t = Tensor::from_slice([2], &[1u8, 2])?;
    /// t.bytes_mut().unwrap()[0] = 7;
    /// assert_eq!(t.as_slice::<u8>()?, [7, 2]);
    /// # Ok::<(), wgmax::Error>(())
    /// ```
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.data {
            Data::Own(memory) if self.desc.element_type != ElementType::Bool => {
                Some(Arc::get_mut(memory)?.bytes_mut())
            }
            _ => None,
        }
    }

    /// The elements of a tensor of `bool` as `u8`, 0 or 1, without a copy.
    ///
    /// # Errors
    /// [`Error::WrongElementType`] for any other tensor.
    pub fn bools_as_u8(self) -> Result<Self> {
        check_type("the tensor", self.desc.element_type, ElementType::Bool)?;
        let desc = TensorDesc::new(ElementType::U8, self.desc.shape)?;
        Ok(Self { desc, data: self.data })
    }

    /// The elements in row-major order, without a copy.
    ///
    /// # Errors
    /// [`Error::WrongElementType`] if `T` is not the tensor's element type.
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        check_type("the tensor", self.desc.element_type, T::TYPE)?;
        // The checked cast cannot fail: length, alignment and the values of bools were checked when
        // the tensor was created.
        Ok(bytemuck::checked::cast_slice(self.bytes()))
    }

    /// A copy of the elements in row-major order.
    ///
    /// # Errors
    /// [`Error::WrongElementType`] if `T` is not the tensor's element type, and
    /// [`Error::OutOfMemory`].
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        memory::copied(self.as_slice()?)
    }

    /// The same data with another shape of the same number of elements.
    ///
    /// # Errors
    /// [`Error::ShapeOverflow`], [`Error::TooManyAxes`], [`Error::WrongByteLength`] if the number of
    /// elements differs.
    pub fn reshape(&self, shape: impl Into<Vec<usize>>) -> Result<Self> {
        let desc = TensorDesc::new(self.desc.element_type, shape)?;
        Self::check_len(&desc, self.bytes())?;
        Ok(Self { desc, data: self.data.clone() })
    }
}

/// Whether all bytes are 0 or 1. The loop over a chunk has no early exit, which would prevent vectorisation.
fn are_bools(bytes: &[u8]) -> bool {
    let right = AtomicBool::new(true);
    threads::each(bytes.chunks(1 << 20).collect(), |chunk| {
        if chunk.iter().fold(0, |all, byte| all | byte) > 1 {
            right.store(false, Ordering::Relaxed);
        }
    });
    right.into_inner()
}

/// Tensors are equal if their types, shapes and bits are; [`compare()`](crate::compare()) says where they
/// differ.
impl PartialEq for Tensor {
    fn eq(&self, other: &Self) -> bool {
        self.desc() == other.desc() && self.bytes() == other.bytes()
    }
}

impl Eq for Tensor {}

impl<T: Element> TryFrom<&Tensor> for Vec<T> {
    type Error = Error;

    fn try_from(tensor: &Tensor) -> Result<Self> {
        tensor.to_vec()
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({})", self.desc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_aligned_bytes_and_copies_the_others() {
        let whole: Arc<Vec<u64>> = Arc::new(vec![0x0102_0304_0506_0708, 9]);
        struct From(Arc<Vec<u64>>, usize);
        impl AsRef<[u8]> for From {
            fn as_ref(&self) -> &[u8] {
                &bytemuck::cast_slice(&self.0)[self.1..self.1 + 8]
            }
        }
        let tensor = |element_type, count, first| {
            Tensor::from_shared(element_type, [count], Arc::new(From(whole.clone(), first)))
                .unwrap()
        };
        let all: &[u8] = bytemuck::cast_slice(&whole);
        for (element_type, first) in
            [(ElementType::U64, 0), (ElementType::F32, 4), (ElementType::U8, 1)]
        {
            let shared = tensor(element_type, 8 / element_type.size(), first);
            assert_eq!(shared.bytes().as_ptr(), all[first..].as_ptr());
        }
        let copied = tensor(ElementType::F16, 4, 1);
        assert_eq!(copied.bytes().as_ptr().align_offset(2), 0);
        assert_eq!(copied.bytes(), &all[1..9]);
    }

    #[test]
    fn bytes_are_written_by_their_only_owner() {
        let mut tensor = Tensor::from_slice([3], &[1u8, 2, 3]).unwrap();
        let clone = tensor.clone();
        assert!(tensor.bytes_mut().is_none());
        drop(clone);
        tensor.bytes_mut().unwrap()[1] = 9;
        assert_eq!(tensor.bytes(), [1, 9, 3]);
        let mut truth = Tensor::from_slice([2], &[true, false]).unwrap();
        assert!(truth.bytes_mut().is_none());
        let mut bytes = truth.bools_as_u8().unwrap();
        assert_eq!(bytes.as_slice::<u8>().unwrap(), [1, 0]);
        assert!(bytes.bytes_mut().is_some() && bytes.bools_as_u8().is_err());
        let words: Arc<Vec<u64>> = Arc::new(vec![1]);
        struct Bytes(Arc<Vec<u64>>);
        impl AsRef<[u8]> for Bytes {
            fn as_ref(&self) -> &[u8] {
                bytemuck::cast_slice(&self.0)
            }
        }
        let shared = Tensor::from_shared(ElementType::U64, [1], Arc::new(Bytes(words)));
        assert!(shared.unwrap().bytes_mut().is_none());
    }

    #[test]
    fn refuses_what_does_not_fit() {
        assert!(matches!(
            Tensor::from_bytes(ElementType::F32, [3], &[0; 11]),
            Err(Error::WrongByteLength { expected: 12, actual: 11, .. })
        ));
        assert!(matches!(
            Tensor::from_bytes(ElementType::Bool, [3], &[0, 1, 2]),
            Err(Error::InvalidBool { index: 2, byte: 2 })
        ));
        assert!(matches!(
            TensorDesc::new(ElementType::U8, [0, usize::MAX, 2]),
            Err(Error::ShapeOverflow { .. })
        ));
        assert_eq!(Tensor::from_slice([0, 4], &[0f32; 0]).unwrap().len(), 0);
        assert_eq!(Tensor::from_slice([], &[1i64]).unwrap().to_vec::<i64>().unwrap(), [1]);
    }
}
