//! Attributes that the poolings of all dialects have in common.

use crate::error::{Error, Result};
use crate::operator::Padding;

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
    /// The padding that gives ceil(size / stride) windows. If its total is odd, the begin gets one
    /// more.
    SameLower,
    /// No padding.
    Valid,
}

impl AutoPad {
    /// The padding. `explicit` gives the begins and ends, if the attributes for pads determine it.
    pub(super) fn padding(
        self,
        explicit: impl FnOnce() -> Result<(Vec<i64>, Vec<i64>)>,
    ) -> Result<Padding> {
        Ok(match self {
            Self::Explicit => {
                let (begin, end) = explicit()?;
                Padding::Explicit { begin, end }
            }
            Self::SameUpper => Padding::SameUpper,
            Self::SameLower => Padding::SameLower,
            Self::Valid => Padding::Valid,
        })
    }
}

/// The numbers of a list attribute, after checks: there must be `count`, none below `min`. The
/// default is `min` for all.
///
/// The operator checks this too, but its errors do not have the dialect's attribute names.
///
/// # Errors
/// [`Error::AttributeLength`], [`Error::BadAttribute`]
pub(super) fn list(
    attribute: &'static str,
    given: Option<&[i64]>,
    count: usize,
    min: i64,
) -> Result<Vec<i64>> {
    let Some(given) = given else {
        return Ok(vec![min; count]);
    };
    if given.len() != count {
        return Err(Error::AttributeLength { attribute, expected: count, actual: given.len() });
    }
    if given.iter().any(|&number| number < min) {
        let expected = if min == 0 { "0 or more" } else { "1 or more" };
        return Err(Error::BadAttribute { attribute, expected, value: format!("{given:?}") });
    }
    Ok(given.to_vec())
}
