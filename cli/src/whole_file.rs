//! A file that appears whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::NamedTempFile;

/// What is written shows under the file's name once it is all there.
pub struct WholeFile {
    path: PathBuf,
    writer: BufWriter<NamedTempFile>,
}

impl WholeFile {
    /// Creates the file behind it, so that a place that cannot be written is
    /// found before any work is done.
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
            // What creating a file asks for; the umask takes its part away.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        // The name of a temporary file would only puzzle: the system's reason is kept, its path is not.
        let file = builder
            .prefix(".wgmax-")
            .tempfile_in(directory)
            .map_err(|e| io::Error::from(e.kind()))
            .with_context(failed)?;
        Ok(Self { path: path.to_path_buf(), writer: BufWriter::new(file) })
    }

    /// As the user calls it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file in its place.
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
