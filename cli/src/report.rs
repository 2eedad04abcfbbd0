//! Reports in files, or on standard output.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use anyhow::Context;

use super::output::Output;
use super::whole_file::WholeFile;

/// A report. In a file, it appears whole or not at all.
pub enum Report {
    Standard(Output),
    File(WholeFile),
}

/// Whether a report to `path` goes to standard output, where nothing else may then be.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

impl Report {
    /// Creates the file behind the report, so that a place that cannot be
    /// written is found before any case is run.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        match is_standard(path) {
            true => Ok(Self::Standard(Output::stdout())),
            false => WholeFile::create(path).map(Self::File),
        }
    }

    /// Writes a value in one line.
    pub fn write(&mut self, value: &impl Display) -> anyhow::Result<()> {
        match self {
            Self::Standard(output) => Ok(writeln!(output, "{value}")?),
            Self::File(file) => {
                writeln!(file, "{value}").with_context(|| file.path().display().to_string())
            }
        }
    }

    /// Puts the report in its place.
    pub fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Standard(mut output) => Ok(output.flush()?),
            Self::File(file) => file.finish(),
        }
    }
}
