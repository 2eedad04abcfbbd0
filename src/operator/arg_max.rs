//! The position of the maximum along an axis.

use super::{Operator, ReduceMax};
use crate::tensor::Indices;
use crate::tensor::key::{Extremum, Nan};

/// The position of the maximum or minimum along an axis: a [`ReduceMax`] whose only result is its
/// [`indices`](crate::Outputs::indices).
///
/// ```
/// use wgmax::operator::ArgMax;
/// use wgmax::{Device, Run, Tensor};
///
/// let scores = Tensor::from_slice([2, 3], &[0.1f32, 0.7, 0.2, 0.5, 0.5, 0.0])?;
/// let found = ArgMax::new(1).run(&Device::cpu(), &scores)?;
/// assert_eq!(found.indices()?.as_slice::<i64>()?, [1, 0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[must_use]
#[non_exhaustive]
pub struct ArgMax {
    /// The axis. A negative one counts from the back: -1 is the last one.
    pub axis: i64,
    /// Whether the axis is kept, as a dimension of 1.
    pub keep_dims: bool,
    /// Whether the maximum or the minimum is found.
    pub extremum: Extremum,
    /// How NaN is handled.
    pub nan: Nan,
    /// How positions are given.
    pub indices: Indices,
}

impl ArgMax {
    /// The position of the maximum along an axis, as `i64`: the first of equal elements. The axis
    /// is removed, and NaN propagates: the first NaN is the maximum.
    pub fn new(axis: i64) -> Self {
        Self {
            axis,
            keep_dims: false,
            extremum: Extremum::Maximum,
            nan: Nan::Propagate,
            indices: Indices::default(),
        }
    }

    /// Keeps the axis as a dimension of 1; off by default.
    pub fn keep_dims(mut self, keep_dims: bool) -> Self {
        self.keep_dims = keep_dims;
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

    /// How positions are given.
    pub fn indices(mut self, indices: impl Into<Indices>) -> Self {
        self.indices = indices.into();
        self
    }
}

impl From<&ArgMax> for ReduceMax {
    fn from(arg_max: &ArgMax) -> Self {
        Self::new()
            .axes([arg_max.axis])
            .keep_dims(arg_max.keep_dims)
            .extremum(arg_max.extremum)
            .nan(arg_max.nan)
            .indices(arg_max.indices)
            .values(false)
    }
}

impl From<&ArgMax> for Operator {
    fn from(arg_max: &ArgMax) -> Self {
        ReduceMax::from(arg_max).into()
    }
}

impl From<ArgMax> for Operator {
    fn from(arg_max: ArgMax) -> Self {
        Self::from(&arg_max)
    }
}
