//! `wgmax onnx`: runs the MaxPool, ReduceMax and similar nodes of a model on a device, and compares with the CPU.

mod dims;
mod entry;
mod expression;
mod find;
mod infer;
mod options;
mod prepare;
#[cfg(test)]
#[path = "../../../tests/common/onnx.rs"]
mod proto;
mod random;
mod report;
mod trial;
mod values;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use wgmax::io::onnx::{self, Model};

use super::options::{On, Writing, whole};
use super::output::{self, Output};
use super::picture::{self, Format};
use super::report::is_standard;
use super::targets::Targets;
use super::{Outcome, files};
use entry::{Entry, State};
use options::{Binding, File, Shape};
use values::Values;

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax onnx model.onnx
  wgmax onnx model.onnx --dim batch=1 --dim length=2048
  wgmax onnx model.onnx --shape relu_3=1,64,56,56 --device gpu --json r.json
  wgmax onnx pool.onnx --input x=x.npy --output y=y.npy

Runs nodes of MaxPool, GlobalMaxPool, MaxUnpool, ReduceMax, ReduceMin, ArgMax and ArgMin, and those of \
ScatterElements and ScatterND with the reduction max or min. It runs them on the device and, if this is \
a GPU, on the CPU too, and compares. Without a hardware GPU, give --device gpu. The nodes' inputs are \
tensors from files, tensors of the model, results of earlier nodes, or random finite tensors. Times are \
medians, without upload and download.

Exit status: 0 if all went well; 1 if results differ, a node is refused or fails, or, with --strict, \
one is not run; 2 for an error, in one line; 3 if no node ran; 128 + N if signal N ended it.")]
pub struct Arguments {
    /// FILE.onnx; - for standard input, if the model is a single file
    model: PathBuf,
    #[command(flatten)]
    on: On,
    /// Value of a dimension that the model names
    #[arg(long = "dim", value_name = "NAME=N")]
    dims: Vec<Binding>,
    /// Shape of a tensor, if the model does not declare it; the type is f32 if none is declared
    #[arg(long = "shape", value_name = "TENSOR=[TYPE:]N,..")]
    shapes: Vec<Shape>,
    /// Value of a tensor, from a file in the formats of other commands
    #[arg(long = "input", value_name = "TENSOR=FILE")]
    inputs: Vec<File>,
    /// Write the result of a node to a file; - for standard output
    #[arg(long = "output", value_name = "TENSOR=FILE")]
    outputs: Vec<File>,
    #[command(flatten)]
    writing: Writing,
    /// List the nodes without running them
    #[arg(long, conflicts_with = "outputs")]
    list: bool,
    /// Exit with 1 if a node is not run because a shape is unknown or the node is in a subgraph
    #[arg(long)]
    strict: bool,
    /// Seed of random tensors
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(0))]
    seed: u64,
    /// Timed runs of each node
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u16>(1))]
    runs: u16,
    /// Write a report as JSON; - for standard output instead of the table
    #[arg(long, value_name = "REPORT")]
    json: Option<PathBuf>,
}

impl Arguments {
    /// The files that are written, checked against the model and the inputs.
    fn targets(&self) -> anyhow::Result<Targets> {
        let mut targets = Targets::default().report("--json ", self.json.as_deref());
        for File { name, spec } in &self.outputs {
            targets = targets.tensor(&format!("--output {name}="), Some(spec))?;
        }
        let inputs = self.inputs.iter().map(|file| OsStr::new(&file.spec));
        let inputs = inputs.chain([self.model.as_os_str()]);
        targets.check(&inputs.collect::<Vec<_>>(), Some(self.writing.force))?;
        Ok(targets)
    }
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    // If a report or a tensor goes to standard output, nothing else is printed there.
    let targets = arguments.targets()?;
    let quiet = targets.have_standard();
    let model = read(&arguments.model)?;
    let beside = model.files();
    let beside: Vec<&OsStr> = beside.iter().map(|path| path.as_os_str()).collect();
    targets.keep(&beside, Some(arguments.writing.force))?;
    let found = find::nodes(&model);
    let mut values = Values::new(&model, &arguments.dims, &arguments.shapes)?;
    for File { name, spec } in &arguments.inputs {
        values
            .set_input(name, files::read(spec, None).with_context(|| format!("--input {name}"))?)?;
    }
    let mut entries = prepare::all(&model, found, &mut values);
    for File { name, spec } in &arguments.outputs {
        let made = entries.iter().find_map(|entry| match &entry.state {
            State::Ready(ready) => ready.outputs.iter().find(|(output, _)| output == name),
            _ => None,
        });
        let Some((_, desc)) = made else {
            anyhow::bail!("--output {name}: {}", why_no_output(&entries, name));
        };
        if let Some(format) = Format::of(spec) {
            picture::check(spec, format, desc)?;
        }
    }
    let json = super::report::Report::create(&arguments.json)?;

    let device = match arguments.list {
        true => None,
        false => Some(arguments.on.open()?),
    };
    if let Some(device) = &device {
        let devices = trial::Devices::new(device, arguments.runs);
        let mut last_use = BTreeMap::new();
        for (at, entry) in entries.iter().enumerate() {
            last_use.extend(entry.tensors().iter().map(|name| (name.clone(), at)));
        }
        for (at, entry) in entries.iter_mut().enumerate() {
            trial::run(entry, &devices, &mut values, arguments.seed);
            let is_taken = |name: &String| last_use.get(name).is_some_and(|&last| last > at);
            values.keep(is_taken, &arguments.outputs);
        }
    }
    // All of them, or none.
    let outputs = arguments.outputs.iter();
    let (found, lost): (Vec<_>, Vec<_>) =
        outputs.partition(|File { name, .. }| values.results.contains_key(name));
    if let Some(File { name, .. }) = lost.first() {
        // Reports have the reason.
        output::note(format!("--output {name}: its node did not run, so no output is written"));
    }

    let report = report::Report { model: &model, device: device.as_ref(), entries: &entries };
    if let Some(json) = json {
        json.whole(format_args!("{:#}\n", report.json(arguments.seed, arguments.runs)))?;
    }
    if !quiet {
        report.print(output)?;
    }
    if lost.is_empty() {
        let files = found.iter().map(|file| (file.spec.as_str(), &values.results[&file.name]));
        files::write(&files.collect::<Vec<_>>(), arguments.writing.force)?;
    }
    let bad = |entry: &Entry<'_>| entry.is_bad() || (arguments.strict && entry.is_blocked());
    Ok(if entries.iter().any(bad) || !lost.is_empty() {
        Outcome::Bad
    } else if arguments.list || entries.iter().any(Entry::has_run) {
        Outcome::Good
    } else {
        Outcome::Nothing
    })
}

fn read(path: &Path) -> anyhow::Result<Model> {
    if !is_standard(path) {
        return Ok(onnx::read_model(path)?);
    }
    let bytes = wgmax::io::standard_input("only a model in one file is read here")?;
    Ok(onnx::parse_model("standard input", bytes)?)
}

/// Why no node that runs has this output.
fn why_no_output(entries: &[Entry<'_>], name: &str) -> String {
    let maker = entries.iter().find(|entry| entry.node.outputs.iter().any(|n| n == name));
    match maker.map(|entry| &entry.state) {
        Some(State::Blocked(reason) | State::Refused(reason)) => {
            format!("its node does not run: {reason}")
        }
        _ => {
            let names: Vec<&str> = (entries.iter())
                .filter(|entry| entry.place.is_none())
                .flat_map(|entry| entry.node.outputs.iter())
                .filter(|name| !name.is_empty())
                .map(String::as_str)
                .collect();
            format!(
                "no node that runs here has this output; their outputs are {}",
                options::list(&names)
            )
        }
    }
}
