//! What the dialects' poolings have in common.

use crate::error::{Error, Result};
use crate::operator::Padding;

/// The attribute `auto_pad`: how the padding of a pooling comes about.
///
/// | | ONNX | oneDNN Graph | OpenVINO |
/// |---|---|---|---|
/// | `Explicit` | `NOTSET` | `None` or `none` | `explicit` |
/// | `SameUpper` | `SAME_UPPER` | `SAME_UPPER` or `same_upper` | `same_upper` |
/// | `SameLower` | `SAME_LOWER` | `SAME_LOWER` or `same_lower` | `same_lower` |
/// | `Valid` | `VALID` | `VALID` or `valid` | `valid` |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AutoPad {
    /// As the attributes for pads say.
    #[default]
    Explicit,
    /// As much as lets ceil(size / stride) windows fit, the odd position at the end.
    SameUpper,
    /// As much as lets ceil(size / stride) windows fit, the odd position at the begin.
    SameLower,
    /// None.
    Valid,
}

impl AutoPad {
    /// The padding, with the begins and ends of `explicit` where they count.
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

/// A list of `count` numbers that are `least` or more. If it is not given, all of them are `least`.
///
/// The operator checks the same, but under names that are not every dialect's.
///
/// # Errors
/// [`Error::AttributeLength`], [`Error::BadAttribute`]
pub(super) fn list(
    attribute: &'static str,
    given: Option<&[i64]>,
    count: usize,
    least: i64,
) -> Result<Vec<i64>> {
    let Some(given) = given else {
        return Ok(vec![least; count]);
    };
    if given.len() != count {
        return Err(Error::AttributeLength { attribute, expected: count, actual: given.len() });
    }
    if given.iter().any(|&number| number < least) {
        let expected = if least == 0 { "0 or more" } else { "1 or more" };
        return Err(Error::BadAttribute { attribute, expected, value: format!("{given:?}") });
    }
    Ok(given.to_vec())
}
