//! Addition of floating-point numbers, rounded to nearest, ties to even.
//!
//! Shaders add in integers (`shaders/gradient/sum.wgsl`), since WGSL lets a driver flush subnormal
//! numbers and assume that there are no NaNs and infinities. Here the processor adds, unless a sum
//! is tiny: a program may have set the processor to flush subnormal numbers. A NaN is the type's
//! canonical quiet NaN.

use std::convert::identity;

use bytemuck::Pod;

/// How the gradients of an element type are summed.
pub(super) trait Gradient: 'static {
    /// The bits of an element.
    type Bits: Pod + Send + Sync;
    /// The bits of a sum. Zero bits are +0, a sum of no elements.
    type Sum: Pod + Send + PartialEq;
    /// An element as a sum. Every element is representable.
    fn widen(bits: Self::Bits) -> Self::Sum;
    /// Adds two numbers.
    fn add(a: Self::Sum, b: Self::Sum) -> Self::Sum;
    /// The nearest element to a sum.
    fn narrow(sum: Self::Sum) -> Self::Bits;
}

macro_rules! sums {
    ($add:ident, $add_in_integers:ident, $float:ty, $bits:ty, $mantissa:literal, $plain:literal) => {
        #[inline(always)]
        fn $add(a: $bits, b: $bits) -> $bits {
            // From here on a sum is far above all subnormal numbers: flushing a subnormal term does
            // not change how the sum is rounded.
            const PLAIN: $bits = <$float>::to_bits($plain);
            const INFINITY: $bits = <$float>::INFINITY.to_bits();
            let sum = (<$float>::from_bits(a) + <$float>::from_bits(b)).to_bits();
            if (sum << 1 >> 1).wrapping_sub(PLAIN) < INFINITY - PLAIN {
                return sum;
            }
            $add_in_integers(a, b)
        }

        /// The sum as shaders compute it.
        #[inline(never)]
        fn $add_in_integers(a: $bits, b: $bits) -> $bits {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            const INFINITY: $bits = <$float>::INFINITY.to_bits();
            const HIDDEN: $bits = 1 << $mantissa;
            let (large, small) = if a & !SIGN < b & !SIGN { (b, a) } else { (a, b) };
            let (top, low) = (large & !SIGN, small & !SIGN);
            if top >= INFINITY {
                let opposite = low == INFINITY && large != small;
                return if top > INFINITY || opposite { <$float>::NAN.to_bits() } else { large };
            }
            // Subnormal numbers have the exponent of the smallest normal ones.
            let exponent = |magnitude: $bits| (magnitude >> $mantissa).max(1);
            // Three more bits: the two after the last one, and whether any after these is set.
            let mantissa = |magnitude: $bits| {
                let hidden = if magnitude < HIDDEN { 0 } else { HIDDEN };
                (magnitude & (HIDDEN - 1) | hidden) << 3
            };
            let mut e = exponent(top);
            let apart = (e - exponent(low)).min(<$bits>::BITS as $bits - 1);
            let kept = mantissa(low) >> apart;
            let aligned = kept | <$bits>::from(kept << apart != mantissa(low));
            let mut m = mantissa(top);
            if (large ^ small) & SIGN == 0 {
                m += aligned;
                if m >= HIDDEN << 4 {
                    m = m >> 1 | m & 1;
                    e += 1;
                }
            } else {
                m -= aligned;
                if m == 0 {
                    return 0;
                }
                let up = <$bits>::from(m.leading_zeros() - (HIDDEN << 3).leading_zeros());
                let up = up.min(e - 1);
                m <<= up;
                e -= up;
            }
            let rest = m & 7;
            let up = rest > 4 || rest == 4 && m & 8 != 0;
            // The hidden bit increments the exponent, and so does a carry of rounding.
            let magnitude = ((e - 1) << $mantissa) + (m >> 3) + <$bits>::from(up);
            large & SIGN | magnitude.min(INFINITY)
        }
    };
}

sums!(add32, add32_in_integers, f32, u32, 23, 1e-30);
sums!(add64, add64_in_integers, f64, u64, 52, 1e-270);

/// A type whose gradients are summed: the types of its elements and of their sums.
macro_rules! gradient {
    ($name:ident, $bits:ty, $sum:ty, $add:ident, $widen:expr, $narrow:expr) => {
        pub(super) struct $name;

        impl Gradient for $name {
            type Bits = $bits;
            type Sum = $sum;
            #[inline(always)]
            fn widen(bits: $bits) -> $sum {
                $widen(bits)
            }
            #[inline(always)]
            fn add(a: $sum, b: $sum) -> $sum {
                $add(a, b)
            }
            #[inline(always)]
            fn narrow(sum: $sum) -> $bits {
                $narrow(sum)
            }
        }
    };
}

gradient!(F32, u32, u32, add32, identity, identity);
gradient!(F64, u64, u64, add64, identity, identity);
gradient!(F16, u16, u32, add32, widen_half, narrow_half);
gradient!(Bf16, u16, u32, add32, |bits| u32::from(bits) << 16, narrow_bf16);

/// The value of an expression for the type `G` of gradients of a floating-point type.
macro_rules! with_gradient {
    ($element:expr, $g:ident => $body:expr) => {{
        use $crate::{ElementType, gradient::sum};
        match $element {
            ElementType::F16 => with_gradient!(sum::F16, $g, $body),
            ElementType::Bf16 => with_gradient!(sum::Bf16, $g, $body),
            ElementType::F64 => with_gradient!(sum::F64, $g, $body),
            _ => with_gradient!(sum::F32, $g, $body),
        }
    }};
    ($of:ty, $g:ident, $body:expr) => {{
        type $g = $of;
        $body
    }};
}
pub(super) use with_gradient;

#[inline(always)]
fn widen_half(bits: u16) -> u32 {
    let (sign, magnitude) = (u32::from(bits & 0x8000) << 16, u32::from(bits & 0x7fff));
    let wide = match magnitude {
        0 => 0,
        1..0x400 => {
            let up = magnitude.leading_zeros() - 21;
            (113 - up) << 23 | (magnitude << up & 0x3ff) << 13
        }
        0x400..0x7c00 => (magnitude << 13) + (112 << 23),
        _ => magnitude << 13 | 0x7f80_0000,
    };
    sign | wide
}

#[inline(always)]
fn narrow_half(sum: u32) -> u16 {
    let (sign, magnitude) = ((sum >> 16) as u16 & 0x8000, sum & 0x7fff_ffff);
    if magnitude > 0x7f80_0000 {
        return 0x7e00;
    }
    if magnitude >= 113 << 23 {
        let normal = magnitude - (112 << 23);
        let rounded = (normal + 0xfff + (normal >> 13 & 1)) >> 13;
        return sign | rounded.min(0x7c00) as u16;
    }
    let hidden = if magnitude < 1 << 23 { 0 } else { 1 << 23 };
    let mantissa = magnitude & 0x7f_ffff | hidden;
    let down = (126 - (magnitude >> 23)).min(31);
    let (kept, half) = (mantissa >> down, 1 << (down - 1));
    let rest = mantissa - (kept << down);
    let up = rest > half || rest == half && kept & 1 != 0;
    sign | (kept + u32::from(up)) as u16
}

#[inline(always)]
fn narrow_bf16(sum: u32) -> u16 {
    if sum & 0x7fff_ffff > 0x7f80_0000 {
        return 0x7fc0;
    }
    ((sum + 0x7fff + (sum >> 16 & 1)) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::{bf16, f16};

    fn same32(a: u32, b: u32) {
        let sum = f32::from_bits(a) + f32::from_bits(b);
        let expected = if sum.is_nan() { 0x7fc0_0000 } else { sum.to_bits() };
        assert_eq!(add32_in_integers(a, b), expected, "{a:#x} + {b:#x}");
        assert_eq!(add32(a, b), expected, "{a:#x} + {b:#x}");
    }

    fn same64(a: u64, b: u64) {
        let sum = f64::from_bits(a) + f64::from_bits(b);
        let expected = if sum.is_nan() { 0x7ff8 << 48 } else { sum.to_bits() };
        assert_eq!(add64_in_integers(a, b), expected, "{a:#x} + {b:#x}");
        assert_eq!(add64(a, b), expected, "{a:#x} + {b:#x}");
    }

    /// A series of random numbers.
    fn random() -> impl FnMut() -> u64 {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        }
    }

    #[test]
    fn sums_are_those_of_processors() {
        let mut next = random();
        for _ in 0..2_000_000 {
            let (a, b) = (next(), next());
            same32(a as u32, b as u32);
            same64(a, b);
            // Numbers that nearly cancel, and numbers whose last bits are far apart.
            let near = (a as u32).wrapping_add((b & 0x1ff_ffff) as u32) ^ 1 << 31;
            same32(a as u32, near);
            same64(a, a.wrapping_add(b >> (b & 63)) ^ 1 << 63);
        }
    }

    /// Each exponent of `f16`, with either sign, with each other one: subnormal numbers, zeros,
    /// infinities and NaN among them.
    #[test]
    fn exponents_of_halves_add_in_pairs() {
        // No power of two divides the stride, so fractions differ from exponent to exponent.
        const STRIDE: usize = 29;
        for (i, a) in (0..=u16::MAX).step_by(STRIDE).enumerate() {
            for b in (i % STRIDE..1 << 16).step_by(STRIDE) {
                same32(F16::widen(a), F16::widen(b as u16));
            }
        }
    }

    /// 2^32 pairs: any numbers, and numbers with close exponents. `scripts/sums` runs it.
    #[test]
    #[ignore = "takes minutes"]
    fn sums_of_very_many_pairs_are_those_of_processors() {
        const PAIRS: u64 = 1 << 32;
        const PART: u64 = 1 << 24;
        let parts = std::sync::atomic::AtomicU64::new(0);
        let work = || {
            loop {
                let part = parts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if part >= PAIRS / PART {
                    break;
                }
                for i in part * PART / 2..(part + 1) * PART / 2 {
                    // The finaliser of MurmurHash3: each number once.
                    let mut bits = i.wrapping_add(0x9e37_79b9_7f4a_7c15);
                    bits = (bits ^ bits >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
                    bits = (bits ^ bits >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
                    bits ^= bits >> 33;
                    let (a, b) = (bits as u32, (bits >> 32) as u32);
                    same32(a, b);
                    // Up to 31 exponents above, with the same or the other sign.
                    same32(a, a.wrapping_add(b >> 4) ^ b << 31);
                }
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        assert!(parts.into_inner() >= PAIRS / PART);
    }

    #[test]
    fn borders_of_numbers_add_as_processors_do() {
        let ends = |mantissa: u32, bits: u32| {
            let hidden = 1u64 << mantissa;
            let fractions = [0, 1, 2, 3, hidden / 2 - 1, hidden / 2, hidden / 2 + 1, hidden - 1];
            let exponents = 1u64 << (bits - 1 - mantissa);
            (0..exponents)
                .flat_map(move |e| fractions.map(|fraction| e << mantissa | fraction))
                .flat_map(move |magnitude| [magnitude, magnitude | 1 << (bits - 1)])
                .collect::<Vec<_>>()
        };
        let singles = ends(23, 32);
        for &a in &singles {
            singles.iter().for_each(|&b| same32(a as u32, b as u32));
        }
        let doubles = ends(52, 64);
        for (i, &a) in doubles.iter().enumerate() {
            // Pairs with exponents far apart are all alike.
            let near = &doubles[i..doubles.len().min(i + 64 * 16)];
            near.iter().for_each(|&b| same64(a, b));
            doubles.iter().step_by(997).for_each(|&b| same64(a, b));
        }
    }

    #[test]
    fn halves_are_widened_and_rounded_as_half_does() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            if half.is_nan() {
                assert!(f32::from_bits(F16::widen(bits)).is_nan());
                assert_eq!(F16::narrow(F16::widen(bits)), 0x7e00);
            } else {
                assert_eq!(F16::widen(bits), half.to_f32().to_bits());
                assert_eq!(F16::narrow(F16::widen(bits)), bits);
            }
            if brain.is_nan() {
                assert_eq!(Bf16::narrow(Bf16::widen(bits)), 0x7fc0);
            } else {
                assert_eq!(Bf16::widen(bits), brain.to_f32().to_bits());
                assert_eq!(Bf16::narrow(Bf16::widen(bits)), bits);
            }
        }
        let mut next = random();
        let near = (0..=u16::MAX).flat_map(|bits| {
            // Halfway to the next number, and one bit beside.
            let (half, brain) = (F16::widen(bits), Bf16::widen(bits));
            [
                half | 0xfff,
                half | 0x1000,
                half | 0x1001,
                brain | 0x7fff,
                brain | 0x8000,
                brain | 0x8001,
            ]
        });
        let any: Vec<u32> = (0..1_000_000).map(|_| next() as u32).collect();
        for bits in near.chain(any) {
            let number = f32::from_bits(bits);
            if !number.is_nan() {
                assert_eq!(F16::narrow(bits), f16::from_f32(number).to_bits(), "{bits:#x}");
                assert_eq!(Bf16::narrow(bits), bf16::from_f32(number).to_bits(), "{bits:#x}");
            }
        }
    }
}
