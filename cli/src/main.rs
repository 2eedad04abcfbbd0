//! The command: see `wgmax --help`.

mod bench;
mod check;
mod color;
mod compare;
mod demo;
mod devices;
mod max_pool;
mod onnx;
mod options;
mod output;
mod progress;
mod reduce_max;
mod report;
mod segment_max;
mod shell;
mod verify;
mod whole_file;

use std::io::Write;
use std::process::ExitCode;

use clap::{ColorChoice, Parser, Subcommand};

use output::Output;

/// ReduceMax, MaxPool and SegmentMax as WGSL compute shaders, with CPU twins that agree bit for bit.
#[derive(Parser)]
#[command(name = "wgmax", version, disable_help_subcommand = true, after_help = EXAMPLES)]
struct Cli {
    /// Whether help, tables and errors are coloured
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Run the operators on real data, on every device found, and compare the results
    #[command(after_help = "Example:\n  wgmax demo")]
    Demo,
    /// List the adapters and the CPU, with the limits that matter here
    Devices(devices::Arguments),
    /// The maximum along axes of a tensor from a file
    ReduceMax(reduce_max::Arguments),
    /// The maximum of windows of a tensor from a file, and where it is
    MaxPool(max_pool::Arguments),
    /// The maximum of rows that belong together, and which row it comes from
    SegmentMax(segment_max::Arguments),
    /// Run an operator on two devices and compare the results bit for bit
    Compare(compare::Arguments),
    /// Run golden cases
    Check(check::Arguments),
    /// Measure the operators beside what the device's memory allows
    Bench(bench::Arguments),
    /// Find the nodes of an ONNX model that are implemented here, run and compare them
    Onnx(onnx::Arguments),
    /// Print completions for a shell
    Completions(shell::Completions),
    /// Print a manual page
    Man(shell::Man),
    /// Compare this machine's devices on random cases, bit for bit
    Verify(verify::Arguments),
}

/// What a command that ran to its end found.
enum Outcome {
    Good,
    /// Results differ, or a case failed.
    Bad,
}

const SHORT_HELP: &str = "\
wgmax: ReduceMax, MaxPool and SegmentMax on the GPU and on the CPU, with the same bits

  wgmax demo                            see it work, on data that comes with it
  wgmax devices                         what there is to compute on
  wgmax reduce-max x.npy --axes -1      the maximum along an axis
  wgmax max-pool x.npy --kernel 2,2     the maximum of each 2 x 2 window
  wgmax segment-max x.npy ids.npy       the maximum of rows with the same id
  wgmax --help                          everything else

Start with: wgmax demo";

const EXAMPLES: &str = "\
Examples:
  wgmax demo
  wgmax reduce-max x.npy --axes -1 -o y.npy
  wgmax onnx model.onnx --dim batch=1

Each command has examples of its own: wgmax reduce-max --help";

fn main() -> ExitCode {
    color::prepare(std::env::args_os().skip(1));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            // Help or the version. A reader who has gone away misses nothing.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => return refuse(&one_line(&error.render().to_string())),
    };
    log();
    let mut output = Output::stdout();
    let outcome = match cli.command {
        None => writeln!(output, "{SHORT_HELP}").map(|()| Outcome::Good).map_err(Into::into),
        Some(Command::Demo) => demo::run(&mut output),
        Some(Command::Devices(arguments)) => devices::run(&arguments, &mut output),
        Some(Command::ReduceMax(arguments)) => reduce_max::run(&arguments, &mut output),
        Some(Command::MaxPool(arguments)) => max_pool::run(&arguments, &mut output),
        Some(Command::SegmentMax(arguments)) => segment_max::run(&arguments, &mut output),
        Some(Command::Compare(arguments)) => compare::run(&arguments, &mut output),
        Some(Command::Check(arguments)) => check::run(&arguments, &mut output),
        Some(Command::Bench(arguments)) => bench::run(&arguments, &mut output),
        Some(Command::Onnx(arguments)) => onnx::run(&arguments, &mut output),
        Some(Command::Completions(arguments)) => shell::completions(&arguments, &mut output),
        Some(Command::Man(arguments)) => shell::man(&arguments, &mut output),
        Some(Command::Verify(arguments)) => verify::run(&arguments, &mut output),
    };
    let outcome = outcome.and_then(|outcome| {
        output.flush()?;
        Ok(outcome)
    });
    match outcome {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Bad) => ExitCode::from(1),
        // As with text, a reader who has gone away misses nothing.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => refuse(&chain(&error)),
    }
}

/// Whether a tensor was to go to standard output, and nobody reads there.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<wgmax::Error>() {
        Some(wgmax::Error::Io { path, source }) => {
            path == "standard output" && source.kind() == std::io::ErrorKind::BrokenPipe
        }
        _ => false,
    }
}

/// Logs to stderr at the level that `WGMAX_LOG` says; without it, nothing.
fn log() {
    use tracing_subscriber::filter::LevelFilter;
    if let Some(level) = std::env::var("WGMAX_LOG").ok().and_then(|v| v.parse::<LevelFilter>().ok())
    {
        tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).init();
    }
}

fn refuse(message: &str) -> ExitCode {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    // There is nobody left to tell if stderr is closed.
    let _ = writeln!(anstream::stderr(), "{} {line}", color::error("wgmax:"));
    ExitCode::from(2)
}

/// An error and its causes, each said once.
fn chain(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| {
        match said.is_empty() {
            true => cause,
            false if said.contains(&cause) => said,
            false => format!("{said}: {cause}"),
        }
    })
}

/// Clap's message without its usage text.
fn one_line(message: &str) -> String {
    let mut parts: Vec<&str> = message.split("\n\n").map(str::trim).collect();
    parts.retain(|part| part.starts_with("error: ") || part.starts_with("tip: "));
    let line = parts.join("; ").replacen("error: ", "", 1);
    format!("{line}; try wgmax --help")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// The lines of a command's examples, and of those below it.
    fn examples(command: &clap::Command, found: &mut Vec<String>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
        found.extend(lines.filter(|line| line.starts_with("wgmax ")).map(str::to_string));
        command.get_subcommands().for_each(|below| examples(below, found));
    }

    #[test]
    fn every_example_is_one_that_the_command_takes() {
        let command = Cli::command();
        command.clone().debug_assert();
        let mut found = Vec::new();
        examples(&command, &mut found);
        assert!(found.len() > 20, "{found:?}");
        for example in found {
            // What comes behind is for the shell.
            let words = example.split_whitespace().take_while(|word| !matches!(*word, "<" | ">"));
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("{example}: {error}");
            }
        }
    }
}
