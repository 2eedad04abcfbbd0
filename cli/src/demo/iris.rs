//! ReduceMax and SegmentMax of Fisher's iris measurements.

use std::io::Write;

use half::{bf16, f16};
use wgmax::operator::{EmptySet, ReduceMax, SegmentMax};
use wgmax::{Device, ElementType, Tensor};
use wgmax_verify::Case;

use super::tensor;
use super::trial::{Line, Trial, question};
use crate::output::{self, Output, put};
use crate::table::Table;

const IRIS: &str = include_str!("data/iris.csv");
const MEASUREMENTS: [&str; 4] = ["sepal length", "sepal width", "petal length", "petal width"];
const PETAL_LENGTH: usize = 2;
const SPECIES: [&str; 3] = ["setosa", "versicolor", "virginica"];

/// The number of rows, and the consecutive rows of each species.
const FLOWERS: usize = 150;
const EACH: usize = FLOWERS / SPECIES.len();

/// The flowers, in the order of the file.
struct Flowers {
    /// The measurements in tenths of a centimetre, one flower a row.
    tenths: Vec<i32>,
    /// The number of each flower's species.
    species: Vec<i64>,
}

pub fn run(trial: &mut Trial, output: &mut Output) -> anyhow::Result<()> {
    let flowers = read(IRIS)?;
    let inputs = flowers.inputs()?;
    writeln!(
        output,
        "ReduceMax. Fisher's iris: {FLOWERS} flowers of {} species, {} measurements each, in cm.\n",
        SPECIES.len(),
        MEASUREMENTS.len(),
    )?;
    writeln!(output, "Maxima of all flowers ({}):", MEASUREMENTS.join(", "))?;
    let table = trial.table(["type", "maxima"], &lines(&inputs, all_and_each)?, |results| {
        Ok(output::values(&results[0], MEASUREMENTS.len()).join("  "))
    })?;
    writeln!(output, "{table}")?;
    put(
        output,
        "u8 and i32 are tenths of a cm. The maxima of each flower and of each species are compared \
         as well.\n",
    )?;

    let lines = lines(&inputs, |input| flowers.by_species(input))?;
    writeln!(
        output,
        "SegmentMax. The same flowers, with the number of each one's species as its id.\n"
    )?;
    writeln!(output, "The maxima of each species, in cm, as f32 on the CPU:")?;
    let maxima = lines[0].questions[0].run(&Device::cpu())?.swap_remove(0);
    writeln!(output, "{}\n", species_table(&maxima)?)?;

    writeln!(output, "The longest petal of each species:")?;
    let table = trial.table(["type", "maxima"], &lines, |results| {
        let values = output::values(&results[0], results[0].len());
        let petals = values.chunks(MEASUREMENTS.len()).map(|row| row[PETAL_LENGTH].as_str());
        Ok(petals.collect::<Vec<&str>>().join("  "))
    })?;
    writeln!(output, "{table}")?;
    put(
        output,
        "All measurements and the rows of the maxima are compared; then the same with offsets instead \
         of ids, and the maxima of the flowers whose petals are 0, 1, 2 ... whole cm long, with \
         unsorted ids.\n",
    )?;
    Ok(())
}

fn read(text: &str) -> anyhow::Result<Flowers> {
    let mut flowers = Flowers { tenths: Vec::new(), species: Vec::new() };
    let table = text.split_once('\n').map_or("", |(_, table)| table);
    for (row, line) in super::lines::<f64>("iris.csv", table).enumerate() {
        let (line, fields) = line?;
        let [measured @ .., species] = fields.as_slice() else { continue };
        anyhow::ensure!(
            measured.len() == MEASUREMENTS.len() && *species == (row / EACH) as f64,
            "iris.csv: {line:?} is out of place"
        );
        flowers.tenths.extend(measured.iter().map(|cm| (cm * 10.0).round() as i32));
        flowers.species.push(*species as i64);
    }
    anyhow::ensure!(flowers.species.len() == FLOWERS, "iris.csv: rows are missing");
    Ok(flowers)
}

impl Flowers {
    /// The measurements in several types.
    fn inputs(&self) -> wgmax::Result<Vec<Tensor>> {
        let (shape, tenths) = ([FLOWERS, MEASUREMENTS.len()], &self.tenths);
        // A division is rounded once, so it gives the number in the file.
        let cm = |t: &i32| f64::from(*t) / 10.0;
        Ok(vec![
            tensor(shape, tenths.iter().map(|&t| t as f32 / 10.0))?,
            tensor(shape, tenths.iter().map(cm))?,
            tensor(shape, tenths.iter().map(|t| f16::from_f64(cm(t))))?,
            tensor(shape, tenths.iter().map(|t| bf16::from_f64(cm(t))))?,
            tensor(shape, tenths.iter().map(|&t| t as u8))?,
            Tensor::from_slice(shape, tenths)?,
        ])
    }

    /// The maxima of each species, by ids and by offsets, and of the flowers whose petals have the
    /// same length. No petal is 0 or 2 cm long, so some segments have no rows.
    fn by_species(&self, input: &Tensor) -> wgmax::Result<Vec<Case>> {
        let numbers = Tensor::from_slice([FLOWERS], &self.species)?;
        let offsets = tensor(
            [SPECIES.len() + 1],
            (0..=SPECIES.len()).map(|species| (species * EACH) as i32),
        )?;
        let petals = self.tenths.chunks(MEASUREMENTS.len()).map(|row| row[PETAL_LENGTH] / 10);
        let petals = tensor([FLOWERS], petals)?;
        let unsorted = SegmentMax::unsorted().empty_segment(EmptySet::Finite);
        Ok(vec![
            question(SegmentMax::sorted().indices(ElementType::I64), &[input, &numbers]),
            question(SegmentMax::offsets().indices(ElementType::I32), &[input, &offsets]),
            question(unsorted, &[input, &petals]),
        ])
    }
}

/// A line for each input, with its questions.
fn lines(
    inputs: &[Tensor],
    questions: impl Fn(&Tensor) -> wgmax::Result<Vec<Case>>,
) -> wgmax::Result<Vec<Line>> {
    let line = |input: &Tensor| {
        Ok(Line { label: input.element_type().to_string(), questions: questions(input)? })
    };
    inputs.iter().map(line).collect()
}

/// The maxima of all flowers, of each flower, and of each species.
fn all_and_each(input: &Tensor) -> wgmax::Result<Vec<Case>> {
    let species = input.reshape([SPECIES.len(), EACH, MEASUREMENTS.len()])?;
    Ok(vec![
        question(ReduceMax::new().axes([0]), &[input]),
        question(ReduceMax::new().axes([1]), &[input]),
        question(ReduceMax::new().axes([1]), &[&species]),
    ])
}

fn species_table(maxima: &Tensor) -> wgmax::Result<String> {
    let mut header = vec!["species"];
    header.extend(MEASUREMENTS);
    let mut table = Table::new(&header);
    let values = output::values(maxima, maxima.len());
    for (species, values) in SPECIES.iter().zip(values.chunks(MEASUREMENTS.len())) {
        let mut row = vec![species.to_string()];
        row.extend_from_slice(values);
        table.add_row(row);
    }
    Ok(table.to_string())
}
