//! The one place that writes files: each completely or not at all, unless the system fails.

mod mapped;
mod temporary;
#[cfg(test)]
mod tests;

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, BufWriter, Cursor, ErrorKind, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[cfg(feature = "io")]
pub(crate) use mapped::Mapped;
#[cfg(feature = "io")]
pub use temporary::remove_temporary_files;

use crate::error::{Error, Result};
use temporary::Temporary;

/// The name of standard output in errors.
const STANDARD_OUTPUT: &str = "standard output";

/// The error of a file that could not be opened, read or written.
pub(crate) fn io_error(path: &Path, source: io::Error) -> Error {
    match source.kind() {
        ErrorKind::OutOfMemory => Error::host_memory(path.display()),
        _ => Error::Io { path: path.display().to_string(), source },
    }
}

/// A file that is written whole or not at all, unless the system fails: files are not synchronised
/// with the disk, so a loss of power soon after may leave less.
///
/// What is written goes to a temporary file. [`WholeFile::finish`] brings it to its place:
///
/// - A regular file is replaced and keeps its mode and, as far as the system permits, its owner and
///   group. A file without permission to write is refused. Other hard links to it keep the old
///   content.
/// - Of a symbolic link, the target is written, whether it exists or not.
/// - Devices and pipes, and files that are this process's standard output or error, are written to.
/// - A file that may be written, in a folder where no file may be created, is overwritten. An end
///   of the process in the middle of it, or a full disk, leaves a part, but
///   [`remove_temporary_files`] waits for it. A file that this process has memory-mapped is refused
///   there.
///
/// Writing does not fail: [`WholeFile::finish`] returns the first error. Dropping it before leaves
/// everything as it was.
pub struct WholeFile {
    /// The path as the caller gave it, for errors.
    path: PathBuf,
    place: Place,
    is_terminal: bool,
    content: BufWriter<Box<dyn Content + Send>>,
    /// Where the next byte is written.
    at: u64,
    failed: Option<io::Error>,
    /// The file as it was when its content was read.
    basis: Option<State>,
}

/// What changes when a file is written: its identity, length and time of change. `None` if there is
/// no file.
type State = Option<(Option<mapped::Identity>, u64, Option<SystemTime>)>;

fn state(target: &Path) -> State {
    let file = fs::metadata(target).ok()?;
    Some((mapped::identity(&file), file.len(), file.modified().ok()))
}

/// Where the content goes.
enum Place {
    /// A file that takes the place of what is there.
    Beside(PathBuf, Temporary),
    /// Into what is there: a regular file, a device or a pipe.
    Into(PathBuf),
    /// Standard output or standard error.
    Standard(Box<dyn Write + Send>),
}

/// The content before it is complete.
trait Content: Read + Write + Seek {}

impl<T: Read + Write + Seek> Content for T {}

/// Content in memory. Where there is no more of it, that is an error.
#[derive(Default)]
struct Memory(Cursor<Vec<u8>>);

impl Write for Memory {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let end = usize::try_from(self.0.position()).ok().and_then(|at| at.checked_add(from.len()));
        let bytes = self.0.get_mut();
        let more = end.ok_or(ErrorKind::OutOfMemory)?.saturating_sub(bytes.len());
        bytes.try_reserve(more).map_err(|_| ErrorKind::OutOfMemory)?;
        self.0.write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Memory {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.0.read(to)
    }
}

impl Seek for Memory {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

impl WholeFile {
    /// Checks that the path can be written to, so that this is known before any work is done.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(path: &Path) -> Result<Self> {
        Self::open(path).map_err(|e| io_error(path, e))
    }

    fn open(path: &Path) -> io::Result<Self> {
        let old = match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            old => Some(old?),
        };
        let target = resolve(path);
        if let Some(old) = &old {
            if old.is_dir() {
                return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder"));
            }
            // A program's other output would be lost with a file that is replaced, or overwritten.
            let is = |name: &str| {
                mapped::identity(old).is_some_and(|old| {
                    fs::metadata(name).is_ok_and(|file| mapped::identity(&file) == Some(old))
                })
            };
            if is("/dev/stdout") {
                return Ok(Self::standard_output());
            }
            if is("/dev/stderr") {
                let place = Place::Standard(Box::new(io::stderr()));
                return Ok(Self::buffered(path, place, io::stderr().is_terminal()));
            }
            // Opening a pipe waits for a reader, so it is opened when there is something to read.
            if is_pipe(old) {
                return Ok(Self::buffered(path, Place::Into(path.to_path_buf()), false));
            }
            // Replacing a file needs no permission to write to it, but overwriting it would.
            if old.is_file() && old.permissions().readonly() {
                return Err(ErrorKind::PermissionDenied.into());
            }
            let file = OpenOptions::new().write(true).open(path)?;
            // A file that has been removed has no path any more, but a name such as /dev/fd/3.
            if !old.is_file() || !target.exists() {
                let place = Place::Into(path.to_path_buf());
                return Ok(Self::buffered(path, place, file.is_terminal()));
            }
        }
        let folder = folder(&target);
        match (Temporary::create(folder), old) {
            (Ok((file, temporary)), _) => {
                Ok(Self::new(path, Place::Beside(target, temporary), file, false))
            }
            (Err(error), Some(old)) if is_forbidden(&error) => {
                check_unmapped(&old)?;
                Ok(Self::buffered(path, Place::Into(target), false))
            }
            (Err(error), _) if error.kind() == ErrorKind::NotFound => {
                let reason = format!("there is no folder {}", folder.display());
                Err(io::Error::new(ErrorKind::NotFound, reason))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Standard output.
    pub fn standard_output() -> Self {
        let place = Place::Standard(Box::new(io::stdout()));
        Self::buffered(Path::new(STANDARD_OUTPUT), place, io::stdout().is_terminal())
    }

    /// With content that has no file with a name.
    fn buffered(path: &Path, place: Place, is_terminal: bool) -> Self {
        Self::new(path, place, Memory::default(), is_terminal)
    }

    fn new(
        path: &Path,
        place: Place,
        content: impl Content + Send + 'static,
        is_terminal: bool,
    ) -> Self {
        let content = BufWriter::new(Box::new(content) as _);
        Self {
            path: path.to_path_buf(),
            place,
            is_terminal,
            content,
            at: 0,
            failed: None,
            basis: None,
        }
    }

    /// The path, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether what is written appears on a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// The regular file that will be replaced or overwritten, if it exists and is not empty.
    pub(crate) fn old(&self) -> Option<&Path> {
        let (Place::Beside(target, _) | Place::Into(target)) = &self.place else { return None };
        fs::metadata(target).ok().filter(|old| old.is_file() && old.len() > 0).map(|_| &**target)
    }

    /// As [`WholeFile::old`], for content that will be kept: if another writes to the file from now
    /// on, [`WholeFile::finish`] is an error.
    pub(crate) fn extended(&mut self) -> Option<&Path> {
        if let Place::Beside(target, _) | Place::Into(target) = &self.place {
            self.basis = Some(state(target));
        }
        self.old()
    }

    /// Brings the content to its place.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::OutOfMemory`], the first of writing or of this.
    pub fn finish(self) -> Result<()> {
        let Self { path, place, content, failed, basis, .. } = self;
        // That nobody has written to a file that is extended, which would be lost.
        let check = |target: &Path| match basis.is_none_or(|basis| basis == state(target)) {
            true => Ok(()),
            false => Err(io::Error::other("it was written by another meanwhile, so it stays so")),
        };
        let put = || {
            failed.map_or(Ok(()), Err)?;
            let mut content = content.into_inner().map_err(io::IntoInnerError::into_error)?;
            content.rewind()?;
            match place {
                Place::Standard(to) => copy(&mut content, to).map(drop),
                Place::Into(target) if target.is_file() => overwrite(&target, &mut content, check),
                Place::Into(target) => {
                    copy(&mut content, OpenOptions::new().write(true).open(target)?).map(drop)
                }
                Place::Beside(target, temporary) => match temporary.replace(&target, check) {
                    // Such as another's file in /tmp, or a file that is a mount of its own.
                    Err(error) if is_forbidden(&error) && target.is_file() => {
                        overwrite(&target, &mut content, check)
                    }
                    replaced => replaced,
                },
            }
        };
        put().map_err(|e| io_error(&path, e))
    }

    /// Keeps the first error, after which nothing is written any more.
    fn unless_failed<T>(&mut self, action: impl FnOnce(&mut Self) -> io::Result<T>) -> Option<T> {
        if self.failed.is_some() {
            return None;
        }
        action(self).map_err(|error| self.failed = Some(error)).ok()
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_failed(|file| file.content.write_all(bytes));
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if let Some(at) = self.unless_failed(|file| file.content.seek(to)) {
            self.at = at;
        }
        Ok(self.at)
    }

    /// Without a flush of the buffer.
    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(self.at)
    }
}

fn is_pipe(file: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::FileTypeExt::is_fifo(&file.file_type());
    #[cfg(not(unix))]
    {
        let _ = file;
        false
    }
}

/// Whether a folder permits no new files, or not in this one's place. Files in it may still be
/// overwritten.
fn is_forbidden(error: &io::Error) -> bool {
    use ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | ResourceBusy | CrossesDevices)
}

fn check_unmapped(file: &Metadata) -> io::Result<()> {
    match mapped::is_mapped(file) {
        true => Err(io::Error::other(
            "it is being read, and its folder permits no new file to replace it with",
        )),
        false => Ok(()),
    }
}

fn copy(content: &mut impl Read, to: impl Write) -> io::Result<u64> {
    let mut to = BufWriter::with_capacity(1 << 20, to);
    let len = io::copy(content, &mut to)?;
    to.flush().map(|()| len)
}

/// Overwrites a file. All of the content exists elsewhere, and signals wait. So only an end of the
/// process that no handler sees, or a full disk, leaves a part of it.
fn overwrite(
    target: &Path,
    content: &mut impl Read,
    check: impl Fn(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let _open = temporary::stay()?;
    check(target)?;
    let file = OpenOptions::new().write(true).open(target)?;
    check_unmapped(&file.metadata()?)?;
    let len = copy(content, &file)?;
    file.set_len(len)
}

/// `path` with symbolic links resolved, also those whose target does not exist: a file that takes
/// the place of a link would replace the link.
pub fn resolve(path: &Path) -> PathBuf {
    const MAX_LINKS: usize = 40;
    if let Ok(target) = fs::canonicalize(path) {
        return target;
    }
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(link) = fs::read_link(&path) else { break };
        path = folder(&path).join(link);
    }
    let real = || Some(fs::canonicalize(folder(&path)).ok()?.join(path.file_name()?));
    real().unwrap_or(path)
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}
