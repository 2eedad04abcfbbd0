//! `wgmax bench`: the work items compared with the fastest plain pass over the same bytes.

mod costs;
mod cpu;
mod data;
mod gpu;
mod growth;
mod item;
mod pipelines;
mod plot;
mod report;
mod times;
mod traffic;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use regex::Regex;
use wgmax::{Device, Tensor};

use super::Outcome;
use super::interrupt::{self, Polling};
use super::options::{On, PlanChoice};
use super::output::{self, Output};
use super::report::{WholeFile, file};
use super::table;
use super::targets::Targets;
use costs::Cost;
use cpu::Cpu;
use gpu::Gpu;
use item::Item;
use pipelines::Pipelines;
use report::{Report, Row};
use times::{Budget, Times};

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax bench --device gpu --plot speed.svg
  wgmax bench --filter columns --seconds 0.2 --json speed.json
  wgmax bench --traffic --plan hardware --plot traffic.svg
  wgmax bench --list
  wgmax bench --device gpu --pipelines")]
pub struct Arguments {
    #[command(flatten)]
    on: On,
    /// Only items whose name matches this regular expression; "costs" are the fixed costs of calls
    #[arg(long, value_name = "REGEX", default_value = "")]
    filter: Regex,
    /// Runs of each item; by default as many as fit in --seconds
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Seconds to run each item
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    seconds: f64,
    /// Write all measurements as JSON; - for standard output, and the table on stderr
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Plot the fraction of the bandwidth ceiling that each item reaches, or what is counted
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Also measure inputs of growing size, and plot their times
    #[arg(long, value_name = "FILE.svg")]
    growth: Option<PathBuf>,
    /// List the items without measuring them
    #[arg(long)]
    list: bool,
    /// Count what the launches load and store, on a modelled GPU, instead of measuring times
    #[arg(long, conflicts_with_all = ["list", "runs", "seconds", "growth", "device"])]
    traffic: bool,
    /// Elements of an item that is counted, at most
    #[arg(long, value_name = "N", default_value_t = 4 << 20, requires = "traffic")]
    elements: usize,
    /// Count with rows that begin at multiples of so many bytes, as textures are copied to buffers
    #[arg(long, value_name = "BYTES", default_value_t = 1, requires = "traffic",
        value_parser = clap::value_parser!(u16).range(1..))]
    row_bytes: u16,
    /// Only make the pipelines of the items, and print what the driver takes to compile each
    #[arg(long, conflicts_with_all = ["runs", "plot", "growth", "list", "traffic"])]
    pipelines: bool,
}

/// The measurement of an item.
#[derive(Default)]
pub struct Measured {
    item: Times,
    /// Times of the plain pass, which runs in turn with the item. On the CPU the first is the
    /// shortest of the search.
    ceiling: Times,
    /// Bytes that the plain pass moves.
    ceiling_bytes: u64,
    /// How the plain pass is launched.
    ceiling_how: String,
    /// Copies of the input, which are used in turn.
    copies: usize,
    /// Seconds to plan and compile for the first time on this device.
    prepare: Option<f64>,
    /// Seconds on the host to record the operator.
    record: Option<f64>,
    /// Seconds to submit the operator and to wait for it.
    wall: Option<f64>,
    /// Digests of the bytes of each tensor.
    inputs_crc32: Vec<u32>,
    results_crc32: Vec<u32>,
}

/// The device that items are measured on.
enum Bench {
    Cpu(Cpu),
    Gpu(Box<Gpu>),
}

impl Bench {
    fn open(On { device, planning }: &On) -> anyhow::Result<Self> {
        let cpu = || Ok(Self::Cpu(Cpu::new(planning.open("cpu")?)));
        let gpu = |name| Ok(Self::Gpu(Box::new(Gpu::open(name, planning)?)));
        match device.as_str() {
            "cpu" => cpu(),
            "auto" if wgmax::adapter("hardware").is_err() => cpu(),
            "auto" => gpu("hardware"),
            name => gpu(name),
        }
    }

    fn device(&self) -> &Device {
        match self {
            Self::Cpu(cpu) => cpu.device(),
            Self::Gpu(gpu) => gpu.device(),
        }
    }

    /// The clock, and the seconds of an empty submit.
    fn clock(&self) -> (&'static str, f64) {
        match self {
            Self::Cpu(_) => ("wall", 0.0),
            Self::Gpu(gpu) => gpu.clock(),
        }
    }

    fn costs(&self) -> anyhow::Result<Vec<Cost>> {
        match self {
            Self::Cpu(cpu) => cpu.costs(),
            Self::Gpu(gpu) => gpu.costs(),
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
    let targets = Targets::default()
        .report("--json ", arguments.json.as_deref())
        .report("--plot ", arguments.plot.as_deref())
        .report("--growth ", arguments.growth.as_deref());
    targets.check(&[], None)?;
    let mut stderr = Output::stderr();
    let output = if targets.have_standard() { &mut stderr } else { output };
    let mut items = item::all()?;
    items.retain(|item| arguments.filter.is_match(&item.name));
    let costs = arguments.filter.is_match("costs");
    anyhow::ensure!(
        costs || !items.is_empty() || arguments.growth.is_some(),
        "no item's name matches {}",
        arguments.filter
    );
    if arguments.list {
        for item in &items {
            let text = table::wrapped(&item.description(), table::width(), &" ".repeat(21));
            writeln!(output, "{:<20} {}", item.name, text.trim_start())?;
        }
        return Ok(Outcome::Good);
    }
    if arguments.traffic {
        return count(arguments, &items, output);
    }
    if arguments.pipelines {
        let json = file(&arguments.json)?;
        let pipelines = Pipelines::make(&arguments.on.open()?, &items)?;
        writeln!(output, "{pipelines}")?;
        write(json, || Ok(format!("{:#}\n", pipelines.json())))?;
        return Ok(if pipelines.all_made() { Outcome::Good } else { Outcome::Bad });
    }
    let budget =
        Budget { runs: arguments.runs.map(|runs| runs as usize), seconds: arguments.seconds };
    let (json, plot) = (file(&arguments.json)?, file(&arguments.plot)?);
    let growth = file(&arguments.growth)?;
    let polling = Polling::start();
    let mut bench = Bench::open(&arguments.on)?;
    let mut report = Report::new(bench.device(), bench.clock());
    if costs {
        report.costs = bench.costs()?;
        // A signal leaves some without a time.
        report.costs.retain(|cost| cost.times.count() > 0);
    }
    // `None` if a signal came before there was a time.
    let mut measure = |item: Item| {
        if interrupt::requested() {
            return None;
        }
        let result = bench.measure(&item, budget).map_err(|e| format!("{e:#}"));
        if result.as_ref().is_ok_and(|measured| measured.item.count() == 0) {
            return None;
        }
        let row = Row { result, item, cut_off: interrupt::requested() };
        output::note(row.line());
        Some(row)
    };
    report.rows = items.into_iter().map_while(&mut measure).collect();
    if arguments.growth.is_some() {
        report.growth = growth::measure(&mut measure)?;
    }
    // Until here a signal is kept in mind, and from here on it ends the command. So the report and
    // the exit status tell of the same signals.
    drop(polling);
    report.cut_off = interrupt::requested();
    writeln!(output, "{report}")?;
    write(json, || Ok(format!("{:#}\n", report.json())))?;
    write(plot, || plot::fractions(&report))?;
    let has_growth = report.growth.iter().any(|line| !line.rows.is_empty());
    write(growth.filter(|_| has_growth || !report.cut_off), || plot::growth(&report))?;
    Ok(if report.cut_off { Outcome::CutOff } else { Outcome::Good })
}

fn count(arguments: &Arguments, items: &[Item], output: &mut Output) -> anyhow::Result<Outcome> {
    let plan = arguments.on.planning.plan.unwrap_or(PlanChoice::Hardware);
    anyhow::ensure!(plan != PlanChoice::Cpu, "the plan of the CPU launches no shaders");
    let (json, plot) = (file(&arguments.json)?, file(&arguments.plot)?);
    let polling = Polling::start();
    let report = traffic::count(items, plan, arguments.elements, arguments.row_bytes.into());
    drop(polling);
    writeln!(output, "{report}")?;
    write(json, || Ok(format!("{:#}\n", report.json())))?;
    write(plot, || plot::traffic(&report))?;
    Ok(match &report {
        report if report.cut_off => Outcome::CutOff,
        report if report.rows.iter().any(|row| row.result.is_err()) => Outcome::Bad,
        _ => Outcome::Good,
    })
}

/// Writes a file that was opened, if there shall be one.
fn write(
    file: Option<WholeFile>,
    text: impl FnOnce() -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    let Some(mut file) = file else { return Ok(()) };
    file.write_all(text()?.as_bytes())?;
    Ok(file.finish()?)
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err(format!("{text:?} is not a positive number of seconds")),
    }
}

/// The digests of the bytes of each tensor.
fn digests(tensors: &[Tensor]) -> Vec<u32> {
    tensors.iter().map(|tensor| crc32fast::hash(tensor.bytes())).collect()
}
