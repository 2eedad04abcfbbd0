//! Keyword arguments, by name and kind.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString};
use wgmax::Error;
use wgmax::operator::Scalar;

use crate::error::{ArgumentError, raised};

/// The keyword arguments of a call. Each is taken; those that remain at the end are wrong.
pub(crate) struct Fields<'a, 'py> {
    function: &'static str,
    given: Option<&'a Bound<'py, PyDict>>,
}

impl<'a, 'py> Fields<'a, 'py> {
    pub(crate) fn new(function: &'static str, given: Option<&'a Bound<'py, PyDict>>) -> Self {
        Self { function, given }
    }

    /// The function that is called.
    pub(crate) fn function(&self) -> &'static str {
        self.function
    }

    /// Renumbers one of `rank` axes: an axis of size 1 was added before all others. It joins the first one,
    /// which changes no position.
    pub(crate) fn shift(&mut self, name: &str, rank: usize) -> PyResult<()> {
        let axis = self.take(name)?;
        if let (Some(given), Some(value)) = (self.given, axis) {
            let end = rank as i64;
            match integer(&value) {
                Some(axis) if axis == 0 || axis == -end => given.set_item(name, 0)?,
                Some(axis) if (1..end).contains(&axis) => given.set_item(name, axis + 1)?,
                Some(axis) if !(-end..end).contains(&axis) => {
                    return Err(raised(Error::AxisOutOfRange { axis, rank }));
                }
                _ => given.set_item(name, value)?,
            }
        }
        Ok(())
    }

    /// Takes an argument; `None` if it is absent or Python's `None`.
    pub(crate) fn take(&mut self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(given) = self.given else { return Ok(None) };
        let found = given.get_item(name)?;
        if found.is_some() {
            given.del_item(name)?;
        }
        Ok(found.filter(|value| !value.is_none()))
    }

    /// `True` or `False`.
    pub(crate) fn boolean(&mut self, name: &str, default: bool) -> PyResult<bool> {
        self.take(name)?.map_or(Ok(default), |value| boolean(name, &value))
    }

    /// A number of Python or numpy.
    pub(crate) fn scalar(&mut self, name: &str) -> PyResult<Option<Scalar>> {
        let Some(value) = self.take(name)? else { return Ok(None) };
        let wrong = || bad(name, "a number", &value);
        if value.is_instance_of::<PyString>() {
            return Err(wrong());
        }
        // Integers of any size are exact as text. A narrow float is exact as a wide one.
        if let Ok(integer) = value.call_method0("__index__") {
            return integer.str()?.to_string().parse().map(Some).map_err(|_| wrong());
        }
        let found = value.extract::<bool>().map(Scalar::from);
        let found = found.or_else(|_| value.extract::<f64>().map(Scalar::from));
        found.map(Some).map_err(|_| wrong())
    }

    /// One of some names.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &str,
        all: &[(&str, T)],
        default: T,
    ) -> PyResult<T> {
        let Some(value) = self.take(name)? else { return Ok(default) };
        let found = value.extract::<String>().ok();
        let found = found.and_then(|text| all.iter().find(|(name, _)| *name == text));
        let names = || {
            let names: Vec<String> = all.iter().map(|(name, _)| format!("'{name}'")).collect();
            names.join(", ")
        };
        found
            .map(|(_, chosen)| *chosen)
            .ok_or_else(|| bad(name, &format!("one of {}", names()), &value))
    }

    /// Refuses arguments that remain.
    pub(crate) fn end(self) -> PyResult<()> {
        let left = self.given.and_then(|given| given.keys().into_iter().next());
        match left {
            None => Ok(()),
            Some(name) => Err(PyTypeError::new_err(format!(
                "{}() got an unexpected keyword argument '{name}'",
                self.function
            ))),
        }
    }
}

/// The error of an argument of the wrong kind.
pub(crate) fn bad(name: &str, expected: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let given = value.repr().map_or_else(|_| value.get_type().to_string(), |text| text.to_string());
    ArgumentError::new_err(format!("{name} must be {expected}, but is {given}"))
}

/// A `bool` of Python or numpy, or 0 or 1 instead.
pub(crate) fn boolean(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match (value.extract(), integer(value)) {
        (Ok(found), _) => Ok(found),
        (_, Some(number @ 0..=1)) => Ok(number == 1),
        _ => Err(bad(name, "True or False", value)),
    }
}

/// A flag of a function without [`Fields`].
pub(crate) fn flag(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    boolean("a flag", value)
}

/// An integer of Python or numpy, but not a `bool`.
pub(crate) fn integer(value: &Bound<'_, PyAny>) -> Option<i64> {
    if value.is_exact_instance_of::<PyInt>() {
        return value.extract().ok();
    }
    if value.is_instance_of::<PyBool>() { None } else { value.extract().ok() }
}

/// A sequence of integers.
pub(crate) fn integers(value: &Bound<'_, PyAny>) -> Option<Vec<i64>> {
    let items = value.try_iter().ok()?;
    items.map(|item| integer(&item.ok()?)).collect()
}
