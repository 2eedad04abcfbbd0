//! Reads attributes by name and kind, and builds the errors that name an operator.

use super::{Attribute, Attributes, Dialect, Input};
use crate::error::{Error, Result};
use crate::tensor::{ElementType, TensorDesc};

/// The inputs of a node. Absent ones at the end may be left out.
pub(super) type Inputs<'a> = &'a [Option<Input<'a>>];

/// The name of an operator in errors.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) dialect: Dialect,
    pub(super) operator: &'static str,
    /// `None` if the dialect has no versions.
    pub(super) version: Option<u32>,
}

impl Name {
    fn version(&self) -> String {
        self.version.map(|v| v.to_string()).unwrap_or_default()
    }

    /// Dialect, operator and version as text.
    fn full(&self) -> String {
        match self.version {
            Some(version) => format!("{} {}-{version}", self.dialect, self.operator),
            None => format!("{} {}", self.dialect, self.operator),
        }
    }

    /// The error that this version does not exist.
    pub(super) fn unknown_version(&self) -> Error {
        Error::UnknownVersion {
            dialect: self.dialect.name(),
            operator: self.operator,
            version: self.version(),
        }
    }

    /// The error that this version does not have an attribute.
    pub(super) fn unknown_attribute(&self, attribute: &str) -> Error {
        Error::UnknownAttribute {
            dialect: self.dialect.name(),
            operator: self.operator,
            version: self.version(),
            attribute: attribute.to_string(),
        }
    }

    /// The error that a required attribute is absent.
    pub(super) fn missing_attribute(&self, attribute: &'static str) -> Error {
        Error::MissingAttribute {
            dialect: self.dialect.name(),
            operator: self.operator,
            version: self.version(),
            attribute,
        }
    }

    /// The error that a shape is not `expected`, such as "data of rank 3, 4 or 5".
    pub(super) fn wrong_shape(&self, expected: &'static str, shape: &[usize]) -> Error {
        Error::ShapeNotInDialect {
            dialect: self.dialect.name(),
            operator: self.operator,
            version: self.version(),
            expected,
            shape: shape.to_vec(),
        }
    }

    /// The error that this version does not take an element type.
    pub(super) fn wrong_type(&self, element_type: ElementType) -> Error {
        Error::TypeNotInDialect {
            dialect: self.dialect.name(),
            operator: self.operator,
            version: self.version(),
            element_type,
        }
    }

    /// The error that the number of inputs is not `expected`, such as "1 or 2 inputs".
    pub(super) fn input_count(&self, expected: &'static str, actual: usize) -> Error {
        Error::InputCount { operator: self.full(), expected, actual }
    }

    /// Checks the number of requested outputs. There is one, or two if `second`.
    ///
    /// # Errors
    /// [`Error::OutputCount`]
    pub(super) fn outputs(&self, requested: usize, second: bool) -> Result<()> {
        let (max, expected) = if second { (2, "1 or 2 outputs") } else { (1, "1 output") };
        if requested > max {
            let operator = self.full();
            return Err(Error::OutputCount { operator, expected, actual: requested });
        }
        Ok(())
    }

    /// The first input, which is required, and `N` further inputs, which may be absent. Absent
    /// inputs at the end are not counted.
    ///
    /// # Errors
    /// [`Error::InputCount`] if the first is absent or there are more than `1 + N`.
    pub(super) fn inputs<'a, const N: usize>(
        &self,
        inputs: Inputs<'a>,
        expected: &'static str,
    ) -> Result<(&'a TensorDesc, [Option<Input<'a>>; N])> {
        let given = inputs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        match inputs[..given].split_first() {
            Some((Some(data), others)) if others.len() <= N => {
                let mut padded = [None; N];
                padded[..others.len()].copy_from_slice(others);
                Ok((data.desc(), padded))
            }
            _ => Err(self.input_count(expected, inputs.iter().flatten().count())),
        }
    }
}

/// The attributes of one operator. They are taken one by one; those that remain are unknown to the
/// operator.
pub(super) struct Reader<'a> {
    rest: std::collections::BTreeMap<&'a str, &'a Attribute>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(attributes: &'a Attributes) -> Self {
        Self { rest: attributes.iter().map(|(name, value)| (name.as_str(), value)).collect() }
    }

    /// Takes an attribute, converted by `convert`; `None` if it is absent.
    ///
    /// # Errors
    /// [`Error::BadAttribute`] if `convert` returns `None`.
    fn take<T>(
        &mut self,
        attribute: &'static str,
        expected: &'static str,
        convert: impl FnOnce(&Attribute) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(value) = self.rest.remove(attribute) else {
            return Ok(None);
        };
        match convert(value) {
            Some(converted) => Ok(Some(converted)),
            None => Err(Error::BadAttribute { attribute, expected, value: value.to_string() }),
        }
    }

    /// An integer.
    pub(super) fn int(&mut self, attribute: &'static str) -> Result<Option<i64>> {
        self.take(attribute, "an integer", |value| match value {
            Attribute::Int(int) => Some(*int),
            _ => None,
        })
    }

    /// A list of integers.
    pub(super) fn ints(&mut self, attribute: &'static str) -> Result<Option<Vec<i64>>> {
        self.take(attribute, "a list of integers", |value| match value {
            Attribute::Ints(ints) => Some(ints.clone()),
            _ => None,
        })
    }

    /// A string that is one of `names`, as the value of this name.
    pub(super) fn text<T: Copy>(
        &mut self,
        attribute: &'static str,
        expected: &'static str,
        names: &[(&str, T)],
    ) -> Result<Option<T>> {
        self.take(attribute, expected, |value| match value {
            Attribute::Text(text) => names.iter().find(|(name, _)| name == text).map(|&(_, t)| t),
            _ => None,
        })
    }

    /// As [`Reader::text`], in upper or lower case.
    pub(super) fn text_ignoring_case<T: Copy>(
        &mut self,
        attribute: &'static str,
        expected: &'static str,
        names: &[(&str, T)],
    ) -> Result<Option<T>> {
        self.take(attribute, expected, |value| match value {
            Attribute::Text(text) => {
                names.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|&(_, t)| t)
            }
            _ => None,
        })
    }

    /// A boolean. Some files have 0 or 1 instead.
    pub(super) fn bool(&mut self, attribute: &'static str) -> Result<Option<bool>> {
        self.take(attribute, "a boolean", |value| match value {
            Attribute::Bool(bool) => Some(*bool),
            Attribute::Int(0) => Some(false),
            Attribute::Int(1) => Some(true),
            _ => None,
        })
    }

    /// Checks that no attributes remain.
    ///
    /// # Errors
    /// [`Error::UnknownAttribute`] for the first that remains, by name.
    pub(super) fn finish(self, operator: &Name) -> Result<()> {
        match self.rest.first_key_value() {
            None => Ok(()),
            Some((attribute, _)) => Err(operator.unknown_attribute(attribute)),
        }
    }
}

/// A flag that the specification defines as an integer.
///
/// # Errors
/// [`Error::BadAttribute`] for anything but 0 and 1.
pub(super) fn flag(attribute: &'static str, value: i64) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Error::BadAttribute { attribute, expected: "0 or 1", value: value.to_string() }),
    }
}
