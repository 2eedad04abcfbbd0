//! The report on stdout.

use std::io::Write;

use wgmax::ElementType;
use wgmax_verify::Kind;

use super::Report;
use super::engine::{Cell, Score};
use super::finding::{DifferingLaunch, Finding, Side};
use super::memory::Growth;
use super::pattern::Pattern;
use super::subject::Subject;
use crate::difference;
use crate::output::{self, Output, put};
use crate::table::{NOTHING, Table};

/// The maximum number of elements of an input that are printed.
const MAX_PRINTED: usize = 64;

pub fn print(report: &Report, output: &mut Output) -> anyhow::Result<()> {
    let choice = &report.sweep.choice;
    if let Some(index) = choice.case {
        writeln!(output, "Case {index}: {}", choice.nth(index)?)?;
    }
    for (subject, score) in report.subjects() {
        let driver = match subject.info().driver.as_str() {
            "" => String::new(),
            driver => format!(" · {driver}"),
        };
        let plan = choice.plan.map_or_else(String::new, |p| format!(", with {} plans", p.name()));
        put(output, format_args!("{}{driver}, against {}{plan}:", subject.name, subject.against))?;
        let mut header = vec!["type"];
        header.extend(Kind::ALL.map(Kind::name));
        let mut table = Table::new(&header);
        for element_type in ElementType::ALL {
            let cells = Kind::ALL.map(|kind| cell(score.cells.get(&(kind, element_type))));
            if cells.iter().any(|cell| cell != NOTHING) {
                let mut row = vec![element_type.to_string()];
                row.extend(cells);
                table.add_row(row);
            }
        }
        writeln!(output, "{table}")?;
        writeln!(output, "Cases that launched a kernel, by the element type of their data:")?;
        writeln!(output, "{}", launched(score))?;
        if let Some(line) = score.unreached() {
            put(output, line)?;
        }
        for (reason, index) in &score.failures {
            writeln!(output, "error  case {index}: {reason}")?;
        }
        if let Some((index, _)) = &score.given_up {
            writeln!(output, "no more cases after case {index}")?;
        }
        for finding in &score.findings {
            mismatch(report, subject, finding, output)?;
        }
        writeln!(output)?;
    }
    for refused in &report.refused {
        put(output, format_args!("error  {refused}"))?;
    }
    if report.lacks_adapters() {
        put(output, crate::devices::NO_ADAPTER)?;
    }
    put(output, report.summary())?;
    if let Some(growth) = report.sweep.memory.growth() {
        writeln!(output, "{}", memory(growth))?;
    }
    Ok(())
}

/// Kernels by element types.
fn launched(score: &Score) -> Table {
    let types = score.types();
    let mut header = vec!["kernel"];
    header.extend(types.iter().map(|t| t.name()));
    let mut table = Table::new(&header);
    for kernel in score.kernels() {
        let count = |&t: &ElementType| match score.launched.get(&(kernel, t)) {
            Some(cases) => cases.to_string(),
            None => NOTHING.to_string(),
        };
        table.add_row(std::iter::once(kernel.to_string()).chain(types.iter().map(count)));
    }
    table
}

/// The counts of a cell.
pub fn cell(cell: Option<&Cell>) -> String {
    let Some(cell) = cell else { return NOTHING.to_string() };
    let mut text = cell.cases.to_string();
    if cell.mismatches > 0 {
        text += &format!(", {} differ", cell.mismatches);
    }
    if cell.failures > 0 {
        text += &format!(", {} in error", cell.failures);
    }
    text
}

pub fn memory(growth: Growth) -> String {
    let mib = |bytes: u64| bytes as f64 / (1 << 20) as f64;
    format!(
        "Resident memory: {:.1} MiB in the second quarter of the run, {:.1} MiB in the last.",
        mib(growth.early),
        mib(growth.late)
    )
}

/// Sentences on a finding: which side refuses the case, which launch differs first, which side is
/// right, and the known mistake that it looks like.
pub fn sentences(finding: &Finding, subject: &Subject) -> Vec<String> {
    let pattern = finding.pattern.map(|pattern| {
        let Pattern { name, sentence, report } = pattern;
        format!("It looks like a known mistake of drivers, {name}. {sentence} See {report}")
    });
    let refused = finding.small.refused.as_ref().map(|reason| {
        format!(
            "Only {} has results. {} refuses the case: {reason}.",
            subject.name, subject.against
        )
        .replace(". the ", ". The ")
    });
    [refused, launch(finding), judgement(finding, subject), pattern].into_iter().flatten().collect()
}

/// A sentence on which side is right.
fn judgement(finding: &Finding, subject: &Subject) -> Option<String> {
    if subject.against == "the oracle" {
        return None;
    }
    Some(match finding.oracle? {
        Side::Expected => format!("The oracle agrees with {}.", subject.against),
        Side::Actual => format!("The oracle agrees with {}.", subject.name),
        Side::Neither => "The oracle agrees with neither.".to_string(),
    })
}

/// A sentence on the first launch that differs, if it is known.
fn launch(finding: &Finding) -> Option<String> {
    let DifferingLaunch { shader, number, count, .. } = finding.launch.as_ref()?;
    Some(format!("The first launch that differs: {shader}, {number} of {count}."))
}

fn mismatch(
    report: &Report,
    subject: &Subject,
    finding: &Finding,
    output: &mut Output,
) -> anyhow::Result<()> {
    let (kind, t) = (finding.kind.name(), finding.element_type);
    writeln!(output, "MISMATCH  {kind} of {t}, case {}, on {}", finding.index, subject.name)?;
    writeln!(output, "  found:    {}", finding.found.case)?;
    if finding.again {
        writeln!(output, "  smallest: {}", finding.small.case)?;
    } else {
        writeln!(output, "  It was right when it was run again.")?;
    }
    for (number, tensor) in finding.small.case.tensors.iter().enumerate() {
        writeln!(output, "  input {number}: {}", list(tensor)?)?;
    }
    for (result, comparison) in finding.small.results() {
        let name = finding.small.name(result);
        let Some(comparison) = comparison else {
            writeln!(output, "  {name}: type or shape not as expected")?;
            continue;
        };
        writeln!(output, "  {name} (a: {}, b: {}):", subject.name, subject.against)?;
        for line in difference::text(&comparison, 4).lines() {
            writeln!(output, "    {line}")?;
        }
    }
    for line in sentences(finding, subject) {
        writeln!(output, "  {line}")?;
    }
    writeln!(output, "  again:    {}", report.again(subject, finding))?;
    Ok(())
}

/// The type and shape of a tensor, and its first elements.
pub fn list(tensor: &wgmax::Tensor) -> wgmax::Result<String> {
    let values = output::values(tensor, MAX_PRINTED)?;
    let more = match tensor.len() - values.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Ok(format!("{} [{}]{more}", tensor.desc(), values.join(", ")))
}

impl Score {
    /// A line on the outcome of a subject.
    pub fn line(&self) -> String {
        let cases = output::counted(self.cases(), "case");
        let (wrong, failed) = (self.mismatches(), self.failed());
        match (wrong, failed) {
            (0, 0) => format!("{cases}, all equal"),
            (_, 0) => format!("{cases}, {wrong} differ"),
            _ => format!("{cases}, {wrong} differ, {failed} in error"),
        }
    }
}
