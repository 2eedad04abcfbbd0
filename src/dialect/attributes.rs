//! Reads attributes by name and kind, and builds the errors that name an operator.

use super::{Attribute, Attributes, Dialect, Input, Node};
use crate::base::error::{Error, Result};
use crate::tensor::key::{Extremum, Nan};
use crate::tensor::{ElementType, TensorDesc};

/// The arguments of [`Node::operator_for`].
pub(super) struct Call<'a> {
    pub(super) node: &'a Node,
    /// The extremum in the node's name.
    pub(super) extremum: Extremum,
    /// The inputs of the node. Absent ones at the end may be omitted.
    pub(super) inputs: &'a [Option<Input<'a>>],
    /// The treatment of NaN, if it is not the dialect's.
    pub(super) nan: Option<Nan>,
}

impl<'a> Call<'a> {
    /// The version. `operator` is the name in the error if there is none.
    pub(super) fn version(&self, operator: &'static str) -> Result<u32> {
        let dialect = self.node.dialect.name();
        self.node.version.ok_or(Error::MissingVersion { dialect, operator })
    }

    /// The first input, which is required, and `N` further inputs, which may be absent. Absent
    /// inputs at the end are not counted. `second`: whether there is a second output.
    ///
    /// # Errors
    /// [`Error::InputCount`] if the first is absent or there are more than `1 + N`;
    /// [`Error::OutputCount`].
    pub(super) fn inputs<const N: usize>(
        &self,
        name: &Name,
        expected: &'static str,
        second: bool,
    ) -> Result<(&'a TensorDesc, [Option<Input<'a>>; N])> {
        name.outputs(self.node.outputs, second)?;
        let given = self.inputs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        match self.inputs[..given].split_first() {
            Some((Some(data), others)) if others.len() <= N => {
                let mut padded = [None; N];
                padded[..others.len()].copy_from_slice(others);
                Ok((data.desc(), padded))
            }
            _ => Err(self.input_count(name, expected)),
        }
    }

    /// The error that the number of inputs is not `expected`.
    pub(super) fn input_count(&self, name: &Name, expected: &'static str) -> Error {
        name.input_count(expected, self.inputs.iter().flatten().count())
    }
}

/// Element types, each with the version that added them.
pub(super) type Types = &'static [(u32, &'static [ElementType])];

/// The name of an operator in errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) dialect: Dialect,
    pub(super) operator: &'static str,
    /// `None` if the dialect has no versions.
    pub(super) version: Option<u32>,
}

/// An error of an operator, with further fields.
macro_rules! error {
    ($variant:ident of $name:expr $(, $field:ident: $value:expr)*) => {
        Error::$variant {
            dialect: $name.dialect.name(),
            operator: $name.operator,
            version: $name.version.map(|version| version.to_string()).unwrap_or_default(),
            $($field: $value),*
        }
    };
}

impl Name {
    /// Dialect, operator and version as text.
    fn full(&self) -> String {
        let version = self.version.map(|version| format!("-{version}")).unwrap_or_default();
        format!("{} {}{version}", self.dialect, self.operator)
    }

    /// Checks that a version is the only one of the operator.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`]
    pub(super) fn check_version(self, version: Option<u32>) -> Result<()> {
        match version == self.version {
            true => Ok(()),
            false => Err(Self { version, ..self }.unknown_version()),
        }
    }

    /// Whether the version is this one or a later one.
    pub(super) fn is_since(&self, version: u32) -> bool {
        self.version >= Some(version)
    }

    /// The error that this version does not exist.
    pub(super) fn unknown_version(&self) -> Error {
        error!(UnknownVersion of self)
    }

    /// The error that this version does not have an attribute.
    pub(super) fn unknown_attribute(&self, attribute: &str) -> Error {
        error!(UnknownAttribute of self, attribute: attribute.to_string())
    }

    /// The error that a required attribute is absent.
    pub(super) fn missing_attribute(&self, attribute: &'static str) -> Error {
        error!(MissingAttribute of self, attribute: attribute)
    }

    /// Checks that an attribute is absent if this version does not have it.
    ///
    /// # Errors
    /// [`Error::UnknownAttribute`]
    pub(super) fn check_absent(&self, attribute: &str, is_absent: bool) -> Result<()> {
        if is_absent { Ok(()) } else { Err(self.unknown_attribute(attribute)) }
    }

    /// Checks that a shape is `expected`, such as "data of rank 3, 4 or 5".
    ///
    /// # Errors
    /// [`Error::ShapeNotInDialect`]
    pub(super) fn check_shape(
        &self,
        ok: bool,
        expected: &'static str,
        shape: &[usize],
    ) -> Result<()> {
        let error = || error!(ShapeNotInDialect of self, expected: expected, shape: shape.to_vec());
        if ok { Ok(()) } else { Err(error()) }
    }

    /// Checks that this version takes the element type of a tensor.
    ///
    /// # Errors
    /// [`Error::TypeNotInDialect`]
    pub(super) fn check_type(&self, desc: &TensorDesc, types: Types) -> Result<()> {
        let element_type = desc.element_type();
        let has = |&(since, types): &(u32, &[ElementType])| {
            self.version.is_none_or(|version| version >= since) && types.contains(&element_type)
        };
        let error = || error!(TypeNotInDialect of self, element_type: element_type);
        types.iter().any(has).then_some(()).ok_or_else(error)
    }

    /// The error that the number of inputs is not `expected`, such as "1 or 2 inputs".
    pub(super) fn input_count(&self, expected: &'static str, actual: usize) -> Error {
        Error::InputCount { operator: self.full(), expected: expected.into(), actual }
    }

    /// Checks the number of requested outputs. There is one, or two if `second`.
    ///
    /// # Errors
    /// [`Error::OutputCount`]
    pub(super) fn outputs(&self, requested: usize, second: bool) -> Result<()> {
        let (max, expected) = if second { (2, "1 or 2 outputs") } else { (1, "1 output") };
        if !(1..=max).contains(&requested) {
            let operator = self.full();
            return Err(Error::OutputCount { operator, expected, actual: requested });
        }
        Ok(())
    }
}

/// The attributes of one operator. They are taken one by one; those that remain are unknown to the
/// operator.
pub(super) struct Reader<'a> {
    name: Name,
    rest: std::collections::BTreeMap<&'a str, &'a Attribute>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(name: &Name, attributes: &'a Attributes) -> Self {
        let rest = attributes.iter().map(|(name, value)| (name.as_str(), value)).collect();
        Self { name: *name, rest }
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
        let take = |value: &Attribute| {
            let bad = || Error::BadAttribute { attribute, expected, value: value.to_string() };
            convert(value).ok_or_else(bad)
        };
        self.rest.remove(attribute).map(take).transpose()
    }

    /// An integer. If it is absent, `value` is unchanged.
    pub(super) fn int(&mut self, attribute: &'static str, value: &mut i64) -> Result<()> {
        let int =
            |given: &Attribute| if let Attribute::Int(int) = given { Some(*int) } else { None };
        *value = self.take(attribute, "an integer", int)?.unwrap_or(*value);
        Ok(())
    }

    /// A list of integers.
    pub(super) fn ints(&mut self, attribute: &'static str) -> Result<Option<Vec<i64>>> {
        self.take(attribute, "a list of integers", |value| match value {
            Attribute::Ints(ints) => Some(ints.clone()),
            _ => None,
        })
    }

    /// The same, if it is required.
    ///
    /// # Errors
    /// [`Error::MissingAttribute`], and as [`Reader::ints`].
    pub(super) fn required_ints(&mut self, attribute: &'static str) -> Result<Vec<i64>> {
        let name = self.name;
        self.ints(attribute)?.ok_or_else(|| name.missing_attribute(attribute))
    }

    /// A string: the name of one of `values`. `names` lists their names in their order, for errors:
    /// "a, b or c". `same` says whether a string is a name.
    pub(super) fn text_as<T: Copy>(
        &mut self,
        attribute: &'static str,
        names: &'static str,
        values: &[T],
        same: impl Fn(&str, &str) -> bool,
    ) -> Result<Option<T>> {
        self.take(attribute, names, |value| {
            let Attribute::Text(text) = value else { return None };
            let names = names.split(", ").flat_map(|names| names.split(" or "));
            names.zip(values).find(|(name, _)| same(name, text)).map(|(_, &value)| value)
        })
    }

    /// The same, with exactly these names. If it is absent, `value` is unchanged.
    pub(super) fn text<T: Copy>(
        &mut self,
        attribute: &'static str,
        names: &'static str,
        values: &[T],
        value: &mut T,
    ) -> Result<()> {
        *value = self.text_as(attribute, names, values, str::eq)?.unwrap_or(*value);
        Ok(())
    }

    /// A boolean; false if it is absent. Some files have 0 or 1 instead.
    pub(super) fn bool(&mut self, attribute: &'static str) -> Result<bool> {
        self.bool_or(attribute, false)
    }

    /// The same with another default.
    pub(super) fn bool_or(&mut self, attribute: &'static str, default: bool) -> Result<bool> {
        let value = self.take(attribute, "a boolean", |value| match value {
            Attribute::Bool(bool) => Some(*bool),
            Attribute::Int(0) => Some(false),
            Attribute::Int(1) => Some(true),
            _ => None,
        });
        Ok(value?.unwrap_or(default))
    }

    /// Checks that no attributes remain.
    ///
    /// # Errors
    /// [`Error::UnknownAttribute`] for the first that remains, by name.
    pub(super) fn finish(self) -> Result<()> {
        match self.rest.first_key_value() {
            None => Ok(()),
            Some((attribute, _)) => Err(self.name.unknown_attribute(attribute)),
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
