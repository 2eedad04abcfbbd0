//! Reports in files, or on standard output.

use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::NamedTempFile;

use super::output::Output;

/// A report. In a file, it appears whole or not at all.
pub enum Report {
    Standard(Output),
    File { path: PathBuf, writer: BufWriter<NamedTempFile> },
}

/// Whether a report to `path` goes to standard output, where nothing else may then be.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

impl Report {
    /// Creates the file behind the report, so that a place that cannot be
    /// written is found before any case is run.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        if is_standard(path) {
            return Ok(Self::Standard(Output::stdout()));
        }
        let failed = || path.display().to_string();
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        anyhow::ensure!(!path.is_dir(), "{}: it is a folder", path.display());
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // What creating a file asks for; the umask takes its part away.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        // The name of a temporary file would only puzzle: the system's reason is kept, its path is not.
        let file = builder
            .prefix(".wgmax-")
            .tempfile_in(directory)
            .map_err(|e| std::io::Error::from(e.kind()))
            .with_context(failed)?;
        Ok(Self::File { path: path.to_path_buf(), writer: BufWriter::new(file) })
    }

    /// Writes a value in one line.
    pub fn write(&mut self, value: &impl Display) -> anyhow::Result<()> {
        match self {
            Self::Standard(output) => Ok(writeln!(output, "{value}")?),
            Self::File { path, writer } => {
                writeln!(writer, "{value}").with_context(|| path.display().to_string())
            }
        }
    }

    /// Puts the report in its place.
    pub fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Standard(mut output) => output.flush()?,
            Self::File { path, writer } => {
                let failed = || path.display().to_string();
                let file = writer.into_inner().map_err(|e| e.into_error()).with_context(failed)?;
                file.persist(&path).map_err(|e| e.error).with_context(failed)?;
            }
        }
        Ok(())
    }
}
