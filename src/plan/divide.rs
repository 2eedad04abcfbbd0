//! The divisors of `shaders/common/divide.wgsl`.

/// The numbers that [`small_divisor`] divides are below this.
pub(crate) const SMALL: u64 = 1 << SMALL_BITS;
const SMALL_BITS: u32 = 15;

/// How a shader divides numbers below 2^31 by a divisor other than 0: the divisor, a multiplier and
/// a shift of the high word.
pub fn divisor(by: u64) -> [u32; 4] {
    let [by, multiplier, shift] = for_bits(by, 31);
    [by, multiplier, shift, 0]
}

/// The same for `small_quotient` and numbers below [`SMALL`]: the shift is that of the whole product.
pub(crate) fn small_divisor(by: u64) -> [u32; 4] {
    let [by, multiplier, shift] = for_bits(by, SMALL_BITS);
    [by, multiplier, SMALL_BITS + shift, 0]
}

/// A divisor of numbers of some bits, m and l: the quotient of n is n m / 2^(bits + l), rounded down.
fn for_bits(by: u64, bits: u32) -> [u32; 3] {
    if by >= 1 << bits {
        // Above every number: the quotient is 0, and the remainder is the number.
        return [1 << bits, 0, 0];
    }
    // With l = ceil(log2 by), m = ceil(2^(bits + l) / by) has bits + 1 bits, and is too large by less
    // than 2^l / by: too little to change the quotient.
    let shift = by.next_power_of_two().ilog2();
    [by as u32, (1u64 << (bits + shift)).div_ceil(by) as u32, shift]
}

/// An axis as launches number it: its size and its pitch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    pub size: u64,
    pub pitch: u64,
}

impl Axis {
    /// The divisor of the size, with the pitch in place of its last word.
    pub fn packed(self) -> [u32; 4] {
        let [by, multiplier, shift, _] = divisor(self.size);
        [by, multiplier, shift, self.pitch as u32]
    }

    /// How far an element is from the first one. `axes` number the elements in row-major order, the
    /// outermost axis first.
    pub fn offset(axes: &[Self], number: u64) -> u64 {
        let (mut rest, mut offset) = (number, 0);
        for axis in axes.iter().rev() {
            offset += rest % axis.size * axis.pitch;
            rest /= axis.size;
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotient(n: u32, [_, m, s, _]: [u32; 4]) -> u32 {
        ((u64::from(n << 1) * u64::from(m)) >> 32 >> s) as u32
    }

    #[test]
    fn quotients_are_exact() {
        const MOST: u32 = (1 << 31) - 1;
        let near = |n: u32| [n.saturating_sub(1), n, n.saturating_add(1)];
        let powers = (0..31).flat_map(|i| near(1 << i));
        let divisors: Vec<u32> = powers.chain(1..2000).chain([MOST, 641, 6_700_417]).collect();
        for &by in divisors.iter().filter(|&&by| by > 0 && by <= MOST) {
            let magic = divisor(by.into());
            let multiples = (0..200).chain([MOST / by]).flat_map(|q| near(q.min(MOST / by) * by));
            for n in multiples.chain(near(MOST - 1)).filter(|&n| n <= MOST) {
                assert_eq!(quotient(n, magic), n / by, "{n} / {by}");
            }
        }
        for by in 1..SMALL + 2 {
            let [_, m, s, _] = small_divisor(by);
            let multiples = (0..=SMALL / by).flat_map(|q| near((q * by) as u32));
            for n in multiples.filter(|&n| u64::from(n) < SMALL) {
                assert_eq!(u64::from((n * m) >> s), u64::from(n) / by, "{n} / {by}");
            }
        }
        assert_eq!(quotient(MOST, divisor(1 << 31)), 0);
        assert_eq!(quotient(MOST, divisor(u64::MAX)), 0);
    }
}
