//! `wgmax compare`.

mod canvas;
mod heatmap;

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use clap::{Args, Subcommand};
use wgmax::Extremum::{self, Maximum, Minimum};
use wgmax::operator::Operator;
use wgmax::{Run as _, Tensor};

use super::operation::{Operation, Read};
use super::options::{Planning, two_devices};
use super::output::{self, Output, put};
use super::picture::Format;
use super::targets::Targets;
use super::{
    Outcome, adaptive_max_pool, difference, files, max_pool, reduce_max, scatter_max, segment_max,
};

/// The names of an operator's results.
const fn results(operator: &Operator) -> [&'static str; 2] {
    match operator {
        Operator::ReduceMax(_)
        | Operator::MaxPool(_)
        | Operator::SegmentMax(_)
        | Operator::ScatterMax(_) => ["values", "indices"],
        Operator::ScatterMaxBackward(_) => ["gradient", "gradient of the updates"],
        _ => ["gradient", ""],
    }
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax compare mine.npy theirs.npy --heatmap diff.png
  wgmax compare a.npz:y b.safetensors:y --values
  wgmax compare reduce-max x.npy --axes 0 --between cpu,gpu
  wgmax compare max-pool x.npy --kernel 3,3 --indices --between 0,1

The rows and columns of the picture of --heatmap are the last two axes or, if the shape is [.., H, W, C] with \
C at most 4 and W above 4, H and W. There is a panel for each place along the other axes. Equal elements are \
white. Different elements are orange to dark red, by their distance, and violet if one or both are NaN; a line \
below the picture has the scale. If a pixel stands for several elements, it shows the largest distance.")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    operator: Option<Choice>,
    /// File of a tensor, in the formats of the operators' inputs
    #[arg(value_name = "A", required = true, value_parser = file)]
    a: Option<String>,
    /// File to compare it with
    #[arg(value_name = "B", required = true)]
    b: Option<String>,
    /// Compare values: any NaN equals any NaN, and -0 equals 0. By default, bits are compared
    #[arg(long)]
    values: bool,
    /// Draw a picture of the differences
    #[arg(long, value_name = "FILE.png")]
    heatmap: Option<String>,
}

/// A file; other names are misspelled operators.
fn file(text: &str) -> Result<String, &'static str> {
    match text {
        _ if text.contains('.') || text.ends_with('-') => Ok(text.to_string()),
        "arg-max" => Err("give reduce-max with --indices"),
        "arg-min" => Err("give reduce-min with --indices"),
        _ if Choice::has_subcommand(text) => {
            Err("options of an operator follow it; --values and --heatmap are for files")
        }
        _ => Err("neither a file nor an operator such as 'max-pool' or 'reduce-min'"),
    }
}

#[derive(Subcommand)]
enum Choice {
    /// The maximum along axes of a tensor from a file
    #[command(after_help = "Example:\n  wgmax compare reduce-max x.npy --axes 0 --between cpu,gpu")]
    ReduceMax(ReduceMax),
    /// The minimum along axes of a tensor from a file
    #[command(after_help = "Example:\n  wgmax compare reduce-min x.npy --axes 0")]
    ReduceMin(ReduceMax),
    /// The maximum of windows of a tensor from a file, and its position
    #[command(
        after_help = "Example:\n  wgmax compare max-pool x.npy --kernel 3,3 --between cpu,gpu"
    )]
    MaxPool(MaxPool),
    /// The minimum of windows of a tensor from a file, and its position
    #[command(after_help = "Example:\n  wgmax compare min-pool x.npy --kernel 3,3")]
    MinPool(MaxPool),
    /// The maximum of windows that evenly split the axes of a tensor from a file, and its position
    #[command(after_help = "Example:\n  wgmax compare adaptive-max-pool x.npy --output-sizes 7,7")]
    AdaptiveMaxPool(AdaptiveMaxPool),
    /// The minimum of windows that evenly split the axes of a tensor from a file, and its position
    #[command(after_help = "Example:\n  wgmax compare adaptive-min-pool x.npy --output-sizes 7,7")]
    AdaptiveMinPool(AdaptiveMaxPool),
    /// The maximum of each segment of the rows of a tensor from a file
    #[command(after_help = "Example:\n  wgmax compare segment-max x.npy ids.npy --between cpu,gpu")]
    SegmentMax(SegmentMax),
    /// The minimum of each segment of the rows of a tensor from a file
    #[command(after_help = "Example:\n  wgmax compare segment-min x.npy ids.npy")]
    SegmentMin(SegmentMax),
    /// For each element, the maximum of itself and of the updates that go to it
    #[command(after_help = "Example:\n  wgmax compare scatter-max x.npy places.npy updates.npy")]
    ScatterMax(ScatterMax),
    /// For each element, the minimum of itself and of the updates that go to it
    #[command(after_help = "Example:\n  wgmax compare scatter-min x.npy places.npy updates.npy")]
    ScatterMin(ScatterMax),
}

/// An operator, and the devices that run it.
#[derive(Args)]
struct Run<O: Operation> {
    #[command(flatten)]
    operation: O,
    /// Also compare the positions of the results
    #[arg(long, group = "positions")]
    indices: bool,
    #[command(flatten)]
    between: Between,
}

type ReduceMax = Run<reduce_max::Operation>;
type MaxPool = Run<max_pool::Operation>;
type AdaptiveMaxPool = Run<adaptive_max_pool::Operation>;
type SegmentMax = Run<segment_max::Operation>;
type ScatterMax = Run<scatter_max::Operation>;

#[derive(Args)]
struct Between {
    /// The two devices; each is cpu, gpu, an index, or part of an adapter's name
    #[arg(long, value_name = "A,B", default_value = "cpu,gpu", value_parser = two_devices)]
    between: (String, String),
    #[command(flatten)]
    planning: Planning,
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    match (&arguments.operator, &arguments.a, &arguments.b) {
        (Some(Choice::ReduceMax(run)), ..) => devices(run, Maximum, output),
        (Some(Choice::ReduceMin(run)), ..) => devices(run, Minimum, output),
        (Some(Choice::MaxPool(run)), ..) => devices(run, Maximum, output),
        (Some(Choice::MinPool(run)), ..) => devices(run, Minimum, output),
        (Some(Choice::AdaptiveMaxPool(run)), ..) => devices(run, Maximum, output),
        (Some(Choice::AdaptiveMinPool(run)), ..) => devices(run, Minimum, output),
        (Some(Choice::SegmentMax(run)), ..) => devices(run, Maximum, output),
        (Some(Choice::SegmentMin(run)), ..) => devices(run, Minimum, output),
        (Some(Choice::ScatterMax(run)), ..) => devices(run, Maximum, output),
        (Some(Choice::ScatterMin(run)), ..) => devices(run, Minimum, output),
        (None, Some(a), Some(b)) => tensors(arguments, [a, b], output),
        _ => unreachable!("the arguments are required"),
    }
}

/// Compares two files.
fn tensors(
    arguments: &Arguments,
    paths: [&String; 2],
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let heatmap = arguments.heatmap.as_deref();
    if let Some(path) = heatmap {
        anyhow::ensure!(
            Format::of(path) == Some(Format::Png),
            "--heatmap {path}: the picture is a FILE.png"
        );
    }
    let heatmap_path = heatmap.map(Path::new);
    Targets::default()
        .report("--heatmap ", heatmap_path)
        .check(&paths.map(String::as_str), None)?;
    let [a, b] = [files::read(paths[0], None)?, files::read(paths[1], None)?];
    let report = match arguments.values {
        true => wgmax::compare_values(&a, &b),
        false => wgmax::compare(&a, &b),
    };
    let report = report.with_context(|| format!("{} and {}", paths[0], paths[1]))?;
    if let Some(path) = heatmap {
        match heatmap::draw(&a, &b, arguments.values)? {
            Some(picture) => files::write(&[(path, &picture)], false)?,
            None => output::remark(format_args!(
                "--heatmap {path}: not written, because {} has no elements",
                a.desc()
            )),
        }
    }
    writeln!(output, "a: {}\nb: {}", paths[0], paths[1])?;
    put(output, format_args!("{}: {}", a.desc(), difference::text(&report, 0)))?;
    Ok(if report.is_equal() { Outcome::Good } else { Outcome::Bad })
}

/// Runs an operator on two devices, and compares the results.
fn devices<O: Operation>(
    Run { operation, indices, between }: &Run<O>,
    extremum: Extremum,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    // Refuses two inputs that are standard input.
    Targets::default().check(&operation.files(), None)?;
    let (option, file) = operation.second(&None);
    anyhow::ensure!(file.is_none(), "{option}is for results, which are not written here");
    let Read { operator, inputs, axes } = operation.read(extremum, *indices)?;
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    let Between { between: (a, b), planning } = between;
    let devices = [planning.open(a)?, planning.open(b)?];
    let a = operator.run(&devices[0], &inputs)?;
    let b = operator.run(&devices[1], &inputs)?;
    put(output, format_args!("a: {}", devices[0].info()))?;
    put(output, format_args!("b: {}", devices[1].info()))?;
    let descs: Vec<String> = (inputs.iter())
        .map(|input| axes.own(input).map(|input| input.desc().to_string()))
        .collect::<Result<_, _>>()?;
    let from = descs.join(", ");
    let mut outcome = Outcome::Good;
    for ((a, b), result) in a.iter().zip(&b).zip(results(&operator)) {
        let (a, b) = (axes.own(a)?, axes.own(b)?);
        let report = wgmax::compare(&a, &b)?;
        let report_text = difference::text(&report, 0);
        put(output, format_args!("{result}: {from} -> {}: {report_text}", a.desc()))?;
        if !report.is_equal() {
            outcome = Outcome::Bad;
        }
    }
    Ok(outcome)
}
