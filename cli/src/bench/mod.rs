//! `wgmax bench`: the work items compared with plain passes over the same bytes.

pub mod cpu;
pub mod data;
pub mod gpu;
pub mod item;
mod plot;
mod report;
pub mod times;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use regex::Regex;
use wgmax::plan::Plan;
use wgmax::{Device, DeviceTensor, Tensor, TensorDesc};

use super::Outcome;
use super::interrupt::{self, Polling};
use super::options::{On, whole};
use super::output::{self, Output};
use super::report::Report as File;
use super::table;
use super::targets::Targets;
use gpu::Gpu;
use item::Item;
pub use report::Report;
use report::Row;
use times::{Budget, Times, seconds};

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax bench --device gpu --plot speed.svg
  wgmax bench --filter cols --seconds 0.2 --json speed.json
  wgmax bench --list")]
pub struct Arguments {
    #[command(flatten)]
    on: On,
    /// Only items whose name matches this regular expression
    #[arg(long, value_name = "REGEX", default_value = "")]
    filter: Regex,
    /// Runs of each item; by default as many as fit in --seconds
    #[arg(long, value_parser = whole::<u32>(1))]
    runs: Option<u32>,
    /// Seconds to run each item
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    seconds: f64,
    /// Write all measurements as JSON; - for standard output, and the table on stderr
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Plot each item's speed relative to that of a plain pass over its bytes
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// List the items without measuring them
    #[arg(long, conflicts_with_all = ["json", "plot"])]
    list: bool,
}

/// Bytes of all copies of an input, which are used in turn: more than the caches of most processors
/// and GPUs.
pub const ROTATED: u64 = 256 << 20;
const MAX_COPIES: u64 = 64;

/// The measurement of an item.
#[derive(Default)]
pub struct Measured {
    item: Times,
    /// Times of the plain pass, which runs in turn with the item. On the CPU the first is the time by
    /// which the pass was chosen.
    ceiling: Times,
    /// Bytes that the plain pass moves.
    ceiling_bytes: u64,
    /// How the plain pass is launched.
    ceiling_how: String,
    /// Copies of the input, which are used in turn.
    copies: usize,
    /// Seconds to plan, and to compile what no earlier item of the run compiled.
    prepare: Option<f64>,
    /// Seconds on the host to record the operator.
    record: Option<f64>,
    /// Seconds to record and submit the operator and to wait for it, with each copy in turn.
    wall: Option<Times>,
    /// Digests of the bytes of each tensor.
    inputs_crc32: Vec<u32>,
    results_crc32: Vec<u32>,
}

/// The device that items are measured on.
pub struct Bench {
    pub device: Device,
    /// Its clock and plain passes, if it is a GPU.
    pub gpu: Option<Gpu>,
}

/// An item, prepared for measurement.
pub struct Prepared {
    plan: Plan,
    /// Copies of the inputs, which are used in turn.
    copies: Vec<Vec<DeviceTensor>>,
    /// The bytes that the plain pass writes.
    write: u64,
}

impl Prepared {
    /// The number of the largest input, the first of several, which the plain pass reads. A scatter's
    /// data, its first input, may be small.
    fn largest(&self) -> usize {
        let sizes = self.plan.inputs().iter().map(TensorDesc::byte_len).enumerate();
        sizes.rev().max_by_key(|&(_, bytes)| bytes).map_or(0, |(number, _)| number)
    }
}

impl Bench {
    pub fn open(On { device, planning }: &On) -> anyhow::Result<Self> {
        let name = match device.as_str() {
            "auto" if wgmax::adapter("hardware").is_err() => "cpu",
            "auto" => "hardware",
            name => name,
        };
        if name == "cpu" {
            return Ok(Self { device: planning.open("cpu")?, gpu: None });
        }
        let gpu = Gpu::open(name)?;
        let device = planning.apply(Device::from_wgpu(&gpu.clock.device, &gpu.clock.queue)?);
        Ok(Self { device, gpu: Some(gpu) })
    }

    /// The clock, and the seconds of an empty submit and the wait for it.
    fn clock(&self) -> (&'static str, f64) {
        match &self.gpu {
            None => ("wall", 0.0),
            Some(gpu) if gpu.clock.has_timestamps() => ("GPU timestamps", gpu.clock.fixed),
            Some(gpu) => ("wall", gpu.clock.fixed),
        }
    }

    fn measure(&self, item: &Item, budget: Budget, rotated: u64) -> anyhow::Result<Measured> {
        let descs = item.inputs()?;
        let descs: Vec<&TensorDesc> = descs.iter().collect();
        // Before the operator runs for the first time.
        let compile = || seconds(|| self.device.prepare(item.operator(), &descs));
        let compiled = self.gpu.as_ref().map(|gpu| (gpu, compile()));
        let inputs = data::inputs(item)?;
        let prepared = Prepared {
            plan: self.device.plan(item.operator(), &descs)?,
            copies: copies(&self.device, item, &inputs, rotated)?,
            write: item.plain_writes()?,
        };
        let first: Vec<&DeviceTensor> = prepared.copies[0].iter().collect();
        let results = self.device.execute(&prepared.plan, &first)?;
        let results: Vec<Tensor> =
            results.iter().map(DeviceTensor::download).collect::<wgmax::Result<_>>()?;
        let mut measured = Measured {
            copies: prepared.copies.len(),
            inputs_crc32: digests(&inputs),
            results_crc32: digests(&results),
            ..Measured::default()
        };
        drop((inputs, results));
        match compiled {
            None => cpu::measure(&self.device, &prepared, budget, &mut measured)?,
            Some((gpu, (time, compiled))) => {
                measured.prepare = Some(time);
                gpu.measure(&self.device, &prepared, &compiled?, budget, &mut measured)?;
            }
        }
        Ok(measured)
    }
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    if let Some(plot) = &arguments.plot {
        // Devices and pipes have no extension.
        let is_svg = plot.extension().is_none_or(|extension| extension.eq_ignore_ascii_case("svg"));
        anyhow::ensure!(is_svg, "--plot {}: the plot is a FILE.svg", plot.display());
    }
    let targets = Targets::default()
        .report("--json ", arguments.json.as_deref())
        .report("--plot ", arguments.plot.as_deref());
    targets.check(&[""; 0], None)?;
    let mut stderr = Output::stderr();
    let output = if targets.have_standard() { &mut stderr } else { output };
    let items = item::matching(&arguments.filter)?;
    if arguments.list {
        for item in &items {
            let text = table::wrapped(&item.description(), table::width(), &" ".repeat(21));
            writeln!(output, "{:<20} {}", item.name, text.trim_start())?;
        }
        return Ok(Outcome::Good);
    }
    let budget =
        Budget { runs: arguments.runs.map(|runs| runs as usize), seconds: arguments.seconds };
    let (json, plot) = (File::create(&arguments.json)?, File::create(&arguments.plot)?);
    let report = measure(&arguments.on, items, budget, ROTATED)?;
    writeln!(output, "{report}")?;
    json.map_or(Ok(()), |file| file.whole(format_args!("{:#}\n", report.json())))?;
    plot.map_or(Ok(()), |file| file.whole(plot::fractions(&report)))?;
    Ok(if report.cut_off { Outcome::CutOff } else { Outcome::Good })
}

/// Measures items, until a signal comes. An item has as many copies of its inputs as take `rotated` bytes
/// together, from one to a maximum.
pub fn measure(on: &On, items: Vec<Item>, budget: Budget, rotated: u64) -> anyhow::Result<Report> {
    let polling = Polling::start();
    let bench = Bench::open(on)?;
    let mut report = Report::new(&bench.device, bench.clock());
    for item in items {
        if interrupt::requested() {
            break;
        }
        let result = bench.measure(&item, budget, rotated).map_err(|e| format!("{e:#}"));
        // A signal came before there was a time.
        if result.as_ref().is_ok_and(|measured| measured.item.count() == 0) {
            break;
        }
        let row = Row { result, item, cut_off: interrupt::requested() };
        output::note(row.line());
        report.rows.push(row);
    }
    // From here on a signal ends the command. Earlier signals are noted, so that the report and the exit
    // status agree.
    drop(polling);
    report.cut_off = interrupt::requested();
    Ok(report)
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err(format!("{text:?} is not a positive number of seconds")),
    }
}

/// The inputs on a device, and copies of them with bytes of their own. If memory is short, fewer
/// copies are enough.
fn copies(
    device: &Device,
    item: &Item,
    inputs: &[Tensor],
    rotated: u64,
) -> wgmax::Result<Vec<Vec<DeviceTensor>>> {
    let count = rotated.div_ceil(item.bytes_read).clamp(1, MAX_COPIES);
    let mut copies = Vec::new();
    for number in 0..count {
        let tensor = |input: &Tensor| match number {
            0 => Ok(input.clone()),
            _ => Tensor::from_bytes(input.element_type(), input.shape(), input.bytes()),
        };
        let copy = inputs.iter().map(|input| device.upload(&tensor(input)?));
        match copy.collect::<wgmax::Result<_>>() {
            Ok(copy) => copies.push(copy),
            Err(_) if number > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(copies)
}

/// The digests of the bytes of each tensor.
fn digests(tensors: &[Tensor]) -> Vec<u32> {
    tensors.iter().map(|tensor| crc32fast::hash(tensor.bytes())).collect()
}
