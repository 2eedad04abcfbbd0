//! The sweep: cases, one after the other, on every subject.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use wgmax::sweep::{Case, Kind};
use wgmax::{ElementType, Error};

use super::finding::Finding;
use super::judge::{Verdict, judge};
use super::memory::Memory;
use super::progress::Progress;
use super::subject::Subject;

/// A device that fails so often is left alone.
const MOST_FAILURES: u64 = 20;

/// So many mismatches of a subject are shrunk and shown; all are counted.
const MOST_FINDINGS: usize = 12;

/// So many cases that differ are remembered by number for each operator and type.
const MOST_NUMBERS: usize = 20;

/// Which cases.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    pub seed: u64,
    /// This one alone.
    pub case: Option<u64>,
    /// At most so many.
    pub cases: Option<u64>,
    /// For so long.
    pub time: Option<Duration>,
    /// Of these operators; all if there is none.
    pub kinds: Vec<Kind>,
    /// Of these types; all if there is none.
    pub types: Vec<ElementType>,
}

impl Choice {
    fn takes(&self, index: u64) -> bool {
        let (kind, element_type) = Case::kind(index);
        (self.kinds.is_empty() || self.kinds.contains(&kind))
            && (self.types.is_empty() || self.types.contains(&element_type))
    }
}

/// What became of the cases of one operator and type on one subject.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub cases: u64,
    pub failures: u64,
    pub mismatches: u64,
    /// The first cases that differ.
    pub first: Vec<u64>,
}

/// What became of a subject.
#[derive(Default)]
pub struct Score {
    pub cells: BTreeMap<(Kind, ElementType), Cell>,
    /// The first case that failed for each reason.
    pub failures: BTreeMap<String, u64>,
    /// Why and when it was left alone.
    pub given_up: Option<(u64, String)>,
    pub findings: Vec<Finding>,
}

impl Score {
    pub fn cases(&self) -> u64 {
        self.cells.values().map(|cell| cell.cases).sum()
    }

    pub fn mismatches(&self) -> u64 {
        self.cells.values().map(|cell| cell.mismatches).sum()
    }

    pub fn failed(&self) -> u64 {
        self.cells.values().map(|cell| cell.failures).sum()
    }

    pub fn is_good(&self) -> bool {
        self.mismatches() == 0 && self.failed() == 0
    }
}

/// What a sweep found: a score for each subject.
pub struct Sweep {
    pub choice: Choice,
    pub scores: Vec<Score>,
    pub cases: u64,
    pub elapsed: Duration,
    pub memory: Memory,
}

pub fn sweep(subjects: &[Subject], choice: Choice, progress: &mut Progress) -> Sweep {
    let start = Instant::now();
    let mut memory = Memory::new();
    let mut scores: Vec<Score> = subjects.iter().map(|_| Score::default()).collect();
    let (first, wanted) = match choice.case {
        Some(case) => (case, Some(1)),
        None => (0, choice.cases),
    };
    let mut done = 0;
    for index in first..u64::MAX {
        let late = choice.time.is_some_and(|time| start.elapsed() >= time);
        let nobody = scores.iter().all(|score| score.given_up.is_some());
        if late || nobody || wanted.is_some_and(|wanted| done >= wanted) {
            break;
        }
        if choice.case.is_none() && !choice.takes(index) {
            continue;
        }
        run(subjects, &mut scores, &choice, index);
        done += 1;
        memory.look();
        progress.step(done, scores.iter().map(Score::mismatches).sum());
    }
    progress.end();
    Sweep { choice, scores, cases: done, elapsed: start.elapsed(), memory }
}

/// One case on all subjects whose turn it is.
fn run(subjects: &[Subject], scores: &mut [Score], choice: &Choice, index: u64) {
    let key = Case::kind(index);
    let case = Case::nth(choice.seed, index);
    for (subject, score) in subjects.iter().zip(scores) {
        let turn = choice.case.is_some() || index.is_multiple_of(subject.one_in);
        if !turn || score.given_up.is_some() {
            continue;
        }
        let cell = score.cells.entry(key).or_default();
        cell.cases += 1;
        let verdict = match &case {
            Ok(case) => judge(subject, case),
            Err(error) => {
                cell.failures += 1;
                score.failures.entry(error.to_string()).or_insert(index);
                continue;
            }
        };
        match verdict {
            Verdict::Same => {}
            Verdict::Differs(difference) => {
                cell.mismatches += 1;
                if cell.first.len() < MOST_NUMBERS {
                    cell.first.push(index);
                }
                if cell.mismatches == 1 && score.findings.len() < MOST_FINDINGS {
                    score.findings.push(Finding::new(subject, index, difference));
                }
            }
            Verdict::Failed(error) => {
                cell.failures += 1;
                score.failures.entry(error.to_string()).or_insert(index);
                if matches!(error, Error::DeviceLost { .. }) || score.failed() >= MOST_FAILURES {
                    score.given_up = Some((index, error.to_string()));
                }
            }
        }
    }
}
