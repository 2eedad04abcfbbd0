//! `wgmax demo`: ReduceMax over Fisher's iris measurements.

use std::io::Write;

use anyhow::Context;
use half::{bf16, f16};
use wgmax::operator::{Operator, ReduceMax};
use wgmax::{Device, Tensor};

use super::Outcome;
use super::devices::NO_ADAPTER;
use super::output::{self, Output};

const IRIS: &str = include_str!("../../../examples/data/iris.csv");
const MEASUREMENTS: [&str; 4] = ["sepal length", "sepal width", "petal length", "petal width"];
const SPECIES: [&str; 3] = ["setosa", "versicolor", "virginica"];

/// Rows of the data, and how many of each species follow one another.
const FLOWERS: usize = 150;
const EACH: usize = FLOWERS / SPECIES.len();

pub fn run(output: &mut Output) -> anyhow::Result<Outcome> {
    let inputs = inputs(&read(IRIS)?)?;
    let cpu = Device::cpu();
    writeln!(
        output,
        "Fisher's iris: {FLOWERS} flowers of {} species, {} measurements each, in cm.\n",
        SPECIES.len(),
        MEASUREMENTS.len(),
    )?;

    let adapters = wgmax::adapters();
    match adapters.len() {
        0 => writeln!(output, "{NO_ADAPTER}\n")?,
        count => {
            let noun = if count == 1 { "adapter" } else { "adapters" };
            writeln!(output, "Found {count} GPU {noun}, and the CPU:")?;
            for (index, info) in adapters.iter().enumerate() {
                writeln!(output, "  {index}    {info}")?;
            }
            writeln!(output, "  cpu  {}\n", cpu.info())?;
        }
    }

    // What the CPU says of each input; every device is held against it.
    let reference = inputs
        .iter()
        .map(|input| questions(input)?.iter().map(|(op, t)| ask(op, &cpu, t)).collect())
        .collect::<wgmax::Result<Vec<Vec<Tensor>>>>()?;

    writeln!(output, "The largest of each species, in cm, as f32 on the CPU:")?;
    writeln!(output, "{}\n", by_species(&reference[0][2])?)?;

    writeln!(output, "The largest of all flowers, in the order of the columns above:")?;
    let mut table = output::table(&["device", "type", "answers", "like the CPU, bit for bit?"]);
    let (mut asked, mut wrong) = (0, 0);
    let mut complaints = Vec::new();
    let mut refused = Vec::new();
    for device in Device::all() {
        let device = match device {
            Ok(device) => device,
            Err(error) => {
                refused.push(error.to_string());
                continue;
            }
        };
        let info = device.info();
        // Once a device, so that the eye finds where the next one begins.
        let mut name = format!("{}\n{}", info.name, info.backend);
        if info.name == info.backend || info.backend.is_empty() {
            name = info.name.clone();
        }
        let mut lines = Vec::new();
        for (input, expected) in inputs.iter().zip(&reference) {
            let mut equal = 0;
            let mut answers = String::from("-");
            for (number, ((op, t), expected)) in questions(input)?.iter().zip(expected).enumerate()
            {
                // The CPU is not held against itself.
                asked += usize::from(!device.is_cpu());
                let what = format!("{info}, {} -> {}", t.desc(), expected.desc());
                let actual = match ask(op, &device, t) {
                    Ok(actual) => actual,
                    Err(error) => {
                        complaints.push(format!("{what}: {error}"));
                        continue;
                    }
                };
                if number == 0 {
                    answers = output::values(&actual, MEASUREMENTS.len())?.join("  ");
                }
                match wgmax::compare(&actual, expected) {
                    Ok(report) if report.is_equal() => equal += 1,
                    Ok(report) => complaints.push(format!("{what}: {report}")),
                    Err(error) => complaints.push(format!("{what}: {error}")),
                }
            }
            wrong += expected.len() - equal;
            let verdict = match equal == expected.len() {
                true if device.is_cpu() => "(reference)".to_string(),
                true => "yes".to_string(),
                false => format!("NO: {} of {} differ", expected.len() - equal, expected.len()),
            };
            lines.push((input.element_type().to_string(), answers, verdict));
        }
        let column = |pick: fn(&(String, String, String)) -> &str| {
            lines.iter().map(pick).collect::<Vec<_>>().join("\n")
        };
        table.add_row([
            name,
            column(|line| &line.0),
            column(|line| &line.1),
            column(|line| &line.2),
        ]);
    }
    writeln!(output, "{table}")?;
    writeln!(output, "u8 and i32 count tenths of a cm.\n")?;
    for line in &refused {
        writeln!(output, "Left out: {line}")?;
    }
    for complaint in &complaints {
        writeln!(output, "{complaint}")?;
    }
    match wrong {
        0 if asked == 0 => writeln!(output, "There was no GPU to compare with the CPU.")?,
        0 => writeln!(
            output,
            "All {asked} results of the GPU adapters (the largest of all, of each flower, of each species) \
             equal the CPU's, bit for bit."
        )?,
        _ => writeln!(output, "{wrong} of {asked} results are not the CPU's.")?,
    }
    Ok(if wrong == 0 { Outcome::Good } else { Outcome::Bad })
}

/// The measurements in tenths of a centimetre, a flower a row.
fn read(text: &str) -> anyhow::Result<Vec<i32>> {
    let mut tenths = Vec::with_capacity(FLOWERS * MEASUREMENTS.len());
    for (row, line) in text.lines().skip(1).filter(|line| !line.is_empty()).enumerate() {
        let fields: Vec<f64> = line
            .split(',')
            .map(|field| field.trim().parse())
            .collect::<Result<_, _>>()
            .with_context(|| format!("iris.csv: {line:?}"))?;
        let [measured @ .., species] = fields.as_slice() else { continue };
        anyhow::ensure!(
            measured.len() == MEASUREMENTS.len() && *species == (row / EACH) as f64,
            "iris.csv: {line:?} is out of place"
        );
        tenths.extend(measured.iter().map(|cm| (cm * 10.0).round() as i32));
    }
    anyhow::ensure!(tenths.len() == FLOWERS * MEASUREMENTS.len(), "iris.csv: rows are missing");
    Ok(tenths)
}

/// The same measurements in several types.
fn inputs(tenths: &[i32]) -> wgmax::Result<Vec<Tensor>> {
    let shape = [FLOWERS, MEASUREMENTS.len()];
    // A quotient is rounded once, so it is the number that the file spells.
    let cm = |t: &i32| f64::from(*t) / 10.0;
    let of = |t: &i32| *t as f32 / 10.0;
    Ok(vec![
        Tensor::from_slice(shape, &tenths.iter().map(of).collect::<Vec<f32>>())?,
        Tensor::from_slice(shape, &tenths.iter().map(cm).collect::<Vec<f64>>())?,
        Tensor::from_slice(
            shape,
            &tenths.iter().map(|t| f16::from_f64(cm(t))).collect::<Vec<f16>>(),
        )?,
        Tensor::from_slice(
            shape,
            &tenths.iter().map(|t| bf16::from_f64(cm(t))).collect::<Vec<bf16>>(),
        )?,
        Tensor::from_slice(shape, &tenths.iter().map(|&t| t as u8).collect::<Vec<u8>>())?,
        Tensor::from_slice(shape, tenths)?,
    ])
}

/// What is asked of an input: the largest of all flowers, of each flower, of each species.
fn questions(flowers: &Tensor) -> wgmax::Result<[(Operator, Tensor); 3]> {
    let species = flowers.reshape([SPECIES.len(), EACH, MEASUREMENTS.len()])?;
    Ok([
        (ReduceMax::new().axes([0]).into(), flowers.clone()),
        (ReduceMax::new().axes([1]).into(), flowers.clone()),
        (ReduceMax::new().axes([1]).into(), species),
    ])
}

/// The one result of an operator on one tensor.
fn ask(operator: &Operator, device: &Device, input: &Tensor) -> wgmax::Result<Tensor> {
    Ok(operator.run(device, &[input])?.swap_remove(0))
}

fn by_species(largest: &Tensor) -> wgmax::Result<String> {
    let mut header = vec!["species"];
    header.extend(MEASUREMENTS);
    let mut table = output::table(&header);
    let values = output::values(largest, largest.len())?;
    for (species, values) in SPECIES.iter().zip(values.chunks(MEASUREMENTS.len())) {
        let mut row = vec![species.to_string()];
        row.extend_from_slice(values);
        table.add_row(row);
    }
    Ok(table.to_string())
}
