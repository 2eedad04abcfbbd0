//! `wgmax verify`.

mod engine;
mod finding;
mod heat;
mod html;
mod json;
mod judge;
mod memory;
mod progress;
mod subject;
#[cfg(test)]
mod tests;
mod text;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use wgmax::ElementType;
use wgmax::sweep::Kind;

use super::Outcome;
use super::output::Output;
use super::whole_file::WholeFile;
use engine::{Choice, Score, Sweep, sweep};
use finding::Finding;
use progress::Progress;
use subject::{Subject, Subjects};

/// Cases where neither a number nor a time is given.
const CASES: u64 = 2000;

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax verify --html report.html
  wgmax verify --cases 20000 --device gpu --op max-pool --type f16,u8
  wgmax verify --seed 20000 --case 4711
  wgmax verify --seconds 3600 --max-growth 64")]
pub struct Arguments {
    /// What to verify: cpu, gpu, an index, or part of an adapter's name; every adapter by default
    #[arg(long)]
    device: Option<String>,
    /// How many cases; 2000 if no time is given either
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    cases: Option<u64>,
    /// For how long
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: Option<u64>,
    /// What the cases are made of; one of the clock's by default
    #[arg(long)]
    seed: Option<u64>,
    /// This case of the seed alone
    #[arg(long, value_name = "K", conflicts_with_all = ["cases", "seconds", "op", "type"])]
    case: Option<u64>,
    /// Cases of these operators only
    #[arg(long, value_enum, value_delimiter = ',', value_name = "OPERATOR")]
    op: Vec<OperatorChoice>,
    /// Cases of these element types only, such as f16,u8
    #[arg(long, value_delimiter = ',', value_name = "TYPE", value_parser = element_type)]
    r#type: Vec<ElementType>,
    /// Write a report to be read, in one file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write a report to be read by programs
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Fail if the process's memory grows by more after the first quarter of the run (Linux)
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

fn element_type(name: &str) -> Result<ElementType, wgmax::Error> {
    name.parse()
}

/// All that the reports tell.
pub struct Report {
    subjects: Vec<Subject>,
    /// Why adapters did not open.
    refused: Vec<String>,
    sweep: Sweep,
    /// How the command was called.
    command: String,
    max_growth: Option<u64>,
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    let create = |path: &Option<PathBuf>| path.as_deref().map(WholeFile::create).transpose();
    let (html, json) = (create(&arguments.html)?, create(&arguments.json)?);
    let Subjects { open, refused } = Subjects::find(arguments.device.as_deref())?;
    let choice = arguments.choice();
    let mut progress = Progress::new(&choice);
    let sweep = sweep(&open, choice, &mut progress);
    let command = std::env::args().skip(1).map(|argument| quoted(&argument));
    let command = std::iter::once("wgmax".to_string()).chain(command).collect::<Vec<_>>().join(" ");
    let max_growth = arguments.max_growth.map(|mib| mib << 20);
    let report = Report { subjects: open, refused, sweep, command, max_growth };
    text::print(&report, output)?;
    if let Some(mut file) = html {
        file.write_all(html::page(&report)?.as_bytes())?;
        file.finish()?;
    }
    if let Some(mut file) = json {
        writeln!(file, "{:#}", json::object(&report))?;
        file.finish()?;
    }
    Ok(if report.is_good() { Outcome::Good } else { Outcome::Bad })
}

impl Arguments {
    fn choice(&self) -> Choice {
        let clock = || {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            // Short enough to be read out.
            now.map_or(1, |now| u64::from(now.subsec_nanos()) ^ (now.as_secs() & 0xff_ffff))
        };
        Choice {
            seed: self.seed.unwrap_or_else(clock),
            case: self.case,
            cases: self.cases.or_else(|| self.seconds.is_none().then_some(CASES)),
            time: self.seconds.map(Duration::from_secs),
            kinds: self.op.iter().map(|&op| op.into()).collect(),
            types: self.r#type.clone(),
        }
    }
}

impl Report {
    fn subjects(&self) -> impl Iterator<Item = (&Subject, &Score)> {
        self.subjects.iter().zip(&self.sweep.scores)
    }

    /// Whether nothing is wrong.
    fn is_good(&self) -> bool {
        let scores = self.sweep.scores.iter().all(Score::is_good);
        scores && self.refused.is_empty() && self.is_flat()
    }

    /// Whether memory grew no more than it may. What was not seen is not flat.
    fn is_flat(&self) -> bool {
        self.max_growth.is_none_or(|most| {
            self.sweep.memory.growth().is_some_and(|growth| growth.bytes() <= most)
        })
    }

    /// One line on all of it.
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
            wrong.push("memory that grew, or was not seen".to_string());
        }
        let verdict = match wrong.as_slice() {
            [] => "all equal, bit for bit".to_string(),
            wrong => wrong.join(", "),
        };
        format!("{cases} {noun} of seed {seed} in {seconds:.1} s ({rate:.0}/s): {verdict}.")
    }

    /// The command line that finds a mismatch again.
    fn again(&self, subject: &Subject, finding: &Finding) -> String {
        let (seed, case) = (self.sweep.choice.seed, finding.index);
        let device = quoted(&subject.argument);
        format!("wgmax verify --seed {seed} --case {case} --device {device}")
    }
}

/// An argument as it is typed.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+".contains(c);
    match !argument.is_empty() && argument.chars().all(plain) {
        true => argument.to_string(),
        false => format!("\"{}\"", argument.replace('"', "\\\"")),
    }
}
