//! All files are written here: each completely or not at all, unless the system fails.

mod mapped;
mod temporary;
#[cfg(test)]
mod tests;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[cfg(feature = "io")]
pub(crate) use mapped::Mapped;
#[cfg(feature = "io")]
pub use temporary::remove_temporary_files;

use crate::base::error::{Error, Result};
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
/// The content is written to a temporary file beside the file, or to memory. [`WholeFile::finish`]
/// moves it to its place:
///
/// - A regular file is replaced and keeps its mode and, as far as the system permits, its owner and
///   group. A file without permission to write is refused. Other hard links to it keep the old
///   content.
/// - A symbolic link stays: its target is written, whether it exists or not.
/// - Devices and pipes, and files that are this process's standard output or error, are written to.
/// - A file that may be written, in a folder that permits no new files, is overwritten. If the
///   process is killed meanwhile, or the disk is full, a part of the content remains, but
///   [`remove_temporary_files`] waits for it. A file that this process has memory-mapped is refused
///   then.
///
/// Writing does not fail: [`WholeFile::finish`] returns the first error. If it is dropped before,
/// nothing changes.
pub struct WholeFile {
    /// The path as the caller gave it, for errors.
    path: PathBuf,
    place: Place,
    content: BufWriter<Content>,
    /// The position of the next byte, and the end.
    at: u64,
    len: u64,
    failed: Option<io::Error>,
    /// The state of the file when its content was read, if the new content contains it.
    basis: Option<State>,
}

/// Shows whether another process has written to a file: its identity, length and time of change;
/// `None` if there is no file.
type State = Option<(Option<mapped::Identity>, u64, Option<SystemTime>)>;

fn state(target: &Path) -> State {
    let of = |file: Metadata| (mapped::identity(&file), file.len(), file.modified().ok());
    fs::metadata(target).ok().map(of)
}

/// The file that the content is written to.
enum Place {
    /// A temporary file, which gets this path.
    Beside(PathBuf),
    /// A regular file, which is overwritten.
    Over(PathBuf),
    /// A device.
    Open(File),
    /// A named pipe. Opening it waits for a reader, so it is opened when the content is complete.
    Pipe(PathBuf),
    Output,
    Error,
}

impl Place {
    /// The path of a regular file.
    fn regular(&self) -> Option<&Path> {
        match self {
            Self::Beside(target) | Self::Over(target) => Some(target),
            _ => None,
        }
    }
}

/// The content before it is complete.
enum Content {
    Temporary(Temporary),
    Memory { bytes: Vec<u8>, at: usize },
}

impl WholeFile {
    /// Checks that the path can be written to, before any work is done.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(path: &Path) -> Result<Self> {
        let (place, temporary) = find_place(path).map_err(|e| io_error(path, e))?;
        let path = match place {
            Place::Output => Path::new(STANDARD_OUTPUT),
            _ => path,
        };
        Ok(Self::new(path, place, temporary))
    }

    /// Standard output.
    pub fn standard_output() -> Self {
        Self::new(Path::new(STANDARD_OUTPUT), Place::Output, None)
    }

    fn new(path: &Path, place: Place, temporary: Option<Temporary>) -> Self {
        let memory = || Content::Memory { bytes: Vec::new(), at: 0 };
        let content = BufWriter::new(temporary.map_or_else(memory, Content::Temporary));
        Self { path: path.to_path_buf(), place, content, at: 0, len: 0, failed: None, basis: None }
    }

    /// The path, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the content appears on a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        match &self.place {
            Place::Open(file) => file.is_terminal(),
            Place::Output => io::stdout().is_terminal(),
            Place::Error => io::stderr().is_terminal(),
            Place::Beside(_) | Place::Over(_) | Place::Pipe(_) => false,
        }
    }

    /// The regular file that will be replaced or overwritten, if it exists and is not empty.
    pub(crate) fn old(&self) -> Option<&Path> {
        let target = self.place.regular()?;
        fs::metadata(target).ok().filter(|old| old.len() > 0).map(|_| target)
    }

    /// As [`WholeFile::old`], for content that will be kept: if another process writes to the file
    /// from now on, [`WholeFile::finish`] is an error.
    pub(crate) fn extended(&mut self) -> Option<&Path> {
        self.basis = self.place.regular().map(state);
        self.old()
    }

    /// Moves the content to its place.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::OutOfMemory`]: the first error, of an earlier write or of this call.
    pub fn finish(self) -> Result<()> {
        let Self { path, place, content, failed, basis, .. } = self;
        // Replacing the file would lose what another process has written.
        let check = |target: &Path| match basis.as_ref().is_none_or(|old| *old == state(target)) {
            true => Ok(()),
            false => Err(io::Error::other("it was written by another process, so it is kept")),
        };
        let put = || {
            failed.map_or(Ok(()), Err)?;
            match (content.into_inner().map_err(io::IntoInnerError::into_error)?, place) {
                (Content::Temporary(file), Place::Beside(target)) => replace(&target, file, &check),
                (Content::Memory { bytes, .. }, place) => write(place, &bytes, &check),
                _ => Err(io::Error::other("a temporary file without a place")),
            }
        };
        put().map_err(|e| io_error(&path, e))
    }

    /// Keeps the first error, after which nothing is written any more.
    fn keep<T>(&mut self, result: io::Result<T>, otherwise: T) -> T {
        result.unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            otherwise
        })
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed.is_none() {
            let written = self.content.write_all(bytes);
            self.keep(written, ());
        }
        self.at += bytes.len() as u64;
        self.len = self.len.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
        };
        self.at = at.ok_or(ErrorKind::InvalidInput)?;
        if self.failed.is_none() {
            let sought = self.content.seek(SeekFrom::Start(self.at));
            self.keep(sought, 0);
        }
        Ok(self.at)
    }

    /// Does not flush the buffer.
    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(self.at)
    }
}

impl Write for Content {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Self::Temporary(temporary) => temporary.file()?.write(from),
            Self::Memory { bytes, at } => {
                let end = at.checked_add(from.len()).ok_or(ErrorKind::OutOfMemory)?;
                if end > bytes.len() {
                    bytes.try_reserve(end - bytes.len()).map_err(|_| ErrorKind::OutOfMemory)?;
                    bytes.resize(end, 0);
                }
                bytes[*at..end].copy_from_slice(from);
                *at = end;
                Ok(from.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Content {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match (self, to) {
            (Self::Temporary(temporary), to) => temporary.file()?.seek(to),
            (Self::Memory { at, .. }, SeekFrom::Start(to)) => {
                *at = usize::try_from(to).map_err(|_| ErrorKind::InvalidInput)?;
                Ok(to)
            }
            (Self::Memory { .. }, _) => Err(ErrorKind::Unsupported.into()),
        }
    }
}

/// The target of a path, and a temporary file if it needs one.
fn find_place(path: &Path) -> io::Result<(Place, Option<Temporary>)> {
    let old = match fs::metadata(path) {
        Ok(old) => old,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let target = resolve(path);
            let folder = folder(&target);
            let temporary = Temporary::create(folder).map_err(|error| match error.kind() {
                ErrorKind::NotFound => {
                    // Some folders of the system, such as /proc, answer this for every new file.
                    let what = match folder.is_dir() {
                        true => "no file can be created in",
                        false => "there is no folder",
                    };
                    let reason = format!("{what} {}", folder.display());
                    io::Error::new(ErrorKind::NotFound, reason)
                }
                _ => error,
            })?;
            return Ok((Place::Beside(target), Some(temporary)));
        }
        Err(error) => return Err(error),
    };
    if old.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    if let Some(place) = standard(&old) {
        return Ok((place, None));
    }
    if is_pipe(&old) {
        return Ok((Place::Pipe(path.to_path_buf()), None));
    }
    // Overwriting a file needs permission to write to it. Replacing it does not, so this checks.
    if old.is_file() && old.permissions().readonly() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let file = OpenOptions::new().write(true).open(path)?;
    if !old.is_file() {
        return Ok((Place::Open(file), None));
    }
    // A file that has been removed has no path, but a name such as /dev/fd/3.
    let Ok(target) = fs::canonicalize(path) else {
        return Ok((Place::Over(path.to_path_buf()), None));
    };
    match Temporary::create(folder(&target)) {
        Ok(temporary) => Ok((Place::Beside(target), Some(temporary))),
        Err(error) if is_forbidden(&error) => {
            check_unmapped(&old)?;
            Ok((Place::Over(target), None))
        }
        Err(error) => Err(error),
    }
}

/// Standard output or error, if a file is one of them. If such a file were replaced or overwritten,
/// other output of the program would be lost.
#[cfg(unix)]
fn standard(file: &Metadata) -> Option<Place> {
    use std::os::fd::{AsFd, BorrowedFd};
    let is = |standard: BorrowedFd<'_>| {
        let standard = File::from(standard.try_clone_to_owned().ok()?).metadata().ok()?;
        (mapped::identity(&standard) == mapped::identity(file)).then_some(())
    };
    let output = is(io::stdout().as_fd()).map(|()| Place::Output);
    output.or_else(|| is(io::stderr().as_fd()).map(|()| Place::Error))
}

#[cfg(not(unix))]
fn standard(_: &Metadata) -> Option<Place> {
    None
}

#[cfg(unix)]
fn is_pipe(file: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&file.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

/// Whether a folder permits no new files, or no file in this one's place. Files in it may still be
/// overwritten.
fn is_forbidden(error: &io::Error) -> bool {
    use ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | ResourceBusy | CrossesDevices)
}

fn check_unmapped(file: &Metadata) -> io::Result<()> {
    let reason = "it is being read, and its folder permits no new file to replace it with";
    if mapped::is_mapped(file) { Err(io::Error::other(reason)) } else { Ok(()) }
}

/// Refuses the file at a path, with the reason, or accepts it.
type Check<'a> = &'a dyn Fn(&Path) -> io::Result<()>;

/// Moves the temporary file to `target`, if `check` accepts the existing file.
fn replace(target: &Path, mut temporary: Temporary, check: Check<'_>) -> io::Result<()> {
    if let Ok(old) = fs::metadata(target) {
        let file = temporary.file()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            let new = file.metadata()?;
            if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
                // Only the superuser may change the owner. A user may set one of their own groups.
                let _ = fchown(file, Some(old.uid()), Some(old.gid()))
                    .or_else(|_| fchown(file, None, Some(old.gid())));
            }
        }
        // Some file systems have no modes to set.
        if file.metadata()?.permissions() != old.permissions() {
            file.set_permissions(old.permissions())?;
        }
    }
    match temporary.persist(target, check) {
        // For example a file of another user in /tmp, or a file that is a mount point.
        Err(error) if is_forbidden(&error) && target.is_file() => {
            let mut content = temporary.file()?.try_clone()?;
            content.rewind()?;
            overwrite(target, &mut content, check)
        }
        other => other,
    }
}

/// Writes complete content.
fn write(place: Place, mut content: &[u8], check: Check<'_>) -> io::Result<()> {
    let all = |to: &mut dyn Write| {
        to.write_all(content)?;
        to.flush()
    };
    match place {
        Place::Beside(_) => Err(io::Error::other("a place without a temporary file")),
        Place::Over(target) => overwrite(&target, &mut content, check),
        Place::Open(mut file) => all(&mut file),
        Place::Pipe(path) => all(&mut OpenOptions::new().write(true).open(path)?),
        Place::Output => all(&mut io::stdout().lock()),
        Place::Error => all(&mut io::stderr().lock()),
    }
}

/// Overwrites a file. All of the content exists elsewhere, and handlers of signals wait. So the file is left
/// incomplete only if the process ends without a handler, or if the disk is full.
fn overwrite(target: &Path, content: &mut impl io::Read, check: Check<'_>) -> io::Result<()> {
    let _open = temporary::stay()?;
    check(target)?;
    let mut file = OpenOptions::new().write(true).open(target)?;
    check_unmapped(&file.metadata()?)?;
    let len = io::copy(content, &mut file)?;
    file.set_len(len)
}

/// `path` with symbolic links resolved, even if their target does not exist: otherwise the new file
/// would replace the link.
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
