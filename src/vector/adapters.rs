//! Load and store adapters: a loop reads items as keys through one, and writes keys as items
//! through the other.

use bytemuck::Pod;

use crate::tensor::key::{KeyOrder, Lane};

/// Converts the items of a source to the type that a loop compares.
///
/// It is a trait with inlined functions and not a closure; [`Loop`](super::Loop) says why.
pub(crate) trait Load: Copy + Send + Sync {
    /// An item of the source.
    type Item: Pod + Send + Sync;
    /// The type to compare: a key, or a key with its position.
    type Lane: Lane;
    /// Whether a loop over items can be one over vectors.
    const VECTORS: bool = Self::Lane::VECTORS;
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

/// Elements of a tensor.
#[derive(Clone, Copy)]
pub(crate) struct Elements<O>(pub O);

impl<O: KeyOrder> Load for Elements<O> {
    type Item = O::Key;
    type Lane = O::Key;
    #[inline(always)]
    fn load(self, item: O::Key, _: u32) -> O::Key {
        self.0.key(item)
    }
}

impl<O: KeyOrder> Store for Elements<O> {
    type Item = O::Key;
    type Lane = O::Key;
    #[inline(always)]
    fn store(self, key: O::Key) -> O::Key {
        self.0.bits(key)
    }
}
