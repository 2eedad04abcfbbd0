//! Writes files atomically, and writes to standard output.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// The error of a file that could not be opened, read or written.
pub(crate) fn io_error(path: &Path, source: io::Error) -> Error {
    Error::Io { path: path.display().to_string(), source }
}

/// Output that has been written, but not yet to its destination. Dropping it leaves the destination
/// unchanged.
pub(crate) enum Staged {
    /// A temporary file that will replace its target.
    File(StagedFile),
    /// Bytes for standard output.
    Standard(Vec<u8>),
}

pub(crate) struct StagedFile {
    /// The path as the caller gave it, for errors.
    path: PathBuf,
    /// The file to replace: `path` with symbolic links resolved.
    target: PathBuf,
    temporary: NamedTempFile,
    /// The permissions of the file to replace, if it exists.
    permissions: Option<Permissions>,
}

impl Staged {
    /// Whether both have the same destination.
    pub(crate) fn collides_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(a), Self::File(b)) => a.target == b.target,
            (Self::Standard(_), Self::Standard(_)) => true,
            _ => false,
        }
    }

    /// Moves the output to its destination.
    pub(crate) fn commit(self) -> Result<()> {
        match self {
            Self::File(file) => file.commit(),
            Self::Standard(bytes) => {
                print(&bytes).map_err(|e| io_error(Path::new("standard output"), e))
            }
        }
    }
}

fn print(bytes: &[u8]) -> io::Result<()> {
    let mut to = io::stdout().lock();
    if to.is_terminal() {
        return Err(io::Error::other("it is a terminal, and a tensor is not text"));
    }
    to.write_all(bytes)?;
    to.flush()
}

impl StagedFile {
    fn commit(self) -> Result<()> {
        let Self { path, target, temporary, permissions } = self;
        let put = || {
            if let Some(permissions) = permissions {
                temporary.as_file().set_permissions(permissions)?;
            }
            temporary.persist(&target)?;
            Ok(())
        };
        put().map_err(|e| io_error(&path, e))
    }
}

/// Writes a temporary file with `fill`. [`Staged::commit`] then moves it to `path`.
pub(crate) fn stage(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<Staged> {
    stage_io(path, fill).map(Staged::File).map_err(|e| io_error(path, e))
}

fn stage_io(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<StagedFile> {
    let target = resolve(path);
    let old = fs::metadata(&target).ok();
    if let Some(old) = &old {
        // A rename needs only permission to write to the directory. These are the checks that
        // opening the file for writing would make.
        if !old.is_file() {
            return Err(io::Error::other("it exists and is not a regular file"));
        }
        if old.permissions().readonly() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
    }
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The mode with which files are usually created; the umask is applied to it.
        builder.permissions(Permissions::from_mode(0o666));
    }
    let temporary = builder.prefix(".wgmax-").tempfile_in(directory(&target))?;
    let mut writer = BufWriter::new(temporary.as_file());
    fill(&mut writer)?;
    writer.flush()?;
    drop(writer);
    let permissions = old.map(|old| old.permissions());
    Ok(StagedFile { path: path.to_path_buf(), target, temporary, permissions })
}

/// `path` with symbolic links resolved: renaming onto a link would replace the link and not the
/// file that it points to.
fn resolve(path: &Path) -> PathBuf {
    let new = || Some(fs::canonicalize(directory(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(new).unwrap_or_else(|| path.to_path_buf())
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(
        path: &Path,
        fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    ) -> Result<()> {
        stage(path, fill)?.commit()
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.npy");
        fs::write(&path, "old").unwrap();
        let failed = replace(&path, |to| {
            to.write_all(&[7; 100_000])?;
            Err(io::Error::other("no more"))
        });
        assert!(failed.unwrap_err().to_string().contains("x.npy: no more"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);

        replace(&path, |to| to.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_are_those_of_a_plain_write() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode();

        fs::write(at("plain"), "").unwrap();
        replace(&at("ours"), |_| Ok(())).unwrap();
        assert_eq!(mode("ours"), mode("plain"));

        fs::set_permissions(at("ours"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink(at("ours"), at("link")).unwrap();
        replace(&at("link"), |to| to.write_all(b"through")).unwrap();
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert_eq!(fs::read(at("ours")).unwrap(), b"through");
        assert_eq!(mode("ours") & 0o777, 0o640);

        fs::set_permissions(at("ours"), fs::Permissions::from_mode(0o440)).unwrap();
        replace(&at("ours"), |to| to.write_all(b"no")).unwrap_err();
        assert_eq!(fs::read(at("ours")).unwrap(), b"through");
    }
}
