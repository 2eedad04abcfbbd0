//! The buffers of a plan, and what a launch binds of them.

use super::value::{LANES, Lane32};

/// The buffers of a plan, in words. Each begins at an address of its own.
pub struct Memory {
    buffers: Vec<Vec<u32>>,
    addresses: Vec<u64>,
}

/// A part of a buffer that a launch binds.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    pub buffer: usize,
    /// In words, both.
    pub first: usize,
    pub len: usize,
}

/// What the invocations of a warp do in one step: each loads or stores neighbouring words.
pub struct Access {
    /// The byte that each invocation begins with.
    pub addresses: [u64; LANES],
    /// The invocations that take part.
    pub lanes: u32,
    /// The bytes of each.
    pub bytes: u64,
    pub is_store: bool,
}

impl Memory {
    pub fn new(buffers: Vec<Vec<u32>>) -> Self {
        let addresses = buffers.iter().scan(0, |end, buffer| {
            let begin = *end;
            *end = (begin + 4 * buffer.len() as u64).next_multiple_of(4096);
            Some(begin)
        });
        let addresses = addresses.collect();
        Self { buffers, addresses }
    }

    pub fn words(&self, buffer: usize) -> &[u32] {
        &self.buffers[buffer]
    }

    /// A word of a binding.
    pub fn word(&self, binding: Binding, at: u32) -> u32 {
        self.buffers[binding.buffer][binding.first + at as usize]
    }

    /// A word to store to.
    pub fn word_mut(&mut self, binding: Binding, at: u32) -> &mut u32 {
        &mut self.buffers[binding.buffer][binding.first + at as usize]
    }

    /// An access to a binding, from words on.
    pub fn access(
        &self,
        binding: Binding,
        at: &Lane32,
        lanes: u32,
        words: usize,
        is_store: bool,
    ) -> Access {
        let first = self.addresses[binding.buffer] + 4 * binding.first as u64;
        let addresses = at.map(|at| first + 4 * u64::from(at));
        Access { addresses, lanes, bytes: 4 * words as u64, is_store }
    }
}
