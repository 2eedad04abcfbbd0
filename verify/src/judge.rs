//! Runs one case on one subject.
use wgmax::operator::Operator;
use wgmax::plan::Plan;
use wgmax::{Comparison, Error, Tensor, compare};

use crate::Case;
use crate::subject::Subject;

/// The outcome of a case.
pub enum Verdict {
    /// The results are as expected.
    Same,
    /// They are not as expected.
    Differs(Box<Difference>),
    /// There are no results.
    Failed(Error),
}

/// Results that are not as expected.
#[derive(Clone)]
pub struct Difference {
    /// The case.
    pub case: Case,
    /// The expected results.
    pub expected: Vec<Tensor>,
    /// The actual results.
    pub actual: Vec<Tensor>,
    /// Why the reference refuses a case that the subject computes.
    pub refused: Option<String>,
}

/// Runs a case on a subject by its own plan.
pub async fn judge(subject: &Subject, case: &Case) -> Verdict {
    judge_fills(subject, std::slice::from_ref(case), |_| {}).await
}

/// Runs the fills of a case on a subject, until one is not the same. `planned` gets each plan.
pub async fn judge_fills(
    subject: &Subject,
    fills: &[Case],
    mut planned: impl FnMut(&Plan),
) -> Verdict {
    for fills in with_one_plan(fills) {
        let plan = match fills[0].plan(&subject.device) {
            Ok(plan) => plan,
            Err(error) => return Verdict::Failed(error),
        };
        planned(&plan);
        for case in fills {
            let actual = match (subject.actual)(case, &plan).await {
                Ok(actual) => actual,
                Err(error) => return Verdict::Failed(error),
            };
            let (expected, refused) = match (subject.expected)(case) {
                Ok(expected) if are_equal(&expected, &actual) => continue,
                Ok(expected) => (expected, None),
                Err(error) => (Vec::new(), Some(error.to_string())),
            };
            let case = case.clone();
            return Verdict::Differs(Box::new(Difference { case, expected, actual, refused }));
        }
    }
    Verdict::Same
}

/// The fills of a case, grouped by equal plans.
pub fn with_one_plan(fills: &[Case]) -> impl Iterator<Item = &[Case]> {
    fills.chunk_by(|a, b| a.overrides == b.overrides)
}

/// Whether results have the same types, shapes and bits.
pub fn are_equal(expected: &[Tensor], actual: &[Tensor]) -> bool {
    let same = |(a, b): (&Tensor, &Tensor)| compare(b, a).is_ok_and(|report| report.is_equal());
    expected.len() == actual.len() && expected.iter().zip(actual).all(same)
}

impl Difference {
    /// The numbers of the results that differ, with comparisons whose `a` is the actual tensor.
    /// Tensors of different types or shapes have no comparison.
    pub fn results(&self) -> Vec<(usize, Option<Comparison>)> {
        let pairs = self.actual.iter().zip(&self.expected).enumerate();
        pairs
            .map(|(number, (actual, expected))| (number, compare(actual, expected).ok()))
            .filter(|(_, report)| report.as_ref().is_none_or(|report| !report.is_equal()))
            .collect()
    }

    /// The name of a result.
    pub fn name(&self, result: usize) -> &'static str {
        let has_status = matches!(&self.case.operator, Operator::SegmentMax(op) if op.status);
        match result {
            _ if has_status && result + 1 == self.actual.len() => "status",
            0 => "values",
            _ => "indices",
        }
    }
}
