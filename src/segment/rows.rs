//! Rows of elements: how they are read, and how their maxima are stored.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;

use crate::tensor::key::{Key, KeyOrder};
use crate::vector::{Elements, Load, Store};

/// How rows are read, and the form of their maxima in the result and the carry list.
pub(super) trait Form: Load<Lane: Key> {
    type Result: Pod + Send;
    type Carry: Pod + Send;
    fn result(self, key: Self::Lane) -> Self::Result;
    fn carry(self, key: Self::Lane) -> Self::Carry;
}

impl<O: KeyOrder> Form for Elements<O> {
    type Result = O::Key;
    type Carry = O::Key;
    #[inline(always)]
    fn result(self, key: O::Key) -> O::Key {
        self.store(key)
    }
    #[inline(always)]
    fn carry(self, key: O::Key) -> O::Key {
        self.store(key)
    }
}

/// Packed elements. Their maxima become items: a key in a word, and its mark. The carry list holds
/// the keys.
#[derive(Clone, Copy)]
pub(super) struct Packed<O>(pub O);

impl<O: KeyOrder> Load for Packed<O> {
    type Item = O::Key;
    type Lane = O::Key;
    #[inline(always)]
    fn load(self, item: O::Key, _: u32) -> O::Key {
        self.0.key(item)
    }
}

impl<O: KeyOrder> Form for Packed<O> {
    type Result = [u32; 2];
    type Carry = u32;
    #[inline(always)]
    fn result(self, key: O::Key) -> [u32; 2] {
        [words(key)[0], 1]
    }
    #[inline(always)]
    fn carry(self, key: O::Key) -> u32 {
        words(key)[0]
    }
}

/// As [`Packed`], for keys from the carry list.
#[derive(Clone, Copy)]
pub(super) struct Carried<K>(pub PhantomData<K>);

impl<K: Key> Load for Carried<K> {
    type Item = u32;
    type Lane = K;
    #[inline(always)]
    fn load(self, item: u32, _: u32) -> K {
        K::from_words(item, 0)
    }
}

impl<K: Key> Form for Carried<K> {
    type Result = [u32; 2];
    type Carry = u32;
    #[inline(always)]
    fn result(self, key: K) -> [u32; 2] {
        [words(key)[0], 1]
    }
    #[inline(always)]
    fn carry(self, key: K) -> u32 {
        words(key)[0]
    }
}

/// A key as its words, the low one first.
#[inline(always)]
pub(super) fn words<K: Key>(key: K) -> [u32; 2] {
    let mut bytes = [0; 8];
    bytes[..size_of::<K>()].copy_from_slice(bytemuck::bytes_of(&key));
    bytemuck::cast(bytes)
}

/// Rows, how they are read, and how their maxima are stored.
pub(super) struct Maxima<'a, F: Form> {
    pub source: &'a [F::Item],
    pub inner: usize,
    pub form: F,
}

impl<F: Form> Maxima<'_, F> {
    /// The elements of some rows.
    #[inline(always)]
    pub(super) fn rows(&self, rows: Range<usize>) -> &[F::Item] {
        &self.source[rows.start * self.inner..rows.end * self.inner]
    }
}
