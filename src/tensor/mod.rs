//! Tensors on the host: element types, shapes, data, and order-preserving keys.

mod attributes;
pub(crate) mod axes;
pub(crate) mod compare;
pub(crate) mod element;
mod host;
mod host_view;
pub(crate) mod key;
pub(crate) mod memory;
#[cfg(feature = "ndarray")]
mod ndarray;
mod outputs;
mod scalar;
mod strided;
pub(crate) mod view;

pub use crate::base::element_type::ElementType;
pub(crate) use attributes::Rules;
pub use attributes::{EmptySet, Indices, Numbering};
pub use element::Element;
#[cfg(feature = "cpu")]
pub(crate) use host::Memory as HostMemory;
pub use host::Tensor;
pub use host_view::TensorView;
pub use memory::{Words, zeroed};
pub use outputs::{Inputs, Outputs};
pub(crate) use outputs::{Names, check_input, one_of_each};
pub use scalar::Scalar;
pub use view::View;

use crate::base::error::{Error, Result};

/// The type and shape of a tensor, without its data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(try_from = "Described")
)]
pub struct TensorDesc {
    element_type: ElementType,
    shape: Vec<usize>,
}

impl TensorDesc {
    /// The maximum number of axes, as in NumPy and PyTorch. It bounds work that depends on the
    /// number of axes.
    pub const MAX_RANK: usize = 64;

    /// The description of a tensor. An empty shape is that of a scalar.
    ///
    /// # Errors
    /// [`Error::ShapeOverflow`] if the size in bytes does not fit `isize`, and
    /// [`Error::TooManyAxes`].
    pub fn new(element_type: ElementType, shape: impl Into<Vec<usize>>) -> Result<Self> {
        let shape = shape.into();
        if shape.len() > Self::MAX_RANK {
            return Err(Error::TooManyAxes { rank: shape.len(), max: Self::MAX_RANK });
        }
        // Dimensions of 0 are skipped: the product of the others must not overflow either,
        // because strides are computed from it.
        let fits = shape
            .iter()
            .filter(|&&d| d != 0)
            .try_fold(element_type.size(), |n, &d| n.checked_mul(d))
            .is_some_and(|n| isize::try_from(n).is_ok());
        if fits {
            Ok(Self { element_type, shape })
        } else {
            Err(Error::ShapeOverflow { element_type, shape })
        }
    }

    /// The element type.
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// The dimensions, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements: 1 for a scalar, 0 if any dimension is 0.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The size of the elements in bytes, without padding.
    pub fn byte_len(&self) -> usize {
        self.len() * self.element_type.size()
    }

    /// The size of the elements in bytes, rounded up to whole words of four bytes. A wgpu buffer
    /// for the tensor, and copies of it, have this size.
    pub fn padded_byte_len(&self) -> u64 {
        (self.byte_len() as u64).next_multiple_of(4)
    }
}

/// Checks the element type of something that `what` names.
///
/// # Errors
/// [`Error::WrongElementType`].
fn check_type(what: &'static str, actual: ElementType, expected: ElementType) -> Result<()> {
    if actual == expected {
        return Ok(());
    }
    Err(Error::WrongElementType { what, expected: expected.to_string(), actual })
}

/// A [`TensorDesc`] that is not checked yet.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Described {
    element_type: ElementType,
    shape: Vec<usize>,
}

#[cfg(feature = "serde")]
impl TryFrom<Described> for TensorDesc {
    type Error = Error;

    fn try_from(Described { element_type, shape }: Described) -> Result<Self> {
        Self::new(element_type, shape)
    }
}

impl std::fmt::Display for TensorDesc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{:?}", self.element_type, self.shape)
    }
}
