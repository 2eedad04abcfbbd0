//! Attributes that the poolings of ONNX, oneDNN Graph and OpenVINO have in common.

use crate::base::error::{Error, Result};
use crate::operator::{MaxPool, Padding};

/// The attribute `auto_pad`: how the padding of a pooling is determined.
///
/// | | ONNX | oneDNN Graph | OpenVINO |
/// |---|---|---|---|
/// | `Explicit` | `NOTSET` | `None` or `none` | `explicit` |
/// | `SameUpper` | `SAME_UPPER` | `SAME_UPPER` or `same_upper` | `same_upper` |
/// | `SameLower` | `SAME_LOWER` | `SAME_LOWER` or `same_lower` | `same_lower` |
/// | `Valid` | `VALID` | `VALID` or `valid` | `valid` |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AutoPad {
    /// By the attributes for pads.
    #[default]
    Explicit,
    /// The padding that gives ceil(size / stride) windows. If its total is odd, the end gets one
    /// more.
    SameUpper,
    /// The padding that gives ceil(size / stride) windows. If its total is odd, the beginning gets one
    /// more.
    SameLower,
    /// No padding.
    Valid,
}

impl AutoPad {
    /// All, in the order in which each dialect names them.
    pub(super) const ALL: [Self; 4] =
        [Self::Explicit, Self::SameUpper, Self::SameLower, Self::Valid];
}

/// The common attributes of these poolings, before checks.
pub(super) struct Pooling<'a> {
    /// The attribute for the window, and its value.
    pub(super) kernel: (&'static str, &'a [i64]),
    pub(super) strides: Option<&'a [i64]>,
    pub(super) dilations: Option<&'a [i64]>,
    pub(super) auto_pad: AutoPad,
}

impl Pooling<'_> {
    /// The pooling of data with `spatial` axes. `explicit` returns the begins and ends of the
    /// padding, if the attributes for pads determine it.
    ///
    /// # Errors
    /// As [`list`].
    pub(super) fn operator(
        self,
        spatial: usize,
        explicit: impl FnOnce() -> Result<(Vec<usize>, Vec<usize>)>,
    ) -> Result<MaxPool> {
        let padding = match self.auto_pad {
            AutoPad::Explicit => {
                let (begin, end) = explicit()?;
                Padding::Explicit { begin, end }
            }
            AutoPad::SameUpper => Padding::SameUpper,
            AutoPad::SameLower => Padding::SameLower,
            AutoPad::Valid => Padding::Valid,
        };
        let (attribute, kernel) = self.kernel;
        Ok(MaxPool::new(list(attribute, Some(kernel), spatial, 1)?)
            .strides(list("strides", self.strides, spatial, 1)?)
            .dilations(list("dilations", self.dilations, spatial, 1)?)
            .padding(padding))
    }
}

/// The begins and ends of the padding of `spatial` axes, from two attributes.
///
/// # Errors
/// As [`list`].
pub(super) fn pads(
    begin: Option<&[i64]>,
    end: Option<&[i64]>,
    spatial: usize,
) -> Result<(Vec<usize>, Vec<usize>)> {
    Ok((list("pads_begin", begin, spatial, 0)?, list("pads_end", end, spatial, 0)?))
}

/// The numbers of a list attribute, checked: there must be `count`, none below `min`. The default is
/// `min` for all.
///
/// The operator checks the number too, but its errors do not have the dialect's attribute names.
///
/// # Errors
/// [`Error::AttributeLength`], [`Error::BadAttribute`]
pub(super) fn list(
    attribute: &'static str,
    given: Option<&[i64]>,
    count: usize,
    min: i64,
) -> Result<Vec<usize>> {
    let Some(given) = given else {
        return Ok(vec![min as usize; count]);
    };
    if given.len() != count {
        return Err(Error::AttributeLength { attribute, expected: count, actual: given.len() });
    }
    let expected = if min == 0 { "0 or more" } else { "1 or more" };
    let bad = || Error::BadAttribute { attribute, expected, value: format!("{given:?}") };
    let size = |&number| usize::try_from(number).ok().filter(|_| number >= min).ok_or_else(bad);
    given.iter().map(size).collect()
}
