//! Code that the command shares with `wgmax-lab`, which measures the same items. Nothing else
//! should use it: it changes without notice.

#![allow(missing_docs, clippy::new_without_default, reason = "it is for no one else")]

pub mod bench;
pub mod color;
pub mod files;
pub mod interrupt;
pub mod options;
pub mod output;
pub mod picture;
pub mod progress;
pub mod report;
pub mod table;
pub mod targets;

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
