//! A cache of sectors, as in GPUs.

/// Bytes that a cache loads and stores as one.
pub const SECTOR: u64 = 32;

const WAYS: usize = 16;

/// Marks a sector that was stored to.
const DIRTY: u64 = 1 << 63;

/// Replaces the least recently used sector of those that share a set.
pub struct Cache {
    /// The sectors of a set, the most recently used one first; 0 for none.
    sets: Vec<[u64; WAYS]>,
}

/// The outcome of a use.
pub struct Effect {
    pub hit: bool,
    /// Another sector, which was stored to, was evicted.
    pub written_back: bool,
}

impl Cache {
    /// A cache of some bytes: a power of two.
    pub fn new(bytes: u64) -> Self {
        let sets = bytes / SECTOR / WAYS as u64;
        Self { sets: vec![[0; WAYS]; sets as usize] }
    }

    /// Uses a sector by its number.
    pub fn touch(&mut self, sector: u64, is_store: bool) -> Effect {
        // Neighbours, and addresses powers of two apart, are in different sets.
        let hash = sector ^ (sector >> 13) ^ (sector >> 21);
        let set = (hash % self.sets.len() as u64) as usize;
        let set = &mut self.sets[set];
        let (wanted, dirty) = (sector + 1, if is_store { DIRTY } else { 0 });
        let place = set.iter().position(|&way| way & !DIRTY == wanted);
        let last = place.unwrap_or(WAYS - 1);
        let old = set[last];
        set.copy_within(..last, 1);
        set[0] = match place {
            Some(_) => old | dirty,
            None => wanted | dirty,
        };
        Effect { hit: place.is_some(), written_back: place.is_none() && old & DIRTY != 0 }
    }

    /// Sectors that were stored to and are still in the cache.
    pub fn dirty(&self) -> u64 {
        self.sets.iter().flatten().filter(|&&way| way & DIRTY != 0).count() as u64
    }

    pub fn clear(&mut self) {
        self.sets.fill([0; WAYS]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data that fits is loaded once; otherwise it is loaded each time, and stores are evicted.
    #[test]
    fn the_least_recently_used_sector_leaves() {
        let mut cache = Cache::new(64 * SECTOR);
        let misses = |cache: &mut Cache, sectors: u64, is_store| {
            (0..sectors).filter(|&sector| !cache.touch(sector, is_store).hit).count()
        };
        assert_eq!(misses(&mut cache, 64, false), 64);
        assert_eq!(misses(&mut cache, 64, true), 0);
        assert_eq!(cache.dirty(), 64);
        let back = (64..192).filter(|&sector| cache.touch(sector, false).written_back).count();
        assert_eq!((back, cache.dirty()), (64, 0));
        assert_eq!(misses(&mut cache, 64, false), 64);
    }
}
