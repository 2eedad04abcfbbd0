//! The sabotage score: how many planted faults the cases find.
//!
//! A fault is a mistake that drivers, compilers and authors have made: a change to the text of
//! shaders, or one that the library's CPU kernels can be told to make. It is found if a case that
//! `wgmax verify` runs by default has another result than it should.

mod shaders;

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use wgmax::Device;
use wgmax::fault::{self, Fault, Mistake};
use wgmax::plan::{Plan, Shader};

use super::engine::Choice;
use super::judge::{Verdict, are_equal, judge_fills, with_one_plan};
use super::progress::Display;
use super::subject::Subject;
use crate::interrupt;

/// A fault in the texts of shaders.
pub struct ShaderFault {
    /// What goes wrong.
    pub name: &'static str,
    /// The kind of mistake.
    pub mistake: Mistake,
    /// The kernels whose texts are changed; all that have the part if there are none.
    pub kernels: &'static [&'static str],
    /// The part of the text that is replaced, wherever it is.
    pub find: &'static str,
    /// What replaces it.
    pub replace: &'static str,
    /// A public report of such a mistake.
    pub report: Option<&'static str>,
}

impl ShaderFault {
    /// Whether the text of a shader has the fault's place.
    fn changes(&self, shader: &Shader, text: &str) -> bool {
        let kernel = shader.kernel.name();
        (self.kernels.is_empty() || self.kernels.contains(&kernel)) && text.contains(self.find)
    }

    fn plant(&self, shader: &Shader, text: String) -> String {
        match self.changes(shader, &text) {
            true => text.replace(self.find, self.replace),
            false => text,
        }
    }
}

/// A fault wherever it is.
#[derive(Clone, Copy)]
enum AnyFault {
    Cpu(Fault),
    Shader(&'static ShaderFault),
}

/// A fault that was planted.
pub struct Planted {
    pub name: &'static str,
    pub mistake: Mistake,
    pub kernels: Vec<&'static str>,
    pub report: Option<&'static str>,
    /// The cases that ran a kernel with the fault.
    pub tried: u64,
    pub outcome: Outcome,
}

impl Planted {
    fn is_cut_off(&self) -> bool {
        self.outcome == Outcome::CutOff
    }
}

/// What became of a fault.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// The case of this number had another result.
    Found(u64),
    /// All cases had the right results.
    Survived,
    /// A signal came before it was found.
    CutOff,
    /// It could not be planted, and why.
    Failed(String),
}

/// The faults that were planted in a subject.
pub struct Sabotage {
    /// The subject's name.
    pub subject: String,
    /// Where the faults are.
    pub place: &'static str,
    pub planted: Vec<Planted>,
    /// Whether a signal came before all were planted.
    pub is_cut_off: bool,
}

impl Sabotage {
    pub fn found(&self) -> usize {
        let is_found = |planted: &&Planted| matches!(planted.outcome, Outcome::Found(_));
        self.planted.iter().filter(is_found).count()
    }

    /// The faults that were not found, or could not be planted.
    pub fn survived(&self) -> usize {
        let cut = self.planted.iter().filter(|planted| planted.is_cut_off()).count();
        self.planted.len() - self.found() - cut
    }

    pub fn is_good(&self) -> bool {
        !self.is_cut_off && self.survived() == 0
    }

    /// A sentence on the score.
    pub fn line(&self) -> String {
        let (found, all) = (self.found(), self.planted.len());
        let last = self.planted.iter().filter_map(|planted| match planted.outcome {
            Outcome::Found(case) => Some(case),
            _ => None,
        });
        let last = last.max().map_or_else(String::new, |case| format!(", the last by case {case}"));
        let cut = if self.is_cut_off { "; cut off by a signal" } else { "" };
        let Self { place, subject, .. } = self;
        format!("{found} of {all} faults in {place} found on {subject}{last}{cut}")
    }

    pub fn json(&self) -> Value {
        let planted = self.planted.iter().map(|planted| {
            json!({
                "name": planted.name,
                "mistake": planted.mistake.name(),
                "kernels": planted.kernels,
                "report": planted.report,
                "cases_with_the_fault": planted.tried,
                "found_by_case": match planted.outcome {
                    Outcome::Found(case) => Some(case),
                    _ => None,
                },
                "error": match &planted.outcome {
                    Outcome::Failed(error) => Some(error),
                    _ => None,
                },
            })
        });
        json!({
            "device": self.subject,
            "place": self.place,
            "found": self.found(),
            "cut_off": self.is_cut_off,
            "faults": planted.collect::<Vec<_>>(),
        })
    }
}

/// Plants the faults that concern a subject, one after the other, and runs the cases until one
/// finds it.
pub fn sabotage(subject: &Subject, choice: &Choice, display: &mut Display) -> Sabotage {
    let cases = Cases::new(subject, choice);
    let place = if subject.device.is_cpu() { "CPU kernels" } else { "shaders" };
    let faults: Vec<AnyFault> = match subject.device.is_cpu() {
        true => Fault::ALL.into_iter().map(AnyFault::Cpu).collect(),
        false => shaders::all().map(AnyFault::Shader).collect(),
    };
    let mut planted = Vec::new();
    for (number, &fault) in faults.iter().enumerate() {
        let (number, count) = (number + 1, faults.len());
        let line = || format!("{number} of {count} faults in {place} on {}", subject.name);
        display.update(number as f64 / count as f64, line);
        planted.push(match fault {
            AnyFault::Cpu(fault) => in_cpu_kernels(subject, choice, &cases, fault),
            AnyFault::Shader(fault) => in_shaders(subject, choice, &cases, fault),
        });
        if interrupt::requested() {
            break;
        }
    }
    let is_cut_off = planted.len() < faults.len() || planted.iter().any(Planted::is_cut_off);
    Sabotage { subject: subject.name.clone(), place, planted, is_cut_off }
}

/// The numbers of the cases, with what each launches.
struct Cases {
    cases: Vec<(u64, HashSet<Shader>)>,
    texts: HashMap<Shader, String>,
}

impl Cases {
    fn new(subject: &Subject, choice: &Choice) -> Self {
        let (mut cases, mut texts) = (Vec::new(), HashMap::new());
        let numbers = (0..).filter(|&index| choice.includes(index));
        for index in numbers.take(choice.cases.unwrap_or(super::CASES) as usize) {
            let Ok(fills) = choice.fills(index) else { continue };
            let mut shaders = HashSet::<Shader>::new();
            for case in with_one_plan(&fills).map(|fills| &fills[0]) {
                shaders.extend(case.plan(&subject.device).iter().flat_map(Plan::shaders));
            }
            if subject.device.is_cpu() {
                // The CPU is the reference of adapters, too, and has a plan of its own then.
                shaders.extend(fills[0].own_plan(&subject.device).iter().flat_map(Plan::shaders));
            } else {
                for shader in &shaders {
                    texts.entry(*shader).or_insert_with(|| shader.source());
                }
            }
            cases.push((index, shaders));
        }
        Self { cases, texts }
    }

    /// The numbers of the cases that launch such a shader.
    fn with(&self, is_such: impl Fn(&Shader) -> bool) -> impl Iterator<Item = u64> {
        let such = move |shaders: &HashSet<Shader>| shaders.iter().any(&is_such);
        self.cases.iter().filter(move |(_, shaders)| such(shaders)).map(|&(index, _)| index)
    }
}

/// Runs cases until one finds a fault: the cases that were run, and what became of it.
fn search(
    cases: impl Iterator<Item = u64>,
    mut differs: impl FnMut(u64) -> wgmax::Result<bool>,
) -> (u64, Outcome) {
    let mut tried = 0;
    for index in cases {
        if interrupt::requested() {
            return (tried, Outcome::CutOff);
        }
        tried += 1;
        match differs(index) {
            Ok(true) => return (tried, Outcome::Found(index)),
            Ok(false) => {}
            Err(error) => return (tried, Outcome::Failed(error.to_string())),
        }
    }
    (tried, Outcome::Survived)
}

fn in_shaders(
    subject: &Subject,
    choice: &Choice,
    cases: &Cases,
    fault: &'static ShaderFault,
) -> Planted {
    let edit = |shader: &Shader, text: String| fault.plant(shader, text);
    let device = subject.device.with_edited_shaders(edit);
    let faulty = Subject::adapter(device, Device::cpu());
    let affected = cases.with(|shader| fault.changes(shader, &cases.texts[shader]));
    let (tried, outcome) =
        search(affected, |index| match judge_fills(&faulty, &choice.fills(index)?, |_| ()) {
            Verdict::Same => Ok(false),
            Verdict::Differs(_) => Ok(true),
            Verdict::Failed(error) => Err(error),
        });
    let changed = cases.texts.iter().filter(|(shader, text)| fault.changes(shader, text));
    let mut kernels: Vec<&str> = changed.map(|(shader, _)| shader.kernel.name()).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let ShaderFault { name, mistake, report, .. } = *fault;
    Planted { name, mistake, kernels, report, tried, outcome }
}

/// Takes a planted fault out.
struct Plant;

impl Plant {
    fn new(fault: Fault) -> Self {
        fault::plant(Some(fault));
        Self
    }
}

impl Drop for Plant {
    fn drop(&mut self) {
        fault::plant(None);
    }
}

/// As `wgmax verify` finds it: the CPU is compared with the oracle by the plans of cases, and with
/// adapters by its own.
fn in_cpu_kernels(subject: &Subject, choice: &Choice, cases: &Cases, fault: Fault) -> Planted {
    let cpu = &subject.device;
    let affected = cases.with(|shader| fault.kernels().contains(&shader.kernel.name()));
    let (tried, outcome) = search(affected, |index| {
        let fills = choice.fills(index)?;
        let own = fills[0].own_plan(cpu)?;
        for fills in with_one_plan(&fills) {
            let plans = [&fills[0].plan(cpu)?, &own];
            for case in fills {
                let right = case.expected()?;
                let _plant = Plant::new(fault);
                for plan in plans {
                    if !are_equal(&right, &case.execute(cpu, plan)?) {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    });
    let (name, mistake, kernels) = (fault.name(), fault.mistake(), fault.kernels().to_vec());
    Planted { name, mistake, kernels, report: None, tried, outcome }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Each fault has a place in the texts of today, and another name than others.
    #[test]
    fn every_fault_has_a_place() {
        let kernels = wgmax::operator::kernels();
        let shaders = kernels.iter().flat_map(|kernel| kernel.shaders(64));
        let texts: Vec<(Shader, String)> =
            shaders.filter(|shader| !shader.in_place).map(|s| (s, s.source())).collect();
        let mut names = HashSet::new();
        for fault in shaders::all() {
            assert!(names.insert(fault.name), "{} is there twice", fault.name);
            assert_ne!(fault.find, fault.replace, "{}", fault.name);
            let changes = |kernel: &str| {
                let own = |(shader, _): &&(Shader, String)| shader.kernel.name() == kernel;
                texts.iter().filter(own).any(|(shader, text)| fault.changes(shader, text))
            };
            for kernel in fault.kernels {
                assert!(changes(kernel), "{} has no place in {kernel}", fault.name);
            }
            let some = texts.iter().any(|(shader, text)| fault.changes(shader, text));
            assert!(some, "{} has no place", fault.name);
        }
        assert!(shaders::all().count() >= 60 && Fault::ALL.len() >= 20);
        for mistake in Mistake::ALL {
            let is_there = shaders::all().any(|fault| fault.mistake == *mistake);
            assert!(is_there, "no fault is a mistake of {}", mistake.name());
        }
        for kernel in kernels {
            let own = |fault: &ShaderFault| fault.kernels.contains(&kernel.name());
            assert!(shaders::all().any(own), "no fault in shaders of {kernel:?}");
            let own = |fault: &Fault| fault.kernels().contains(&kernel.name());
            assert!(Fault::ALL.iter().any(own), "no fault in the CPU's {kernel:?}");
        }
    }
}
