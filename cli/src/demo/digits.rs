//! MaxPool of handwritten digits.

use std::io::Write;

use half::f16;
use wgmax::operator::{Indices, Layout, MaxPool};
use wgmax::{Device, ElementType, Tensor};

use super::tensor;
use super::trial::{Line, Trial, question};
use crate::output::Output;

const DIGITS: &str = include_str!("data/digits.csv");

/// The number of pictures, and the rows and columns of each.
const PICTURES: usize = 30;
const SIDE: usize = 8;
/// The maximum value of ink; the minimum is 0.
const BLACK: u8 = 16;
/// The pictures that are drawn: a 0, a 5 and a 7.
const DRAWN: [usize; 3] = [20, 25, 27];

pub fn run(trial: &mut Trial, output: &mut Output) -> anyhow::Result<()> {
    let ink = read(DIGITS)?;
    writeln!(
        output,
        "MaxPool. Handwritten digits: {PICTURES} pictures of {SIDE} x {SIDE}, ink from 0 to {BLACK}.\n"
    )?;
    let lines = lines(&ink)?;
    writeln!(output, "Some of them, and the maxima of each 2 x 2, as u8 on the CPU:")?;
    let pooled = lines[0].questions[0].run(&Device::cpu())?.swap_remove(0);
    for row in draw(&ink, pooled.as_slice()?) {
        writeln!(output, "{row}")?;
    }

    writeln!(output, "\nAll of them:")?;
    let table = trial.table(["type", "pooled"], &lines, |results| {
        Ok(match results {
            [pooled, indices] => {
                format!("{}, and {} indices", pooled.desc(), indices.element_type())
            }
            _ => results[0].desc().to_string(),
        })
    })?;
    writeln!(output, "{table}")?;
    writeln!(
        output,
        "In NCX each picture is a batch, in NXC a channel. i8 starts at {}; f32 and f16 are \
         fractions of {BLACK}.\n",
        -i16::from(BLACK / 2)
    )?;
    Ok(())
}

/// The ink of all pictures, row by row.
fn read(text: &str) -> anyhow::Result<Vec<u8>> {
    let mut ink = Vec::with_capacity(PICTURES * SIDE * SIDE);
    for (number, line) in super::lines("digits.csv", text).enumerate() {
        let (line, fields) = line?;
        let (picture, digit) = fields.split_at(fields.len() - 1);
        anyhow::ensure!(
            picture.len() == SIDE * SIDE
                && picture.iter().all(|&ink| ink <= BLACK)
                && digit == [(number % 10) as u8],
            "digits.csv: {line:?} is out of place"
        );
        ink.extend(picture);
    }
    anyhow::ensure!(ink.len() == PICTURES * SIDE * SIDE, "digits.csv: rows are missing");
    Ok(ink)
}

/// The same pictures in several types and layouts, with and without indices.
fn lines(ink: &[u8]) -> wgmax::Result<Vec<Line>> {
    let batches = [PICTURES, 1, SIDE, SIDE];
    let channels = [1, SIDE, SIDE, PICTURES];
    let interleaved: Vec<u8> =
        (0..ink.len()).map(|at| ink[at % PICTURES * SIDE * SIDE + at / PICTURES]).collect();
    let fraction = |&ink: &u8| f32::from(ink) / f32::from(BLACK);
    let half = |ink: &u8| f16::from_f32(fraction(ink));
    let signed = |&ink: &u8| ink as i8 - (BLACK / 2) as i8;
    let floats = tensor(batches, ink.iter().map(fraction))?;
    let halves = tensor(channels, interleaved.iter().map(half))?;
    let signed = tensor(batches, ink.iter().map(signed))?;

    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let (ncx, nxc) = (pool.clone(), pool.layout(Layout::Nxc));
    let short = Indices::new(ElementType::I32);
    let line = |layout: &str, pool: MaxPool, input: &Tensor| Line {
        label: format!("{} {layout}", input.element_type()),
        questions: vec![question(pool, &[input])],
    };
    Ok(vec![
        line("NCX", ncx.clone(), &Tensor::from_slice(batches, ink)?),
        line(
            "NXC",
            nxc.clone().indices(Indices::default()),
            &Tensor::from_slice(channels, &interleaved)?,
        ),
        line("NCX", ncx.clone().indices(Indices::default()), &floats),
        line("NXC", nxc, &halves),
        line("NCX", ncx.indices(short), &signed),
    ])
}

/// Pictures beside their maxima.
fn draw(ink: &[u8], pooled: &[u8]) -> Vec<String> {
    let mut rows = vec![String::new(); SIDE + 2];
    for picture in DRAWN {
        let before = frame(&ink[picture * SIDE * SIDE..][..SIDE * SIDE], SIDE);
        let side = SIDE / 2;
        let after = frame(&pooled[picture * side * side..][..side * side], side);
        // The maxima are fewer rows, which are centred.
        let above = (before.len() - after.len()) / 2;
        let blank = " ".repeat(2 * side + 2);
        for (number, (row, before)) in rows.iter_mut().zip(&before).enumerate() {
            let after = number.checked_sub(above).and_then(|number| after.get(number));
            *row += &format!("  {before} {}", after.unwrap_or(&blank));
        }
    }
    rows.iter().map(|row| row.trim_end().to_string()).collect()
}

/// A picture in shades, two characters a spot, because characters are about half as wide as high.
fn frame(ink: &[u8], side: usize) -> Vec<String> {
    const SHADES: [&str; 5] = ["  ", "░░", "▒▒", "▓▓", "██"];
    let steps = SHADES.len() - 1;
    let shade = |&ink: &u8| {
        SHADES[(usize::from(ink) * steps + usize::from(BLACK) / 2) / usize::from(BLACK)]
    };
    let edge = "─".repeat(2 * side);
    let mut rows = vec![format!("┌{edge}┐")];
    for row in ink.chunks(side) {
        rows.push(format!("│{}│", row.iter().map(shade).collect::<String>()));
    }
    rows.push(format!("└{edge}┘"));
    rows
}
