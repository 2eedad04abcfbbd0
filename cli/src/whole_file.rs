//! A file that is written completely or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::NamedTempFile;

/// A temporary file that gets its name when it is complete.
pub struct WholeFile {
    path: PathBuf,
    writer: BufWriter<NamedTempFile>,
}

impl WholeFile {
    /// Creates the temporary file, so that a path that cannot be written to is reported before any
    /// work is done.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
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
            // The mode of ordinary new files, from which the umask is subtracted.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        // Only the kind of the error: its text would name the temporary file.
        let file = builder
            .prefix(".wgmax-")
            .tempfile_in(directory)
            .map_err(|e| io::Error::from(e.kind()))
            .with_context(failed)?;
        Ok(Self { path: path.to_path_buf(), writer: BufWriter::new(file) })
    }

    /// The path, as the user wrote it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name.
    pub fn finish(self) -> anyhow::Result<()> {
        let failed = || self.path.display().to_string();
        let file = self.writer.into_inner().map_err(|e| e.into_error()).with_context(failed)?;
        file.persist(&self.path).map_err(|e| e.error).with_context(failed)?;
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
