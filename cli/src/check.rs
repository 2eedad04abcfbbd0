//! `wgmax check`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use wgmax::io::case::{self, Case, Expect};
use wgmax::{Device, Error, Mismatch, Tensor};
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
    /// Write a report, a line of JSON for each case; - for standard output, and the rest on stderr
    #[arg(long, value_name = "REPORT")]
    json: Option<PathBuf>,
}

/// The outcome of a case.
enum Verdict {
    Pass,
    Fail { reason: String, mismatch: Option<Mismatch> },
    Unsupported(String),
    Error(String),
}

impl Verdict {
    fn status(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail { .. } => "fail",
            Self::Unsupported(_) => "unsupported",
            Self::Error(_) => "error",
        }
    }

    fn fail(reason: impl Into<String>) -> Self {
        Self::Fail { reason: reason.into(), mismatch: None }
    }
}

/// Where verdicts are counted and reported.
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
        *self.counts.entry(verdict.status()).or_default() += 1;
        match verdict {
            Verdict::Pass => {}
            Verdict::Unsupported(reason) => {
                *self.unsupported.entry(reason.clone()).or_default() += 1;
            }
            Verdict::Fail { reason, .. } => writeln!(self.output, "fail   {id}: {reason}")?,
            Verdict::Error(reason) => writeln!(self.output, "error  {id}: {reason}")?,
        }
        match &mut self.report {
            Some(report) => report.write(&line(id, &self.device, verdict)),
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
        // Folders may turn out to hold no case at all.
        let found = pass + fail + error + unsupported;
        Ok(if fail + error == 0 && found > 0 { Outcome::Good } else { Outcome::Bad })
    }
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    let folders = case::find(&arguments.paths)?;
    let searched = || {
        let paths: Vec<_> = arguments.paths.iter().map(|p| p.display().to_string()).collect();
        paths.join(", ")
    };
    anyhow::ensure!(!folders.is_empty(), "no golden case was found in {}", searched());
    let targets = Targets::default().report("--json ", arguments.json.as_deref());
    let cases = folders.iter().flat_map(|folder| {
        ["case.json", "model.onnx"].map(|name| folder.path.join(name).display().to_string())
    });
    let cases: Vec<String> = cases.collect();
    targets.check(&cases.iter().map(String::as_str).collect::<Vec<_>>(), None)?;
    let mut stderr = Output::stderr();
    let output = if targets.have_standard() { &mut stderr } else { output };
    let report = arguments.json.as_deref().map(Report::create).transpose()?;
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
                record.add(&id(), &Verdict::Unsupported(error.to_string()))?;
            }
            Err(error) => record.add(&id(), &Verdict::Error(error.to_string()))?,
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
            return Verdict::Unsupported(error.to_string());
        }
        Err(_) if refused => return Verdict::Pass,
        Err(error @ Error::UnknownVersion { .. }) => {
            return Verdict::Unsupported(error.to_string());
        }
        Err(error) => return Verdict::fail(format!("refused: {error}")),
    };
    let data = inputs.iter().take(operator.input_count()).copied();
    let Some(data) = data.collect::<Option<Vec<&Tensor>>>() else {
        return Verdict::Error("the case lacks an input".to_string());
    };
    let descs: Vec<_> = data.iter().map(|tensor| tensor.desc()).collect();
    // Some cases are refused for their values, such as ids that do not ascend.
    match operator.checked(&data).and_then(|operator| operator.infer(&descs)) {
        Err(_) if refused => return Verdict::Pass,
        Err(error) => return Verdict::fail(format!("refused: {error}")),
        Ok(_) => {}
    }
    let Expect::Outputs(expected) = &case.expect else {
        return Verdict::fail("accepted, but an error is expected");
    };
    let actual = match operator.run(device, &data) {
        Ok(actual) => actual,
        Err(error) => return Verdict::Error(error.to_string()),
    };
    if actual.len() < expected.len() {
        let (actual, expected) = (actual.len(), expected.len());
        return Verdict::fail(format!("{actual} outputs, but {expected} are expected"));
    }
    let pairs = actual.iter().zip(expected);
    let mut verdicts = pairs.map(|(actual, expected)| compare(actual, expected));
    verdicts.find(|v| !matches!(v, Verdict::Pass)).unwrap_or(Verdict::Pass)
}

/// Compares an output with the expected one.
fn compare(actual: &Tensor, expected: &Tensor) -> Verdict {
    match wgmax::compare_values(actual, expected) {
        Ok(report) if report.is_equal() => Verdict::Pass,
        Ok(report) => {
            let mismatch = report.first.first().cloned();
            let first = mismatch.as_ref().map_or_else(String::new, |m| {
                format!(", first at {:?}: {} where {} is expected", m.coordinates, m.a, m.b)
            });
            let reason = format!("{} of {} elements differ{first}", report.differing, report.total);
            Verdict::Fail { reason, mismatch }
        }
        Err(_) => Verdict::fail(format!("{} where {} is expected", actual.desc(), expected.desc())),
    }
}

/// A line of the report.
fn line(id: &str, device: &str, verdict: &Verdict) -> Value {
    let mut object = json!({ "id": id, "device": device, "status": verdict.status() });
    match verdict {
        Verdict::Pass => {}
        Verdict::Unsupported(reason) | Verdict::Error(reason) => {
            object["reason"] = json!(reason);
        }
        Verdict::Fail { reason, mismatch } => {
            object["reason"] = json!(reason);
            if let Some(m) = mismatch {
                object["mismatch"] = mismatch_object(m);
            }
        }
    }
    object
}
