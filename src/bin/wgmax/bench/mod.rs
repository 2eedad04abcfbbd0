//! `wgmax bench`: the work items beside the fastest plain pass over the same bytes.

mod cpu;
mod data;
mod gpu;
mod item;
mod report;
mod times;

use std::io::Write;

use anyhow::Context;
use clap::Args;
use regex::Regex;
use wgmax::{Device, Tensor};

use super::Outcome;
use super::output::Output;
use cpu::Cpu;
use gpu::Gpu;
use item::Item;
use report::{Report, Row};
use times::{Budget, Times};

#[derive(Args)]
pub struct Arguments {
    /// What to measure: auto, cpu, gpu, an index, or part of an adapter's name
    #[arg(long, default_value = "auto")]
    device: String,
    /// Only items whose name has a match of this regular expression
    #[arg(long, value_name = "REGEX", default_value = "")]
    filter: Regex,
    /// Runs of each item, instead of as many as fit in --seconds
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// How long each item is run
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Write all figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// List the items, and measure nothing
    #[arg(long)]
    list: bool,
}

/// What was found of an item.
#[derive(Default)]
pub struct Measured {
    item: Times,
    /// Of the plain pass, which ran in turn with the item.
    ceiling: Times,
    ceiling_bytes: u64,
    ceiling_how: String,
    /// How many inputs were taken in turn.
    copies: usize,
    /// Seconds to plan and compile, for the first time on this device.
    prepare: Option<f64>,
    /// Seconds on the host to record the operator.
    record: Option<f64>,
    /// Seconds of a submit of the operator alone, and the wait.
    wall: Option<f64>,
    /// Of the bytes of each tensor.
    inputs_crc32: Vec<u32>,
    results_crc32: Vec<u32>,
}

/// What items are measured on.
enum Bench {
    Cpu(Cpu),
    Gpu(Box<Gpu>),
}

impl Bench {
    fn open(name: &str) -> anyhow::Result<Self> {
        match name {
            "cpu" => Ok(Self::Cpu(Cpu::new())),
            "auto" if wgmax::adapters().is_empty() => Ok(Self::Cpu(Cpu::new())),
            _ => Ok(Self::Gpu(Box::new(Gpu::open(name)?))),
        }
    }

    fn device(&self) -> &Device {
        match self {
            Self::Cpu(cpu) => cpu.device(),
            Self::Gpu(gpu) => gpu.device(),
        }
    }

    /// How the time is told, and seconds of what each submit costs anyway.
    fn clock(&self) -> (&'static str, f64) {
        match self {
            Self::Cpu(_) => ("wall", 0.0),
            Self::Gpu(gpu) => gpu.clock(),
        }
    }

    fn measure(&mut self, item: &Item, budget: Budget) -> anyhow::Result<Measured> {
        match self {
            Self::Cpu(cpu) => cpu.measure(item, budget),
            Self::Gpu(gpu) => gpu.measure(item, budget),
        }
    }
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    let mut items = item::all()?;
    items.retain(|item| arguments.filter.is_match(&item.name));
    anyhow::ensure!(!items.is_empty(), "no item's name has a match of {}", arguments.filter);
    if arguments.list {
        for item in &items {
            writeln!(output, "{:<20} {:?} {} {:?}", item.name, item.op, item.dtype, item.shape)?;
        }
        return Ok(Outcome::Good);
    }
    let budget =
        Budget { runs: arguments.runs.map(|runs| runs as usize), seconds: arguments.seconds };
    let mut bench = Bench::open(&arguments.device)?;
    let mut report = Report::new(bench.device().info(), bench.clock());
    for item in items {
        let row = Row { result: bench.measure(&item, budget).map_err(|e| format!("{e:#}")), item };
        // Nobody waits for these lines.
        let _ = writeln!(std::io::stderr(), "{}", row.line());
        report.rows.push(row);
    }
    writeln!(output, "{report}")?;
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&report.json())?;
        std::fs::write(path, text + "\n").with_context(|| format!("writing {path}"))?;
    }
    Ok(Outcome::Good)
}

/// Of the bytes of each tensor.
fn digests(tensors: &[Tensor]) -> Vec<u32> {
    tensors.iter().map(|tensor| crc32fast::hash(tensor.bytes())).collect()
}
