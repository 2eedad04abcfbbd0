//! Host memory whose size depends on inputs: exhausted memory is an error. Large buffers request huge
//! pages on Linux.

use std::ops::{Deref, DerefMut};

use crate::base::error::{Error, Result};

fn refused(bytes: u128) -> Error {
    Error::host_memory(format_args!("a buffer of {bytes} bytes"))
}

/// A buffer of 64-bit words.
pub struct Words(Memory);

enum Memory {
    Heap(Vec<u64>),
    /// Pages of the system, and the range of bytes that is used.
    #[cfg(all(feature = "cpu", target_os = "linux"))]
    Pages(memmap2::MmapMut, std::ops::Range<usize>),
}

/// A buffer of zeros.
///
/// # Errors
/// [`Error::OutOfMemory`], as everywhere in this module.
pub fn zeroed(len: usize) -> Result<Words> {
    // The system's pages are zero, so they need not be written here.
    #[cfg(all(feature = "cpu", target_os = "linux"))]
    if len >= huge::MIN_WORDS
        && let Some((pages, begin)) = huge::pages(len)
    {
        return Ok(Words(Memory::Pages(pages, begin..begin + len * 8)));
    }
    let heap = bytemuck::allocation::try_zeroed_vec(len).map_err(|()| refused(len as u128 * 8))?;
    Ok(Words(Memory::Heap(heap)))
}

/// Pages of 2 MiB, if the system has them on request. Processors look up pages in small tables, and
/// prefetch only within a page: an Intel Xeon reads 64 MiB in huge pages twice as fast.
#[cfg(all(feature = "cpu", target_os = "linux"))]
mod huge {
    use memmap2::MmapMut;

    const PAGE: usize = 2 << 20;
    /// The minimum size of a buffer in huge pages, in words.
    pub(super) const MIN_WORDS: usize = 2 * PAGE / 8;

    /// Pages for a number of words, and the offset of the first whole huge page; `None` if the
    /// system gives none.
    pub(super) fn pages(words: usize) -> Option<(MmapMut, usize)> {
        let bytes = words.checked_mul(8)?.checked_add(PAGE)?;
        let pages = MmapMut::map_anon(bytes).ok()?;
        // Huge pages are only faster: errors are ignored.
        let _ = pages.advise(memmap2::Advice::HugePage);
        let begin = pages.as_ptr().align_offset(PAGE);
        Some((pages, begin.min(PAGE)))
    }
}

impl Deref for Words {
    type Target = [u64];
    fn deref(&self) -> &[u64] {
        match &self.0 {
            Memory::Heap(words) => words,
            #[cfg(all(feature = "cpu", target_os = "linux"))]
            Memory::Pages(pages, used) => bytemuck::cast_slice(&pages[used.clone()]),
        }
    }
}

impl DerefMut for Words {
    fn deref_mut(&mut self) -> &mut [u64] {
        match &mut self.0 {
            Memory::Heap(words) => words,
            #[cfg(all(feature = "cpu", target_os = "linux"))]
            Memory::Pages(pages, used) => bytemuck::cast_slice_mut(&mut pages[used.clone()]),
        }
    }
}

impl Default for Words {
    fn default() -> Self {
        Self(Memory::Heap(Vec::new()))
    }
}

/// An empty vector with a capacity of `len` items.
pub fn reserved<T>(len: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(len).map_err(|_| refused(len as u128 * size_of::<T>() as u128))?;
    Ok(items)
}

/// A vector of `len` equal items.
pub fn repeated<T: Clone>(item: T, len: usize) -> Result<Vec<T>> {
    let mut items = reserved(len)?;
    items.resize(len, item);
    Ok(items)
}

/// A copy of a slice.
pub(crate) fn copied<T: Copy>(from: &[T]) -> Result<Vec<T>> {
    let mut items = reserved(from.len())?;
    items.extend_from_slice(from);
    Ok(items)
}

/// Adds an item.
pub fn push<T>(items: &mut Vec<T>, item: T) -> Result<()> {
    let more = items.try_reserve(1);
    more.map_err(|_| refused((items.len() as u128 + 1) * size_of::<T>() as u128))?;
    items.push(item);
    Ok(())
}

/// Collects the items of an iterator.
pub fn collected<T>(from: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut items = reserved(from.size_hint().0)?;
    for item in from {
        push(&mut items, item)?;
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_no_system_has_is_an_error() {
        let out = |error| matches!(error, Error::OutOfMemory { .. });
        for words in [usize::MAX, 1 << 61, 1 << 58] {
            assert!(zeroed(words).is_err_and(out), "{words}");
        }
        assert!(out(repeated(0u8, 1 << 60).unwrap_err()));
        assert!(out(collected((0u64..1 << 60).map(|_| 0u64)).unwrap_err()));
        assert_eq!(*zeroed(3).unwrap(), [0; 3]);
        assert_eq!(repeated(7u8, 3).unwrap(), [7; 3]);
        assert_eq!(copied(&[1, 2]).unwrap(), [1, 2]);
        assert_eq!(collected((0..5).filter(|i| i % 2 == 1)).unwrap(), [1, 3]);
    }

    #[test]
    fn large_buffers_are_zero_and_as_long_as_asked_for() {
        for len in [0, 1, 1 << 18, (1 << 19) - 1, 1 << 19, (1 << 19) + 1, 5 << 18] {
            let mut words = zeroed(len).unwrap();
            assert!(words.len() == len && words.iter().all(|&word| word == 0));
            words.fill(7);
            assert!(words.iter().all(|&word| word == 7));
        }
    }
}
