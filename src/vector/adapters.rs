//! Load and store adapters: a loop reads items as keys through one, and writes keys as items
//! through the other.

use bytemuck::Pod;

use crate::tensor::key::{Keyed, Lane};

/// Converts the items of a source to what a loop compares.
///
/// It is a trait with inlined functions and not a closure; [`Loop`](super::Loop) says why.
pub(crate) trait Load: Copy + Send + Sync {
    /// An item of the source.
    type Item: Pod + Send + Sync;
    /// The type to compare: a key, or a key with its position.
    type Lane: Lane;
    /// Converts an item. `position` is its position in the source.
    fn load(self, item: Self::Item, position: u32) -> Self::Lane;
}

/// Converts keys to the items of a result.
pub(crate) trait Store: Copy + Send + Sync {
    /// An item of the result.
    type Item: Pod + Send + Sync;
    /// The type that was compared.
    type Lane: Lane;
    /// Converts a key.
    fn store(self, key: Self::Lane) -> Self::Item;
}

/// Elements of a tensor of type `T`.
pub(crate) struct Elements<T: Keyed> {
    /// The key of a NaN; see [`Key::nan`](crate::tensor::key::Key::nan).
    pub nan: T::Key,
}

impl<T: Keyed> Clone for Elements<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Keyed> Copy for Elements<T> {}

impl<T: Keyed> Load for Elements<T> {
    type Item = T::Bits;
    type Lane = T::Key;
    #[inline(always)]
    fn load(self, item: T::Bits, _: u32) -> T::Key {
        T::key(item, self.nan)
    }
}

impl<T: Keyed> Store for Elements<T> {
    type Item = T::Bits;
    type Lane = T::Key;
    #[inline(always)]
    fn store(self, key: T::Key) -> T::Bits {
        T::bits(key)
    }
}
