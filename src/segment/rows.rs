//! Rows of elements, and how they are read and their maxima stored.

use std::marker::PhantomData;
use std::ops::Range;

use super::params::Params;
use crate::tensor::key::Key;
use crate::vector::{Load, Store};

/// Rows, and how they are read and their maxima stored.
pub(super) struct Maxima<'a, L: Load, R, C> {
    source: &'a [L::Item],
    pub inner: usize,
    pub load: L,
    pub result: R,
    pub carry: C,
}

impl<'a, L: Load, R, C> Maxima<'a, L, R, C> {
    pub(super) fn new(p: &Params, source: &'a [L::Item], load: L, result: R, carry: C) -> Self {
        Self { source: &source[p.base as usize..], inner: p.inner as usize, load, result, carry }
    }

    /// The elements of some rows.
    #[inline(always)]
    pub(super) fn rows(&self, rows: Range<usize>) -> &[L::Item] {
        &self.source[rows.start * self.inner..rows.end * self.inner]
    }
}

/// A key as its words, the low one first.
#[inline(always)]
pub(super) fn words<K: Key>(key: K) -> [u32; 2] {
    let mut bytes = [0; 8];
    bytes[..size_of::<K>()].copy_from_slice(bytemuck::bytes_of(&key));
    bytemuck::cast(bytes)
}

/// Keys of one word each, as the carry list holds those of packed elements.
#[derive(Clone, Copy)]
pub(super) struct Words<K>(pub PhantomData<K>);

impl<K: Key> Load for Words<K> {
    type Item = u32;
    type Lane = K;
    #[inline(always)]
    fn load(self, item: u32, _: u32) -> K {
        K::from_words(item, 0)
    }
}

impl<K: Key> Store for Words<K> {
    type Item = u32;
    type Lane = K;
    #[inline(always)]
    fn store(self, key: K) -> u32 {
        words(key)[0]
    }
}

/// Items: keys of one word, each with its mark.
#[derive(Clone, Copy)]
pub(super) struct Items<K>(pub PhantomData<K>);

impl<K: Key> Store for Items<K> {
    type Item = [u32; 2];
    type Lane = K;
    #[inline(always)]
    fn store(self, key: K) -> [u32; 2] {
        [words(key)[0], 1]
    }
}
