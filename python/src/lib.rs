//! The extension module of the Python package `wgmax`. Its users see `python/wgmax/__init__.py`; the
//! types are in `_wgmax.pyi`.

#![deny(missing_docs)]
#![allow(clippy::doc_lazy_continuation, reason = "documentation for Python has numpy's format")]

mod array;
mod attributes;
mod compare;
mod device;
mod error;
mod exchange;
mod fields;
mod node;
mod operators;
mod run;
mod tensor;
mod threads;
mod verify;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
fn _wgmax(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let argument_error = py.get_type::<error::ArgumentError>();
    // Of errors that only this package has.
    argument_error.setattr("code", "BadArgument")?;
    module.add("ArgumentError", argument_error)?;
    module.add("AxisError", error::axis_error(py)?)?;
    module.add("OutOfMemoryError", py.get_type::<error::OutOfMemoryError>())?;
    module.add("DeviceError", py.get_type::<error::DeviceError>())?;
    module.add_class::<device::Device>()?;
    module.add_class::<device::DeviceInfo>()?;
    module.add_class::<tensor::Tensor>()?;
    module.add_class::<compare::Comparison>()?;
    module.add_class::<verify::Verification>()?;
    module.add_function(wrap_pyfunction!(device::devices, module)?)?;
    module.add_function(wrap_pyfunction!(compare::compare, module)?)?;
    module.add_function(wrap_pyfunction!(verify::verify, module)?)?;
    module.add_function(wrap_pyfunction!(node::node, module)?)?;
    module.add_function(wrap_pyfunction!(threads::forked, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    operators::add(module)
}

/// Runs the command with these arguments, once in a process. Returns the exit status.
#[pyfunction(name = "_command")]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| wgmax_cli::run(arguments))
}
