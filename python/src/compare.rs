//! Comparing two arrays.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::raised;
use crate::fields::flag;
use crate::run::Input;
use crate::threads::detached;

/// How two arrays differ.
#[pyclass(frozen, module = "wgmax")]
pub(crate) struct Comparison(wgmax::Comparison);

#[doc = include_str!("docs/compare.txt")]
#[pyfunction]
#[pyo3(signature = (a, b, *, values = false))]
pub(crate) fn compare(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = flag)] values: bool,
) -> PyResult<Comparison> {
    let (a, b) = (Input::of(a)?.to_host(py)?, Input::of(b)?.to_host(py)?);
    let compare = if values { wgmax::compare_values } else { wgmax::compare };
    detached(py, || compare(&a, &b)).map(Comparison).map_err(raised)
}

#[pymethods]
impl Comparison {
    /// Whether no element differs.
    #[getter]
    fn equal(&self) -> bool {
        self.0.is_equal()
    }

    /// The number of elements of each array.
    #[getter]
    fn total(&self) -> usize {
        self.0.total
    }

    /// The number of elements that differ.
    #[getter]
    fn differing(&self) -> usize {
        self.0.differing
    }

    /// The largest distance of two values, in steps from each to the next one.
    #[getter]
    fn max_ulp(&self) -> Option<u64> {
        self.0.max_ulp
    }

    /// The first elements that differ, at most ten.
    #[getter]
    fn first<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for mismatch in &self.0.first {
            let item = PyDict::new(py);
            item.set_item("coordinates", &mismatch.coordinates)?;
            item.set_item("a", &mismatch.a)?;
            item.set_item("b", &mismatch.b)?;
            item.set_item("a_bits", mismatch.a_bits)?;
            item.set_item("b_bits", mismatch.b_bits)?;
            item.set_item("ulp", mismatch.ulp)?;
            list.append(item)?;
        }
        Ok(list)
    }

    fn __bool__(&self) -> bool {
        self.0.is_equal()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<wgmax.Comparison {}>", self.0.to_string().lines().next().unwrap_or_default())
    }
}
