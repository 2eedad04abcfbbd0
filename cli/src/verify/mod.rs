//! `wgmax verify`.

mod progress;
mod text;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use progress::Progress;
use wgmax::ElementType;
use wgmax_verify::{CASES, Choice, Kind, Recorded, Report, Subjects, html, json, sweep};

use super::Outcome;
use super::interrupt::{self, Polling};
use super::options::{Planning, TuningChoice, certain_device, element_type, whole};
use super::output::Output;
use super::report::{Report as File, is_standard};
use super::targets::Targets;

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax verify --html report.html
  wgmax verify --cases 20000 --device gpu --op max-pool --type f16,u8
  wgmax verify --seed 20000 --case 4711 --tuning software
  wgmax verify --seconds 3600 --cycle 100 --max-growth 64
  wgmax verify --replay report.json

Each case aims at a variant of a kernel for an element type; 2000 cases reach all of them. Cases \
have random tunings and small limits. --tuning replaces the tuning of each case. A case keeps its limits and \
two numbers of its tuning: the parallelism and the longest window that an invocation reads at once.")]
pub struct Arguments {
    /// Device: cpu, gpu, an index, or part of an adapter's name; every adapter by default
    #[arg(long, value_parser = certain_device)]
    device: Option<String>,
    #[command(flatten)]
    planning: Planning,
    /// Number of cases; 2000 by default, unless --seconds is given
    #[arg(long, value_parser = whole::<u64>(1))]
    cases: Option<u64>,
    /// Maximum time in seconds
    #[arg(long, value_name = "S", value_parser = whole::<u64>(1))]
    seconds: Option<u64>,
    /// Loop over the first CASES cases, so that later rounds compile nothing
    #[arg(long, value_name = "CASES", value_parser = whole::<u64>(1))]
    cycle: Option<u64>,
    /// Seed of the cases; taken from the clock by default
    #[arg(long, value_parser = whole::<u64>(0))]
    seed: Option<u64>,
    /// Run only this case of the seed
    #[arg(
        long,
        value_name = "K",
        value_parser = whole::<u64>(0),
        conflicts_with_all = ["cases", "seconds", "cycle", "op", "type"]
    )]
    case: Option<u64>,
    /// Only cases of these operators, their minima and their gradients; segment-max has those of
    /// scatter-max, too
    #[arg(long, value_delimiter = ',', value_name = "OPERATOR", value_parser = operators())]
    op: Vec<Kind>,
    /// Only cases of these element types, such as f16,u8
    #[arg(long, value_delimiter = ',', value_name = "TYPE", value_parser = element_type)]
    r#type: Vec<ElementType>,
    /// Run the cases of a JSON report again, and report whether the results are the same; - for
    /// standard input
    #[arg(long, value_name = "REPORT", conflicts_with_all = [
        "device", "tuning", "cases", "seconds", "cycle", "seed", "case", "op", "type",
    ])]
    replay: Option<PathBuf>,
    /// Write a report as a single HTML page; - for standard output, and the rest on stderr
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write a report as JSON; - for standard output, and the rest on stderr
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Fail if the median memory of the run's last quarter exceeds that of its second by more than MIB
    /// (Linux)
    #[arg(long, value_name = "MIB", value_parser = whole::<u64>(0))]
    max_growth: Option<u64>,
}

/// The names of the operators' commands, and those of other operators whose cases are among theirs.
const OPERATORS: [(&str, &[&str]); Kind::ALL.len()] = [
    ("reduce-max", &["reduce-min", "arg-max", "arg-min"]),
    ("max-pool", &["min-pool", "adaptive-max-pool", "adaptive-min-pool"]),
    ("segment-max", &["segment-min", "scatter-max", "scatter-min"]),
];

/// The operators by the names of their commands. Another name is refused with that of the operator whose
/// cases include it.
fn operators() -> impl TypedValueParser<Value = Kind> {
    let hidden = OPERATORS.iter().flat_map(|&(_, others)| others);
    let hidden = hidden.map(|&name| PossibleValue::new(name).hide(true));
    let names = OPERATORS.iter().map(|&(name, _)| PossibleValue::new(name)).chain(hidden);
    PossibleValuesParser::new(names).try_map(|given| {
        let kinds = OPERATORS.iter().zip(Kind::ALL);
        let kind = kinds.clone().find(|((name, _), _)| *name == given).map(|(_, kind)| kind);
        kind.ok_or_else(|| {
            let of = OPERATORS.iter().find(|(_, others)| others.contains(&&*given));
            let of = of.map_or("an operator", |(name, _)| name);
            format!("give {of}; its cases include {given}")
        })
    })
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    // Until everything is written, a signal only ends the sweep.
    let polling = Polling::start();
    let targets = Targets::default()
        .report("--html ", arguments.html.as_deref())
        .report("--json ", arguments.json.as_deref());
    targets.check(&arguments.replay.iter().collect::<Vec<_>>(), None)?;
    let mut stderr = Output::stderr();
    let output = if targets.have_standard() { &mut stderr } else { output };
    let (html, json) = (File::create(&arguments.html)?, File::create(&arguments.json)?);
    let recorded = arguments.replay.as_ref().map(|path| match is_standard(path) {
        true => {
            let bytes = wgmax::io::standard_input("only a JSON report is read here")?;
            Recorded::new("standard input", (*bytes).as_ref())
        }
        false => {
            let name = path.display().to_string();
            Recorded::new(&name, &fs::read(path).with_context(|| name.clone())?)
        }
    });
    let recorded = recorded.transpose()?;
    let (choice, device) = match &recorded {
        Some(recorded) => (recorded.choice()?, recorded.device()),
        None => (arguments.choice(), arguments.device.clone()),
    };
    let tuning = choice.tuning.and_then(|name| TuningChoice::from_str(name, false).ok());
    let planning = Planning { tuning };
    let devices = match &device {
        None => planning.open_all(),
        Some(name) => vec![Ok(planning.open(name)?)],
    };
    let Subjects { open: subjects, refused } = Subjects::new(devices, planning.open("cpu")?);
    let mut progress = Progress::new(&choice);
    let sweep = sweep(&subjects, choice, |done, mismatches| {
        progress.step(done, mismatches);
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    drop(progress);
    let command = crate::words().join(" ");
    let system = format!("{}, {}", std::env::consts::OS, std::env::consts::ARCH);
    let max_growth = arguments.max_growth.map(|mib| mib.saturating_mul(1 << 20));
    let report = Report { subjects, refused, sweep, device, command, system, max_growth };
    text::print(&report, output)?;
    let object = json::object(&report);
    html.map_or(Ok(()), |file| file.whole(html::page(&report)))?;
    json.map_or(Ok(()), |file| file.whole(format_args!("{object:#}\n")))?;
    // From here on a signal ends the command.
    drop(polling);
    let is_good = match recorded.map(|recorded| recorded.changes(&object)) {
        Some(changes) => {
            changes.lines.iter().try_for_each(|line| writeln!(output, "{line}"))?;
            changes.is_good && report.is_flat()
        }
        None => report.is_good(),
    };
    Ok(match is_good {
        _ if report.sweep.is_cut_off => Outcome::CutOff,
        true => Outcome::Good,
        false => Outcome::Bad,
    })
}

impl Arguments {
    fn choice(&self) -> Choice {
        let clock = || {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            // So short that it can be typed.
            now.map_or(1, |now| u64::from(now.subsec_nanos()) ^ (now.as_secs() & 0xff_ffff))
        };
        Choice {
            seed: self.seed.unwrap_or_else(clock),
            case: self.case,
            cases: self.cases.or_else(|| self.seconds.is_none().then_some(CASES)),
            done: None,
            time: self.seconds.map(Duration::from_secs),
            cycle: self.cycle,
            kinds: self.op.clone(),
            types: self.r#type.clone(),
            tuning: self.planning.tuning.map(TuningChoice::name),
        }
    }
}
