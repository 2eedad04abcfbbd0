//! Host memory whose size depends on inputs: where there is none, that is an error.

use crate::error::{Error, Result};

fn refused(bytes: u128) -> Error {
    Error::host_memory(format_args!("a buffer of {bytes} bytes"))
}

/// A buffer of zeros.
///
/// # Errors
/// [`Error::OutOfMemory`], as all of this module.
pub(crate) fn zeroed(words: usize) -> Result<Vec<u64>> {
    // The system's pages are zero, so they need not be written here.
    bytemuck::allocation::try_zeroed_vec(words).map_err(|()| refused(words as u128 * 8))
}

/// An empty vector for `len` items.
pub(crate) fn reserved<T>(len: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(len).map_err(|_| refused(len as u128 * size_of::<T>() as u128))?;
    Ok(items)
}

/// A vector of `len` equal items.
pub(crate) fn repeated<T: Clone>(item: T, len: usize) -> Result<Vec<T>> {
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
pub(crate) fn push<T>(items: &mut Vec<T>, item: T) -> Result<()> {
    let more = items.try_reserve(1);
    more.map_err(|_| refused((items.len() as u128 + 1) * size_of::<T>() as u128))?;
    items.push(item);
    Ok(())
}

/// The items of an iterator, of which there may be any number.
pub(crate) fn collected<T>(from: impl Iterator<Item = T>) -> Result<Vec<T>> {
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
        assert!(out(zeroed(usize::MAX).unwrap_err()));
        assert!(out(zeroed(1 << 58).unwrap_err()));
        assert!(out(repeated(0u8, 1 << 60).unwrap_err()));
        assert!(out(collected((0u64..1 << 60).map(|_| 0u64)).unwrap_err()));
        assert_eq!(zeroed(3).unwrap(), [0; 3]);
        assert_eq!(repeated(7u8, 3).unwrap(), [7; 3]);
        assert_eq!(copied(&[1, 2]).unwrap(), [1, 2]);
        assert_eq!(collected((0..5).filter(|i| i % 2 == 1)).unwrap(), [1, 3]);
    }
}
