//! The bind groups of the last recordings.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use super::launch::Pass;

/// The number of sets of bind groups that are kept at first, and the maximum.
const MIN_SETS: usize = 4;
const MAX_SETS: usize = 64;

/// Bind groups of the last recordings.
#[derive(Default)]
pub(super) struct BindGroupCache {
    sets: Mutex<Sets>,
    hashes: RandomState,
}

#[derive(Default)]
struct Sets {
    /// The newest first.
    kept: Vec<BoundSet>,
    /// How many more than [`MIN_SETS`] are kept: one for each set that recurred after it was
    /// dropped.
    more: usize,
    /// The hashes of dropped sets, the newest first. They keep no buffer alive.
    dropped: VecDeque<u64>,
}

pub(super) struct BoundSet {
    pub places: Vec<Place>,
    pub passes: Arc<[Pass]>,
}

/// The memory of a tensor: a buffer, or the copy of a texture, and an offset in bytes.
#[derive(Clone, PartialEq, Hash)]
pub(super) struct Place(pub wgpu::Buffer, pub u64);

impl BindGroupCache {
    /// The kept bind groups of these places, if any.
    pub(super) fn find(&self, places: &[Place]) -> Option<Arc<[Pass]>> {
        let kept = &mut self.sets.lock().unwrap_or_else(PoisonError::into_inner).kept;
        let found = kept.iter().position(|set| set.places == places)?;
        kept[..=found].rotate_right(1);
        Some(kept[0].passes.clone())
    }

    /// Drops all sets.
    pub(super) fn clear(&self) {
        *self.sets.lock().unwrap_or_else(PoisonError::into_inner) = Sets::default();
    }

    pub(super) fn keep(&self, set: BoundSet) {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        let Sets { kept, more, dropped } = &mut *sets;
        let hash = self.hashes.hash_one(&set.places);
        if let Some(found) = dropped.iter().position(|&dropped| dropped == hash) {
            dropped.remove(found);
            *more = (*more + 1).min(MAX_SETS - MIN_SETS);
        }
        let oldest = kept.drain((MIN_SETS + *more - 1).min(kept.len())..);
        oldest.for_each(|set| dropped.push_front(self.hashes.hash_one(&set.places)));
        dropped.truncate(MAX_SETS);
        kept.insert(0, set);
    }
}
