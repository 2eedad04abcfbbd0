//! The outcome of the cases on one subject.
use std::collections::{BTreeMap, BTreeSet, HashSet};

use wgmax::plan::{Kernel, Shader};
use wgmax::{ElementType, Error, Result};

use crate::finding::Finding;
use crate::judge::{Verdict, judge_fills};
use crate::subject::Subject;
use crate::text::counted;
use crate::{Case, Kind};

/// A device with this many failures gets no further cases.
const MAX_FAILURES: u64 = 20;

/// The mismatches of a subject that are shrunk and shown; all are counted.
const MAX_FINDINGS: usize = 12;

/// The cases that differ whose numbers are kept, for each operator and type.
const MAX_NUMBERS: usize = 20;

/// The outcome of the cases of one operator and type on one subject.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// How many there were.
    pub cases: u64,
    /// Those in error.
    pub failures: u64,
    /// Those that differ.
    pub mismatches: u64,
    /// The first cases that differ.
    pub first: Vec<u64>,
}

/// The outcome of one case on a subject.
pub struct Outcome {
    /// The launches.
    shaders: HashSet<Shader>,
    verdict: Verdict,
    finding: Option<Finding>,
}

/// The outcome of a subject.
#[derive(Default)]
pub struct Score {
    /// The kernels that should be launched.
    wanted: BTreeSet<&'static str>,
    /// By operator and type.
    pub cells: BTreeMap<(Kind, ElementType), Cell>,
    /// The cases that launched a kernel, for the element type of their data.
    pub launched: BTreeMap<(&'static str, ElementType), u64>,
    /// The launches.
    pub shaders: HashSet<Shader>,
    /// The first case that failed for each reason.
    pub failures: BTreeMap<String, u64>,
    /// The case after which the subject got no more, and the reason.
    pub given_up: Option<(u64, String)>,
    /// The mismatches that were examined.
    pub findings: Vec<Finding>,
}

impl Score {
    /// No cases yet. These kernels should be launched.
    pub fn new(wanted: BTreeSet<&'static str>) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Runs a case with its fills on a subject. One mismatch of each operator and type is examined,
    /// as long as `goes_on` returns true. The caller records the outcome.
    pub fn outcome<'a>(
        &self,
        subject: &'a Subject,
        index: u64,
        fills: &'a [Case],
        goes_on: &'a mut dyn FnMut() -> bool,
    ) -> impl Future<Output = Outcome> + use<'a> {
        let known = self.cells.get(&Case::kind(index)).is_some_and(|cell| cell.mismatches > 0);
        let examines = !known && self.findings.len() < MAX_FINDINGS;
        async move {
            let mut shaders = HashSet::new();
            let verdict = judge_fills(subject, fills, |plan| shaders.extend(plan.shaders())).await;
            let finding = match &verdict {
                Verdict::Differs(found) if examines => {
                    Some(Finding::new(subject, index, (**found).clone(), goes_on).await)
                }
                _ => None,
            };
            Outcome { shaders, verdict, finding }
        }
    }

    /// Counts an outcome: whether the results were as expected, or why there were none.
    ///
    /// # Errors
    /// The error of the case, which is counted too.
    pub fn record(&mut self, index: u64, outcome: Outcome) -> Result<bool> {
        let kernels: BTreeSet<_> = outcome.shaders.iter().map(|s| s.kernel.name()).collect();
        for kernel in kernels {
            *self.launched.entry((kernel, Case::kind(index).1)).or_default() += 1;
        }
        self.shaders.extend(outcome.shaders);
        self.findings.extend(outcome.finding);
        let cell = self.cells.entry(Case::kind(index)).or_default();
        match outcome.verdict {
            Verdict::Same => cell.cases += 1,
            Verdict::Differs(_) => {
                cell.cases += 1;
                cell.mismatches += 1;
                if cell.first.len() < MAX_NUMBERS && !cell.first.contains(&index) {
                    cell.first.push(index);
                }
                return Ok(false);
            }
            Verdict::Failed(error) => {
                self.fail(index, &error);
                return Err(error);
            }
        }
        Ok(true)
    }

    /// Counts a case that failed. A subject that was lost, or fails too often, gets no more cases.
    pub fn fail(&mut self, index: u64, error: &Error) {
        let cell = self.cells.entry(Case::kind(index)).or_default();
        cell.cases += 1;
        cell.failures += 1;
        self.failures.entry(error.to_string()).or_insert(index);
        if matches!(error, Error::DeviceLost { .. }) || self.failed() >= MAX_FAILURES {
            self.given_up = Some((index, error.to_string()));
        }
    }

    /// How many cases there were.
    pub fn cases(&self) -> u64 {
        self.cells.values().map(|cell| cell.cases).sum()
    }

    /// How many cases differ.
    pub fn mismatches(&self) -> u64 {
        self.cells.values().map(|cell| cell.mismatches).sum()
    }

    /// How many cases failed.
    pub fn failed(&self) -> u64 {
        self.cells.values().map(|cell| cell.failures).sum()
    }

    /// Whether all cases were as expected.
    pub fn is_good(&self) -> bool {
        self.mismatches() == 0 && self.failed() == 0
    }

    /// The kernels that should be launched, or that were, in the order of the list of all kernels.
    pub fn kernels(&self) -> Vec<&'static str> {
        let all = wgmax::operator::kernels().into_iter().map(Kernel::name);
        all.filter(|kernel| self.wanted.contains(kernel) || self.has_launched(kernel)).collect()
    }

    fn has_launched(&self, kernel: &str) -> bool {
        self.launched.keys().any(|&(launched, _)| launched == kernel)
    }

    /// A sentence about the kernels that no case launched, if there are any, including those of
    /// operators that a short run did not reach.
    pub fn unreached(&self) -> Option<String> {
        let mut kernels = self.kernels();
        kernels.retain(|kernel| !self.has_launched(kernel));
        (!kernels.is_empty()).then(|| format!("No case launched {}.", kernels.join(", ")))
    }

    /// The element types of the cases.
    pub fn types(&self) -> Vec<ElementType> {
        let types: BTreeSet<ElementType> = self.cells.keys().map(|&(_, t)| t).collect();
        types.into_iter().collect()
    }

    /// A line about the outcome.
    pub fn line(&self) -> String {
        let cases = counted(self.cases(), "case");
        match (self.mismatches(), self.failed()) {
            (0, 0) => format!("{cases}, all equal"),
            (wrong, 0) => format!("{cases}, {wrong} differ"),
            (wrong, failed) => format!("{cases}, {wrong} differ, {failed} in error"),
        }
    }
}
