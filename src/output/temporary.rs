//! Temporary files, and how a signal's handler removes them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempPath;

/// The temporary files of this process that have a name.
struct Files {
    paths: Vec<TempPath>,
    /// The process ends: there are no new files, and none gets its final name.
    closed: bool,
}

static FILES: Mutex<Files> = Mutex::new(Files { paths: Vec::new(), closed: false });

fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open_files() -> io::Result<MutexGuard<'static, Files>> {
    let files = files();
    match files.closed {
        true => Err(io::Error::other("the process is ending")),
        false => Ok(files),
    }
}

/// Keeps [`remove_temporary_files`] from returning, so that a signal does not end the process.
///
/// # Errors
/// If that has been called.
pub(super) fn stay() -> io::Result<impl Drop> {
    open_files()
}

/// Whether somebody keeps files from being removed or renamed.
#[cfg(test)]
pub(super) fn is_locked() -> bool {
    FILES.try_lock().is_err()
}

/// Removes all temporary files of this process, after it has waited for files that are being
/// overwritten in place. No file can be replaced or overwritten afterwards: call it before the
/// process ends by a signal. It must not be called in the handler of a Unix signal itself.
pub fn remove_temporary_files() {
    let mut files = files();
    files.closed = true;
    files.paths.clear();
}

/// The path of a temporary file, which is removed when this is dropped.
pub(super) struct Temporary(PathBuf);

impl Temporary {
    /// Creates a file in `folder`, with the mode of ordinary new files.
    pub(super) fn create(folder: &Path) -> io::Result<(File, Self)> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The umask is applied to it.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut files = open_files()?;
        let file = builder.prefix(".wgmax-").tempfile_in(folder).map_err(|e| unnamed(&e))?;
        let (file, path) = file.into_parts();
        let name = path.to_path_buf();
        files.paths.push(path);
        Ok((file, Self(name)))
    }

    /// Gives the file its final name, if `check` finds nothing wrong with the file that has it, and
    /// that file's owner and mode. No other file of this process is renamed in between.
    pub(super) fn replace(
        &self,
        target: &Path,
        check: impl Fn(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Ok(old) = fs::metadata(target) {
            #[cfg(unix)]
            {
                use std::os::unix::fs::{MetadataExt, chown};
                let new = fs::metadata(&self.0)?;
                if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
                    // Only the superuser may give files away. A user may give them to a group of
                    // theirs.
                    let _ = chown(&self.0, Some(old.uid()), Some(old.gid()))
                        .or_else(|_| chown(&self.0, None, Some(old.gid())));
                }
            }
            // Some file systems have no modes to set.
            if fs::metadata(&self.0)?.permissions() != old.permissions() {
                fs::set_permissions(&self.0, old.permissions())?;
            }
        }
        let mut files = open_files()?;
        check(target)?;
        let own = files.paths.iter().position(|path| **path == *self.0);
        let path = files.paths.swap_remove(own.ok_or(io::ErrorKind::NotFound)?);
        path.persist(target).map_err(|failed| {
            files.paths.push(failed.path);
            failed.error
        })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        files().paths.retain(|path| **path != *self.0);
    }
}

/// The error without the name of the temporary file.
fn unnamed(error: &io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source()?.downcast_ref::<io::Error>());
    match inner.and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error.kind().into(),
    }
}
