//! The same operators on every device, compared with the CPU.

use wgmax::operator::Operator;
use wgmax::{Device, Tensor};
use wgmax_verify::{Case, PlanOverrides};

use crate::difference;
use crate::table::{Cell, Table};

/// An operator and its inputs.
pub fn question(operator: impl Into<Operator>, inputs: &[&Tensor]) -> Case {
    let tensors = inputs.iter().map(|&input| input.clone()).collect();
    Case { operator: operator.into(), tensors, overrides: PlanOverrides::default() }
}

/// A line of a table: its label, and its questions.
pub struct Line {
    pub label: String,
    pub questions: Vec<Case>,
}

/// The devices, and so far the comparison of their results with the CPU's.
pub struct Trial {
    devices: Vec<Device>,
    /// Results of GPUs that were compared.
    pub compared: usize,
    /// Results that differ from the CPU's, or that an error prevented.
    pub wrong: usize,
    /// A message for each of them.
    pub differences: Vec<String>,
}

impl Trial {
    pub fn new(devices: Vec<Device>) -> Self {
        Self { devices, compared: 0, wrong: 0, differences: Vec::new() }
    }

    /// Runs all questions on every device. For each line, the table shows the results of its first
    /// question, formatted by `show`.
    pub fn table(
        &mut self,
        [label, shown]: [&'static str; 2],
        lines: &[Line],
        show: impl Fn(&[Tensor]) -> wgmax::Result<String>,
    ) -> wgmax::Result<Table> {
        let cpu = Device::cpu();
        let reference = lines
            .iter()
            .map(|line| line.questions.iter().map(|question| question.run(&cpu)).collect())
            .collect::<wgmax::Result<Vec<Vec<Vec<Tensor>>>>>()?;
        // If the CPU is the only device, nothing is compared.
        let count = if self.devices.iter().all(Device::is_cpu) { 3 } else { 4 };
        let mut table = Table::new(&["device", label, shown, "same as CPU?"][..count]).wrap(0);
        for device in self.devices.clone() {
            let mut columns: [Vec<String>; 3] = Default::default();
            for (line, expected) in lines.iter().zip(&reference) {
                let (first, wrong) = self.compare(&device, line, expected);
                let all: usize = expected.iter().map(Vec::len).sum();
                columns[0].push(line.label.clone());
                columns[1].push(first.map_or(Ok("-".to_string()), |first| show(&first))?);
                columns[2].push(match wrong {
                    0 if device.is_cpu() => "(reference)".to_string(),
                    0 => "yes".to_string(),
                    _ => format!("NO: {wrong} of {all} differ"),
                });
            }
            let bad = columns[2].iter().any(|verdict| verdict.starts_with("NO"));
            let [label, shown, verdicts] = columns.map(|column| column.join("\n"));
            let cells = [name(&device), label, shown].map(Cell::from);
            let cells = cells.into_iter().chain([Cell::verdict(verdicts, !bad)]);
            table.add_row(cells.take(count));
        }
        Ok(table)
    }

    /// The results of a line's first question, and how many results of all its questions are not
    /// as expected.
    fn compare(
        &mut self,
        device: &Device,
        line: &Line,
        expected: &[Vec<Tensor>],
    ) -> (Option<Vec<Tensor>>, usize) {
        let mut first = None;
        let mut wrong = 0;
        for (number, (question, expected)) in line.questions.iter().zip(expected).enumerate() {
            self.compared += if device.is_cpu() { 0 } else { expected.len() };
            let what = format!("{}, {}", device.info(), question);
            let actual = match question.run(device) {
                Ok(actual) => actual,
                Err(error) => {
                    self.differences.push(format!("{what}: {error}").trim_end().to_string());
                    wrong += expected.len();
                    continue;
                }
            };
            for (actual, expected) in actual.iter().zip(expected) {
                let difference = match wgmax::compare(actual, expected) {
                    Ok(report) if report.is_equal() => continue,
                    Ok(report) => difference::text(&report, 0),
                    Err(error) => error.to_string(),
                };
                self.differences.push(format!("{what} -> {}: {difference}", expected.desc()));
                wrong += 1;
            }
            if number == 0 {
                first = Some(actual);
            }
        }
        self.wrong += wrong;
        (first, wrong)
    }
}

/// The name and backend, on two lines: a cell is as high as the lines of its device.
fn name(device: &Device) -> String {
    let info = device.info();
    match info.name == info.backend.name() {
        true => info.name.clone(),
        false => format!("{}\n{}", info.name, info.backend),
    }
}
