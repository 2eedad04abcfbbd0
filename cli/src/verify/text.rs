//! The report on stdout.
use std::io::Write;

use wgmax::ElementType;
use wgmax_verify::text::list;
use wgmax_verify::{Cell, Finding, Kind, NO_ADAPTER, Report, Score, Subject};

use crate::difference;
use crate::output::{Output, put};
use crate::table::{NOTHING, Table};

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
        let with = |tuning| format!(", with the tuning {tuning}");
        let tuning = choice.tuning.map_or_else(String::new, with);
        put(
            output,
            format_args!("{}{driver}, against {}{tuning}:", subject.name, subject.against),
        )?;
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
        put(output, NO_ADAPTER)?;
    }
    put(output, report.summary())?;
    if let Some(growth) = report.sweep.memory.growth() {
        writeln!(output, "{}", growth.sentence())?;
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
        let cases = |t: &ElementType| score.launched.get(&(kernel, *t));
        let count = |t| cases(t).map_or(NOTHING.to_string(), u64::to_string);
        table.add_row(std::iter::once(kernel.to_string()).chain(types.iter().map(count)));
    }
    table
}

/// The counts of a cell.
fn cell(cell: Option<&Cell>) -> String {
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

fn mismatch(
    report: &Report,
    subject: &Subject,
    finding: &Finding,
    output: &mut Output,
) -> anyhow::Result<()> {
    writeln!(output, "MISMATCH  {}, on {}", finding.title(), subject.name)?;
    writeln!(output, "  found:    {}", finding.found.case)?;
    if finding.again {
        writeln!(output, "  smallest: {}", finding.small.case)?;
    } else {
        writeln!(output, "  It was right when it was run again.")?;
    }
    for (number, tensor) in finding.small.case.tensors.iter().enumerate() {
        writeln!(output, "  input {number}: {}", list(tensor))?;
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
    for line in finding.sentences(subject) {
        writeln!(output, "  {line}")?;
    }
    writeln!(output, "  again:    {}", report.again(subject, finding))?;
    Ok(())
}
