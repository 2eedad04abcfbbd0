//! The program for developers of wgmax, not for users: see `wgmax-lab --help`.

mod cache;
mod cached;
mod cases;
mod ceiling;
mod count;
mod functions;
#[cfg(test)]
mod gates;
mod growth;
mod keys;
mod known;
mod machine;
mod model;
mod mutants;
mod mutator;
mod pipelines;
mod prove;
mod rare;
mod report;
mod run;
mod sets;
mod threads;
mod traffic;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use regex::Regex;
use wgmax_cli::bench::data;
use wgmax_cli::bench::item::{self, Attributes};

#[derive(Parser)]
#[command(name = "wgmax-lab", about, version)]
enum Command {
    /// Count what the launches of the bench's items load and store, on a modelled GPU
    Traffic(traffic::Arguments),
    /// Compile the pipelines of the bench's items, and print as JSON what the driver takes for each
    Pipelines(pipelines::Arguments),
    /// Measure items and windows of growing size
    Growth(growth::Arguments),
    /// Measure the bench's items on inputs that stay in the caches
    Cached(cached::Arguments),
    /// Measure many ways to read memory once, or to read and to write, the fastest first
    Ceiling(ceiling::Arguments),
    /// Show how the CPU's kernels divide work among many threads, simulated by one
    Threads(threads::Arguments),
    /// Inject faults into shaders, and report what detects each
    Mutants(mutants::Arguments),
    /// Prove what plans compute for all inputs, and that launches access only what they may
    Prove(prove::Arguments),
    /// Write the inputs of an item of the bench as FOLDER/0.npy, FOLDER/1.npy
    Inputs { item: String, folder: PathBuf },
}

fn main() -> anyhow::Result<ExitCode> {
    let good = match Command::parse() {
        Command::Traffic(arguments) => traffic::run(&arguments)?,
        Command::Pipelines(arguments) => pipelines::run(&arguments)?,
        Command::Growth(arguments) => growth::run(&arguments)?,
        Command::Cached(arguments) => cached::run(&arguments)?,
        Command::Ceiling(arguments) => ceiling::run(&arguments)?,
        Command::Threads(arguments) => threads::run(&arguments)?,
        Command::Mutants(arguments) => mutants::run(&arguments)?,
        Command::Prove(arguments) => prove::run(&arguments)?,
        Command::Inputs { item, folder } => {
            let mut item = item::matching(&Regex::new(&format!("^{item}$"))?)?.remove(0);
            // Otherwise the gradient finds its positions itself, in the data.
            if let (true, Attributes::Pool { indices, .. }) = (item.gradient, &mut item.attrs) {
                *indices = false;
            }
            for (i, tensor) in data::inputs(&item)?.iter().enumerate() {
                wgmax::io::write(&folder.join(format!("{i}.npy")).to_string_lossy(), tensor)?;
            }
            true
        }
    };
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
