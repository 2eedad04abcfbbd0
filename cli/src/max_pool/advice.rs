//! Errors of attributes, with the argument that caused them and what would be right.

use wgmax::{Error, TensorDesc};

use super::Attributes;
use super::axes::Axes;
use crate::options::List;

/// Where an input comes from, for errors.
pub struct Given<'a> {
    /// Its argument.
    pub name: &'a str,
    /// Whether it is a picture.
    pub is_picture: bool,
    /// The command line with another shape of the input.
    pub reshaped: &'a dyn Fn(&[usize]) -> String,
}

impl Attributes {
    /// The error with its argument and, for axes that are missing, what would be right.
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

    /// The error with the argument that caused it.
    fn with_argument(&self, mut error: Error, rank: usize, input: &str) -> anyhow::Error {
        // A picture has its own axes.
        if let Error::AxisOutOfRange { .. } = error {
            error = Error::AxisOutOfRange { axis: self.index_axis, rank };
        }
        let given =
            |flag: &str, list: &Option<List>| list.as_ref().map(|list| format!("{flag} {list}"));
        let kernel = || Some(format!("--kernel {}", self.kernel));
        let axis = || Some(format!("--index-axis {}", self.index_axis));
        let argument = match &error {
            Error::PoolRank { .. } => Some(input.to_string()),
            Error::WindowTooLarge { .. } => kernel(),
            Error::AxisOutOfRange { .. } => axis(),
            Error::IndexTooLarge { .. } => Some("--index-type i32".to_string()),
            Error::BadAttribute { attribute, .. } | Error::AttributeLength { attribute, .. } => {
                match *attribute {
                    "kernel" => kernel(),
                    "strides" => given("--strides", &self.strides),
                    "dilations" => given("--dilations", &self.dilations),
                    "axis" => axis(),
                    "pads_begin" | "pads_end" => given("--pads", &self.pads),
                    "layout" => Some("--layout nxc".to_string()),
                    _ => None,
                }
            }
            _ => None,
        };
        let error = anyhow::Error::from(error);
        match argument {
            Some(argument) => error.context(argument),
            None => error,
        }
    }

    /// What would be right, for an input or a list that lacks axes.
    fn hint(&self, error: &Error, axes: Axes, input: &TensorDesc, given: &Given) -> Option<String> {
        let (missing, list) = match error {
            Error::PoolRank { .. } => (true, None),
            Error::AttributeLength { attribute: "kernel", .. } => (true, Some(&self.kernel)),
            Error::AttributeLength { attribute: "strides", .. } => (false, self.strides.as_ref()),
            Error::AttributeLength { attribute: "dilations", .. } => {
                (false, self.dilations.as_ref())
            }
            _ => return None,
        };
        let lacks = axes.missing(self.windows(input, given), input.shape());
        if let (true, Some((what, shape))) = (missing, lacks) {
            return Some(format!("if {what} missing: {}", (given.reshaped)(&shape)));
        }
        let (Some(List(list)), &Error::AttributeLength { attribute, expected, .. }) = (list, error)
        else {
            return None;
        };
        let mut more = list.clone();
        more.resize(expected, *list.last()?);
        let sizes: Vec<String> = axes.spatial(input.shape()).iter().map(usize::to_string).collect();
        (list.len() < expected).then(|| {
            format!("for each of the axes, {}: --{attribute} {}", sizes.join(" x "), List(more))
        })
    }
}
