//! Bytes of files: memory-mapped, shared, cut into windows.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

use super::io_error;
use crate::error::Result;

/// Bytes that a tensor may share, such as a memory-mapped file.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// What errors call it.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// A part of shared bytes.
struct Window {
    whole: SharedBytes,
    range: Range<usize>,
}

impl AsRef<[u8]> for Window {
    fn as_ref(&self) -> &[u8] {
        &(*self.whole).as_ref()[self.range.clone()]
    }
}

/// The bytes of `whole` at `range`, or `None` if it does not reach that far.
pub(super) fn window(whole: &SharedBytes, range: Range<usize>) -> Option<SharedBytes> {
    (**whole).as_ref().get(range.clone())?;
    Some(Arc::new(Window { whole: whole.clone(), range }))
}

/// The contents of a file, mapped where it can be.
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
    // A pipe has no pages to map, and a file without bytes has none either.
    if metadata.is_file() && metadata.len() > 0 {
        return Ok(Arc::new(map(&file)?));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Arc::new(bytes))
}

#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the mapping is read-only and private to us, and nothing in this
    // crate writes to a file in place: writers put a new file under the old name,
    // which leaves the mapped one as it was. What cannot be ruled out is another
    // process that changes the file while it is mapped. If it writes to it, the
    // elements change under a shared slice; if it truncates it, touching the
    // lost pages ends this process with a bus error. No call can prevent that
    // on every system (file locks are advisory), and a copy of every file would
    // double the memory of large tensors, so the documentation of `io` asks
    // the caller to leave a file alone while its tensor lives.
    unsafe { Mmap::map(file) }
}
