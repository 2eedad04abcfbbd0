//! Injects faults into shaders, and reports what detects each: the results of random cases, the strict
//! machine, or the proof. Faults run on the machine, which needs no driver to compile them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use fastrand::Rng;
use rayon::prelude::*;
use regex::Regex;
use wgmax::Device;
use wgmax::plan::{Limits, Shader};

use crate::cases::{Prepared, limits};
use crate::functions;
use crate::known;
use crate::machine::{Program, Watch};
use crate::mutator::{Mutant, mutants};
use crate::prove::Task;
use crate::rare;
use crate::run;

#[derive(Args)]
pub struct Arguments {
    /// Only faults in the texts of this kernel
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Only faults whose description, as survivors are printed, matches this regular expression
    #[arg(long, value_name = "REGEX", default_value = "")]
    filter: Regex,
    /// Only this many of the faults, drawn at random
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// The seed of the cases and of the sample
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// An adapter that also runs faults that the machine does not detect; its driver compiles each
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Only faults that are listed as equivalent. Fails if one is detected; without this option, if another one
    /// is not detected
    #[arg(long)]
    equivalent: bool,
    /// Random cases, each with hardware tuning and with software tuning
    #[arg(long, value_name = "N", default_value_t = 1000)]
    cases: u64,
    /// Plans that run with a fault, at most; the shaders that have it take turns
    #[arg(long, value_name = "N", default_value_t = 100)]
    plans: usize,
}

/// Faults that change no result, below the reason. Each line is as survivors are printed, up to the bracket.
const EQUIVALENT: &str = include_str!("equivalent.txt");

/// The outcome of a fault, by the first plan that detects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// A function alone has another result than it should.
    Function,
    /// The strict machine refuses it.
    Refused,
    /// Its results are not proven, but those of the right text are.
    Unproven,
    /// None of these, but it has another result than the CPU.
    Differs,
    /// A wrong result is proven as the right one: the proof has an error.
    Contradicts,
    Survived,
    /// It is listed as equivalent, and not run.
    Equivalent,
    /// naga refuses every text that has it.
    Invalid,
}

impl Fate {
    fn is_detected(self) -> bool {
        !matches!(self, Self::Survived | Self::Equivalent | Self::Invalid)
    }
}

const FATES: [(Fate, &str); 8] = [
    (Fate::Function, "function"),
    (Fate::Refused, "sanitizer"),
    (Fate::Unproven, "proof"),
    (Fate::Differs, "results"),
    (Fate::Contradicts, "UNSOUND"),
    (Fate::Survived, "survived"),
    (Fate::Equivalent, "equivalent"),
    (Fate::Invalid, "invalid"),
];

/// The text of each shader, and its program.
type Base = HashMap<Shader, (String, Arc<Program>)>;

/// A case, the number of its iterations and invocations, and whether it is proven without a fault, which is
/// computed when it is needed.
struct Costed {
    case: Prepared,
    cost: u64,
    is_proven: OnceLock<bool>,
}

pub fn run(arguments: &Arguments) -> Result<bool> {
    let device = arguments.device.as_deref().map(Device::named).transpose()?;
    let (cases, base) = prepare(
        arguments,
        &device.as_ref().map_or_else(limits, |device| device.info().limits.clone()),
    )?;
    let mut all: BTreeSet<Mutant> = known::mutants().into_iter().collect();
    let of_kernel = |shader: &Shader| is_of(arguments, shader);
    let texts: Vec<&String> =
        base.iter().filter(|(shader, _)| of_kernel(shader)).map(|(_, base)| &base.0).collect();
    all.extend(texts.iter().flat_map(|text| mutants(text)));
    all.retain(|mutant| texts.iter().any(|text| text.contains(&mutant.declaration)));
    let mut all: Vec<Mutant> =
        all.into_iter().filter(|mutant| arguments.filter.is_match(&describe(mutant))).collect();
    if let Some(count) = arguments.sample {
        all.sort_by_cached_key(|mutant| draw(arguments.seed, mutant));
        all.truncate(count);
    }
    let equivalent: HashSet<&str> = EQUIVALENT.lines().collect();
    all.retain(|mutant| !arguments.equivalent || equivalent.contains(&*describe(mutant)));
    let fates = all.par_iter().map(|mutant| {
        if !arguments.equivalent && equivalent.contains(&*describe(mutant)) {
            return Fate::Equivalent;
        }
        let fate = fate(mutant, &cases, &base, device.as_ref(), arguments.plans);
        if matches!(fate, Fate::Survived | Fate::Contradicts) || arguments.equivalent {
            let what = describe(mutant);
            println!("{what} (line {}, {}, {fate:?})", line(mutant), mutant.rule);
        }
        fate
    });
    let fates: Vec<Fate> = fates.collect();
    print_table("kind", all.iter().map(|mutant| mutant.rule).zip(fates.iter().copied()));
    print_table("text", all.iter().map(|mutant| &*mutant.file).zip(fates.iter().copied()));
    println!("{} cases", cases.len());
    ensure!(!fates.is_empty(), "these options select no fault");
    let has = |fate| fates.contains(&fate);
    Ok(match arguments.equivalent {
        true => !fates.iter().any(|fate| fate.is_detected()),
        false => !has(Fate::Contradicts) && !has(Fate::Survived),
    })
}

/// Prints how many faults of each name have each fate.
fn print_table<'a>(title: &str, fates: impl Iterator<Item = (&'a str, Fate)> + Clone) {
    let names: BTreeSet<&str> = fates.clone().map(|(name, _)| name).collect();
    print!("{title:40}");
    FATES.iter().for_each(|(_, word)| print!(" {word:>10}"));
    println!();
    for name in names.into_iter().map(Some).chain([None]) {
        print!("{:40}", name.unwrap_or("all"));
        for (fate, _) in FATES {
            let is_so =
                |found: &(&str, Fate)| found.1 == fate && name.is_none_or(|name| name == found.0);
            print!(" {:10}", fates.clone().filter(is_so).count());
        }
        println!();
    }
}

/// The number by which faults are drawn. It depends on the fault alone, so a change of one text keeps the
/// rest of a sample.
fn draw(seed: u64, mutant: &Mutant) -> u64 {
    // FNV, which never changes; the generator mixes its bits.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = describe(mutant).bytes().fold(0xcbf2_9ce4_8422_2325, step);
    Rng::with_seed(hash ^ seed).u64(..)
}

fn is_of(arguments: &Arguments, shader: &Shader) -> bool {
    arguments.kernel.as_deref().is_none_or(|name| shader.kernel.name() == name)
}

/// The cases that launch the kernel, the cheapest first, and the programs of all shaders that they launch.
fn prepare(arguments: &Arguments, limits: &Limits) -> Result<(Vec<Costed>, Base)> {
    let tunings = ["hardware", "software"];
    let drawn = (0..arguments.cases).into_par_iter().flat_map_iter(|index| {
        tunings.map(|tuning| Prepared::new(limits, arguments.seed, index, tuning))
    });
    let mut drawn: Vec<Prepared> = drawn.collect::<Result<_>>()?;
    let rare = rare::cases()?.into_iter().enumerate().flat_map(|(index, case)| {
        tunings.map(|tuning| {
            let name = format!("rare case {index}");
            let case = Prepared::of(limits, case.clone(), tuning, name)?;
            Ok(Prepared { is_rare: true, ..case })
        })
    });
    drawn.extend(rare.collect::<Result<Vec<_>>>()?);
    drawn.extend([rare::pyramids()?, rare::ends()?].into_iter().flatten());
    drawn.retain(|case| case.plan.shaders().any(|shader| is_of(arguments, shader)));
    if drawn.is_empty() {
        bail!("no case launches {}", arguments.kernel.as_deref().unwrap_or("a shader"));
    }
    let shaders: HashSet<Shader> =
        drawn.iter().flat_map(|case| case.plan.shaders()).copied().collect();
    let base = shaders.into_par_iter().map(|shader| {
        let text = shader.source();
        let program = Arc::new(Program::new(&text).with_context(|| shader.label())?);
        Ok((shader, (text, program)))
    });
    let base: Base = base.collect::<Result<_>>()?;
    let costed = drawn.into_par_iter().map(|case| {
        let mut spent = Fuel(u64::MAX);
        let memory =
            run::run(&case.plan, &case.inputs, |s| Ok(base[s].1.clone()), &mut spent, |_, _| ())
                .with_context(|| case.name.clone())?;
        case.check(&memory)?;
        Ok(Costed { case, cost: u64::MAX - spent.0, is_proven: OnceLock::new() })
    });
    let mut costed: Vec<Costed> = costed.collect::<Result<_>>()?;
    costed.sort_by_key(|costed| costed.cost);
    Ok((costed, base))
}

/// The programs of texts with a fault; `None` if naga refuses a text.
struct Faulty<'a> {
    mutant: &'a Mutant,
    base: &'a Base,
    own: HashMap<Shader, Option<Arc<Program>>>,
}

impl Faulty<'_> {
    /// Whether a plan launches a program that has the fault.
    fn is_in(&mut self, case: &Prepared) -> bool {
        let mut found = false;
        for shader in case.plan.shaders() {
            let (text, right) = &self.base[shader];
            let own = self.own.entry(*shader).or_insert_with(|| match self.mutant.apply(text) {
                None => Some(Arc::clone(right)),
                Some(text) => Program::new(&text).ok().map(Arc::new),
            });
            found |= own.as_ref().is_some_and(|own| !Arc::ptr_eq(own, right));
        }
        found
    }

    /// Whether a function has another result, in the first text of an element type that has the fault.
    fn is_wrong_function(&self) -> bool {
        let mut types = HashSet::new();
        self.base.iter().any(|(shader, (text, _))| {
            let Some(text) = self.mutant.apply(text) else { return false };
            let t = shader.element;
            types.insert(t)
                && Program::new(&text).is_ok_and(|program| functions::check(&program, t).is_err())
        })
    }

    /// The program of a shader: the right one if naga refuses the text with the fault.
    fn program(&self, shader: &Shader) -> Result<Arc<Program>> {
        Ok(Arc::clone(self.own[shader].as_ref().unwrap_or(&self.base[shader].1)))
    }
}

/// The plans whose texts have a fault. For each shader, and workgroups along one axis, two or three, the
/// cheapest plan comes first, then the next ones; and then all rare ones.
fn plans<'a>(mutant: &Mutant, cases: &'a [Costed], base: &Base, count: usize) -> Vec<&'a Costed> {
    let has = |shader: &&Shader| base[*shader].0.contains(&mutant.declaration);
    let mut turns: HashMap<(&Shader, usize), usize> = HashMap::new();
    let mut all: Vec<(usize, &Costed)> = Vec::new();
    let mut rare = Vec::new();
    for costed in cases {
        // The turn of a case is the earliest of its shaders.
        let own = costed.case.plan.launches().iter().filter(|launch| has(&launch.shader()));
        let turn = own.map(|launch| {
            let axes = launch.grid().iter().filter(|&&groups| groups > 1).count();
            let turn = turns.entry((launch.shader(), axes)).or_default();
            *turn += 1;
            *turn
        });
        match turn.min() {
            Some(_) if costed.case.is_rare => rare.push(costed),
            Some(turn) => all.push((turn, costed)),
            None => {}
        }
    }
    all.sort_by_key(|(turn, _)| *turn);
    all.into_iter().map(|(_, costed)| costed).take(count).chain(rare).collect()
}

fn fate(
    mutant: &Mutant,
    cases: &[Costed],
    base: &Base,
    device: Option<&Device>,
    count: usize,
) -> Fate {
    let edited = device.map(|device| {
        let mutant = mutant.clone();
        device.with_edited_shaders(move |_, text| match mutant.apply(&text) {
            Some(faulty) if Program::new(&faulty).is_ok() => faulty,
            _ => text,
        })
    });
    let mut faulty = Faulty { mutant, base, own: HashMap::new() };
    if functions::FILES.contains(&&*mutant.file) && faulty.is_wrong_function() {
        return Fate::Function;
    }
    let mut fate = Fate::Invalid;
    for costed in plans(mutant, cases, base, count) {
        if faulty.is_in(&costed.case) {
            fate = costed.find(&faulty);
            if let (Fate::Survived, Some(device)) = (fate, &edited)
                && costed.case.is_right_on(device).is_ok_and(|is_right| !is_right)
            {
                fate = Fate::Differs;
            }
            if fate != Fate::Survived {
                break;
            }
        }
    }
    fate
}

impl Costed {
    /// What detects a fault in this plan.
    fn find(&self, faulty: &Faulty) -> Fate {
        let case = &self.case;
        let operator = case.case.operator.checked(&case.case.inputs());
        let Some(operator) = operator.ok().filter(|_| case.are_right) else {
            return self.results(faulty);
        };
        let program = |shader: &Shader| faulty.program(shader);
        let mut task = Task::of_case(case, &operator);
        task.max_iterations = task.max_iterations.min(self.cost as u32 + 100);
        let Ok(is_right) = task.refuse(self.fuel(), program) else { return Fate::Refused };
        let right = |shader: &Shader| Ok(Arc::clone(&faulty.base[shader].1));
        let is_proven = || *self.is_proven.get_or_init(|| task.prove_with(right).is_ok());
        match (task.prove_with(program).is_ok(), is_right) {
            (true, true) => Fate::Survived,
            (false, _) if is_proven() => Fate::Unproven,
            (false, true) => Fate::Survived,
            (false, false) => Fate::Differs,
            (true, false) => Fate::Contradicts,
        }
    }

    /// Whether the results of this plan show a fault, or even the machine that is not strict refuses it.
    fn results(&self, faulty: &Faulty) -> Fate {
        let (case, mut fuel) = (&self.case, Fuel(self.fuel()));
        let program = |shader: &Shader| faulty.program(shader);
        match run::run(&case.plan, &case.inputs, program, &mut fuel, |_, _| ()) {
            Err(_) => Fate::Refused,
            Ok(memory) if case.check(&memory).is_err() => Fate::Differs,
            Ok(_) => Fate::Survived,
        }
    }

    /// The number of iterations after which loops count as endless. No driver gets such a text.
    fn fuel(&self) -> u64 {
        4 * self.cost + 10_000
    }
}

/// The invocations and iterations that are left.
struct Fuel(u64);

impl Watch for Fuel {
    fn launch(&mut self, invocations: u64, _workgroup: usize, _bytes: usize) {
        self.0 = self.0.saturating_sub(invocations);
    }

    fn iteration(&mut self, _: u32, began: u32) -> Result<()> {
        self.0 = self.0.saturating_sub(began.into());
        ensure!(self.0 > 0, "a loop does not end");
        Ok(())
    }
}

/// The file, the declaration, the line and the column in it, and the replaced and the new text.
fn describe(mutant: &Mutant) -> String {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut names = mutant.declaration.split(|c: char| !c.is_alphanumeric() && c != '_');
    names.find(|word| matches!(*word, "fn" | "const"));
    let name = names.next().unwrap_or_default();
    let (before, after) = (words(mutant.before()), words(&mutant.with));
    let (line, column) = mutant.place();
    format!("{}, {name} {}:{}: `{before}` -> `{after}`", mutant.file, line + 1, column + 1)
}

/// The line in the file, from 1 on; 0 if it is unknown.
fn line(mutant: &Mutant) -> usize {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../").to_string() + &mutant.file;
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let start = text.find(&mutant.declaration);
    start.map_or(0, |start| text[..start].matches('\n').count() + 1 + mutant.place().0)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use wgmax::operator::kernels;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn prepared(cases: &str) -> (Vec<Costed>, Base) {
        let line = Line::parse_from(["mutants", "--cases", cases]);
        prepare(&line.arguments, &limits()).unwrap()
    }

    /// Random cases stay within their bindings, and have no races.
    #[test]
    fn random_cases_run_on_the_machine() {
        prepared("300");
    }

    /// Each line of the list is a fault of a text.
    #[test]
    fn equivalent_faults_are_in_texts() {
        let shaders: Vec<Shader> = kernels().into_iter().flat_map(|k| k.shaders(256)).collect();
        let found = shaders.par_iter().flat_map_iter(|shader| mutants(&shader.source()));
        let found: HashSet<String> = found.map(|mutant| describe(&mutant)).collect();
        let listed = EQUIVALENT.lines().filter(|line| !line.starts_with('#'));
        let stale: Vec<&str> = listed.filter(|line| !found.contains(*line)).collect();
        assert!(stale.is_empty(), "{}", stale.join("\n"));
    }

    /// The faults of drivers are detected by results, without the strict machine and the proof. Only a lost
    /// barrier is not: invocations of the machine run in step.
    #[test]
    fn known_faults_are_killed() {
        let (cases, base) = prepared("900");
        let survive = known::mutants().into_par_iter().filter(|mutant| {
            let mut faulty = Faulty { mutant, base: &base, own: HashMap::new() };
            let wanted = match mutant.before().contains("Barrier") {
                true => Fate::Refused,
                false => Fate::Differs,
            };
            !plans(mutant, &cases, &base, usize::MAX)
                .into_iter()
                .any(|costed| faulty.is_in(&costed.case) && costed.results(&faulty) == wanted)
        });
        let survive: Vec<_> = survive.map(|mutant| describe(&mutant)).collect();
        assert!(survive.is_empty(), "{survive:#?}");
    }
}
