//! Who finds small mistakes in shaders: random cases by their results, the strict machine, or the
//! proof. Each mistake is run on the machine, where no driver compiles, until it is found.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use fastrand::Rng;
use rayon::prelude::*;
use regex::Regex;
use wgmax::Device;
use wgmax::plan::Shader;

use crate::cases::Prepared;
use crate::known;
use crate::machine::{Program, Watch};
use crate::mutator::{Mutant, mutants};
use crate::prove::Task;
use crate::run;

#[derive(Args)]
pub struct Arguments {
    /// Only mistakes in the texts of this kernel
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Only mistakes whose description, as survivors are printed, matches this regular expression
    #[arg(long, value_name = "REGEX", default_value = "")]
    filter: Regex,
    /// So many of the mistakes, drawn at random
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// The seed of the cases and of the sample
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// An adapter that runs them, instead of the machine; its driver compiles each
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Compare no results: only the strict machine and the proof find a mistake
    #[arg(long)]
    proof: bool,
    /// Random cases, each with the plans for GPUs and those for software adapters
    #[arg(long, value_name = "N", default_value_t = 3000)]
    cases: u64,
}

/// Mistakes that change no result, as survivors are printed, up to the brackets.
const EQUIVALENT: &str = include_str!("equivalent.txt");

/// What became of a mistake.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// A case has another result than the CPU.
    Differs,
    /// The strict machine refuses it.
    Refused,
    /// Its results are not proven, and those of the right text are.
    Unproven,
    Survived,
    /// Survived, and is listed as equivalent.
    Equivalent,
    /// naga refuses every text that has it.
    Invalid,
}

const FATES: [(Fate, &str); 6] = [
    (Fate::Differs, "results"),
    (Fate::Refused, "sanitizer"),
    (Fate::Unproven, "proof"),
    (Fate::Survived, "survived"),
    (Fate::Equivalent, "equivalent"),
    (Fate::Invalid, "invalid"),
];

/// A text, and its program.
type Base = HashMap<Shader, (String, Arc<Program>)>;

/// A case, and how many iterations and invocations it takes; whether it is proven without mistakes, once
/// that is asked.
struct Costed {
    case: Prepared,
    cost: u64,
    is_proven: OnceLock<bool>,
}

pub fn run(arguments: &Arguments) -> Result<bool> {
    let device = arguments.device.as_deref().map(Device::named).transpose()?;
    let (cases, base) = prepare(arguments, device.as_ref().unwrap_or(&Device::cpu()))?;
    let mut all: BTreeSet<Mutant> = known::mutants().into_iter().collect();
    let of_kernel = |shader: &Shader| is_of(arguments, shader);
    let texts: Vec<&String> =
        base.iter().filter(|(shader, _)| of_kernel(shader)).map(|(_, base)| &base.0).collect();
    all.extend(texts.iter().flat_map(|text| mutants(text)));
    all.retain(|mutant| texts.iter().any(|text| text.contains(&mutant.declaration)));
    let mut all: Vec<Mutant> =
        all.into_iter().filter(|mutant| arguments.filter.is_match(&describe(mutant))).collect();
    if let Some(count) = arguments.sample {
        Rng::with_seed(arguments.seed).shuffle(&mut all);
        all.truncate(count);
    }
    let equivalent: HashSet<&str> = EQUIVALENT.lines().collect();
    let fates = all.par_iter().map(|mutant| {
        let fate = fate(mutant, &cases, &base, device.as_ref(), arguments.proof);
        match fate == Fate::Survived && equivalent.contains(&*describe(mutant)) {
            true => Fate::Equivalent,
            false => fate,
        }
    });
    let fates: Vec<Fate> = fates.collect();
    for (mutant, _) in all.iter().zip(&fates).filter(|(_, fate)| **fate == Fate::Survived) {
        println!("{} (line {}, {})", describe(mutant), line(mutant), mutant.rule);
    }
    print_table("kind", all.iter().map(|mutant| mutant.rule).zip(fates.iter().copied()));
    print_table("text", all.iter().map(|mutant| &*mutant.file).zip(fates.iter().copied()));
    println!("{} cases", cases.len());
    Ok(true)
}

/// How many mistakes of a name have each fate.
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

fn is_of(arguments: &Arguments, shader: &Shader) -> bool {
    arguments.kernel.as_deref().is_none_or(|name| shader.kernel.name() == name)
}

/// The cases that launch the kernel, the cheapest first, and the programs of all that they launch.
fn prepare(arguments: &Arguments, device: &Device) -> Result<(Vec<Costed>, Base)> {
    let tunings = ["hardware", "software"];
    let drawn = (0..arguments.cases).into_par_iter().flat_map_iter(|index| {
        tunings.map(|tuning| Prepared::new(device, arguments.seed, index, tuning))
    });
    let mut drawn: Vec<Prepared> = drawn.collect::<Result<_>>()?;
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

fn fate(
    mutant: &Mutant,
    cases: &[Costed],
    base: &Base,
    device: Option<&Device>,
    proof: bool,
) -> Fate {
    let edited = device.map(|device| {
        let mutant = mutant.clone();
        device.with_edited_shaders(move |_, text| match mutant.apply(&text) {
            Some(mistaken) if Program::new(&mistaken).is_ok() => mistaken,
            _ => text,
        })
    });
    // `None` for what naga refuses.
    let mut own: HashMap<Shader, Option<Arc<Program>>> = HashMap::new();
    let mut has_mistake = |costed: &&Costed| {
        let programs = costed.case.plan.shaders().map(|shader| {
            let program =
                own.entry(*shader).or_insert_with(|| match mutant.apply(&base[shader].0) {
                    None => Some(base[shader].1.clone()),
                    Some(text) => Program::new(&text).ok().map(Arc::new),
                });
            program.as_ref().is_some_and(|program| !Arc::ptr_eq(program, &base[shader].1))
        });
        programs.fold(false, |any, has| any | has)
    };
    let cases: Vec<&Costed> = cases.iter().filter(&mut has_mistake).collect();
    if cases.is_empty() {
        return Fate::Invalid;
    }
    // Refused texts of other types stay as they are.
    let right = |shader: &Shader| Ok(base[shader].1.clone());
    let program = |shader: &Shader| Ok(own[shader].as_ref().unwrap_or(&base[shader].1).clone());
    for Costed { case, cost, .. } in cases.iter().filter(|_| !proof) {
        // Loops that never end are stopped, and are for no driver.
        let mut fuel = Fuel(4 * cost + 10_000);
        let ran = run::run(&case.plan, &case.inputs, program, &mut fuel, |_, _| ())
            .and_then(|memory| case.check(&memory));
        let ran = match &edited {
            Some(device) if fuel.0 > 0 => case.check_on(device),
            _ => ran,
        };
        if ran.is_err() {
            return Fate::Differs;
        }
    }
    for Costed { case, cost, is_proven } in cases {
        let operator = case.case.operator.checked(&case.case.inputs());
        let Some(operator) = operator.ok().filter(|_| case.are_right) else { continue };
        let mut task = Task::of_case(case, &operator);
        task.max_iterations = task.max_iterations.min(*cost as u32 + 100);
        if task.refuse(program).is_err() {
            return Fate::Refused;
        }
        let is_proven = || *is_proven.get_or_init(|| task.prove_with(right).is_ok());
        if task.prove_with(program).is_err() && is_proven() {
            return Fate::Unproven;
        }
    }
    Fate::Survived
}

/// The invocations and iterations that are left.
struct Fuel(u64);

impl Watch for Fuel {
    fn launch(&mut self, invocations: u64) {
        self.0 = self.0.saturating_sub(invocations);
    }

    fn iteration(&mut self, _: u32, began: u32) -> Result<()> {
        self.0 = self.0.saturating_sub(began.into());
        ensure!(self.0 > 0, "a loop does not end");
        Ok(())
    }
}

/// The file, the declaration, and what became of what.
fn describe(mutant: &Mutant) -> String {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut names = mutant.declaration.split(|c: char| !c.is_alphanumeric() && c != '_');
    names.find(|word| matches!(*word, "fn" | "const"));
    let name = names.next().unwrap_or_default();
    let (before, after) = (words(mutant.before()), words(&mutant.with));
    format!("{}, {name}, column {}: `{before}` -> `{after}`", mutant.file, mutant.place().1 + 1)
}

/// The line in the file, from 1 on; 0 where it is not known.
fn line(mutant: &Mutant) -> usize {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../").to_string() + &mutant.file;
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let start = text.find(&mutant.declaration);
    start.map_or(0, |start| text[..start].matches('\n').count() + 1 + mutant.place().0)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn prepared(cases: &str) -> (Vec<Costed>, Base) {
        let line = Line::parse_from(["mutants", "--cases", cases]);
        prepare(&line.arguments, &Device::cpu()).unwrap()
    }

    /// Random cases keep to what they bind, and to barriers.
    #[test]
    fn random_cases_run_on_the_machine() {
        prepared("300");
    }

    /// Of the mistakes of drivers each is found.
    #[test]
    fn known_mistakes_are_killed() {
        let (cases, base) = prepared("900");
        let survive = known::mutants()
            .into_par_iter()
            .filter(|mutant| fate(mutant, &cases, &base, None, false) != Fate::Differs);
        let survive: Vec<_> = survive.map(|mutant| describe(&mutant)).collect();
        assert!(survive.is_empty(), "{survive:#?}");
    }
}
