//! Errors of attributes, with the argument that caused them and advice.

use wgmax::{Error, TensorDesc};

use super::Attributes;
use crate::axes::Axes;
use crate::options::{List, about, common_option};

/// The source of an input, for errors.
pub struct Given<'a> {
    /// Its argument.
    pub name: &'a str,
    /// Whether it is a picture.
    pub is_picture: bool,
    /// The command line with another shape of the input.
    pub reshaped: &'a dyn Fn(&[usize]) -> String,
}

impl Given<'_> {
    /// Advice for an input of this shape, if it lacks axes for this number of windows.
    pub fn missing_axes(&self, axes: Axes, windows: usize, shape: &[usize]) -> Option<String> {
        let (what, shape) = axes.missing(windows, shape)?;
        Some(format!("if {what} missing: {}", (self.reshaped)(&shape)))
    }
}

impl Attributes {
    /// The error with its argument and, for missing axes, advice.
    pub(super) fn explained(
        &self,
        error: Error,
        axes: Axes,
        input: &TensorDesc,
        given: &Given,
    ) -> anyhow::Error {
        let hint = self.hint(&error, axes, input, given);
        let error = self.with_argument(error, input.rank(), given.name);
        match hint {
            Some(hint) => anyhow::anyhow!("{error:#}; {hint}"),
            None => error,
        }
    }

    /// The option that gives a list attribute, without its dashes, if it is present.
    fn list(&self, attribute: &str) -> Option<(&'static str, &List)> {
        let (option, list) = match attribute {
            "kernel" => ("kernel", Some(&self.kernel)),
            "strides" => ("strides", self.strides.as_ref()),
            "dilations" => ("dilations", self.dilations.as_ref()),
            "pads_begin" | "pads_end" => ("pads", self.pads.as_ref()),
            _ => return None,
        };
        Some((option, list?))
    }

    /// The error with the argument that caused it.
    pub(super) fn with_argument(
        &self,
        mut error: Error,
        rank: usize,
        input: &str,
    ) -> anyhow::Error {
        // The axis and the rank of the input, without the axes that were added to a picture.
        if let Error::AxisOutOfRange { .. } = error {
            error = Error::AxisOutOfRange { axis: self.index_axis.index_axis, rank };
        }
        let argument = match &error {
            Error::PoolRank { .. } => Some(input.to_string()),
            Error::WindowTooLarge { .. } => Some(format!("--kernel {}", self.kernel)),
            Error::AxisOutOfRange { .. } => {
                Some(format!("--index-axis {}", self.index_axis.index_axis))
            }
            // Only padding makes a result larger than its input.
            Error::ShapeOverflow { .. } => self.pads.as_ref().map(|pads| format!("--pads {pads}")),
            Error::BadAttribute { attribute, .. } | Error::AttributeLength { attribute, .. } => {
                match (*attribute, self.list(attribute)) {
                    (_, Some((option, list))) => Some(format!("--{option} {list}")),
                    ("axis", _) => Some(format!("--index-axis {}", self.index_axis.index_axis)),
                    ("layout", _) => Some("--layout nxc".to_string()),
                    _ => None,
                }
            }
            error => common_option(error),
        };
        about(argument, error)
    }

    /// Advice for an input or a list that lacks axes.
    fn hint(&self, error: &Error, axes: Axes, input: &TensorDesc, given: &Given) -> Option<String> {
        let (attribute, expected) = match *error {
            Error::PoolRank { .. } => ("kernel", None),
            Error::AttributeLength { attribute, expected, .. } => (attribute, Some(expected)),
            _ => return None,
        };
        let lacks = given.missing_axes(axes, self.windows(input, given), input.shape());
        if let ("kernel", Some(advice)) = (attribute, lacks) {
            return Some(advice);
        }
        let (expected, (option, List(list))) = (expected?, self.list(attribute)?);
        if option != attribute {
            return None;
        }
        let mut more = list.clone();
        more.resize(expected, *list.last()?);
        let sizes: Vec<String> = axes.spatial(input.shape()).iter().map(usize::to_string).collect();
        (list.len() < expected).then(|| {
            format!("for each of the axes, {}: --{option} {}", sizes.join(" x "), List(more))
        })
    }
}
