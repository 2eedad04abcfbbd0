//! The command of the program `wgmax` and of `python -m wgmax`. `wgmax-lab`, which measures the same items,
//! uses the public modules. Nothing else should use this crate: it changes without notice.

#![allow(missing_docs, clippy::new_without_default, reason = "not a public API")]

mod adaptive_max_pool;
mod axes;
mod backward;
pub mod bench;
mod check;
pub mod color;
mod command;
mod compare;
mod demo;
mod devices;
mod difference;
mod explain;
pub mod files;
pub mod interrupt;
mod max_pool;
mod onnx;
mod operation;
pub mod options;
pub mod output;
pub mod picture;
pub mod progress;
mod reduce_max;
pub mod report;
mod scatter_max;
mod segment_max;
mod shader;
mod shell;
mod source;
pub mod table;
pub mod targets;
mod usage;
mod verify;

use std::ffi::OsString;
use std::sync::OnceLock;

static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// The arguments of the command, without the name of the program.
fn arguments() -> &'static [OsString] {
    ARGUMENTS.get().map_or(&[], Vec::as_slice)
}

/// The words of the command line, quoted if a shell needs it.
fn words() -> Vec<String> {
    let arguments = arguments().iter().map(|word| wgmax_verify::quoted(&word.to_string_lossy()));
    std::iter::once("wgmax".to_string()).chain(arguments).collect()
}

/// Runs the command with these arguments, without the name of the program. Returns the exit status.
///
/// # Panics
/// If it has run in this process: it handles signals and logs from the first time on.
pub fn run(arguments: Vec<OsString>) -> u8 {
    assert!(ARGUMENTS.set(arguments).is_ok(), "the command runs once in a process");
    command::run()
}

/// The outcome of a command that completed.
pub enum Outcome {
    Good,
    /// Results differ, or a case failed.
    Bad,
    /// There was nothing to run.
    Nothing,
    /// A signal has ended the command before it was done; see [`interrupt`].
    CutOff,
}
