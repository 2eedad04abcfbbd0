//! ScatterMax and ScatterMin: data, and updates whose indices name its elements.

use super::Ids;
use crate::base::error::{Error, Result};
use crate::plan::Axis;
use crate::tensor::axes::{self, Duplicates};
use crate::tensor::key::{Extremum, Nan};
use crate::tensor::{
    ElementType, Indices, Inputs, Outputs, Tensor, TensorDesc, check_input, memory, one_of_each,
};

/// What the indices of a [`ScatterMax`] name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub enum ScatterBy {
    /// An index for each update: the place of its element along this axis; a negative axis counts from
    /// the back. Along the other axes, the element has the place of the update. Indices and updates
    /// have the same shape, of the rank of the data, and are no larger than the data along the other
    /// axes. This is ONNX's ScatterElements.
    Axis(i64),
    /// The last axis of the indices has vectors: places along the first axes of the data. A vector
    /// names an element or, if it is shorter than the data's rank, a part of the data. The shape of
    /// the updates is that of the indices without the last axis, followed by that of a part. If
    /// this shape of the updates has rank 0, any shape of one element will do. This is ONNX's ScatterND.
    Vectors,
}

/// For each element of a tensor, the maximum of itself and of all updates that go to it, or the
/// minimum: see [`extremum`](Self::extremum). All element types.
///
/// The inputs are the data, the indices, of an integer type (`i8` to `u64`), and the updates, of the
/// data's type. An index counts from 0 or, if it is negative, back from the end of its axis. Several
/// updates may name one element: their order does not matter. An element without updates keeps its
/// bits. The result has the shape of the data. See [`ScatterBy`].
///
/// For tensors on the host, an index that names no element is an error ([`Error::IndexOutOfRange`]).
/// Indices on a device are not checked: an update with such an index is dropped, and a
/// [`status`](Self::status()) counts it.
///
/// ```
/// use wgmax::operator::ScatterMax;
/// use wgmax::{Device, Run, Tensor};
///
/// let data = Tensor::from_slice([4], &[1.0f32, 2.0, 3.0, 4.0])?;
/// let indices = Tensor::from_slice([3], &[0i64, -1, 0])?;
/// let updates = Tensor::from_slice([3], &[5.0f32, 0.5, 7.0])?;
/// let scatter = ScatterMax::along(0);
/// let found = scatter.run(&Device::cpu(), [&data, &indices, &updates])?;
/// assert_eq!(found[0].as_slice::<f32>()?, [7.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default = "ScatterMax::by_vectors")
)]
#[must_use]
#[non_exhaustive]
pub struct ScatterMax {
    /// What an index names.
    pub by: ScatterBy,
    /// Whether an element of the data takes part in the maximum if it has updates.
    pub include_data: bool,
    /// Whether the maximum or the minimum is found.
    pub extremum: Extremum,
    /// How NaN is handled.
    pub nan: Nan,
    /// How the winning updates are given, if they are a result.
    pub indices: Option<Indices>,
    /// Whether the last result is a status.
    pub status: bool,
}

/// A ScatterMax for its inputs: rows of updates, each with a part of the data.
#[derive(Debug)]
pub(crate) struct Scattered {
    /// Rows of updates, and elements of a row, as many as a part of the data has.
    pub rows: u64,
    pub inner: u64,
    /// Parts of the data.
    pub parts: u64,
    /// The axes along which rows have places of their own in the data, the outermost first.
    pub axes: Vec<Axis>,
    /// The axes of the data for which a row has indices.
    pub indexed: Vec<Axis>,
    /// How winners are numbered: `pitch` consecutive rows have the same position, and there are
    /// `size` positions.
    pub positions: Axis,
}

impl ScatterMax {
    /// In the status: an index names no element.
    pub const OUT_OF_RANGE: u32 = 1;

    fn new(by: ScatterBy) -> Self {
        let (extremum, nan) = (Extremum::Maximum, Nan::Propagate);
        Self { by, include_data: true, extremum, nan, indices: None, status: false }
    }

    /// Indices along an axis ([`ScatterBy::Axis`]). The data takes part, and NaN propagates.
    pub fn along(axis: i64) -> Self {
        Self::new(ScatterBy::Axis(axis))
    }

    /// Vectors of indices ([`ScatterBy::Vectors`]). Otherwise as [`ScatterMax::along`].
    pub fn by_vectors() -> Self {
        Self::new(ScatterBy::Vectors)
    }

    /// Whether an element of the data that has updates takes part in the maximum (the default). If
    /// not, the result is the maximum of its updates. An element without updates is kept either way.
    pub fn include_data(mut self, include_data: bool) -> Self {
        self.include_data = include_data;
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

    /// Adds a second result, of the same shape: the update that each maximum comes from, as its place
    /// along the axis or, with vectors, as the number of its vector in row-major order. It is -1 if
    /// the element of the data is the maximum, or has no updates. Among equal elements that of the
    /// data comes first, then the updates in row-major order. +0 and -0 are then equal, as in
    /// [`SegmentMax::indices`](crate::operator::SegmentMax::indices()).
    pub fn indices(mut self, indices: impl Into<Option<Indices>>) -> Self {
        self.indices = indices.into();
        self
    }

    /// Adds a last result, two `u32`: 0 or [`ScatterMax::OUT_OF_RANGE`], and the number of indices or
    /// vectors that name no element. Their updates are dropped. [`Run`](crate::Run) checks indices on
    /// the host before anything runs.
    pub fn status(mut self, status: bool) -> Self {
        self.status = status;
        self
    }

    /// The types and shapes of the results: the maxima, of the data's type and shape, and then the
    /// indices and the status, if any. The inputs are the [`TensorDesc`]s of the data, the indices and
    /// the updates.
    ///
    /// # Errors
    /// [`Error::InputCount`]; [`Error::WrongElementType`] for indices that are no integers,
    /// [`Error::AxisOutOfRange`], also for data of rank 0 along an axis; [`Error::ScatterIndicesShape`];
    /// [`Error::WrongInput`] for updates of another type than the data, or of a shape that does not belong to
    /// the data and the indices; [`Error::BadAttribute`] for an unsupported type or numbering of indices;
    /// [`Error::IndexTooLarge`].
    pub fn infer<'a>(&self, inputs: impl Inputs<&'a TensorDesc>) -> Result<Outputs<TensorDesc>> {
        let inputs: [_; 3] = one_of_each(self.name(), &inputs.into_inputs())?;
        let scattered = self.resolve(inputs)?;
        let data = inputs[0];
        let indices = self.indices.map(|indices| {
            indices.check_natural()?;
            indices.check_first()?;
            indices.check_type(scattered.positions.size)?;
            TensorDesc::new(indices.element_type, data.shape())
        });
        let status = self.status.then(|| TensorDesc::new(ElementType::U32, [2]));
        Ok(Outputs::new(Some(data.clone()), indices.transpose()?, status.transpose()?))
    }

    /// As [`Operator::name`](crate::operator::Operator::name).
    pub(crate) fn name(&self) -> &'static str {
        self.extremum.name_of("ScatterMax", "ScatterMin")
    }

    /// Rows of updates, and where they go.
    ///
    /// # Errors
    /// As [`ScatterMax::infer`].
    pub(crate) fn resolve(&self, [data, indices, updates]: [&TensorDesc; 3]) -> Result<Scattered> {
        let (actual, expected) = (indices.element_type(), "an integer type".to_string());
        if !actual.is_integer() {
            let what = "the type of the indices";
            return Err(Error::WrongElementType { what, expected, actual });
        }
        match self.by {
            ScatterBy::Axis(axis) => self.along_axis(axis, data, indices, updates),
            ScatterBy::Vectors => self.vectors(data, indices, updates),
        }
    }

    fn along_axis(
        &self,
        axis: i64,
        data: &TensorDesc,
        indices: &TensorDesc,
        updates: &TensorDesc,
    ) -> Result<Scattered> {
        let shape = data.shape();
        let axis = axes::normalize(&[axis], shape.len(), Duplicates::Refuse)?[0];
        let of = indices.shape();
        if of.len() != shape.len() {
            return Err(misfit(shape, of, "they need its rank, unless they are vectors"));
        }
        if (0..of.len()).any(|other| other != axis && of[other] > shape[other]) {
            return Err(misfit(shape, of, "they may be larger only along the indexed axis"));
        }
        check_input(self.name(), 2, &TensorDesc::new(data.element_type(), of)?, updates)?;
        let mut own: Vec<Axis> = Vec::new();
        let (mut pitch, mut indexed, mut between) = (1, 0, 1);
        for (at, (&size, &all)) in of.iter().zip(shape).enumerate().rev() {
            let size = size as u64;
            let of_rows = if at == axis { 0 } else { pitch };
            match own.last_mut() {
                _ if size == 1 => {}
                Some(inner) if inner.size * inner.pitch == of_rows && at != axis => {
                    inner.size *= size;
                }
                _ => own.push(Axis { size, pitch: of_rows }),
            }
            if at == axis {
                indexed = pitch;
            } else if at > axis {
                between *= size;
            }
            pitch *= all as u64;
        }
        own.reverse();
        // The outermost axis has no place of its own if it is the indexed one.
        if own.first().is_some_and(|outermost| outermost.pitch == 0) {
            own.remove(0);
        }
        Ok(Scattered {
            rows: updates.len() as u64,
            inner: 1,
            parts: data.len() as u64,
            axes: own,
            indexed: vec![Axis { size: shape[axis] as u64, pitch: indexed }],
            positions: Axis { size: of[axis] as u64, pitch: between },
        })
    }

    fn vectors(
        &self,
        data: &TensorDesc,
        indices: &TensorDesc,
        updates: &TensorDesc,
    ) -> Result<Scattered> {
        let (shape, of) = (data.shape(), indices.shape());
        let Some((&length, rows)) = of.split_last() else {
            return Err(misfit(shape, of, "their last axis has the vectors"));
        };
        let Some((outer, inner)) = shape.split_at_checked(length) else {
            return Err(misfit(shape, of, "a vector has at most one number for each axis"));
        };
        let expected = TensorDesc::new(data.element_type(), [rows, inner].concat())?;
        let is_one = expected.rank() == 0 && updates.len() == 1;
        if !is_one || updates.element_type() != data.element_type() {
            check_input(self.name(), 2, &expected, updates)?;
        }
        let product = |sizes: &[usize]| sizes.iter().map(|&size| size as u64).product::<u64>();
        let mut indexed = Vec::new();
        let mut pitch = 1;
        for &size in outer.iter().rev() {
            indexed.push(Axis { size: size as u64, pitch });
            pitch *= size as u64;
        }
        indexed.reverse();
        Ok(Scattered {
            rows: product(rows),
            inner: product(inner),
            parts: pitch,
            axes: Vec::new(),
            indexed,
            positions: Axis { size: product(rows), pitch: 1 },
        })
    }

    /// Checks indices on the host, before they are copied to a device.
    ///
    /// # Errors
    /// As [`ScatterMax::infer`], and [`Error::IndexOutOfRange`].
    pub fn checked(&self, data: &TensorDesc, indices: &Tensor, updates: &TensorDesc) -> Result<()> {
        let scattered = self.resolve([data, indices.desc(), updates])?;
        let ids = Ids::of(indices)?;
        let count = scattered.indexed.len().max(1);
        // Usually one axis has indices: then one loop checks all.
        let found = (0..scattered.indexed.len()).filter_map(|of| {
            let size = i128::from(scattered.indexed[of].size);
            let is_out = |id: i128| !(-size..size).contains(&id);
            let found = match count {
                1 => ids.find(is_out),
                _ => (of..ids.len()).step_by(count).find(|&at| is_out(ids.exact(at))),
            };
            found.map(|position| (position, size))
        });
        found.min().map_or(Ok(()), |(position, size)| {
            let (value, elements) = (ids.exact(position), size as usize);
            Err(Error::IndexOutOfRange { position, value, elements })
        })
    }
}

/// The error of indices whose shape does not belong to that of the data.
fn misfit(data: &[usize], shape: &[usize], reason: &'static str) -> Error {
    Error::ScatterIndicesShape { shape: shape.to_vec(), data: data.to_vec(), reason }
}

impl Scattered {
    /// The part of the data that each row of updates goes to. The indices have been checked.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn parts_of_rows(&self, indices: &Tensor) -> Result<Vec<i64>> {
        let ids = Ids::of(indices)?;
        let part = |row: u64| {
            let mut part = Axis::offset(&self.axes, row);
            let first = row as usize * self.indexed.len();
            for (i, axis) in self.indexed.iter().enumerate() {
                let id = ids.at(first + i);
                let id = if id < 0 { id + axis.size as i64 } else { id };
                part += id as u64 * axis.pitch;
            }
            part as i64
        };
        memory::collected((0..self.rows).map(part))
    }
}
