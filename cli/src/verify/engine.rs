//! The sweep: one case after the other, on every subject.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::mpsc::sync_channel;
use std::thread::Scope;
use std::time::{Duration, Instant};

use wgmax::plan::{Kernel, Plan, Shader};
use wgmax::{Device, ElementType, Error};
use wgmax_verify::{Case, Kind};

use super::finding::Finding;
use super::judge::{Verdict, judge_fills, with_one_plan};
use super::memory::Memory;
use super::progress::Progress;
use super::subject::Subject;
use crate::interrupt;
use crate::options::PlanChoice;

/// A device with this many failures gets no further cases.
const MAX_FAILURES: u64 = 20;

/// The mismatches of a subject that are shrunk and shown; all are counted.
const MAX_FINDINGS: usize = 12;

/// The cases that are run in the order of their numbers.
const FIRST: usize = 312;

/// The cases that are drawn before they are run.
const MAX_AHEAD: usize = 4;

/// The cases that differ whose numbers are kept, for each operator and type.
const MAX_NUMBERS: usize = 20;

/// Which cases are run, and how they are planned.
#[derive(Clone, Debug, Default)]
pub struct Choice {
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
    /// The tuning of all cases, instead of the tuning that a case or its device has.
    pub plan: Option<PlanChoice>,
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
    pub fn nth(&self, index: u64) -> wgmax::Result<Case> {
        Ok(self.with_plan(Case::nth(self.seed, index)?))
    }

    /// The same with several fills.
    pub fn fills(&self, index: u64) -> wgmax::Result<Vec<Case>> {
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
        if let Some(plan) = self.plan {
            case.narrow.tuning = Some(plan.name());
        }
        case
    }
}

/// The outcome of the cases of one operator and type on one subject.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub cases: u64,
    pub failures: u64,
    pub mismatches: u64,
    /// The first cases that differ.
    pub first: Vec<u64>,
}

/// The outcome of a subject.
#[derive(Default)]
pub struct Score {
    /// The kernels that shall be launched.
    wanted: BTreeSet<&'static str>,
    pub cells: BTreeMap<(Kind, ElementType), Cell>,
    /// The cases that launched a kernel, for the element type of their data.
    pub launched: BTreeMap<(&'static str, ElementType), u64>,
    /// What was launched.
    pub shaders: HashSet<Shader>,
    /// The first case that failed for each reason.
    pub failures: BTreeMap<String, u64>,
    /// The case after which the subject got no more, and the reason.
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

    /// The kernels that shall be launched, or that were, in the order of the list of all.
    pub fn kernels(&self) -> Vec<&'static str> {
        let all = wgmax::operator::kernels().into_iter().map(Kernel::name);
        all.filter(|kernel| self.wanted.contains(kernel) || self.has_launched(kernel)).collect()
    }

    fn has_launched(&self, kernel: &str) -> bool {
        self.launched.keys().any(|&(launched, _)| launched == kernel)
    }

    /// A sentence on the kernels that no case launched, if there are such: those of operators, too,
    /// that a short run has not come to.
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

    /// Counts the kernels that a case launches.
    fn launches(&mut self, index: u64, shaders: HashSet<Shader>) {
        let (_, element_type) = Case::kind(index);
        let kernels: BTreeSet<_> = shaders.iter().map(|shader| shader.kernel.name()).collect();
        for kernel in kernels {
            *self.launched.entry((kernel, element_type)).or_default() += 1;
        }
        self.shaders.extend(shaders);
    }

    /// Counts a case that failed.
    fn fail(&mut self, index: u64, error: &Error) {
        self.cells.entry(Case::kind(index)).or_default().failures += 1;
        self.failures.entry(error.to_string()).or_insert(index);
    }
}

/// The outcome of a sweep: a score for each subject.
pub struct Sweep {
    pub choice: Choice,
    pub scores: Vec<Score>,
    pub cases: u64,
    /// Whether a signal ended it.
    pub is_cut_off: bool,
    pub elapsed: Duration,
    pub memory: Memory,
}

pub fn sweep(subjects: &[Subject], choice: Choice, progress: &mut Progress) -> Sweep {
    let start = Instant::now();
    let mut memory = Memory::new();
    // One case is looked at for itself.
    let wanted = if choice.case.is_some() { BTreeSet::new() } else { choice.kernels() };
    let score = |_| Score { wanted: wanted.clone(), ..Score::default() };
    let mut scores: Vec<Score> = subjects.iter().map(score).collect();
    // GL has one context, which threads would wait for.
    let devices = subjects.iter().map(|subject| subject.device.clone());
    let devices: Vec<Device> =
        devices.filter(|device| !device.is_cpu() && device.info().backend != "gl").collect();
    let mut done = 0;
    let mut is_cut_off = false;
    std::thread::scope(|scope| {
        for (index, fills) in ahead(scope, &choice, &devices) {
            let late = choice.time.is_some_and(|time| start.elapsed() >= time);
            let all_given_up = scores.iter().all(|score| score.given_up.is_some());
            is_cut_off = interrupt::requested();
            if late || all_given_up || is_cut_off {
                break;
            }
            run(subjects, &mut scores, index, &fills);
            done += 1;
            memory.sample();
            progress.step(done, scores.iter().map(Score::mismatches).sum());
        }
    });
    progress.end();
    Sweep { choice, scores, cases: done, is_cut_off, elapsed: start.elapsed(), memory }
}

/// The order in which cases are run: the first of them launch every kernel, and the others come type
/// by type, because cases of one type share pipelines, of which a device keeps some hundreds.
fn ordered(mut chosen: impl Iterator<Item = u64> + Clone) -> impl Iterator<Item = u64> + Clone {
    let windows = std::iter::from_fn(move || {
        let mut window: Vec<u64> = chosen.by_ref().take(super::CASES as usize).collect();
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
) -> impl Iterator<Item = (u64, wgmax::Result<Vec<Case>>)> {
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

/// Runs one case on all subjects that take it.
fn run(subjects: &[Subject], scores: &mut [Score], index: u64, fills: &wgmax::Result<Vec<Case>>) {
    for (subject, score) in subjects.iter().zip(scores) {
        if score.given_up.is_some() {
            continue;
        }
        score.cells.entry(Case::kind(index)).or_default().cases += 1;
        let fills = match fills {
            Ok(fills) => fills,
            Err(error) => {
                score.fail(index, error);
                continue;
            }
        };
        let mut shaders = HashSet::new();
        let verdict = judge_fills(subject, fills, |plan| shaders.extend(plan.shaders()));
        score.launches(index, shaders);
        let cell = score.cells.entry(Case::kind(index)).or_default();
        match verdict {
            Verdict::Same => {}
            Verdict::Differs(difference) => {
                cell.mismatches += 1;
                if cell.first.len() < MAX_NUMBERS && !cell.first.contains(&index) {
                    cell.first.push(index);
                }
                if cell.mismatches == 1 && score.findings.len() < MAX_FINDINGS {
                    score.findings.push(Finding::new(subject, index, *difference));
                }
            }
            Verdict::Failed(error) => {
                score.fail(index, &error);
                if matches!(error, Error::DeviceLost { .. }) || score.failed() >= MAX_FAILURES {
                    score.given_up = Some((index, error.to_string()));
                }
            }
        }
    }
}
