//! `wgmax compare`.

use std::io::Write;

use anyhow::Context;
use clap::{Args, Subcommand};
use wgmax::Device;

use super::output::Output;
use super::{Outcome, reduce_max};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    operator: Choice,
}

#[derive(Subcommand)]
enum Choice {
    /// The maximum along axes of a tensor from a file
    ReduceMax(ReduceMax),
}

#[derive(Args)]
struct ReduceMax {
    #[command(flatten)]
    operation: reduce_max::Operation,
    /// The two devices: each one cpu, gpu, an index, or part of an adapter's name
    #[arg(long, value_name = "A,B", default_value = "cpu,gpu")]
    between: String,
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    let Choice::ReduceMax(arguments) = &arguments.operator;
    let (a, b) = arguments
        .between
        .split_once(',')
        .with_context(|| format!("--between {:?}: give two devices, A,B", arguments.between))?;
    let (operator, input) = arguments.operation.read()?;
    let devices = [Device::named(a.trim())?, Device::named(b.trim())?];
    let a = operator.run(&devices[0], &[&input])?;
    let b = operator.run(&devices[1], &[&input])?;
    writeln!(output, "a: {}", devices[0].info())?;
    writeln!(output, "b: {}", devices[1].info())?;
    let mut outcome = Outcome::Good;
    for (a, b) in a.iter().zip(&b) {
        let report = wgmax::compare(a, b)?;
        writeln!(output, "{} -> {}: {report}", input.desc(), a.desc())?;
        if !report.is_equal() {
            outcome = Outcome::Bad;
        }
    }
    Ok(outcome)
}
