//! The bytes of files, memory-mapped where possible, and shared parts of them.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use prost::bytes::Bytes;

use crate::base::error::Result;
use crate::base::output::{Mapped, io_error};

/// Bytes that a tensor may share, such as a memory-mapped file.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A memory-mapped file.
struct Map {
    bytes: Mmap,
    /// Keeps this crate from writing to the file in place.
    _mapped: Mapped,
}

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The name of standard input in errors.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// Bytes that can be cut without copies.
pub(super) fn shared(bytes: SharedBytes) -> Bytes {
    struct Owner(SharedBytes);
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            (*self.0).as_ref()
        }
    }
    Bytes::from_owner(Owner(bytes))
}

/// The bytes of `whole` at `range`; `None` if the range is out of bounds.
pub(super) fn part(whole: &SharedBytes, range: Range<usize>) -> Option<SharedBytes> {
    (**whole).as_ref().get(range.clone())?;
    Some(Arc::new(shared(whole.clone()).slice(range)))
}

/// The content of a file, memory-mapped if it is a regular file.
pub(crate) fn open(path: &Path) -> Result<SharedBytes> {
    contents(path).map_err(|e| io_error(path, e))
}

/// All of standard input.
pub(crate) fn standard_input() -> Result<SharedBytes> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|e| io_error(Path::new(STANDARD_INPUT), e))?;
    Ok(Arc::new(bytes))
}

fn contents(path: &Path) -> io::Result<SharedBytes> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    // Pipes and empty files cannot be mapped.
    if metadata.is_file() && metadata.len() > 0 {
        return Ok(Arc::new(Map { _mapped: Mapped::new(&metadata), bytes: map(&file)? }));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Arc::new(bytes))
}

#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the mapping is read-only, and this crate never writes to a mapped file in place: it
    // replaces files, which leaves the mapped content unchanged, and where it cannot, it refuses
    // files that are mapped. Another process may still change the file.
    // If it writes, the elements change under a shared slice. If it truncates, reading the lost
    // pages ends this process with a bus error. Nothing prevents this on every system, since file
    // locks are advisory, and copying every file would double the memory of large tensors.
    // Therefore the documentation of `io` requires that a file is not changed while its tensor
    // exists.
    unsafe { Mmap::map(file) }
}
