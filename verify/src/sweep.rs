//! Which cases are run, and their outcome.

use std::collections::BTreeSet;
use std::time::Duration;

use wgmax::plan::Kernel;
use wgmax::{ElementType, Result};

use crate::memory::Memory;
use crate::score::Score;
use crate::{Case, Kind};

/// The number of cases if neither a number nor a time is given.
pub const CASES: u64 = 2000;

/// How many of the first cases are run in the order of their numbers.
const FIRST: usize = 312;

/// Which cases are run, and how they are planned.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The seed of the cases.
    pub seed: u64,
    /// This case only.
    pub case: Option<u64>,
    /// The maximum number of cases. Their order depends on it.
    pub cases: Option<u64>,
    /// Only so many of these cases, the first in their order: as many as an earlier run did in its time.
    pub done: Option<u64>,
    /// The maximum time.
    pub time: Option<Duration>,
    /// After this many cases, the first one follows again.
    pub cycle: Option<u64>,
    /// Only these operators; all if there are none.
    pub kinds: Vec<Kind>,
    /// Only these types; all if there are none.
    pub types: Vec<ElementType>,
    /// The name of the tuning of all cases, instead of the tuning that a case or its device has.
    pub tuning: Option<&'static str>,
}

impl Choice {
    /// The numbers of the cases, in the order in which they are run.
    pub fn indices(&self) -> impl Iterator<Item = u64> + Clone {
        let (first, max) = self.case.map_or((0, self.cases), |case| (case, Some(1)));
        let size = |number: Option<u64>| {
            number.map_or(usize::MAX, |number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        let (max, cycle) = (size(max), size(self.cycle));
        let chosen =
            (first..=u64::MAX).filter(|&index| self.case.is_some() || self.includes(index));
        ordered(chosen.take(cycle.min(max))).cycle().take(max.min(size(self.done)))
    }

    /// Whether the case with a number is one of these.
    pub fn includes(&self, index: u64) -> bool {
        let (kind, element_type) = Case::kind(index);
        (self.kinds.is_empty() || self.kinds.contains(&kind))
            && (self.types.is_empty() || self.types.contains(&element_type))
    }

    /// A case of the seed. A chosen tuning replaces the case's tuning; the case's limits, target
    /// parallelism and maximum of taps stay, because they decide which kernels small tensors reach.
    ///
    /// # Errors
    /// As [`Case::nth`].
    pub fn nth(&self, index: u64) -> Result<Case> {
        Ok(self.with_tuning(Case::nth(self.seed, index)?))
    }

    /// The same with several fills.
    ///
    /// # Errors
    /// As [`Case::nth`].
    pub fn fills(&self, index: u64) -> Result<Vec<Case>> {
        let fills = Case::fills(self.seed, index)?;
        Ok(fills.into_iter().map(|case| self.with_tuning(case)).collect())
    }

    /// The kernels of the chosen operators, and those that belong to no operator.
    fn kernels(&self) -> BTreeSet<&'static str> {
        let is_other = |kind: &&Kind| !self.kinds.is_empty() && !self.kinds.contains(kind);
        let others: BTreeSet<&str> =
            Kind::ALL.iter().filter(is_other).copied().flat_map(Kind::kernels).collect();
        let own: BTreeSet<&str> = self.kinds.iter().copied().flat_map(Kind::kernels).collect();
        let all = wgmax::operator::kernels().into_iter().map(Kernel::name);
        all.filter(|kernel| own.contains(kernel) || !others.contains(kernel)).collect()
    }

    fn with_tuning(&self, mut case: Case) -> Case {
        case.overrides.tuning = self.tuning.or(case.overrides.tuning);
        case
    }
}

/// The outcome of a sweep: a score for each subject.
pub struct Sweep {
    /// The cases that were requested.
    pub choice: Choice,
    /// In the order of the subjects.
    pub scores: Vec<Score>,
    /// How many cases were run.
    pub cases: u64,
    /// Whether it was ended early.
    pub is_cut_off: bool,
    /// How long it took.
    pub elapsed: Duration,
    /// The memory of the process.
    pub memory: Memory,
}

impl Sweep {
    /// A sweep before its first case.
    pub fn new(choice: Choice, subjects: usize) -> Self {
        // A single case need not launch certain kernels.
        let wanted = if choice.case.is_some() { BTreeSet::new() } else { choice.kernels() };
        let scores = (0..subjects).map(|_| Score::new(wanted.clone())).collect();
        let (elapsed, memory) = (Duration::ZERO, Memory::default());
        Self { choice, scores, cases: 0, is_cut_off: false, elapsed, memory }
    }

    /// How many results differ.
    pub fn mismatches(&self) -> u64 {
        self.scores.iter().map(Score::mismatches).sum()
    }
}

/// The order in which cases are run: the first of them launch every kernel, and the others are
/// sorted by type, because cases of one type share pipelines, of which a device keeps some hundreds.
fn ordered(mut chosen: impl Iterator<Item = u64> + Clone) -> impl Iterator<Item = u64> + Clone {
    let windows = std::iter::from_fn(move || {
        let mut window: Vec<u64> = chosen.by_ref().take(CASES as usize).collect();
        if let Some(rest) = window.get_mut(FIRST..) {
            rest.sort_by_key(|&index| Case::kind(index).1);
        }
        (!window.is_empty()).then_some(window)
    });
    windows.flatten()
}
