//! Errors as Python has them.

use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
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
    // An exception takes attributes; without the code it still has the message.
    let _ = Python::attach(|py| raised.value(py).setattr("code", code));
    raised
}
