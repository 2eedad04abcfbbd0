//! SegmentMax and SegmentMin: the maximum or minimum of rows that belong together. ScatterMax and ScatterMin:
//! their updates are rows in any order.

mod argmax;
mod check_ids;
mod chunks;
mod column;
mod expand_offsets;
mod finish;
mod ids;
mod locate;
mod maxima;
mod params;
mod planner;
mod rows;
mod scatter;
mod scatter_max;
mod short;
mod tuning;

pub(crate) use ids::Ids;
pub(crate) use maxima::{run_blocks, run_elements};
pub(crate) use params::Params;
pub(crate) use planner::{plan, plan_scatter};
pub(crate) use scatter_max::Scattered;
pub use scatter_max::{ScatterBy, ScatterMax};
pub(crate) use tuning::{CPU, HARDWARE, Tuning};

use crate::base::error::{Error, Result};
use crate::plan::Kernel;
use crate::tensor::key::{Extremum, Nan};
use crate::tensor::{
    ElementType, EmptySet, Indices, Inputs, Outputs, Rules, Scalar, Tensor, TensorDesc, one_of_each,
};

/// The kernels of this module.
pub(crate) static KERNELS: [&Kernel; 7] = [
    &maxima::BLOCKS,
    &maxima::ELEMENTS,
    &scatter::SCATTER,
    &finish::FINISH,
    &expand_offsets::EXPAND_OFFSETS,
    &check_ids::CHECK_IDS,
    &locate::LOCATE,
];

/// How the second input says which rows belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub enum Segments {
    /// Ascending ids, which never decrease: one for each row, none negative.
    Sorted,
    /// An id for each row, in any order. Rows whose ids are out of range belong to no segment.
    Unsorted,
    /// Ascending offsets, one more than there are segments: segment i is the rows from offset i
    /// up to, but not including, offset i + 1. This is the CSR form of graphs. Rows before the
    /// first offset, and from the last one on, belong to no segment.
    Offsets,
}

/// The elementwise maximum of the rows of each segment, for any element type, or the minimum: see
/// [`extremum`](Self::extremum).
///
/// The first input has the shape [rows, ...]. The second input is 1-D, of an integer type (`i8` to
/// `u64`), and says which rows belong together: see [`Segments`]. The result has the shape
/// [segments, ...].
///
/// ```
/// use wgmax::operator::SegmentMax;
/// use wgmax::{Device, Run, Tensor};
///
/// let data = Tensor::from_slice([4, 2], &[1.0f32, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0])?;
/// let ids = Tensor::from_slice([4], &[0i32, 0, 2, 2])?;
/// let result = SegmentMax::sorted().run(&Device::cpu(), [&data, &ids])?;
/// assert_eq!(result[0].as_slice::<f32>()?, [2.0, 8.0, 0.0, 0.0, 4.0, 6.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default = "SegmentMax::sorted")
)]
#[must_use]
#[non_exhaustive]
pub struct SegmentMax {
    /// How the second input says which rows belong together.
    pub segments: Segments,
    /// The number of segments, if given.
    pub num_segments: Option<usize>,
    /// The result of a segment without rows.
    pub empty_segment: EmptySet,
    /// Whether the maximum or the minimum is found.
    pub extremum: Extremum,
    /// How NaN is handled.
    pub nan: Nan,
    /// A value that joins each segment, if any.
    pub initial: Option<Scalar>,
    /// How the winning rows are given, if they are a result.
    pub indices: Option<Indices>,
    /// Whether the last result is a status.
    pub status: bool,
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
            empty_segment: EmptySet::Zero,
            initial: None,
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

    /// The number of segments. Rows with ids at or above it belong to no segment, whether ids are
    /// sorted or not: the operator drops them without an error, as OpenVINO does.
    /// [`SegmentMax::status`] counts these rows, and [`SegmentMax::check_range`] refuses such ids.
    ///
    /// By default it is the largest id plus 1, which is known only for ids on the host. With
    /// offsets it must not be given: it is the number of offsets minus 1.
    pub fn num_segments(mut self, num_segments: impl Into<Option<usize>>) -> Self {
        self.num_segments = num_segments.into();
        self
    }

    /// The result of a segment without rows.
    pub fn empty_segment(mut self, empty_segment: EmptySet) -> Self {
        self.empty_segment = empty_segment;
        self
    }

    /// Selects the maximum (the default) or the minimum.
    pub fn extremum(mut self, extremum: Extremum) -> Self {
        self.extremum = extremum;
        self
    }

    /// How NaN is handled. It propagates by default.
    pub fn nan(mut self, nan: Nan) -> Self {
        self.nan = nan;
        self
    }

    /// A value that joins each segment, as one more element: the result is not below it (for minima,
    /// not above), and it is the result of a segment without rows. `None` by default. It is the `initial`
    /// of PyTorch's `segment_reduce`, and takes another pass over the results. With
    /// [`indices`](Self::indices) and for gradients it is an error.
    pub fn initial(mut self, initial: impl Into<Scalar>) -> Self {
        self.initial = Some(initial.into());
        self
    }

    /// How elements of a type are handled.
    ///
    /// # Errors
    /// As [`infer`](Self::infer).
    pub(crate) fn rules(&self, element_type: ElementType) -> Result<Rules> {
        let order = (self.nan, self.extremum);
        Rules::new(element_type, order, self.empty_segment, (self.initial, self.indices))
    }

    /// Adds a second result, of the same shape: the row that each maximum comes from, and -1 for a
    /// segment without rows. If several rows have the maximum, the index is that of the first. +0 and -0
    /// are then equal, and a maximum has the bits of the element in its row. So a zero may have another
    /// sign than without indices, where +0 is above -0.
    pub fn indices(mut self, indices: impl Into<Option<Indices>>) -> Self {
        self.indices = indices.into();
        self
    }

    /// Adds a last result, two `u32`.
    ///
    /// The first reports what is wrong with the ids or offsets: 0, or the sum of
    /// [`SegmentMax::UNSORTED`], [`SegmentMax::NEGATIVE`] and [`SegmentMax::TOO_LARGE`]. For
    /// ids in any order it is always 0. The second is the number of dropped rows: rows whose ids are
    /// out of range, or that are outside all offsets.
    ///
    /// [`Run`](crate::Run) checks ids on the host before anything runs. Ids on a device are not
    /// checked, because the host would have to wait for them. No kernel reads or writes out of
    /// bounds, whatever the ids; but if the first number is not 0, the other results are
    /// unspecified.
    pub fn status(mut self, status: bool) -> Self {
        self.status = status;
        self
    }

    /// The types and shapes of the results: the maxima, of the data's type, and then the indices
    /// and the status, if any. The inputs are the [`TensorDesc`]s of the data and of the
    /// ids or offsets.
    ///
    /// # Errors
    /// [`Error::InputCount`]; [`Error::SegmentDataRank`] for scalar data, [`Error::SegmentIdsRank`] and
    /// [`Error::WrongElementType`] for a second input that is not 1-D of an integer type,
    /// [`Error::SegmentIdsLength`] if the number of ids differs from the number of rows or there are no
    /// offsets, [`Error::BadAttribute`] for a number of segments beside offsets or for indices of an
    /// unsupported type or numbering, [`Error::InitialWithIndices`], [`Error::InitialOutOfRange`],
    /// [`Error::SegmentCountUnknown`] if none is given for ids,
    /// [`Error::IndexTooLarge`], [`Error::ShapeOverflow`].
    pub fn infer<'a>(&self, inputs: impl Inputs<&'a TensorDesc>) -> Result<Outputs<TensorDesc>> {
        let [data, ids] = one_of_each(self.name(), &inputs.into_inputs())?;
        self.rules(data.element_type())?;
        let segments = self.count(data, ids)?.ok_or(Error::SegmentCountUnknown)?;
        let mut shape = data.shape().to_vec();
        shape[0] = segments;
        let values = TensorDesc::new(data.element_type(), &shape[..])?;
        let indices = self.indices.map(|indices| {
            indices.check_type(data.shape()[0] as u64)?;
            TensorDesc::new(indices.element_type, shape)
        });
        let status = self.status.then(|| TensorDesc::new(ElementType::U32, [2]));
        Ok(Outputs::new(Some(values), indices.transpose()?, status.transpose()?))
    }

    /// As [`Operator::name`](crate::operator::Operator::name).
    pub(crate) fn name(&self) -> &'static str {
        self.extremum.name_of("SegmentMax", "SegmentMin")
    }

    /// The number of segments, if it is given or the shapes imply it.
    fn count(&self, data: &TensorDesc, ids: &TensorDesc) -> Result<Option<usize>> {
        if data.rank() == 0 {
            return Err(Error::SegmentDataRank);
        }
        let what = self.what();
        if !ids.element_type().is_integer() {
            let expected = "an integer type".to_string();
            return Err(Error::WrongElementType { what, expected, actual: ids.element_type() });
        }
        if ids.rank() != 1 {
            return Err(Error::SegmentIdsRank { what, rank: ids.rank() });
        }
        if let Some(indices) = self.indices {
            indices.check_type(0)?;
            indices.check_natural()?;
            indices.check_first()?;
        }
        let (rows, length) = (data.shape()[0], ids.shape()[0]);
        if self.segments == Segments::Offsets {
            if let Some(given) = self.num_segments {
                let (attribute, expected) = ("num_segments", "absent if there are offsets");
                return Err(Error::BadAttribute { attribute, expected, value: given.to_string() });
            }
            return match length.checked_sub(1) {
                Some(segments) => Ok(Some(segments)),
                None => Err(Error::SegmentIdsLength { what, length, rows: 1 }),
            };
        }
        if length != rows {
            return Err(Error::SegmentIdsLength { what, length, rows });
        }
        Ok(self.num_segments)
    }

    fn what(&self) -> &'static str {
        match self.segments {
            Segments::Offsets => "offsets",
            _ => "segment_ids",
        }
    }

    /// Refuses ids on the host that are not below the number of segments, if it is given; the
    /// operator itself drops such rows. With [`Segments::Unsorted`], a negative id is valid: its
    /// row has no segment. With [`Segments::Sorted`], this assumes that ids ascend: see
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
            Segments::Sorted => values
                .len()
                .checked_sub(1)
                .filter(|&at| i128::from(values.at(at)) >= segments as i128),
            _ => values.find(|id| id >= segments as i128),
        };
        found.map_or(Ok(()), |position| {
            let (what, value) = (self.what(), values.exact(position));
            Err(Error::SegmentOutOfRange { what, position, value, segments })
        })
    }

    /// Checks ids or offsets on the host, and returns the operator with its number of segments.
    ///
    /// Ids at or above a given number of segments, and negative ids with [`Segments::Unsorted`], are
    /// not errors: see [`SegmentMax::num_segments`].
    ///
    /// # Errors
    /// As [`SegmentMax::infer`], except for an unknown number of segments; [`Error::UnsortedSegments`]
    /// and [`Error::NegativeSegment`] for ascending ids and for offsets, [`Error::OffsetTooLarge`] for
    /// an offset above the number of rows, [`Error::SegmentTooLarge`] for an id that would need more
    /// segments than are possible.
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
            Some((_, value)) => Ok(self.clone().num_segments((value.max(-1) + 1) as usize)),
            None => Ok(self.clone().num_segments(0)),
        }
    }
}
