//! Pseudo-random numbers, the same on every machine.

/// A SplitMix64 generator. The field is its state, or its seed at the start.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The stream `number` of a seed. Neighbouring numbers give unrelated streams.
    pub fn stream(seed: u64, number: u64) -> Self {
        let start = Self(seed).next();
        Self(Self(start ^ number.wrapping_mul(0xd605_bbb5_8c8a_bbfd)).next())
    }

    /// The next 64 bits.
    #[expect(clippy::should_implement_trait, reason = "it never ends, so it is not an iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    /// True with probability 1 / `n`.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A random element of `from`.
    ///
    /// # Panics
    /// If `from` is empty.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
