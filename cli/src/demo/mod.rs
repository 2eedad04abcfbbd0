//! `wgmax demo`: the operators on sample data, on every device.

mod digits;
mod iris;
mod trial;

use std::error::Error;
use std::io::Write;
use std::str::FromStr;

use anyhow::Context;
use clap::Args;
use wgmax::{Device, Element, Tensor};
use wgmax_verify::NO_ADAPTER;

use super::Outcome;
use super::options::Planning;
use super::output::Output;
use super::table;
use trial::Trial;

#[derive(Args)]
#[command(after_help = "Example:\n  wgmax demo")]
pub struct Arguments {
    #[command(flatten)]
    planning: Planning,
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    let adapters = wgmax::adapters()?;
    match adapters.len() {
        0 => writeln!(output, "{}\n", table::wrapped(NO_ADAPTER, table::width(), ""))?,
        count => {
            let noun = if count == 1 { "adapter" } else { "adapters" };
            writeln!(output, "Found {count} GPU {noun}, and the CPU:")?;
            for (index, info) in adapters.iter().enumerate() {
                let text = table::wrapped(&info.to_string(), table::width(), "       ");
                writeln!(output, "  {index:<5}{}", text.trim_start())?;
            }
            writeln!(output, "  cpu  {}\n", Device::cpu().info())?;
        }
    }

    let mut devices = Vec::new();
    let mut refused = Vec::new();
    for device in arguments.planning.open_all() {
        match device {
            Ok(device) => devices.push(device),
            Err(error) => refused.push(error.to_string()),
        }
    }
    let mut trial = Trial::new(devices);
    iris::run(&mut trial, output)?;
    digits::run(&mut trial, output)?;

    for line in &refused {
        writeln!(output, "Not opened: {line}")?;
    }
    for difference in &trial.differences {
        writeln!(output, "{difference}")?;
    }
    let compared = trial.compared;
    match trial.wrong {
        0 if compared == 0 => writeln!(output, "There was no GPU to compare with the CPU.")?,
        0 => writeln!(
            output,
            "All {compared} results of the GPU adapters equal the CPU's, bit for bit."
        )?,
        wrong => writeln!(output, "{wrong} of {compared} results differ from the CPU's.")?,
    }
    Ok(if trial.wrong == 0 { Outcome::Good } else { Outcome::Bad })
}

/// A tensor of elements that are computed one by one.
fn tensor<T: Element, const N: usize>(
    shape: [usize; N],
    elements: impl Iterator<Item = T>,
) -> wgmax::Result<Tensor> {
    Tensor::from_slice(shape, &elements.collect::<Vec<T>>())
}

/// The lines of a file with their numbers, separated by commas.
fn lines<'a, T: FromStr<Err: Error + Send + Sync + 'static>>(
    name: &'a str,
    text: &'a str,
) -> impl Iterator<Item = anyhow::Result<(&'a str, Vec<T>)>> {
    text.lines().filter(|line| !line.is_empty()).map(move |line| {
        let fields = line.split(',').map(|field| field.trim().parse());
        let fields = fields.collect::<Result<_, _>>().with_context(|| format!("{name}: {line:?}"));
        Ok((line, fields?))
    })
}
