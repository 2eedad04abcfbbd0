//! `wgmax compare`.

use std::io::Write;
use std::str::FromStr;

use clap::{Args, Subcommand};
use wgmax::Tensor;

use super::options::Planning;
use super::output::Output;
use super::{Outcome, max_pool, reduce_max, segment_max};

/// The names of an operator's results.
const RESULTS: [&str; 2] = ["values", "indices"];

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax compare reduce-max x.npy --axes 0 --between cpu,gpu
  wgmax compare max-pool x.npy --kernel 3,3 --indices --between 0,1")]
pub struct Arguments {
    #[command(subcommand)]
    operator: Choice,
}

#[derive(Subcommand)]
enum Choice {
    /// The maximum along axes of a tensor from a file
    ReduceMax(ReduceMax),
    /// The maximum of windows of a tensor from a file, and its position
    MaxPool(MaxPool),
    /// The maximum of each segment of the rows of a tensor from a file
    SegmentMax(SegmentMax),
}

#[derive(Args)]
#[command(after_help = "Example:\n  wgmax compare reduce-max x.npy --axes 0 --between cpu,gpu")]
struct ReduceMax {
    #[command(flatten)]
    operation: reduce_max::Operation,
    #[command(flatten)]
    between: Between,
}

#[derive(Args)]
#[command(after_help = "Example:\n  wgmax compare max-pool x.npy --kernel 3,3 --between cpu,gpu")]
struct MaxPool {
    #[command(flatten)]
    operation: max_pool::Operation,
    /// Also compare the positions of the maxima
    #[arg(long)]
    indices: bool,
    #[command(flatten)]
    between: Between,
}

#[derive(Args)]
#[command(after_help = "Example:\n  wgmax compare segment-max x.npy ids.npy --between cpu,gpu")]
struct SegmentMax {
    #[command(flatten)]
    operation: segment_max::Operation,
    /// Also compare the rows that the maxima come from
    #[arg(long)]
    indices: bool,
    #[command(flatten)]
    between: Between,
}

#[derive(Args)]
struct Between {
    /// The two devices; each is cpu, gpu, an index, or part of an adapter's name
    #[arg(long, value_name = "A,B", default_value = "cpu,gpu")]
    between: Pair,
    #[command(flatten)]
    planning: Planning,
}

#[derive(Clone)]
struct Pair(String, String);

impl FromStr for Pair {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (a, b) = text.split_once(',').ok_or("give two devices, A,B")?;
        Ok(Self(a.trim().to_string(), b.trim().to_string()))
    }
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    let one = |(operator, input)| (operator, vec![input]);
    let ((operator, inputs), between) = match &arguments.operator {
        Choice::ReduceMax(choice) => (one(choice.operation.read()?), &choice.between),
        Choice::MaxPool(choice) => (one(choice.operation.read(choice.indices)?), &choice.between),
        Choice::SegmentMax(choice) => (choice.operation.read(choice.indices)?, &choice.between),
    };
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    let Between { between: Pair(a, b), planning } = between;
    let devices = [planning.open(a)?, planning.open(b)?];
    let a = operator.run(&devices[0], &inputs)?;
    let b = operator.run(&devices[1], &inputs)?;
    writeln!(output, "a: {}", devices[0].info())?;
    writeln!(output, "b: {}", devices[1].info())?;
    let descs: Vec<String> = inputs.iter().map(|input| input.desc().to_string()).collect();
    let from = descs.join(", ");
    let mut outcome = Outcome::Good;
    for ((a, b), result) in a.iter().zip(&b).zip(RESULTS) {
        let report = wgmax::compare(a, b)?;
        writeln!(output, "{result}: {from} -> {}: {report}", a.desc())?;
        if !report.is_equal() {
            outcome = Outcome::Bad;
        }
    }
    Ok(outcome)
}
