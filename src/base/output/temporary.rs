//! Temporary files, and how a signal's handler removes them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// The temporary files of this process that have a name.
struct Names {
    paths: BTreeSet<PathBuf>,
    /// Set when the process ends: no file is created, and none gets its final name.
    closed: bool,
}

static NAMES: Mutex<Names> = Mutex::new(Names { paths: BTreeSet::new(), closed: false });

fn names() -> MutexGuard<'static, Names> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open_names() -> io::Result<MutexGuard<'static, Names>> {
    let names = names();
    match names.closed {
        true => Err(io::Error::other("the process is ending")),
        false => Ok(names),
    }
}

/// Keeps [`remove_temporary_files`] from returning, so that a signal does not end the process
/// meanwhile.
///
/// # Errors
/// If `remove_temporary_files` has been called.
pub(super) fn stay() -> io::Result<impl Drop> {
    open_names()
}

/// Whether a caller of `stay` keeps files from being removed or renamed.
#[cfg(test)]
pub(super) fn is_locked() -> bool {
    NAMES.try_lock().is_err()
}

/// Removes all temporary files of this process, after files that are being overwritten in place are
/// complete. No file can be replaced or overwritten afterwards: call it just before a signal ends
/// the process, but not in the handler of a Unix signal itself.
pub fn remove_temporary_files() {
    let mut names = names();
    names.closed = true;
    for path in std::mem::take(&mut names.paths) {
        // A file that cannot be removed remains; the process is about to end.
        let _ = std::fs::remove_file(path);
    }
}

/// A temporary file, which is removed when it is dropped.
pub(super) struct Temporary(Option<NamedTempFile>);

impl Temporary {
    /// Creates a file in `folder`, with the mode of ordinary new files.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The umask is applied to it.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut names = open_names()?;
        let file = builder.prefix(".wgmax-").tempfile_in(folder).map_err(|e| unnamed(&e))?;
        names.paths.insert(file.path().to_path_buf());
        Ok(Self(Some(file)))
    }

    pub(super) fn file(&self) -> io::Result<&File> {
        self.0.as_ref().map(NamedTempFile::as_file).ok_or_else(gone)
    }

    /// Gives the file its final name, if `check` accepts the file that has this name. After an error,
    /// it keeps its temporary name. No other file of this process is renamed between check and renaming.
    pub(super) fn persist(&mut self, target: &Path, check: super::Check<'_>) -> io::Result<()> {
        let mut names = open_names()?;
        check(target)?;
        let file = self.0.take().ok_or_else(gone)?;
        let path = file.path().to_path_buf();
        match file.persist(target) {
            Ok(_) => {
                names.paths.remove(&path);
                Ok(())
            }
            Err(failed) => {
                self.0 = Some(failed.file);
                Err(unnamed(&failed.error))
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(file) = self.0.take() {
            let mut names = names();
            names.paths.remove(file.path());
            drop(file);
        }
    }
}

fn gone() -> io::Error {
    io::Error::other("it has been written before")
}

/// The error without the name of the temporary file.
fn unnamed(error: &io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source()?.downcast_ref::<io::Error>());
    match inner.unwrap_or(error).raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error.kind().into(),
    }
}
