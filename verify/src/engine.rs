//! The sweep: one case after the other, on every subject.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;
use std::thread::Scope;
use std::time::{Duration, Instant};

use wgmax::plan::{Kernel, Plan};
use wgmax::{Device, ElementType, Result};

use crate::judge::with_one_plan;
use crate::memory::Memory;
use crate::score::Score;
use crate::subject::Subject;
use crate::{Case, Kind};

/// The number of cases if neither a number nor a time is given.
pub const CASES: u64 = 2000;

/// The cases that are run in the order of their numbers.
const FIRST: usize = 312;

/// The cases that are drawn before they are run.
const MAX_AHEAD: usize = 4;

/// Which cases are run, and how they are planned.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Whose cases they are.
    pub seed: u64,
    /// This case only.
    pub case: Option<u64>,
    /// The maximum number of cases.
    pub cases: Option<u64>,
    /// The maximum time.
    pub time: Option<Duration>,
    /// After this many cases the first comes again.
    pub cycle: Option<u64>,
    /// Only these operators, unless there are none.
    pub kinds: Vec<Kind>,
    /// Only these types, unless there are none.
    pub types: Vec<ElementType>,
    /// The name of the tuning of all cases, instead of the tuning that a case or its device has.
    pub plan: Option<&'static str>,
}

impl Choice {
    /// The numbers of the cases, in the order in which they are run.
    pub fn indices(&self) -> impl Iterator<Item = u64> + Clone {
        let (first, max) = match self.case {
            Some(case) => (case, Some(1)),
            None => (0, self.cases),
        };
        let size = |number: Option<u64>| {
            number.map_or(usize::MAX, |number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        let (max, cycle) = (size(max), size(self.cycle));
        let chosen =
            (first..=u64::MAX).filter(|&index| self.case.is_some() || self.includes(index));
        ordered(chosen.take(cycle.min(max))).cycle().take(max)
    }

    /// Whether the case of a number is one of these.
    pub fn includes(&self, index: u64) -> bool {
        let (kind, element_type) = Case::kind(index);
        (self.kinds.is_empty() || self.kinds.contains(&kind))
            && (self.types.is_empty() || self.types.contains(&element_type))
    }

    /// A case of the seed. A chosen plan replaces the case's tuning; the case's limits, target
    /// parallelism and maximum of taps stay, because they decide what small tensors reach.
    ///
    /// # Errors
    /// As [`Case::nth`].
    pub fn nth(&self, index: u64) -> Result<Case> {
        Ok(self.with_plan(Case::nth(self.seed, index)?))
    }

    /// The same with several fills.
    ///
    /// # Errors
    /// As [`Case::nth`].
    pub fn fills(&self, index: u64) -> Result<Vec<Case>> {
        let fills = Case::fills(self.seed, index)?;
        Ok(fills.into_iter().map(|case| self.with_plan(case)).collect())
    }

    /// The kernels of the operators, and those that are of none.
    fn kernels(&self) -> BTreeSet<&'static str> {
        let is_other = |kind: &&Kind| !self.kinds.is_empty() && !self.kinds.contains(kind);
        let others: BTreeSet<&str> =
            Kind::ALL.iter().filter(is_other).copied().flat_map(Kind::kernels).collect();
        let own: BTreeSet<&str> = self.kinds.iter().copied().flat_map(Kind::kernels).collect();
        let all = wgmax::operator::kernels().into_iter().map(Kernel::name);
        all.filter(|kernel| own.contains(kernel) || !others.contains(kernel)).collect()
    }

    fn with_plan(&self, mut case: Case) -> Case {
        case.narrow.tuning = self.plan.or(case.narrow.tuning);
        case
    }
}

/// The outcome of a sweep: a score for each subject.
pub struct Sweep {
    /// What was asked for.
    pub choice: Choice,
    /// In the order of the subjects.
    pub scores: Vec<Score>,
    /// How many cases were run.
    pub cases: u64,
    /// Whether it was ended before all was done.
    pub is_cut_off: bool,
    /// How long it took.
    pub elapsed: Duration,
    /// The memory of the process.
    pub memory: Memory,
}

impl Sweep {
    /// Before the first case.
    pub fn new(choice: Choice, subjects: usize) -> Self {
        // One case is looked at for itself.
        let wanted = if choice.case.is_some() { BTreeSet::new() } else { choice.kernels() };
        let scores = (0..subjects).map(|_| Score::new(wanted.clone())).collect();
        let (elapsed, memory) = (Duration::ZERO, Memory::default());
        Self { choice, scores, cases: 0, is_cut_off: false, elapsed, memory }
    }

    fn mismatches(&self) -> u64 {
        self.scores.iter().map(Score::mismatches).sum()
    }
}

/// Runs cases on subjects. `step` is called often with the number of cases that are done and of those
/// that differ, and may end it.
pub fn sweep(
    subjects: &[Subject],
    choice: Choice,
    mut step: impl FnMut(u64, u64) -> ControlFlow<()>,
) -> Sweep {
    let start = Instant::now();
    let mut sweep = Sweep::new(choice.clone(), subjects.len());
    // GL has one context, which threads would wait for.
    let devices = subjects.iter().map(|subject| subject.device.clone());
    let devices: Vec<Device> =
        devices.filter(|device| !device.is_cpu() && device.info().backend != "gl").collect();
    std::thread::scope(|scope| {
        for (index, fills) in ahead(scope, &choice, &devices) {
            let late = choice.time.is_some_and(|time| start.elapsed() >= time);
            if late || sweep.scores.iter().all(|score| score.given_up.is_some()) {
                break;
            }
            let (cases, mismatches) = (sweep.cases, sweep.mismatches());
            let mut goes_on = || step(cases, mismatches).is_continue();
            sweep.is_cut_off = !goes_on();
            if sweep.is_cut_off {
                break;
            }
            for (subject, score) in subjects.iter().zip(&mut sweep.scores) {
                match &fills {
                    _ if score.given_up.is_some() => {}
                    Ok(fills) => {
                        let outcome = score.outcome(subject, index, fills, &mut goes_on);
                        // What was wrong is in the score.
                        let _ = score.record(index, pollster::block_on(outcome));
                    }
                    Err(error) => score.fail(index, error),
                }
            }
            sweep.cases += 1;
            sweep.memory.sample(start.elapsed());
        }
    });
    sweep.elapsed = start.elapsed();
    sweep
}

/// The order in which cases are run: the first of them launch every kernel, and the others come type
/// by type, because cases of one type share pipelines, of which a device keeps some hundreds.
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

/// Cases with their fills, which another thread draws a few cases ahead. It makes their pipelines
/// on the devices too, which takes more time than running them. It ends where nobody takes a case.
fn ahead<'scope>(
    scope: &'scope Scope<'scope, '_>,
    choice: &'scope Choice,
    devices: &'scope [Device],
) -> impl Iterator<Item = (u64, Result<Vec<Case>>)> {
    let (sender, receiver) = sync_channel(MAX_AHEAD);
    scope.spawn(move || {
        for index in choice.indices() {
            let fills = choice.fills(index);
            for case in fills.iter().flat_map(|fills| with_one_plan(fills)).map(|fills| &fills[0]) {
                for device in devices {
                    // What fails here fails again when the case is run, and is reported then.
                    let plan = case.plan(device);
                    for shader in plan.iter().flat_map(Plan::shaders) {
                        let _ = device.compile(shader);
                    }
                }
            }
            if sender.send((index, fills)).is_err() {
                break;
            }
        }
    });
    receiver.into_iter()
}
