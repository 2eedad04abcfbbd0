//! SegmentMax and SegmentMin: the maximum or minimum of rows that belong together.

mod argmax;
mod check_ids;
mod chunks;
mod column;
mod expand_offsets;
mod finish;
mod ids;
mod maxima;
mod params;
mod planner;
mod rows;
mod scatter;
mod short;
mod tuning;

pub(crate) use ids::Ids;
pub(crate) use maxima::{run_blocks, run_elements};
pub(crate) use params::Params;
pub(crate) use planner::plan;
pub(crate) use tuning::{CPU, HARDWARE, Tuning};

use std::fmt::Display;

use crate::base::error::{Error, Result};
use crate::plan::Kernel;
use crate::tensor::key::{Extremum, Nan, finite_bits, infinite_bits};
use crate::tensor::{ElementType, Tensor, TensorDesc};

/// The kernels of this module.
pub(crate) static KERNELS: [&Kernel; 6] = [
    &maxima::BLOCKS,
    &maxima::ELEMENTS,
    &scatter::SCATTER,
    &finish::FINISH,
    &expand_offsets::EXPAND_OFFSETS,
    &check_ids::CHECK_IDS,
];

/// How the second input says which rows belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segments {
    /// An id for each row, in ascending order, none of them negative.
    Sorted,
    /// An id for each row, in any order. Rows whose id is negative, or not below the number of
    /// segments, belong to no segment.
    Unsorted,
    /// Ascending offsets, one more than there are segments: segment i is the rows from offset i
    /// up to, but not including, offset i + 1. This is the CSR form of graphs. Rows before the
    /// first offset, and from the last one on, belong to no segment.
    Offsets,
}

/// The result of a segment without rows. For minima, the last two are the largest finite value and
/// plus infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EmptySegment {
    /// 0; false for `bool`.
    Zero,
    /// The smallest *finite* value: -3.4028235e38 for `f32`, MIN for integers, false for `bool`.
    Lowest,
    /// Minus infinity; integers and `bool` as [`EmptySegment::Lowest`].
    NegativeInfinity,
}

/// The maximum of each segment of the rows of a tensor of any element type; or the minimum, by
/// [`extremum`](Self::extremum).
///
/// The first input has the shape [rows, ...]. The second input is 1-D, of an integer type (`i8` to
/// `u64`), and says which rows belong together: see [`Segments`]. The result has the shape
/// [segments, ...].
///
/// ```
/// use wgmax::operator::SegmentMax;
/// use wgmax::{Device, Tensor};
///
/// let data = Tensor::from_slice([4, 2], &[1.0f32, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0])?;
/// let ids = Tensor::from_slice([4], &[0i32, 0, 2, 2])?;
/// let result = SegmentMax::sorted().run(&Device::cpu(), &data, &ids)?;
/// assert_eq!(result[0].as_slice::<f32>()?, [2.0, 8.0, 0.0, 0.0, 4.0, 6.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SegmentMax {
    segments: Segments,
    num_segments: Option<i64>,
    empty_segment: EmptySegment,
    extremum: Extremum,
    nan: Nan,
    indices: Option<ElementType>,
    status: bool,
}

impl SegmentMax {
    /// In the status: an id or an offset is below the one before it.
    pub const UNSORTED: u32 = 1;
    /// In the status: an id or an offset is negative.
    pub const NEGATIVE: u32 = 2;
    /// In the status: an offset is above the number of rows.
    pub const TOO_LARGE: u32 = 4;

    fn new(segments: Segments) -> Self {
        Self {
            segments,
            num_segments: None,
            empty_segment: EmptySegment::Zero,
            extremum: Extremum::Maximum,
            nan: Nan::Propagate,
            indices: None,
            status: false,
        }
    }

    /// Ids that ascend ([`Segments::Sorted`]). A segment without rows gives 0, and NaN propagates.
    pub fn sorted() -> Self {
        Self::new(Segments::Sorted)
    }

    /// Ids in any order ([`Segments::Unsorted`]). Otherwise as [`SegmentMax::sorted`].
    pub fn unsorted() -> Self {
        Self::new(Segments::Unsorted)
    }

    /// Offsets instead of ids ([`Segments::Offsets`]). Otherwise as [`SegmentMax::sorted`].
    pub fn offsets() -> Self {
        Self::new(Segments::Offsets)
    }

    /// The number of segments. Rows whose id is not below it belong to no segment, whether ids are
    /// sorted or not: [`SegmentMax::run`] leaves them out without an error, as OpenVINO does.
    /// [`SegmentMax::status`] counts them, and [`SegmentMax::check_range`] refuses such ids.
    ///
    /// If it is not given, it is the largest id plus 1, which is known only for ids on the host.
    /// It must not be given with offsets, whose number implies it.
    pub fn num_segments(mut self, num_segments: impl Into<Option<i64>>) -> Self {
        self.num_segments = num_segments.into();
        self
    }

    /// What a segment without rows gives.
    pub fn empty_segment(mut self, empty_segment: EmptySegment) -> Self {
        self.empty_segment = empty_segment;
        self
    }

    /// Selects the maximum (the default) or the minimum. The maximum by default.
    pub fn extremum(mut self, extremum: Extremum) -> Self {
        self.extremum = extremum;
        self
    }

    /// How NaN is handled. It propagates by default.
    pub fn nan(mut self, nan: Nan) -> Self {
        self.nan = nan;
        self
    }

    /// Adds a second result, of the same shape and of this type, `i32` or `i64`: the row that each
    /// maximum comes from, and -1 for a segment without rows. Of rows with equal maxima it is the
    /// first; +0 and -0 are equal, and so are all NaNs. A maximum has the bits of the element in its
    /// row; so a zero may have another sign than without indices, where +0 is above -0.
    pub fn indices(mut self, element_type: impl Into<Option<ElementType>>) -> Self {
        self.indices = element_type.into();
        self
    }

    /// Adds a last result, two `u32`.
    ///
    /// The first one says what is wrong with the ids or offsets: 0, or the sum of
    /// [`SegmentMax::UNSORTED`], [`SegmentMax::NEGATIVE`] and [`SegmentMax::TOO_LARGE`]. It is
    /// always 0 for ids in any order. The second one is the number of dropped rows: those whose
    /// ids are out of range, or that are outside of all offsets.
    ///
    /// [`SegmentMax::run`] checks ids on the host before anything runs. Ids that are on a device
    /// already are not checked, because the host would have to wait for them. Whatever they are,
    /// nothing is read or written out of bounds; but if something is wrong with them, the other
    /// results are unspecified.
    pub fn status(mut self, status: bool) -> Self {
        self.status = status;
        self
    }

    /// How the second input says which rows belong together.
    pub fn get_segments(&self) -> Segments {
        self.segments
    }

    /// The number of segments, if it was given.
    pub fn get_num_segments(&self) -> Option<i64> {
        self.num_segments
    }

    /// What a segment without rows gives.
    pub fn get_empty_segment(&self) -> EmptySegment {
        self.empty_segment
    }

    /// Selects the maximum (the default) or the minimum.
    pub fn get_extremum(&self) -> Extremum {
        self.extremum
    }

    /// How NaN is handled.
    pub fn get_nan(&self) -> Nan {
        self.nan
    }

    /// The type of the second result, if there is one.
    pub fn get_indices(&self) -> Option<ElementType> {
        self.indices
    }

    /// Whether the last result is a status.
    pub fn get_status(&self) -> bool {
        self.status
    }

    /// The types and shapes of the results: the maxima, of the data's type, and then the indices
    /// and the status, if they are wanted.
    ///
    /// # Errors
    /// [`Error::SegmentDataRank`] for scalar data, [`Error::SegmentIdsRank`] and
    /// [`Error::WrongElementType`] for a second input that is not 1-D of an integer type,
    /// [`Error::SegmentIdsLength`] if the number of ids differs from the number of rows or there are no offsets,
    /// [`Error::BadAttribute`] for a negative number of segments, one given beside offsets, or
    /// another index type, [`Error::SegmentCountUnknown`] if none is given for ids,
    /// [`Error::IndexTooLarge`], [`Error::ShapeOverflow`].
    pub fn infer(&self, data: &TensorDesc, ids: &TensorDesc) -> Result<Vec<TensorDesc>> {
        let segments = self.count(data, ids)?.ok_or(Error::SegmentCountUnknown)?;
        let mut shape = data.shape().to_vec();
        shape[0] = segments;
        let mut outputs = vec![TensorDesc::new(data.element_type(), shape.clone())?];
        if let Some(element_type) = self.indices {
            if element_type == ElementType::I32 && data.shape()[0] > i32::MAX as usize {
                return Err(Error::IndexTooLarge { elements: data.shape()[0] as u64 });
            }
            outputs.push(TensorDesc::new(element_type, shape)?);
        }
        if self.status {
            outputs.push(TensorDesc::new(ElementType::U32, [2])?);
        }
        Ok(outputs)
    }

    /// The number of segments, if it is given or the shapes imply it.
    fn count(&self, data: &TensorDesc, ids: &TensorDesc) -> Result<Option<usize>> {
        if data.rank() == 0 {
            return Err(Error::SegmentDataRank);
        }
        let what = self.what();
        let bad = |attribute, expected, value: &dyn Display| {
            Err(Error::BadAttribute { attribute, expected, value: value.to_string() })
        };
        if !ids.element_type().is_integer() {
            let expected = "an integer type".to_string();
            return Err(Error::WrongElementType { what, expected, actual: ids.element_type() });
        }
        if ids.rank() != 1 {
            return Err(Error::SegmentIdsRank { what, rank: ids.rank() });
        }
        if let Some(actual) = self.indices
            && !matches!(actual, ElementType::I32 | ElementType::I64)
        {
            return bad("indices", "i32 or i64", &actual);
        }
        let (rows, length) = (data.shape()[0], ids.shape()[0]);
        if self.segments == Segments::Offsets {
            if let Some(given) = self.num_segments {
                return bad("num_segments", "absent where offsets tell it", &given);
            }
            return match length.checked_sub(1) {
                Some(segments) => Ok(Some(segments)),
                None => Err(Error::SegmentIdsLength { what, length, rows: 1 }),
            };
        }
        if length != rows {
            return Err(Error::SegmentIdsLength { what, length, rows });
        }
        match self.num_segments.map(|given| (given, usize::try_from(given))) {
            Some((given, Err(_))) => bad("num_segments", "0 or more", &given),
            given => Ok(given.and_then(|(_, count)| count.ok())),
        }
    }

    /// The bits of what a segment without rows gives.
    pub(crate) fn empty_bits(&self, element_type: ElementType) -> u64 {
        match self.empty_segment {
            EmptySegment::Zero => 0,
            EmptySegment::Lowest => finite_bits(element_type, self.extremum),
            EmptySegment::NegativeInfinity => infinite_bits(element_type, self.extremum),
        }
    }

    fn what(&self) -> &'static str {
        match self.segments {
            Segments::Offsets => "offsets",
            _ => "segment_ids",
        }
    }

    /// Refuses ids on the host that are not below the number of segments, if that is given: the
    /// operator leaves their rows out. A negative id of [`Segments::Unsorted`] says that a row has no
    /// segment, and is right. Ids of [`Segments::Sorted`] are taken to ascend: see
    /// [`SegmentMax::checked`].
    ///
    /// # Errors
    /// As [`SegmentMax::infer`], except for an unknown number of segments;
    /// [`Error::SegmentOutOfRange`].
    pub fn check_range(&self, data: &TensorDesc, ids: &Tensor) -> Result<()> {
        self.count(data, ids.desc())?;
        let Some(segments) = self.num_segments else { return Ok(()) };
        let values = Ids::of(ids)?;
        let found = match self.segments {
            Segments::Sorted => values.len().checked_sub(1).filter(|&at| values.at(at) >= segments),
            _ => values.find(|id| id >= i128::from(segments)),
        };
        found.map_or(Ok(()), |position| {
            let (what, value) = (self.what(), values.exact(position));
            Err(Error::SegmentOutOfRange { what, position, value, segments })
        })
    }

    /// Checks ids or offsets on the host. Gives the operator with its number of segments.
    ///
    /// An id that is not below a given number of segments is no error, nor is a negative one in any
    /// order: see [`SegmentMax::num_segments`] and [`Segments::Unsorted`].
    ///
    /// # Errors
    /// As [`SegmentMax::infer`], except for an unknown number of segments;
    /// [`Error::UnsortedSegments`] and [`Error::NegativeSegment`] for ids in order and for
    /// offsets, [`Error::OffsetTooLarge`] for an offset above the number of rows,
    /// [`Error::SegmentTooLarge`] for an id that would need more segments than there can be.
    pub fn checked(&self, data: &TensorDesc, ids: &Tensor) -> Result<Self> {
        let known = self.count(data, ids.desc())?;
        let values = Ids::of(ids)?;
        let what = self.what();
        if self.segments != Segments::Unsorted
            && let Some(position) = values.first_wrong()
        {
            let value = values.exact(position);
            return Err(match value < 0 {
                true => Error::NegativeSegment { what, position, value },
                false => {
                    let previous = values.exact(position - 1);
                    Error::UnsortedSegments { what, position, value, previous }
                }
            });
        }
        if self.segments == Segments::Offsets {
            let position = values.len() - 1;
            let (value, rows) = (values.exact(position), data.shape()[0]);
            return match value > rows as i128 {
                true => Err(Error::OffsetTooLarge { position, value, rows }),
                false => Ok(self.clone()),
            };
        }
        if known.is_some() {
            return Ok(self.clone());
        }
        let mut all = values.iter().enumerate();
        let largest = match self.segments {
            Segments::Sorted => all.next_back(),
            _ => all.max_by_key(|&(_, id)| id),
        };
        match largest {
            // Segments are numbered in 31 bits.
            Some((position, value)) if value >= i64::from(i32::MAX) => {
                let value = values.exact(position);
                Err(Error::SegmentTooLarge { what, position, value })
            }
            Some((_, value)) => Ok(self.clone().num_segments(value.max(-1) + 1)),
            None => Ok(self.clone().num_segments(0)),
        }
    }
}
