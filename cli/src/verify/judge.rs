//! Runs one case on one subject.

use wgmax::sweep::Case;
use wgmax::{Comparison, Error, Tensor, compare};

use super::subject::Subject;

/// The outcome of a case.
pub enum Verdict {
    Same,
    Differs(Difference),
    Failed(Error),
}

/// Results that are not as expected.
#[derive(Clone)]
pub struct Difference {
    pub case: Case,
    pub expected: Vec<Tensor>,
    pub actual: Vec<Tensor>,
}

pub fn judge(subject: &Subject, case: &Case) -> Verdict {
    let both = || Ok(((subject.expected)(case)?, (subject.actual)(case)?));
    let (expected, actual) = match both() {
        Ok(both) => both,
        Err(error) => return Verdict::Failed(error),
    };
    let difference = Difference { case: case.clone(), expected, actual };
    if difference.is_none() { Verdict::Same } else { Verdict::Differs(difference) }
}

impl Difference {
    fn is_none(&self) -> bool {
        self.expected.len() == self.actual.len()
            && self.expected.iter().zip(&self.actual).all(|(expected, actual)| {
                compare(actual, expected).is_ok_and(|report| report.is_equal())
            })
    }

    /// The numbers of the results that differ, with comparisons of which `a` is the actual tensor.
    /// There is no comparison of tensors of different types or shapes.
    pub fn results(&self) -> Vec<(usize, Option<Comparison>)> {
        let pairs = self.actual.iter().zip(&self.expected).enumerate();
        pairs
            .map(|(number, (actual, expected))| (number, compare(actual, expected).ok()))
            .filter(|(_, report)| report.as_ref().is_none_or(|report| !report.is_equal()))
            .collect()
    }

    /// The name of a result.
    pub fn name(&self, result: usize) -> &'static str {
        match (result, self.actual.get(result).map(Tensor::shape)) {
            (0, _) => "values",
            (_, Some([])) if result + 1 == self.actual.len() && self.case.tensors.len() == 2 => {
                "status"
            }
            _ => "indices",
        }
    }
}
