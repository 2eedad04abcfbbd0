//! ReduceMax over Fisher's iris measurements.

use std::io::Write;

use anyhow::Context;
use half::{bf16, f16};
use wgmax::operator::ReduceMax;
use wgmax::{Device, Tensor};

use super::trial::{Line, Question, Trial};
use crate::output::{self, Output};

const IRIS: &str = include_str!("../../../../examples/data/iris.csv");
const MEASUREMENTS: [&str; 4] = ["sepal length", "sepal width", "petal length", "petal width"];
const SPECIES: [&str; 3] = ["setosa", "versicolor", "virginica"];

/// Rows of the data, and how many of each species follow one another.
const FLOWERS: usize = 150;
const EACH: usize = FLOWERS / SPECIES.len();

pub fn run(trial: &mut Trial, output: &mut Output) -> anyhow::Result<()> {
    let lines = lines(&read(IRIS)?)?;
    writeln!(
        output,
        "ReduceMax. Fisher's iris: {FLOWERS} flowers of {} species, {} measurements each, in cm.\n",
        SPECIES.len(),
        MEASUREMENTS.len(),
    )?;
    writeln!(output, "The largest of each species, in cm, as f32 on the CPU:")?;
    let largest = lines[0].questions[2].ask(&Device::cpu())?.swap_remove(0);
    writeln!(output, "{}\n", by_species(&largest)?)?;

    writeln!(output, "The largest of all flowers, in the order of the columns above:")?;
    let table = trial.table(["type", "answers"], &lines, |results| {
        Ok(output::values(&results[0], MEASUREMENTS.len())?.join("  "))
    })?;
    writeln!(output, "{table}")?;
    writeln!(
        output,
        "u8 and i32 count tenths of a cm. The largest of each flower and of each species are \
         compared, too.\n"
    )?;
    Ok(())
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
fn lines(tenths: &[i32]) -> wgmax::Result<Vec<Line>> {
    let shape = [FLOWERS, MEASUREMENTS.len()];
    // A quotient is rounded once, so it is the number that the file spells.
    let cm = |t: &i32| f64::from(*t) / 10.0;
    let of = |t: &i32| *t as f32 / 10.0;
    let inputs = [
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
    ];
    inputs
        .iter()
        .map(|input| {
            Ok(Line { label: input.element_type().to_string(), questions: questions(input)? })
        })
        .collect()
}

/// What is asked of an input: the largest of all flowers, of each flower, of each species.
fn questions(flowers: &Tensor) -> wgmax::Result<Vec<Question>> {
    let species = flowers.reshape([SPECIES.len(), EACH, MEASUREMENTS.len()])?;
    Ok(vec![
        Question::new(ReduceMax::new().axes([0]), flowers),
        Question::new(ReduceMax::new().axes([1]), flowers),
        Question::new(ReduceMax::new().axes([1]), &species),
    ])
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
