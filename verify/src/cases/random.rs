//! Pseudo-random numbers, the same on every machine.

use wgmax::operator::EmptySet;
use wgmax::{ElementType, Extremum, Nan};

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

    /// The minimum in one of three cases.
    pub(super) fn extremum(&mut self) -> Extremum {
        if self.once_in(3) { Extremum::Minimum } else { Extremum::Maximum }
    }

    pub(super) fn nan(&mut self) -> Nan {
        self.pick(&[Nan::Propagate, Nan::Ignore])
    }

    pub(super) fn empty_set(&mut self) -> EmptySet {
        self.pick(&[EmptySet::Identity, EmptySet::Finite])
    }

    /// A type of positions.
    pub(super) fn index_type(&mut self) -> ElementType {
        self.pick(&[ElementType::I32, ElementType::I64])
    }

    /// A size from 1 to `max`, at or next to the sizes that kernels take together: words, blocks, tiles,
    /// unrolled rows, chunks and workgroups.
    pub(super) fn near_border(&mut self, max: u64) -> u64 {
        const UNITS: [u64; 14] = [1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1024];
        let max = max.max(1);
        let units = UNITS.iter().filter(|&&unit| unit <= max).count();
        let unit = UNITS[self.below(units as u64) as usize];
        let size = unit * (1 + self.below((max / unit).min(6)));
        let size = match self.below(4) {
            0 => size - 1,
            1 => size + 1,
            _ => size,
        };
        size.clamp(1, max)
    }

    /// As [`Self::near_border`]. Every other size is whole blocks of so many elements, which are rare among
    /// random sizes and have their own kernels, and every fourth one element more or less.
    pub(super) fn near_blocks(&mut self, max: u64, block: u64) -> u64 {
        let size = self.near_border(max);
        let whole = size.next_multiple_of(block);
        match self.below(8) {
            0..=3 => whole,
            4 => whole + 1,
            5 => whole - 1,
            _ => size,
        }
    }
}
