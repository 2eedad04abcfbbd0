//! How twins read items as keys and write keys as items, at both ends of a launch.

use bytemuck::Pod;

use crate::tensor::key::{Key, Keyed};

/// Reads items as keys. (Traits with inlined functions, not closures: see [`crate::cpu::simd::Loop`].)
pub(crate) trait Read: Copy + Send + Sync {
    type Item: Pod + Send + Sync;
    type Key: Key;
    fn key(self, item: Self::Item) -> Self::Key;
}

/// Writes keys as items.
pub(crate) trait Write: Copy + Send + Sync {
    type Item: Pod + Send + Sync;
    type Key: Key;
    fn item(self, key: Self::Key) -> Self::Item;
}

/// Elements of a type; a NaN among them has the key `nan`.
pub(crate) struct Elements<T: Keyed> {
    pub nan: T::Key,
}

impl<T: Keyed> Clone for Elements<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Keyed> Copy for Elements<T> {}

impl<T: Keyed> Read for Elements<T> {
    type Item = T::Bits;
    type Key = T::Key;
    #[inline(always)]
    fn key(self, item: T::Bits) -> T::Key {
        T::key(item, self.nan)
    }
}

impl<T: Keyed> Write for Elements<T> {
    type Item = T::Bits;
    type Key = T::Key;
    #[inline(always)]
    fn item(self, key: T::Key) -> T::Bits {
        T::bits(key)
    }
}

/// Keys in scratch.
#[derive(Clone, Copy)]
pub(crate) struct Scratch<K>(pub std::marker::PhantomData<K>);

impl<K: Key> Read for Scratch<K> {
    type Item = K::Scratch;
    type Key = K;
    #[inline(always)]
    fn key(self, item: K::Scratch) -> K {
        K::from_scratch(item)
    }
}

impl<K: Key> Write for Scratch<K> {
    type Item = K::Scratch;
    type Key = K;
    #[inline(always)]
    fn item(self, key: K) -> K::Scratch {
        key.to_scratch()
    }
}
