//! Errors as Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use wgmax::Error;

create_exception!(wgmax, ArgumentError, PyValueError, "An operator does not take these arguments.");
create_exception!(
    wgmax,
    OutOfMemoryError,
    PyMemoryError,
    "The host or a device ran out of memory."
);
create_exception!(
    wgmax,
    DeviceError,
    PyRuntimeError,
    "A device is not there, fails, or is too small."
);

/// The type of the exception of an axis that does not exist: an `ArgumentError`, and numpy's.
pub(crate) fn axis_error(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let make = || {
        let numpy = py.import("numpy.exceptions")?.getattr("AxisError")?;
        let members = PyDict::new(py);
        members.set_item("__module__", "wgmax")?;
        members.set_item("__doc__", "An axis is out of range.")?;
        // Replaces numpy's slots, which some ways of copying an exception do not copy.
        for name in ["_msg", "axis", "ndim"] {
            members.set_item(name, py.None())?;
        }
        let bases = (py.get_type::<ArgumentError>(), numpy);
        let made = py.get_type::<PyType>().call1(("AxisError", bases, members))?;
        Ok(made.cast_into::<PyType>()?.unbind())
    };
    TYPE.get_or_try_init(py, make).map(|made| made.bind(py))
}

/// The exception of an error. Its `code` is the name of the variant.
pub(crate) fn raised(error: Error) -> PyErr {
    let message = error.to_string();
    let raised = match &error {
        Error::OutOfMemory { .. } => OutOfMemoryError::new_err(message),
        Error::NoAdapter { .. }
        | Error::NoCpu { .. }
        | Error::AdapterRefused { .. }
        | Error::DeviceLost { .. }
        | Error::Gpu { .. }
        | Error::OverLimit { .. }
        | Error::WouldBlock
        | Error::CannotRecord
        | Error::NotSubmitted
        | Error::Io { .. } => DeviceError::new_err(message),
        Error::AxisOutOfRange { axis, rank } => Python::attach(|py| match axis_error(py) {
            Ok(made) => PyErr::from_type(made.clone(), (*axis, *rank)),
            Err(error) => error,
        }),
        _ => ArgumentError::new_err(message),
    };
    let debug = format!("{error:?}");
    let code = debug.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    with_code(raised, code)
}

/// The exception of a GPU that another process has opened.
pub(crate) fn forked() -> PyErr {
    let message = "this device, or this tensor, is on a GPU that was opened before the process was forked, \
                   which does not answer here; open the device in this process";
    with_code(DeviceError::new_err(message), "Forked")
}

fn with_code(raised: PyErr, code: &str) -> PyErr {
    // An exception takes attributes. If that fails, it still has the message.
    let _ = Python::attach(|py| raised.value(py).setattr("code", code));
    raised
}
