//! The command: see `wgmax --help`.

use std::io::Write;

use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};
use wgmax::Extremum::{Maximum, Minimum};

use crate::output::{Output, chain};
use crate::{
    Outcome, adaptive_max_pool, bench, check, color, compare, demo, devices, explain, interrupt,
    max_pool, onnx, operation, output, reduce_max, scatter_max, segment_max, shader, shell, table,
    usage, verify,
};

/// ReduceMax, MaxPool, SegmentMax, ScatterMax and their minima, as WGSL compute shaders and on the CPU.
#[derive(Parser)]
#[command(name = "wgmax", version, term_width = table::width(), after_help = EXAMPLES)]
struct Cli {
    /// Whether help, tables and errors are coloured
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = COMMON)]
    color: ColorChoice,
    /// Print only errors on standard error, no remarks and no progress
    #[arg(short, long, global = true, help_heading = COMMON)]
    quiet: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Run the operators on sample data, on every device, and compare the results
    Demo(demo::Arguments),
    /// List the adapters and the CPU, with their limits
    Devices(devices::Arguments),
    /// The maximum along axes of a tensor from a file
    ReduceMax(operation::Arguments<reduce_max::Operation>),
    /// The minimum along axes of a tensor from a file
    #[command(after_help = "Example:\n  wgmax reduce-min x.npy --axes 0,-1 -o y.npy")]
    ReduceMin(operation::Arguments<reduce_max::Operation>),
    /// The position of the maximum along axes of a tensor from a file
    ArgMax(reduce_max::PositionArguments),
    /// The position of the minimum along axes of a tensor from a file
    #[command(after_help = "Example:\n  wgmax arg-min x.npy --axes 0 -o where.npy")]
    ArgMin(reduce_max::PositionArguments),
    /// The maximum of windows of a tensor from a file, and its position
    MaxPool(operation::Arguments<max_pool::Operation>),
    /// The minimum of windows of a tensor from a file, and its position
    #[command(
        after_help = "Example:\n  wgmax min-pool depth.npy --kernel 2,2 --strides 2,2 -o y.npy"
    )]
    MinPool(operation::Arguments<max_pool::Operation>),
    /// The maximum of windows that evenly split the axes of a tensor from a file, and its position
    AdaptiveMaxPool(operation::Arguments<adaptive_max_pool::Operation>),
    /// The minimum of windows that evenly split the axes of a tensor from a file, and its position
    #[command(
        after_help = "Example:\n  wgmax adaptive-min-pool depth.npy --output-sizes 7,7 -o y.npy"
    )]
    AdaptiveMinPool(operation::Arguments<adaptive_max_pool::Operation>),
    /// The maximum of each segment of the rows of a tensor, and its row
    SegmentMax(operation::Arguments<segment_max::Operation>),
    /// The minimum of each segment of the rows of a tensor, and its row
    #[command(after_help = "Example:\n  wgmax segment-min features.npy ids.npy -o smallest.npy")]
    SegmentMin(operation::Arguments<segment_max::Operation>),
    /// For each element, the maximum of itself and of the updates that go to it
    ScatterMax(operation::Arguments<scatter_max::Operation>),
    /// For each element, the minimum of itself and of the updates that go to it
    #[command(after_help = "Example:\n  wgmax scatter-min x.npy places.npy updates.npy -o y.npy")]
    ScatterMin(operation::Arguments<scatter_max::Operation>),
    /// Compare two tensors from files, or the results of an operator on two devices, bit for bit
    Compare(compare::Arguments),
    /// Run golden cases
    Check(check::Arguments),
    /// Measure the operators against the bandwidth of the device's memory
    Bench(bench::Arguments),
    /// Run the MaxPool, ReduceMax and similar nodes of an ONNX model on a device, and compare with the CPU
    Onnx(onnx::Arguments),
    /// Print the launches of an operator, without a device
    Explain(explain::Arguments),
    /// List the kernels, print the whole text of one, or write those of all
    Shader(shader::Arguments),
    /// Print completions for a shell
    Completions(shell::Completions),
    /// Print a manual page
    Man(shell::Man),
    /// Compare this machine's devices on random cases, bit for bit
    Verify(verify::Arguments),
}

/// The heading of the options that all commands have.
const COMMON: &str = "Common options";

const SHORT_HELP: &str = "\
wgmax: ReduceMax, MaxPool, SegmentMax and ScatterMax on GPUs and CPUs, bit for bit

  wgmax demo                            run everything on sample data
  wgmax devices                         list the adapters and the CPU
  wgmax reduce-max x.npy --axes -1      the maximum along an axis
  wgmax max-pool x.npy --kernel 2,2     the maximum of each 2 x 2 window
  wgmax segment-max x.npy ids.npy       the maximum of the rows of each id
  wgmax scatter-max x.npy at.npy u.npy  the maximum with updates at places
  wgmax explain reduce-max 1000x64      the launches of an operator
  wgmax --help                          all commands

Start with: wgmax demo";

const EXAMPLES: &str = "\
Examples:
  wgmax demo
  wgmax reduce-max x.npy --axes -1 -o y.npy
  wgmax onnx model.onnx --dim batch=1

Each command has its own examples: wgmax reduce-max --help

Exit status: 0 if all went well; 1 if results differ or a case failed; 2 for an error, in one \
line; 3 if onnx ran no node; 128 + N if signal N ended it (130 for Ctrl-C).";

/// Runs the command. Returns the exit status.
pub(crate) fn run() -> u8 {
    let arguments = crate::arguments();
    color::prepare(arguments);
    let mut syntax = usage::naming_options(Cli::command());
    let parsed = syntax.try_get_matches_from_mut(usage::with_name(arguments));
    let parsed = parsed.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    let cli = match parsed {
        Ok(cli) => cli,
        // Help or the version.
        Err(error) if !error.use_stderr() => {
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            return match printed {
                // A closed pipe is no error.
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                    refuse(&format!("standard output: {error}"))
                }
                _ => 0,
            };
        }
        Err(error) => return refuse(&usage::message(&error, arguments, &syntax)),
    };
    if cli.quiet {
        output::be_quiet();
    }
    log();
    interrupt::prepare();
    let mut output = Output::stdout();
    let outcome = match cli.command {
        None => writeln!(output, "{SHORT_HELP}").map(|()| Outcome::Good).map_err(Into::into),
        Some(Command::Demo(arguments)) => demo::run(&arguments, &mut output),
        Some(Command::Devices(arguments)) => devices::run(&arguments, &mut output),
        Some(Command::ReduceMax(arguments)) => operation::run(&arguments, Maximum, &mut output),
        Some(Command::ReduceMin(arguments)) => operation::run(&arguments, Minimum, &mut output),
        Some(Command::ArgMax(arguments)) => reduce_max::positions(&arguments, Maximum, &mut output),
        Some(Command::ArgMin(arguments)) => reduce_max::positions(&arguments, Minimum, &mut output),
        Some(Command::MaxPool(arguments)) => operation::run(&arguments, Maximum, &mut output),
        Some(Command::MinPool(arguments)) => operation::run(&arguments, Minimum, &mut output),
        Some(Command::AdaptiveMaxPool(arguments)) => {
            operation::run(&arguments, Maximum, &mut output)
        }
        Some(Command::AdaptiveMinPool(arguments)) => {
            operation::run(&arguments, Minimum, &mut output)
        }
        Some(Command::SegmentMax(arguments)) => operation::run(&arguments, Maximum, &mut output),
        Some(Command::SegmentMin(arguments)) => operation::run(&arguments, Minimum, &mut output),
        Some(Command::ScatterMax(arguments)) => operation::run(&arguments, Maximum, &mut output),
        Some(Command::ScatterMin(arguments)) => operation::run(&arguments, Minimum, &mut output),
        Some(Command::Compare(arguments)) => compare::run(&arguments, &mut output),
        Some(Command::Check(arguments)) => check::run(&arguments, &mut output),
        Some(Command::Bench(arguments)) => bench::run(&arguments, &mut output),
        Some(Command::Onnx(arguments)) => onnx::run(&arguments, &mut output),
        Some(Command::Explain(arguments)) => explain::run(&arguments, &mut output),
        Some(Command::Shader(arguments)) => shader::run(&arguments, &mut output),
        Some(Command::Completions(arguments)) => {
            shell::completions(&arguments, Cli::command(), &mut output)
        }
        Some(Command::Man(arguments)) => shell::man(&arguments, Cli::command(), &mut output),
        Some(Command::Verify(arguments)) => verify::run(&arguments, &mut output),
    };
    let outcome = outcome.and_then(|outcome| {
        output.flush()?;
        Ok(outcome)
    });
    match outcome {
        Ok(Outcome::Good) => 0,
        Ok(Outcome::Bad) => 1,
        Ok(Outcome::Nothing) => 3,
        Ok(Outcome::CutOff) => interrupt::status(),
        Err(error) if is_closed_pipe(&error) => 0,
        Err(error) => refuse(&chain(&error)),
    }
}

/// Whether a tensor could not be written because standard output is a closed pipe.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<wgmax::Error>() {
        Some(wgmax::Error::Io { path, source }) => {
            path == "standard output" && source.kind() == std::io::ErrorKind::BrokenPipe
        }
        _ => false,
    }
}

/// Logs to stderr at the level in `WGMAX_LOG`, if it is set.
fn log() {
    use tracing_subscriber::filter::LevelFilter;
    if let Some(level) = std::env::var("WGMAX_LOG").ok().and_then(|v| v.parse::<LevelFilter>().ok())
    {
        let log = tracing_subscriber::fmt().with_max_level(level).with_ansi(color::stderr());
        log.with_writer(std::io::stderr).init();
    }
}

fn refuse(message: &str) -> u8 {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    // An error here means that stderr is closed.
    let _ = writeln!(anstream::stderr(), "{} {line}", color::error("wgmax:"));
    2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of a command and of its subcommands.
    fn examples(command: &clap::Command, found: &mut Vec<String>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
        found.extend(lines.filter(|line| line.starts_with("wgmax ")).map(str::to_string));
        command.get_subcommands().for_each(|command| examples(command, found));
    }

    #[test]
    fn every_example_parses() {
        let command = Cli::command();
        usage::naming_options(command.clone()).debug_assert();
        let mut found = Vec::new();
        examples(&command, &mut found);
        assert!(found.len() > 20, "{found:?}");
        for example in found {
            // The shell handles redirections.
            let words = example.split_whitespace().take_while(|word| !matches!(*word, "<" | ">"));
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("{example}: {error}");
            }
        }
    }
}
