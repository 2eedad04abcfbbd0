//! Attributes that several operators have.

use super::key::{Extremum, Key, KeyOrder, Nan, Ranking, finite_bits, infinite_bits, with_order};
use super::{ElementType, Scalar};
use crate::base::error::{Error, Result};

/// The result of a set, window or segment without elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub enum EmptySet {
    /// The value that changes no maximum: minus infinity for floats, the smallest value of an integer
    /// type (0 for an unsigned one), false for `bool`. For minima: plus infinity, the largest value,
    /// true. ONNX's rule.
    #[default]
    Identity,
    /// As [`EmptySet::Identity`], but *finite* for floats: -3.4028235e38 for the maximum of `f32`,
    /// 65504 for the minimum of `f16`. The rule of oneDNN Graph, and OpenVINO's for sets and windows.
    Finite,
    /// 0; false for `bool`. OpenVINO's rule for segments.
    Zero,
}

impl EmptySet {
    /// The bits of the element.
    pub(crate) fn bits(self, element_type: ElementType, extremum: Extremum) -> u64 {
        match self {
            Self::Identity => infinite_bits(element_type, extremum),
            Self::Finite => finite_bits(element_type, extremum),
            Self::Zero => 0,
        }
    }
}

/// How an operator handles elements, for one element type.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub ranking: Ranking,
    /// The bits of the initial value, if there is one.
    pub initial: Option<u64>,
    /// The bits of the result of a set without elements.
    pub empty: u64,
}

impl Rules {
    /// # Errors
    /// [`Error::InitialOutOfRange`]; [`Error::InitialWithIndices`].
    pub(crate) fn new(
        element_type: ElementType,
        (nan, extremum): (Nan, Extremum),
        empty: EmptySet,
        (initial, indices): (Option<Scalar>, Option<Indices>),
    ) -> Result<Self> {
        let ranking = Ranking::new(element_type, nan, extremum);
        let Some(initial) = initial else {
            let empty = empty.bits(element_type, extremum);
            return Ok(Self { ranking, initial: None, empty });
        };
        if indices.is_some() {
            return Err(Error::InitialWithIndices { value: initial.to_string() });
        }
        let bits = initial.bits(element_type)?;
        // Makes a NaN canonical, as all NaNs of results are.
        let empty = with_order!(element_type, ranking, order => order.bits(order.key(Key::narrow(bits))).wide());
        Ok(Self { ranking, initial: Some(bits), empty })
    }
}

/// How an operator gives the positions of maxima, its second result. +0 and -0 are equal, and so are
/// all NaNs.
///
/// Made by [`Indices::new`], or from an element type: operators also take `ElementType::I32`.
///
/// ```
/// use wgmax::ElementType;
/// use wgmax::operator::{Indices, MaxPool, ReduceMax};
///
/// let last = ReduceMax::new().axes([1]).indices(Indices::new(ElementType::I32).last(true));
/// assert!(last.indices.is_some_and(|indices| indices.last));
/// let pool = MaxPool::new([2, 2]).indices(ElementType::I64);
/// assert_eq!(pool.indices, Some(Indices::default()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(default))]
#[must_use]
#[non_exhaustive]
pub struct Indices {
    /// Their type: `i32` or `i64`.
    pub element_type: ElementType,
    /// Selects the last of equal elements, not the first. Only ReduceMax and ArgMax can.
    pub last: bool,
    /// What the indices count.
    pub numbering: Numbering,
}

/// What indices count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub enum Numbering {
    /// ReduceMax: the elements of the reduced axes, in row-major order. MaxPool: the elements of the
    /// input, in row-major order. SegmentMax: rows. ScatterMax: updates along the axis, or vectors of
    /// indices.
    #[default]
    Natural,
    /// MaxPool: the elements of the sub-tensor of the axes from this one on, in row-major order;
    /// 0 for the whole tensor. A negative axis counts from the back.
    FromAxis(i64),
    /// MaxPool: the elements of the input, with the first spatial axis the fastest; batch
    /// and channels stay outermost. ONNX `storage_order` 1.
    ColumnMajor,
}

impl Indices {
    /// Indices of this type, `i32` or `i64`: the first of equal elements, [`Numbering::Natural`].
    pub fn new(element_type: ElementType) -> Self {
        Self { element_type, last: false, numbering: Numbering::Natural }
    }

    /// Selects the last of equal elements, not the first. Only ReduceMax and ArgMax can.
    pub fn last(mut self, last: bool) -> Self {
        self.last = last;
        self
    }

    /// Selects what they count.
    pub fn numbering(mut self, numbering: Numbering) -> Self {
        self.numbering = numbering;
        self
    }

    /// The first axis that they count.
    pub(crate) fn axis(self) -> i64 {
        match self.numbering {
            Numbering::FromAxis(axis) => axis,
            _ => 0,
        }
    }

    pub(crate) fn is_column_major(self) -> bool {
        self.numbering == Numbering::ColumnMajor
    }

    /// Refuses other types than `i32` and `i64`, and `i32` if it cannot number all elements.
    ///
    /// # Errors
    /// [`Error::BadAttribute`], [`Error::IndexTooLarge`].
    pub(crate) fn check_type(self, elements: u64) -> Result<()> {
        match self.element_type {
            ElementType::I64 => Ok(()),
            ElementType::I32 if elements <= i32::MAX as u64 => Ok(()),
            ElementType::I32 => Err(Error::IndexTooLarge { elements }),
            other => Err(bad("i32 or i64", other.to_string())),
        }
    }

    /// Refuses all numberings except the natural one.
    ///
    /// # Errors
    /// [`Error::BadAttribute`].
    pub(crate) fn check_natural(self) -> Result<()> {
        match self.numbering {
            Numbering::Natural => Ok(()),
            other => Err(bad("natural numbering", format!("{other:?}"))),
        }
    }

    /// Refuses the last of equal elements.
    ///
    /// # Errors
    /// [`Error::BadAttribute`].
    pub(crate) fn check_first(self) -> Result<()> {
        if self.last { Err(bad("the first of equal elements", "the last".into())) } else { Ok(()) }
    }
}

fn bad(expected: &'static str, value: String) -> Error {
    Error::BadAttribute { attribute: "indices", expected, value }
}

impl Default for Indices {
    /// `i64`, the first of equal elements, [`Numbering::Natural`].
    fn default() -> Self {
        Self::new(ElementType::I64)
    }
}

impl From<ElementType> for Indices {
    fn from(element_type: ElementType) -> Self {
        Self::new(element_type)
    }
}

impl From<ElementType> for Option<Indices> {
    fn from(element_type: ElementType) -> Self {
        Some(Indices::new(element_type))
    }
}
