//! Reports in files or on standard output.

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

pub use wgmax::io::WholeFile;

use super::output::Output;

/// A report, in a file or on standard output.
pub enum Report {
    Standard(Output),
    File(WholeFile),
}

/// Whether a report to `path` goes to standard output. Nothing else may be printed there then.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

impl Report {
    /// Opens the report, if there is one, so that a path that cannot be written to is an error before
    /// any work is done. The library writes the file, as it writes tensors.
    pub fn create(path: &Option<PathBuf>) -> anyhow::Result<Option<Self>> {
        let Some(path) = path else { return Ok(None) };
        Ok(Some(match is_standard(path) {
            true => Self::Standard(Output::stdout()),
            false => Self::File(WholeFile::create(path)?),
        }))
    }

    /// Writes a value.
    pub fn write(&mut self, value: impl Display) -> anyhow::Result<()> {
        match self {
            Self::Standard(output) => Ok(write!(output, "{value}")?),
            Self::File(file) => Ok(write!(file, "{value}")?),
        }
    }

    /// Writes all of a report, and completes it.
    pub fn whole(mut self, value: impl Display) -> anyhow::Result<()> {
        self.write(value)?;
        self.finish()
    }

    /// Completes the report.
    pub fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Standard(mut output) => Ok(output.flush()?),
            Self::File(file) => Ok(file.finish()?),
        }
    }
}
