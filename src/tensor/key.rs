//! Order-preserving integer keys, which all kernels compare instead of elements.
//!
//! A key is an unsigned integer as wide as the element. Keys order as the elements do: -inf < ... <
//! -0 < +0 < ... < +inf, MIN < ... < MAX, false < true. The keys of NaNs are above all others if NaN
//! propagates, and below them if it is ignored. So the maximum of elements is an integer maximum of
//! keys, and 0 is its identity for every type. For the minimum, the order is reversed before NaNs are
//! placed, so that it is a maximum too.
//!
//! By the bits of floats, half of the NaNs are below -inf and half above +inf. Adding a constant to all
//! keys, modulo their width, moves one half past the end to the other: no element is tested for NaN.
//! Only [`KeyOrder::rank`] gives all NaNs the same key.
//!
//! The same mappings in WGSL are in `shaders/common/element.wgsl`. A `bool` in a caller's buffer on
//! a device may be any byte; on the host, `Tensor` ensures that it is 0 or 1.

use std::ops::BitAnd;

use bytemuck::Pod;

use super::ElementType;
use crate::wgsl::params;

/// The effect of a NaN among the elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub enum Nan {
    /// The maximum or minimum of a set that has a NaN is NaN.
    #[default]
    Propagate,
    /// NaNs are skipped. The maximum or minimum is NaN only if all elements are NaN.
    Ignore,
}

/// Which element of a set an operator finds.
///
/// The minimum is the maximum of complemented keys. [`Nan`] applies to both. The maximum of -0 and
/// +0 is +0, their minimum is -0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub enum Extremum {
    /// The largest.
    #[default]
    Maximum,
    /// The smallest.
    Minimum,
}

impl Extremum {
    /// One of two names, by the extremum.
    pub(crate) const fn name_of(
        self,
        maximum: &'static str,
        minimum: &'static str,
    ) -> &'static str {
        match self {
            Self::Maximum => maximum,
            Self::Minimum => minimum,
        }
    }
}

params! {
    /// How elements become keys: two words of a kernel's parameters.
    pub(crate) struct Ranking: inline {
        /// All ones if the keys of NaNs are above all others, 0 if they are below.
        pub nan_above: u32,
        /// The bits that reverse the order, for the minimum: all bits, or bit 0 of each `bool`. Those of
        /// floats are flipped before NaNs move. 0 for the maximum.
        pub complement: u32,
    }
}

impl Ranking {
    /// For the maximum, if NaN is ignored.
    pub(crate) const MAXIMUM: Self = Self { nan_above: 0, complement: 0 };

    pub(crate) const fn new(element_type: ElementType, nan: Nan, extremum: Extremum) -> Self {
        let nan_above = match nan {
            Nan::Propagate => u32::MAX,
            Nan::Ignore => 0,
        };
        let complement = match (extremum, element_type) {
            (Extremum::Maximum, _) => 0,
            (Extremum::Minimum, ElementType::Bool) => 0x0101_0101,
            (Extremum::Minimum, _) => u32::MAX,
        };
        Self { nan_above, complement }
    }
}

/// An integer whose maximum kernels find: a key, or a key with its position. Lanes of 64 bits that hold a key with
/// its position are signed: AVX2 and WebAssembly have no unsigned comparison of that width.
pub(crate) trait Lane: Pod + Ord + Send + Sync {
    /// The lowest integer, the identity of the maximum.
    const LOWEST: Self;
    /// Whether processors have vectors of them.
    const VECTORS: bool = size_of::<Self>() <= 8;
    /// Two neighbours, as one integer if there is one of that width. Compilers vectorise the
    /// maximum of its halves, but not the maximum of every other item.
    type Pair: Pod;
    /// The maximum of both.
    fn pair_max(pair: Self::Pair) -> Self;
    /// The first of both.
    fn first(pair: Self::Pair) -> Self;
}

/// Bits of the number that [`Key::numbered`] adds.
pub(crate) const NUMBER_BITS: u32 = 10;

/// A key: an unsigned integer as wide as the element.
pub(crate) trait Key: Lane + BitAnd<Output = Self> {
    /// A word of a [`Ranking`], in this width.
    fn repeated(word: u32) -> Self;
    /// The low bits.
    fn narrow(bits: u64) -> Self;
    /// All bits.
    fn wide(self) -> u64;
    /// The key from the words of a kernel's parameters; `high` matters only for 64-bit keys.
    #[inline(always)]
    fn from_words(low: u32, high: u32) -> Self {
        Self::narrow(u64::from(high) << 32 | u64::from(low))
    }
    /// A key and its position as one integer. If keys are equal, the integer with the first position is
    /// the largest.
    type Found: Lane;
    fn found(self, position: u32) -> Self::Found;
    /// The position; `u32::MAX` for [`Lane::LOWEST`].
    fn position(found: Self::Found) -> u32;
    /// The key without its position; 0 for [`Lane::LOWEST`].
    fn without_position(found: Self::Found) -> Self;
    /// A key and a small number as one integer, which may be narrower than `Found`. If keys are equal,
    /// the integer with the largest number is the largest.
    type Placed: Lane;
    /// Narrow integers hold 16 bits of the number.
    fn placed(self, number: u32) -> Self::Placed;
    /// The number, XORed with `tie_mask`; only the bits that `Placed` holds.
    fn place(placed: Self::Placed, tie_mask: u32) -> u32;
    /// A number below 2^[`NUMBER_BITS`] and a key as one integer. It orders by the number first.
    type Numbered: Lane;
    fn numbered(self, number: u32) -> Self::Numbered;
    /// The number.
    fn number(numbered: Self::Numbered) -> usize;
    /// The key without its number.
    fn unnumbered(numbered: Self::Numbered) -> Self;
}

macro_rules! lanes {
    ($($lane:ty, $pair:ty, $max:expr, $first:expr;)*) => {$(
        impl Lane for $lane {
            const LOWEST: Self = Self::MIN;
            type Pair = $pair;
            #[inline(always)]
            fn pair_max(pair: $pair) -> Self {
                $max(pair)
            }
            #[inline(always)]
            fn first(pair: $pair) -> Self {
                $first(pair)
            }
        }
    )*};
}

lanes! {
    u8, u16, |pair| (pair as u8).max((pair >> 8) as u8), |pair| pair as u8;
    u16, u32, |pair| (pair as u16).max((pair >> 16) as u16), |pair| pair as u16;
    u32, u64, |pair| (pair as u32).max((pair >> 32) as u32), |pair| pair as u32;
    u64, [u64; 2], |[a, b]: [u64; 2]| a.max(b), |[a, _]: [u64; 2]| a;
    i64, [i64; 2], |[a, b]: [i64; 2]| a.max(b), |[a, _]: [i64; 2]| a;
    u128, [u128; 2], |[a, b]: [u128; 2]| a.max(b), |[a, _]: [u128; 2]| a;
}

// `^ MIN` flips the highest bit of signed lanes, so that they order as unsigned ones do; these it leaves as they are.
macro_rules! keys {
    ($($key:ty => $numbered:ty, $found:ty, $placed:ty, $place:ty;)*) => {$(
        impl Key for $key {
            #[inline(always)]
            fn repeated(word: u32) -> Self {
                // Truncates or sign-extends: in a wider key, all bits of a ranking's word are equal.
                word as i32 as $key
            }
            #[inline(always)]
            fn narrow(bits: u64) -> Self {
                bits as $key
            }
            #[inline(always)]
            fn wide(self) -> u64 {
                self as u64
            }
            type Found = $found;
            #[inline(always)]
            fn found(self, position: u32) -> $found {
                let low = <$numbered>::from(!position);
                (<$numbered>::from(self) << 32 | low) as $found ^ <$found>::MIN
            }
            #[inline(always)]
            fn position(found: $found) -> u32 {
                !(found as u32)
            }
            #[inline(always)]
            fn without_position(found: $found) -> Self {
                ((found ^ <$found>::MIN) >> 32) as $key
            }
            type Placed = $placed;
            #[inline(always)]
            fn placed(self, number: u32) -> $placed {
                let place = <$numbered>::from(number as $place);
                (<$numbered>::from(self) << <$place>::BITS | place) as $placed ^ <$placed>::MIN
            }
            #[inline(always)]
            fn place(placed: $placed, tie_mask: u32) -> u32 {
                u32::from(placed as $place ^ tie_mask as $place)
            }
            type Numbered = $numbered;
            #[inline(always)]
            fn numbered(self, number: u32) -> $numbered {
                <$numbered>::from(number) << (<$numbered>::BITS - NUMBER_BITS)
                    | <$numbered>::from(self)
            }
            #[inline(always)]
            fn number(numbered: $numbered) -> usize {
                (numbered >> (<$numbered>::BITS - NUMBER_BITS)) as usize
            }
            #[inline(always)]
            fn unnumbered(numbered: $numbered) -> Self {
                numbered as $key
            }
        }
    )*};
}

keys! {
    u8 => u64, i64, u32, u16;
    u16 => u64, i64, u32, u16;
    u32 => u64, i64, i64, u32;
    u64 => u128, u128, u128, u32;
}

/// The order of a type's elements: the conversion of their bits to keys and back.
///
/// There is an implementation for each width and kind of order, not for each element type: types
/// of the same width and kind differ in constants. All loops on the CPU are compiled once for each
/// implementation.
pub(crate) trait KeyOrder: Copy + Send + Sync + 'static {
    /// A key. It has the width of an element.
    type Key: Key;
    /// The key of an element.
    fn key(self, bits: Self::Key) -> Self::Key;
    /// The element of a key. A NaN becomes the canonical quiet NaN.
    fn bits(self, key: Self::Key) -> Self::Key;
    /// The key to compare with positions: -0 ranks as +0, and all NaNs rank alike.
    #[inline(always)]
    fn rank(self, key: Self::Key) -> Self::Key {
        key
    }
    /// Whether no other element has the rank of this one: it is neither a zero of a float nor a NaN.
    #[inline(always)]
    fn is_alone(self, _: Self::Key) -> bool {
        true
    }
}

/// Integers and truth values.
#[derive(Clone, Copy)]
pub(crate) struct Integers<K> {
    /// The bits that differ between an element and its key: the sign of signed integers, and
    /// for the minimum all the others.
    pub flip: K,
}

/// Floating-point numbers of any range and precision.
#[derive(Clone, Copy)]
pub(crate) struct Floats<K> {
    /// The bits of +inf. A NaN's bits without the sign are greater.
    pub infinity: K,
    /// The bits of the canonical quiet NaN.
    pub quiet_nan: K,
    /// What moves all NaNs to one end of the keys: how many NaNs have each sign, negative if they
    /// propagate.
    pub rotation: K,
    /// The least and the greatest rank, one of which is that of NaNs.
    pub ranks: [K; 2],
    /// The key of the lower zero. That of the other one is the next.
    pub lower_zero: K,
    /// The bits that differ between a positive number and its key before NaNs move: the sign or, for the
    /// minimum, all the others. Negative numbers differ in the other bits.
    pub flip: K,
}

macro_rules! integers {
    ($($key:ty)*) => {$(
        impl Integers<$key> {
            /// The order of an element type of this width.
            pub(crate) fn of(element_type: ElementType, ranking: Ranking) -> Self {
                let complement: $key = Key::repeated(ranking.complement);
                Self { flip: sign_bit(element_type) as $key ^ complement }
            }
        }

        impl KeyOrder for Integers<$key> {
            type Key = $key;
            #[inline(always)]
            fn key(self, bits: $key) -> $key {
                bits ^ self.flip
            }
            #[inline(always)]
            fn bits(self, key: $key) -> $key {
                key ^ self.flip
            }
        }
    )*};
}

integers! { u8 u16 u32 u64 }

macro_rules! floats {
    ($($key:ty, $signed:ty;)*) => {$(
        impl Floats<$key> {
            const SIGN: $key = 1 << (<$key>::BITS - 1);

            /// The order of an element type of this width.
            pub(crate) fn of(element_type: ElementType, ranking: Ranking) -> Self {
                let [infinity, quiet_nan] = float_bits(element_type).map(|bits| bits as $key);
                let flip = Self::SIGN ^ <$key as Key>::repeated(ranking.complement);
                let (nans, others) = (Self::SIGN - 1 - infinity, 2 * infinity + 2);
                let [rotation, least, greatest, lower_zero] = match ranking.nan_above {
                    0 => [nans, 2 * nans - 1, <$key>::MAX, 2 * nans + infinity],
                    _ => [nans.wrapping_neg(), 0, others, infinity],
                };
                Self { infinity, quiet_nan, rotation, ranks: [least, greatest], lower_zero, flip }
            }

            /// Flips all bits of negative numbers except the sign. A second call flips them back.
            #[inline(always)]
            fn folded(bits: $key) -> $key {
                bits ^ ((bits as $signed >> (<$key>::BITS - 1)) as $key & !Self::SIGN)
            }
        }

        impl KeyOrder for Floats<$key> {
            type Key = $key;
            #[inline(always)]
            fn key(self, bits: $key) -> $key {
                (Self::folded(bits) ^ self.flip).wrapping_add(self.rotation)
            }
            #[inline(always)]
            fn bits(self, key: $key) -> $key {
                let bits = Self::folded(key.wrapping_sub(self.rotation) ^ self.flip);
                if bits & !Self::SIGN > self.infinity { self.quiet_nan } else { bits }
            }
            #[inline(always)]
            fn rank(self, key: $key) -> $key {
                let [least, greatest] = self.ranks;
                let rank = key.max(least).min(greatest);
                if key == self.lower_zero { key + 1 } else { rank }
            }
            #[inline(always)]
            fn is_alone(self, bits: $key) -> bool {
                let magnitude = bits & !Self::SIGN;
                magnitude != 0 && magnitude <= self.infinity
            }
        }
    )*};
}

floats! {
    u16, i16;
    u32, i32;
    u64, i64;
}

/// Evaluates `$body` with `$order`, the [`KeyOrder`] of an element type that is only known at run
/// time. `$ranking` is its [`Ranking`].
macro_rules! with_order {
    (@ $kind:ident<$key:ty>, $element_type:ident, $ranking:ident, $order:ident => $body:expr) => {{
        let $order = $kind::<$key>::of($element_type, $ranking);
        $body
    }};
    ($element_type:expr, $ranking:expr, $order:ident => $body:expr) => {{
        use $crate::tensor::key::{Floats, Integers};
        let (element_type, ranking): ($crate::tensor::ElementType, $crate::tensor::key::Ranking) =
            ($element_type, $ranking);
        match (element_type.size(), element_type.is_float()) {
            (1, _) => with_order!(@ Integers<u8>, element_type, ranking, $order => $body),
            (2, false) => with_order!(@ Integers<u16>, element_type, ranking, $order => $body),
            (2, true) => with_order!(@ Floats<u16>, element_type, ranking, $order => $body),
            (4, false) => with_order!(@ Integers<u32>, element_type, ranking, $order => $body),
            (4, true) => with_order!(@ Floats<u32>, element_type, ranking, $order => $body),
            (_, false) => with_order!(@ Integers<u64>, element_type, ranking, $order => $body),
            (_, true) => with_order!(@ Floats<u64>, element_type, ranking, $order => $body),
        }
    }};
}
pub(crate) use with_order;

/// The sign of signed integers; 0 for other types.
const fn sign_bit(element_type: ElementType) -> u64 {
    match element_type {
        ElementType::I8 => 1 << 7,
        ElementType::I16 => 1 << 15,
        ElementType::I32 => 1 << 31,
        ElementType::I64 => 1 << 63,
        _ => 0,
    }
}

/// The bits of +inf and of the canonical quiet NaN; 0 for types without them.
pub(crate) const fn float_bits(element_type: ElementType) -> [u64; 2] {
    match element_type {
        ElementType::F32 => [0x7f80_0000, 0x7fc0_0000],
        ElementType::F64 => [0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000],
        ElementType::F16 => [0x7c00, 0x7e00],
        ElementType::Bf16 => [0x7f80, 0x7fc0],
        _ => [0, 0],
    }
}

/// The low and high word of the key of an element.
pub(crate) fn key_words(element_type: ElementType, ranking: Ranking, bits: u64) -> [u32; 2] {
    let key: u64 = with_order!(element_type, ranking, order => order.key(Key::narrow(bits)).wide());
    [key as u32, (key >> 32) as u32]
}

/// The bits of the finite element that every other one replaces: the lowest for the maximum, the
/// highest for the minimum; for `bool`, false and true.
pub(crate) const fn finite_bits(element_type: ElementType, extremum: Extremum) -> u64 {
    let sign = 1 << (8 * element_type.size() - 1);
    match (float_bits(element_type), extremum) {
        ([0, _], Extremum::Maximum) => sign_bit(element_type),
        ([0, _], Extremum::Minimum) if matches!(element_type, ElementType::Bool) => 1,
        ([0, _], Extremum::Minimum) => sign_bit(element_type) ^ (sign | (sign - 1)),
        ([infinity, _], Extremum::Maximum) => sign | (infinity - 1),
        ([infinity, _], Extremum::Minimum) => infinity - 1,
    }
}

/// The bits of the identity, infinities included: -inf for the maximum, +inf for
/// the minimum. For a type without infinities as [`finite_bits`].
pub(crate) const fn infinite_bits(element_type: ElementType, extremum: Extremum) -> u64 {
    match (float_bits(element_type), extremum) {
        ([0, _], _) => finite_bits(element_type, extremum),
        ([infinity, _], Extremum::Maximum) => infinity | 1 << (8 * element_type.size() - 1),
        ([infinity, _], Extremum::Minimum) => infinity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXTREMA: [Extremum; 2] = [Extremum::Maximum, Extremum::Minimum];

    /// Every bit pattern of the 16-bit floats, sorted by key, must be sorted by value.
    #[test]
    fn sixteen_bit_keys_order_as_the_numbers_do() {
        fn check(element_type: ElementType, value: impl Fn(u16) -> f64) {
            let modes = [Nan::Ignore, Nan::Propagate].into_iter();
            let modes = modes.flat_map(|nan| EXTREMA.map(|extremum| (nan, extremum)));
            for (nan, extremum) in modes {
                let ranking = Ranking::new(element_type, nan, extremum);
                let order = Floats::<u16>::of(element_type, ranking);
                let Ranking { nan_above, complement } = ranking;
                let mut all: Vec<u16> = (0..=u16::MAX).collect();
                all.retain(|&b| !value(b).is_nan());
                all.sort_by_key(|&b| order.key(b));
                let ends = [all[0], all[all.len() - 1]].map(|b| order.key(b));
                if complement != 0 {
                    all.reverse();
                }
                for pair in all.windows(2) {
                    let (a, b) = (value(pair[0]), value(pair[1]));
                    assert!(a < b || (a == b && a == 0.0 && a.is_sign_negative()), "{a} {b}");
                }
                let [below, above] = [0x8000, 0].map(|zero| order.rank(order.key(zero)));
                assert_eq!(below, above);
                for bits in 0..=u16::MAX {
                    let key = order.key(bits);
                    if value(bits).is_nan() {
                        assert!(if nan_above == 0 { key < ends[0] } else { key > ends[1] });
                        let nan = if nan_above == 0 { ends[0] - 1 } else { ends[1] + 1 };
                        assert_eq!(order.rank(key), nan);
                        assert_eq!(order.bits(key), order.quiet_nan);
                    } else {
                        assert_eq!(order.bits(key), bits);
                        let is_zero = value(bits) == 0.0;
                        assert!(order.rank(key) == key || is_zero && order.rank(key) == key + 1);
                    }
                }
            }
        }
        check(ElementType::F16, |b| half::f16::from_bits(b).to_f64());
        check(ElementType::Bf16, |b| half::bf16::from_bits(b).to_f64());
    }

    #[test]
    fn keys_with_positions_and_numbers_order_by_the_keys_first() {
        fn check<K: Key>(numbers: [u32; 4]) {
            assert_eq!(K::position(Lane::LOWEST), u32::MAX);
            assert!(K::without_position(Lane::LOWEST) == K::LOWEST);
            let half = K::narrow(u64::MAX).wide() / 2;
            let keys = [0, 1, half, half + 1, u64::MAX].map(K::narrow);
            let all = |numbers: [u32; 4]| keys.map(|key| numbers.map(|number| (key, number)));
            let positions = all([0, 1, 1 << 31, u32::MAX - 1]);
            for &(key, position) in positions.as_flattened() {
                let found = key.found(position);
                assert!(found > Lane::LOWEST && K::without_position(found) == key);
                assert_eq!(K::position(found), position);
                for &(other, at) in positions.as_flattened() {
                    let order = key.cmp(&other).then(at.cmp(&position));
                    assert_eq!(found.cmp(&other.found(at)), order);
                }
            }
            let numbers = all(numbers);
            for &(key, number) in numbers.as_flattened() {
                let placed = key.placed(number);
                assert_eq!(K::place(placed, 0), number);
                assert_eq!(K::place(key.placed(number ^ u32::MAX), u32::MAX), number);
                for &(other, at) in numbers.as_flattened() {
                    let order = (key, number).cmp(&(other, at));
                    assert_eq!(placed.cmp(&other.placed(at)), order);
                }
            }
        }
        check::<u8>([0, 1, 1 << 15, u16::MAX.into()]);
        check::<u16>([0, 1, 1 << 15, u16::MAX.into()]);
        check::<u32>([0, 1, 1 << 31, u32::MAX]);
        check::<u64>([0, 1, 1 << 31, u32::MAX]);
    }

    #[test]
    fn wide_float_keys_order_as_the_numbers_do() {
        let mut values = vec![
            f64::NEG_INFINITY,
            f64::MIN,
            -1.5,
            -f64::MIN_POSITIVE,
            -5e-324,
            -0.0,
            0.0,
            5e-324,
            f64::MIN_POSITIVE,
            1.5,
            f64::MAX,
            f64::INFINITY,
        ];
        let wide = Floats::<u64>::of(ElementType::F64, Ranking::MAXIMUM);
        let [ignored, propagated] = [0, u32::MAX].map(|nan| {
            Floats::<u32>::of(ElementType::F32, Ranking { nan_above: nan, ..Ranking::MAXIMUM })
        });
        let minimum = Ranking::new(ElementType::F64, Nan::Ignore, Extremum::Minimum);
        let minimum = Floats::<u64>::of(ElementType::F64, minimum);
        let keys: Vec<u64> = values.iter().map(|v| wide.key(v.to_bits())).collect();
        assert!(keys.is_sorted_by(|a, b| a < b));
        let lowest: Vec<u64> = values.iter().map(|v| minimum.key(v.to_bits())).collect();
        assert!(lowest.is_sorted_by(|a, b| a > b));
        for bits in values.iter().map(|v| v.to_bits()) {
            assert_eq!(minimum.bits(minimum.key(bits)), bits);
        }
        values.retain(|v| *v == f64::from(*v as f32) && v.abs() != 5e-324);
        let keys: Vec<u32> = values.iter().map(|v| ignored.key((*v as f32).to_bits())).collect();
        assert!(keys.is_sorted_by(|a, b| a < b));
        for nan in [f32::NAN.to_bits(), 0xffc0_0001, 0x7f80_0001, 0xffff_ffff] {
            assert!(propagated.key(nan) > propagated.key(f32::INFINITY.to_bits()));
            assert!(ignored.key(nan) < ignored.key(f32::NEG_INFINITY.to_bits()));
            assert_eq!(propagated.rank(propagated.key(nan)), 0xff00_0002);
            assert_eq!(ignored.rank(ignored.key(nan)), 0x00ff_fffd);
            assert_eq!(ignored.bits(ignored.key(nan)), 0x7fc0_0000);
        }
        assert_eq!(propagated.key(f32::NEG_INFINITY.to_bits()), 0);
        assert_eq!(ignored.bits(0), 0x7fc0_0000);
        assert_eq!(propagated.bits(u32::MAX), 0x7fc0_0000);
        assert_eq!(wide.bits(0), 0x7ff8_0000_0000_0000);
    }

    #[test]
    fn integers_order_as_they_do() {
        for element_type in ElementType::ALL.into_iter().filter(|t| !t.is_float()) {
            let key = |bits: u64, extremum| -> u64 {
                let ranking = Ranking::new(element_type, Nan::Ignore, extremum);
                with_order!(element_type, ranking, order => order.key(Key::narrow(bits)).wide())
            };
            let [maximum, minimum] = EXTREMA;
            assert_eq!(key(sign_bit(element_type), maximum), 0, "{element_type}");
            assert_eq!(key(1, maximum) - key(0, maximum), 1, "{element_type}");
            assert_eq!(key(0, minimum) - key(1, minimum), 1, "{element_type}");
            for extremum in EXTREMA {
                assert_eq!(key(finite_bits(element_type, extremum), extremum), 0, "{element_type}");
            }
        }
    }
}
