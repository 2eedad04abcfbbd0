//! Random cases on a device.

use pyo3::prelude::*;
use wgmax_verify::{Case, Subject, Verdict, judge};

use crate::device::{chosen, cpu};
use crate::error::ArgumentError;
use crate::threads::detached;

/// The result of random cases.
#[pyclass(frozen, get_all, module = "wgmax")]
pub(crate) struct Verification {
    /// How many cases ran.
    cases: u64,
    /// The cases whose results were wrong, as text.
    differing: Vec<String>,
    /// The cases that failed, with their errors, as text.
    failed: Vec<String>,
}

#[doc = include_str!("docs/verify.txt")]
#[pyfunction]
#[pyo3(signature = (device = None, *, cases = 390, seed = 0))]
pub(crate) fn verify(
    py: Python<'_>,
    device: Option<&Bound<'_, PyAny>>,
    cases: u64,
    seed: u64,
) -> PyResult<Verification> {
    if cases == 0 {
        return Err(ArgumentError::new_err("cases must be 1 or more, but is 0"));
    }
    let device = chosen(py, device)?;
    let mut found = Verification { cases, differing: Vec::new(), failed: Vec::new() };
    for index in 0..cases {
        py.check_signals()?;
        let verdict = detached(py, || {
            let case = Case::nth(seed, index)?;
            let subject = Subject::new(device.clone(), cpu());
            match pollster::block_on(judge(&subject, &case)) {
                Verdict::Same => Ok(None),
                Verdict::Differs(_) => Ok(Some(case.to_string())),
                Verdict::Failed(error) => Err(error),
            }
        });
        match verdict {
            Ok(None) => {}
            Ok(Some(case)) => found.differing.push(format!("case {index} of seed {seed}: {case}")),
            Err(error) => found.failed.push(format!("case {index} of seed {seed}: {error}")),
        }
    }
    Ok(found)
}

#[pymethods]
impl Verification {
    /// Whether all cases ran and were right.
    fn __bool__(&self) -> bool {
        self.differing.is_empty() && self.failed.is_empty()
    }

    fn __repr__(&self) -> String {
        let (differing, failed) = (self.differing.len(), self.failed.len());
        format!("<wgmax.Verification {} cases, {differing} differ, {failed} failed>", self.cases)
    }
}
