//! `wgmax verify`.

mod engine;
mod finding;
mod heat;
mod html;
mod json;
mod judge;
mod memory;
mod pattern;
mod progress;
mod replay;
mod subject;
#[cfg(test)]
mod tests;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use wgmax::ElementType;
use wgmax_verify::Kind;

use super::Outcome;
use super::interrupt::Polling;
use super::options::{Planning, device_name, element_type};
use super::output::Output;
use super::report;
use super::targets::Targets;
use engine::{Choice, Score, Sweep, sweep};
use finding::Finding;
use progress::Progress;
use replay::Recorded;
use subject::{Subject, Subjects};

/// The number of cases if neither a number nor a time is given.
const CASES: u64 = 2000;

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax verify --html report.html
  wgmax verify --cases 20000 --device gpu --op max-pool --type f16,u8
  wgmax verify --seed 20000 --case 4711 --plan software
  wgmax verify --seconds 3600 --cycle 500 --max-growth 64
  wgmax verify --replay report.json

Each case aims at a variant of a kernel and an element type; 2000 cases reach all of them. Cases \
choose tunings and narrow limits at random. --plan replaces the tuning of all cases; their limits, \
parallelism and maximum of taps stay.

A JSON report has all that --replay needs to run the same again.")]
pub struct Arguments {
    /// Device: cpu, gpu, an index, or part of an adapter's name; every adapter by default
    #[arg(long, value_parser = device_name)]
    device: Option<String>,
    #[command(flatten)]
    planning: Planning,
    /// Number of cases; 2000 by default, unless there is a time
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    cases: Option<u64>,
    /// Maximum time in seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: Option<u64>,
    /// Begin again with the first case after this many, which have made all their pipelines then
    #[arg(long, value_name = "CASES", value_parser = clap::value_parser!(u64).range(1..))]
    cycle: Option<u64>,
    /// Seed of the cases; taken from the clock by default
    #[arg(long)]
    seed: Option<u64>,
    /// Run only this case of the seed
    #[arg(long, value_name = "K", conflicts_with_all = ["cases", "seconds", "cycle", "op", "type"])]
    case: Option<u64>,
    /// Only cases of these operators
    #[arg(long, value_enum, value_delimiter = ',', value_name = "OPERATOR")]
    op: Vec<OperatorChoice>,
    /// Only cases of these element types, such as f16,u8
    #[arg(long, value_delimiter = ',', value_name = "TYPE", value_parser = element_type)]
    r#type: Vec<ElementType>,
    /// Run again what a JSON report tells, and say whether it came out the same
    #[arg(long, value_name = "REPORT", conflicts_with_all = [
        "device", "plan", "cases", "seconds", "cycle", "seed", "case", "op", "type",
    ])]
    replay: Option<PathBuf>,
    /// Write a report as a single HTML page; - for standard output, and the rest on stderr
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write a report as JSON; - for standard output, and the rest on stderr
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Fail if the process's memory grows by more during the run (Linux)
    #[arg(long, value_name = "MIB")]
    max_growth: Option<u64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum OperatorChoice {
    ReduceMax,
    MaxPool,
    SegmentMax,
}

impl From<OperatorChoice> for Kind {
    fn from(choice: OperatorChoice) -> Self {
        match choice {
            OperatorChoice::ReduceMax => Self::ReduceMax,
            OperatorChoice::MaxPool => Self::MaxPool,
            OperatorChoice::SegmentMax => Self::SegmentMax,
        }
    }
}

/// The content of the reports.
pub struct Report {
    subjects: Vec<Subject>,
    /// Why adapters could not be opened.
    refused: Vec<String>,
    sweep: Sweep,
    /// Whether one device was asked for.
    device: Option<String>,
    /// The command line.
    command: String,
    max_growth: Option<u64>,
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    // Until everything is written.
    let polling = Polling::start();
    let targets = Targets::default()
        .report("--html ", arguments.html.as_deref())
        .report("--json ", arguments.json.as_deref());
    let read = arguments.replay.as_deref().map(Path::to_string_lossy);
    targets.check(&read.as_deref().into_iter().collect::<Vec<_>>(), None)?;
    let mut stderr = Output::stderr();
    let output = if targets.have_standard() { &mut stderr } else { output };
    let (html, json) = (report::file(&arguments.html)?, report::file(&arguments.json)?);
    let recorded = arguments.replay.as_deref().map(Recorded::read).transpose()?;
    let (choice, device) = match &recorded {
        Some(recorded) => (recorded.choice()?, recorded.device()),
        None => (arguments.choice(), arguments.device.clone()),
    };
    let planning = match choice.plan {
        Some(plan) => Planning { plan: Some(plan) },
        None => arguments.planning.clone(),
    };
    let Subjects { open, refused } = Subjects::find(device.as_deref(), &planning)?;
    let mut progress = Progress::new(&choice);
    let sweep = sweep(&open, choice, &mut progress);
    let command = std::env::args().skip(1).map(|argument| quoted(&argument));
    let command = std::iter::once("wgmax".to_string()).chain(command).collect::<Vec<_>>().join(" ");
    let max_growth = arguments.max_growth.map(|mib| mib << 20);
    let report = Report { subjects: open, refused, sweep, device, command, max_growth };
    text::print(&report, output)?;
    let object = json::object(&report);
    if let Some(mut file) = html {
        file.write_all(html::page(&report)?.as_bytes())?;
        file.finish()?;
    }
    if let Some(mut file) = json {
        writeln!(file, "{object:#}")?;
        file.finish()?;
    }
    // From here on a signal ends the command as it ends others.
    drop(polling);
    let is_good = match recorded {
        Some(recorded) => recorded.print_changes(&object, output)? && report.is_flat(),
        None => report.is_good(),
    };
    Ok(match is_good {
        _ if report.is_cut_off() => Outcome::CutOff,
        true => Outcome::Good,
        false => Outcome::Bad,
    })
}

impl Arguments {
    fn choice(&self) -> Choice {
        let clock = || {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            // Short enough to be typed.
            now.map_or(1, |now| u64::from(now.subsec_nanos()) ^ (now.as_secs() & 0xff_ffff))
        };
        Choice {
            seed: self.seed.unwrap_or_else(clock),
            case: self.case,
            cases: self.cases.or_else(|| self.seconds.is_none().then_some(CASES)),
            time: self.seconds.map(Duration::from_secs),
            cycle: self.cycle,
            kinds: self.op.iter().map(|&op| op.into()).collect(),
            types: self.r#type.clone(),
            plan: self.planning.plan,
        }
    }
}

impl Report {
    fn subjects(&self) -> impl Iterator<Item = (&Subject, &Score)> {
        self.subjects.iter().zip(&self.sweep.scores)
    }

    /// Whether nothing differs, fails, or grows too much.
    fn is_good(&self) -> bool {
        let scores = self.sweep.scores.iter().all(Score::is_good);
        let all = !self.is_cut_off() && self.sweep.cases > 0;
        all && scores && self.refused.is_empty() && self.is_flat()
    }

    /// Whether a signal came before all was done.
    fn is_cut_off(&self) -> bool {
        self.sweep.is_cut_off
    }

    /// Whether adapters were looked for, and there are none.
    fn lacks_adapters(&self) -> bool {
        self.device.is_none() && self.refused.is_empty() && self.subjects.len() == 1
    }

    /// Whether memory grew by no more than the maximum. Unknown growth is too much.
    fn is_flat(&self) -> bool {
        self.max_growth.is_none_or(|max| {
            self.sweep.memory.growth().is_some_and(|growth| growth.bytes() <= max)
        })
    }

    /// A line on the whole sweep.
    fn summary(&self) -> String {
        let sweep = &self.sweep;
        let seconds = sweep.elapsed.as_secs_f64();
        let (cases, rate) = (sweep.cases, sweep.cases as f64 / seconds.max(1e-9));
        let noun = if cases == 1 { "case" } else { "cases" };
        let seed = sweep.choice.seed;
        let mut wrong = Vec::new();
        let mut count = |number: u64, what: &str| {
            if number > 0 {
                wrong.push(format!("{number} {what}"));
            }
        };
        count(sweep.scores.iter().map(Score::mismatches).sum(), "differ");
        count(sweep.scores.iter().map(Score::failed).sum(), "in error");
        count(self.refused.len() as u64, "adapters that did not open");
        if !self.is_flat() {
            wrong.push("memory that grew, or is unknown".to_string());
        }
        let verdict = match wrong.as_slice() {
            [] if cases == 0 => "nothing was compared".to_string(),
            [] => "all equal, bit for bit".to_string(),
            wrong => wrong.join(", "),
        };
        let cut = if self.is_cut_off() { "Cut off by a signal. " } else { "" };
        format!("{cut}{cases} {noun} of seed {seed} in {seconds:.1} s ({rate:.0}/s): {verdict}.")
    }

    /// The command line that reproduces a mismatch.
    fn again(&self, subject: &Subject, finding: &Finding) -> String {
        let (choice, case) = (&self.sweep.choice, finding.index);
        let plan = choice.plan.map_or_else(String::new, |plan| format!(" --plan {}", plan.name()));
        let device = quoted(&subject.argument);
        format!("wgmax verify --seed {} --case {case} --device {device}{plan}", choice.seed)
    }

    /// The plans that a subject runs.
    fn plan_of(&self, subject: &Subject) -> String {
        match self.sweep.choice.plan {
            Some(plan) => plan.name().to_string(),
            None => format!("{}, or as cases have it", subject.device.tuning().name()),
        }
    }
}

/// An argument, in quotes if it needs them.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+".contains(c);
    match !argument.is_empty() && argument.chars().all(plain) {
        true => argument.to_string(),
        false => format!("\"{}\"", argument.replace('"', "\\\"")),
    }
}
