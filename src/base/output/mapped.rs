//! The files that are memory-mapped. They may be replaced, but not written in place: their elements
//! would change under the tensors that share them.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What distinguishes files, whatever their names.
pub(super) type Identity = (u64, u64);

static MAPPED: Mutex<BTreeMap<Identity, usize>> = Mutex::new(BTreeMap::new());

fn mapped() -> MutexGuard<'static, BTreeMap<Identity, usize>> {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The device and the number of a file; `None` if the system has no such numbers.
#[cfg(unix)]
pub(super) fn identity(file: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
pub(super) fn identity(_: &Metadata) -> Option<Identity> {
    None
}

/// Marks a file as mapped, as long as this value exists.
pub(crate) struct Mapped(Option<Identity>);

impl Mapped {
    pub(crate) fn new(file: &Metadata) -> Self {
        let identity = identity(file);
        if let Some(identity) = identity {
            *mapped().entry(identity).or_default() += 1;
        }
        Self(identity)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        let Some(identity) = self.0 else { return };
        let mut mapped = mapped();
        if let Some(count) = mapped.get_mut(&identity) {
            *count -= 1;
            if *count == 0 {
                mapped.remove(&identity);
            }
        }
    }
}

/// Whether this process has mapped the file.
pub(super) fn is_mapped(file: &Metadata) -> bool {
    identity(file).is_some_and(|identity| mapped().contains_key(&identity))
}
