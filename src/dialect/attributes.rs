//! Reading attributes by name and kind, and the errors that name an operator.

use super::{Attribute, Attributes, Dialect};
use crate::error::{Error, Result};
use crate::tensor::{ElementType, Tensor, TensorDesc};

/// The inputs of a node by position. Of the first, its elements never matter.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    pub(super) data: Option<&'a TensorDesc>,
    pub(super) others: &'a [Option<&'a Tensor>],
}

/// An operator of a specification, as errors name it.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) dialect: Dialect,
    pub(super) operator: &'static str,
    /// `None` where the dialect has no versions.
    pub(super) version: Option<u32>,
}

impl Name {
    fn version(&self) -> String {
        self.version.map(|v| v.to_string()).unwrap_or_default()
    }

    /// Dialect, operator and version.
    fn full(&self) -> String {
        match self.version {
            Some(version) => format!("{} {}-{version}", self.dialect, self.operator),
            None => format!("{} {}", self.dialect, self.operator),
        }
    }

    /// This version does not exist.
    pub(super) fn unknown_version(&self) -> Error {
        Error::UnknownVersion {
            dialect: self.dialect.name(),
            operator: self.operator,
            version: self.version(),
        }
    }

    /// This version has no such attribute.
    pub(super) fn unknown_attribute(&self, attribute: &str) -> Error {
        Error::UnknownAttribute {
            dialect: self.dialect.name(),
            operator: self.operator,
            version: self.version(),
            attribute: attribute.to_string(),
        }
    }

    /// This version needs an attribute that is not there.
    pub(super) fn missing_attribute(&self, attribute: &'static str) -> Error {
        Error::MissingAttribute {
            dialect: self.dialect.name(),
            operator: self.operator,
            version: self.version(),
            attribute,
        }
    }

    /// This version takes `expected`, such as "data of rank 3, 4 or 5".
    pub(super) fn wrong_shape(&self, expected: &'static str, shape: &[usize]) -> Error {
        Error::ShapeNotInDialect {
            dialect: self.dialect.name(),
            operator: self.operator,
            version: self.version(),
            expected,
            shape: shape.to_vec(),
        }
    }

    /// This version does not take such elements.
    pub(super) fn wrong_type(&self, element_type: ElementType) -> Error {
        Error::TypeNotInDialect {
            dialect: self.dialect.name(),
            operator: self.operator,
            version: self.version(),
            element_type,
        }
    }

    /// This version takes `expected`, such as "1 or 2 inputs".
    pub(super) fn input_count(&self, expected: &'static str, actual: usize) -> Error {
        Error::InputCount { operator: self.full(), expected, actual }
    }

    /// Refuses to give more outputs than the one that every operator has and, if
    /// this version has it, a second.
    ///
    /// # Errors
    /// [`Error::OutputCount`]
    pub(super) fn outputs(&self, wanted: usize, second: bool) -> Result<()> {
        let (most, expected) = if second { (2, "1 or 2 outputs") } else { (1, "1 output") };
        if wanted > most {
            return Err(Error::OutputCount { operator: self.full(), expected, actual: wanted });
        }
        Ok(())
    }

    /// What the first input is, which every operator here needs, and `N` more
    /// inputs, which may be absent. Absent inputs at the end count for nothing.
    ///
    /// # Errors
    /// [`Error::InputCount`] if the first is absent or there are more than `1 + N`.
    pub(super) fn inputs<'a, const N: usize>(
        &self,
        inputs: Inputs<'a>,
        expected: &'static str,
    ) -> Result<(&'a TensorDesc, [Option<&'a Tensor>; N])> {
        let Inputs { data, others } = inputs;
        let given = others.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        match data {
            Some(data) if given <= N => {
                let mut padded = [None; N];
                padded[..given].copy_from_slice(&others[..given]);
                Ok((data, padded))
            }
            _ => {
                let actual = usize::from(data.is_some()) + others.iter().flatten().count();
                Err(self.input_count(expected, actual))
            }
        }
    }
}

/// The attributes of one operator, taken one by one; what is left in the end is
/// unknown to the operator.
pub(super) struct Reader<'a> {
    rest: std::collections::BTreeMap<&'a str, &'a Attribute>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(attributes: &'a Attributes) -> Self {
        Self { rest: attributes.iter().map(|(name, value)| (name.as_str(), value)).collect() }
    }

    /// The attribute if it is given, through `convert`.
    ///
    /// # Errors
    /// [`Error::BadAttribute`] if `convert` gives nothing.
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

    /// A text that is one of these names, as what it stands for.
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

    /// As [`Reader::text`], for names whose case does not matter.
    pub(super) fn text_of_any_case<T: Copy>(
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

    /// A truth value, which files also write as 0 or 1.
    pub(super) fn bool(&mut self, attribute: &'static str) -> Result<Option<bool>> {
        self.take(attribute, "a truth value", |value| match value {
            Attribute::Bool(bool) => Some(*bool),
            Attribute::Int(0) => Some(false),
            Attribute::Int(1) => Some(true),
            _ => None,
        })
    }

    /// Refuses what has not been taken.
    ///
    /// # Errors
    /// [`Error::UnknownAttribute`], for the first of them by name.
    pub(super) fn finish(self, operator: &Name) -> Result<()> {
        match self.rest.first_key_value() {
            None => Ok(()),
            Some((attribute, _)) => Err(operator.unknown_attribute(attribute)),
        }
    }
}

/// A truth value that the specification makes an integer.
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
