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

/// Opens the file of a report, if there shall be one, so that a path that cannot be written to is
/// found before any work is done. The library writes it, as it writes tensors.
pub fn file(path: &Option<PathBuf>) -> anyhow::Result<Option<WholeFile>> {
    let open = |path: &Path| match is_standard(path) {
        true => Ok(WholeFile::standard_output()),
        false => WholeFile::create(path),
    };
    Ok(path.as_deref().map(open).transpose()?)
}

impl Report {
    /// Opens the report, so that a path that cannot be written to is found before any case is run.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        match is_standard(path) {
            true => Ok(Self::Standard(Output::stdout())),
            false => Ok(Self::File(WholeFile::create(path)?)),
        }
    }

    /// Writes a value and a newline.
    pub fn write(&mut self, value: &impl Display) -> anyhow::Result<()> {
        match self {
            Self::Standard(output) => Ok(writeln!(output, "{value}")?),
            Self::File(file) => Ok(writeln!(file, "{value}")?),
        }
    }

    /// Completes the report.
    pub fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Standard(mut output) => Ok(output.flush()?),
            Self::File(file) => Ok(file.finish()?),
        }
    }
}
