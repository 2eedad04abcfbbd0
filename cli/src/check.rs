//! `wgmax check`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use wgmax::io::case::{self, Case, Expect};
use wgmax::io::onnx;
use wgmax::{Device, Error, Mismatch, Run, Tensor};
use wgmax_verify::json::mismatch as mismatch_object;

use super::Outcome;
use super::options::On;
use super::output::Output;
use super::report::Report;
use super::targets::Targets;

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax check tests/cases --device gpu
  wgmax check tests/cases --json report.jsonl")]
pub struct Arguments {
    /// Folders to search for cases (case.json, or model.onnx with its data sets)
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    on: On,
    /// Write a report with a line of JSON for each case; - for standard output, and the rest on
    /// stderr
    #[arg(long, value_name = "REPORT")]
    json: Option<PathBuf>,
}

/// The outcome of a case.
struct Verdict {
    /// `pass`, `fail`, `error` or `unsupported`.
    status: &'static str,
    /// Why it is not `pass`.
    reason: String,
    /// The first element that is not as expected.
    mismatch: Option<Mismatch>,
}

impl Verdict {
    const PASS: Self = Self { status: "pass", reason: String::new(), mismatch: None };

    fn new(status: &'static str, reason: impl ToString) -> Self {
        Self { status, reason: reason.to_string(), mismatch: None }
    }
}

/// Counts and reports verdicts.
struct Record<'a> {
    device: String,
    counts: BTreeMap<&'static str, usize>,
    /// How many cases are unsupported, by reason.
    unsupported: BTreeMap<String, usize>,
    output: &'a mut Output,
    report: Option<Report>,
}

impl Record<'_> {
    fn add(&mut self, id: &str, verdict: &Verdict) -> anyhow::Result<()> {
        let Verdict { status, reason, .. } = verdict;
        *self.counts.entry(status).or_default() += 1;
        match *status {
            "pass" => {}
            "unsupported" => *self.unsupported.entry(reason.clone()).or_default() += 1,
            status => writeln!(self.output, "{status:<6} {id}: {reason}")?,
        }
        match &mut self.report {
            Some(report) => report.write(format_args!("{}\n", line(id, &self.device, verdict))),
            None => Ok(()),
        }
    }

    fn finish(self) -> anyhow::Result<Outcome> {
        if let Some(report) = self.report {
            report.finish()?;
        }
        for (reason, count) in &self.unsupported {
            writeln!(self.output, "unsupported  {count} x {reason}")?;
        }
        let count = |status| self.counts.get(status).copied().unwrap_or(0);
        let [pass, fail, error, unsupported] = ["pass", "fail", "error", "unsupported"].map(count);
        writeln!(
            self.output,
            "{}: {pass} passed, {fail} failed, {error} in error, {unsupported} unsupported",
            self.device
        )?;
        // Without a case that passed, nothing was checked.
        Ok(if fail + error == 0 && pass > 0 { Outcome::Good } else { Outcome::Bad })
    }
}

/// The files of a case: in its folder, and in those of its data sets.
fn read_in(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = paths.flat_map(|path| match path.is_dir() {
        true if depth > 0 => read_in(&path, depth - 1),
        true => Vec::new(),
        // A pipe cannot be replaced, and has nobody at its other end.
        false => Some(path).filter(|path| path.is_file()).into_iter().collect(),
    });
    let is_read = |path: &PathBuf| {
        let extension = path.extension().and_then(OsStr::to_str);
        path.ends_with("case.json") || matches!(extension, Some("onnx" | "pb" | "npy"))
    };
    files.filter(is_read).collect()
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    let targets = Targets::default().report("--json ", arguments.json.as_deref());
    targets.check(&[""; 0], None)?;
    let folders = case::find(&arguments.paths)?;
    anyhow::ensure!(
        !folders.is_empty(),
        "no golden case was found in {}",
        arguments.paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
    );
    if arguments.json.as_deref().is_some_and(Path::is_file) {
        let mut read: Vec<PathBuf> =
            folders.iter().flat_map(|folder| read_in(&folder.path, 1)).collect();
        // Models that cannot be read are errors of their cases.
        let models = read.iter().filter(|path| path.extension() == Some(OsStr::new("onnx")));
        let models = models.filter_map(|path| onnx::read_model(path).ok());
        read.extend(models.flat_map(|model| model.files()).collect::<Vec<_>>());
        targets.keep(&read.iter().map(|path| path.as_os_str()).collect::<Vec<_>>(), None)?;
    }
    let mut stderr = Output::stderr();
    let output = if targets.have_standard() { &mut stderr } else { output };
    let report = Report::create(&arguments.json)?;
    let device = arguments.on.open()?;
    let mut record = Record {
        device: device.info().to_string(),
        counts: BTreeMap::new(),
        unsupported: BTreeMap::new(),
        output,
        report,
    };
    for folder in &folders {
        let id = || folder.path.display().to_string();
        match folder.load() {
            Ok(cases) => {
                for case in cases {
                    record.add(&case.id, &judge(&device, &case))?;
                }
            }
            Err(error @ Error::Unsupported { .. }) => {
                record.add(&id(), &Verdict::new("unsupported", error))?;
            }
            Err(error) => record.add(&id(), &Verdict::new("error", error))?,
        }
    }
    record.finish()
}

fn judge(device: &Device, case: &Case) -> Verdict {
    let inputs: Vec<Option<&Tensor>> = case.inputs.iter().map(Option::as_ref).collect();
    let refused = matches!(case.expect, Expect::Error);
    let operator = match case.node.operator(&inputs, None) {
        Ok(operator) => operator,
        Err(error @ Error::UnknownOperator { .. }) => {
            return Verdict::new("unsupported", error);
        }
        Err(_) if refused => return Verdict::PASS,
        Err(error @ Error::UnknownVersion { .. }) => {
            return Verdict::new("unsupported", error);
        }
        Err(error) => return Verdict::new("fail", format!("refused: {error}")),
    };
    let data = inputs.iter().take(operator.input_count()).copied();
    let Some(data) = data.collect::<Option<Vec<&Tensor>>>() else {
        return Verdict::new("error", "the case lacks an input");
    };
    let descs: Vec<_> = data.iter().map(|tensor| tensor.desc()).collect();
    // Some cases are refused for their values, such as ids that do not ascend.
    match operator.checked(&data).and_then(|operator| operator.infer(&descs)) {
        Err(_) if refused => return Verdict::PASS,
        Err(error) => return Verdict::new("fail", format!("refused: {error}")),
        Ok(_) => {}
    }
    let Expect::Outputs(expected) = &case.expect else {
        return Verdict::new("fail", "accepted, but an error is expected");
    };
    let actual = match operator.run(device, &data) {
        Ok(actual) => actual,
        Err(error) => return Verdict::new("error", error),
    };
    if actual.len() < expected.len() {
        let (actual, expected) = (actual.len(), expected.len());
        return Verdict::new("fail", format!("{actual} outputs, but {expected} are expected"));
    }
    let pairs = actual.iter().zip(expected);
    let mut verdicts = pairs.map(|(actual, expected)| compare(actual, expected));
    verdicts.find(|verdict| verdict.status != "pass").unwrap_or(Verdict::PASS)
}

/// Compares an output with the expected one.
fn compare(actual: &Tensor, expected: &Tensor) -> Verdict {
    match wgmax::compare_values(actual, expected) {
        Ok(report) if report.is_equal() => Verdict::PASS,
        Ok(report) => {
            let mismatch = report.first.first().cloned();
            let first = mismatch.as_ref().map_or_else(String::new, |m| {
                format!(", first at {:?}: {} where {} is expected", m.coordinates, m.a, m.b)
            });
            let reason = format!("{} of {} elements differ{first}", report.differing, report.total);
            Verdict { status: "fail", reason, mismatch }
        }
        Err(_) => {
            Verdict::new("fail", format!("{} where {} is expected", actual.desc(), expected.desc()))
        }
    }
}

/// A line of the report.
fn line(id: &str, device: &str, Verdict { status, reason, mismatch }: &Verdict) -> Value {
    let mut object = json!({ "id": id, "device": device, "status": status });
    if *status != "pass" {
        object["reason"] = json!(reason);
    }
    if let Some(mismatch) = mismatch {
        object["mismatch"] = mismatch_object(mismatch);
    }
    object
}
