//! Order-preserving integer keys, which all kernels compare instead of elements.
//!
//! A key is an unsigned integer as wide as the element. Keys order as the elements do: -inf < ... <
//! -0 < +0 < ... < +inf, MIN < ... < MAX, false < true. The key of a NaN is the largest key if NaN
//! propagates, and 0 if it is ignored; no other float has either key. So the maximum of elements is
//! an integer maximum of keys, and 0 is its identity for every type.
//!
//! The same mappings in WGSL are in `shaders/common/element.wgsl`.

use bytemuck::Pod;

use super::ElementType;

/// The effect of a NaN among the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nan {
    /// The maximum of a set with a NaN is NaN.
    Propagate,
    /// NaNs are skipped. The maximum is NaN only if all elements are NaN.
    Ignore,
}

impl Nan {
    /// The key of a NaN in 32 bits: all zeros or all ones, as in every other width.
    pub(crate) const fn key(self) -> u32 {
        match self {
            Self::Propagate => u32::MAX,
            Self::Ignore => 0,
        }
    }
}

/// An unsigned integer of which kernels find the maximum: a key, or a key with its position.
pub(crate) trait Lane: Pod + Ord + Send + Sync {
    /// 0, the identity of the maximum.
    const LOWEST: Self;
    /// Two neighbours, as one integer if there is one of that width. Compilers vectorise the
    /// maximum of its halves, but not the maximum of every other item.
    type Pair: Pod;
    /// The maximum of both.
    fn pair_max(pair: Self::Pair) -> Self;
    /// The first of both.
    fn first(pair: Self::Pair) -> Self;
}

/// A key: an unsigned integer as wide as the element.
pub(crate) trait Key: Lane {
    /// The key of a NaN in this width, from the 32-bit form in a kernel's parameters.
    fn nan(key: u32) -> Self;
    /// The key from the words of a kernel's parameters; `high` matters only for 64-bit keys.
    fn from_words(low: u32, high: u32) -> Self;
    /// A key and its position as one integer. Of equal keys, the one at the first position is the
    /// largest.
    type Found: Lane;
    fn found(self, position: u32) -> Self::Found;
    /// The position; `u32::MAX` for [`Lane::LOWEST`].
    fn position(found: Self::Found) -> u32;
}

macro_rules! lanes {
    ($($lane:ty, $pair:ty, $max:expr, $first:expr;)*) => {$(
        impl Lane for $lane {
            const LOWEST: Self = 0;
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
    u128, [u128; 2], |[a, b]: [u128; 2]| a.max(b), |[a, _]: [u128; 2]| a;
}

macro_rules! keys {
    ($($key:ty => $found:ty;)*) => {$(
        impl Key for $key {
            #[inline(always)]
            fn nan(key: u32) -> Self {
                // Truncates or sign-extends: all zeros or all ones either way.
                key as i32 as $key
            }
            #[inline(always)]
            fn from_words(low: u32, high: u32) -> Self {
                (u64::from(high) << 32 | u64::from(low)) as $key
            }
            type Found = $found;
            #[inline(always)]
            fn found(self, position: u32) -> $found {
                <$found>::from(self) << 32 | <$found>::from(!position)
            }
            #[inline(always)]
            fn position(found: $found) -> u32 {
                !(found as u32)
            }
        }
    )*};
}

keys! {
    u8 => u64;
    u16 => u64;
    u32 => u64;
    u64 => u128;
}

/// The conversion of an element type to keys and back.
pub(crate) trait Keyed: Copy + Send + Sync + 'static {
    /// An element's bits.
    type Bits: Pod + Send + Sync;
    /// An element's key.
    type Key: Key;
    /// The key of an element; `nan` is [`Key::nan`].
    fn key(bits: Self::Bits, nan: Self::Key) -> Self::Key;
    /// The element of a key. A NaN becomes the canonical quiet NaN.
    fn bits(key: Self::Key) -> Self::Bits;
    /// The key to compare where positions are wanted: -0 ranks as +0.
    #[inline(always)]
    fn rank(key: Self::Key) -> Self::Key {
        key
    }
}

macro_rules! floats {
    ($($name:ident: $bits:ty, $signed:ty, $infinity:expr, $quiet_nan:expr;)*) => {$(
        #[derive(Clone, Copy)]
        pub(crate) struct $name;
        impl Keyed for $name {
            type Bits = $bits;
            type Key = $bits;
            #[inline(always)]
            fn key(bits: $bits, nan: $bits) -> $bits {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                let flipped = bits ^ (((bits as $signed) >> (<$bits>::BITS - 1)) as $bits | SIGN);
                if bits & !SIGN > $infinity { nan } else { flipped }
            }
            #[inline(always)]
            fn bits(key: $bits) -> $bits {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                let bits = key ^ ((!key as $signed >> (<$bits>::BITS - 1)) as $bits | SIGN);
                if bits & !SIGN > $infinity { $quiet_nan } else { bits }
            }
            #[inline(always)]
            fn rank(key: $bits) -> $bits {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                if key == SIGN - 1 { SIGN } else { key }
            }
        }
    )*};
}

floats! {
    F32: u32, i32, 0x7f80_0000, 0x7fc0_0000;
    F64: u64, i64, 0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000;
    F16: u16, i16, 0x7c00, 0x7e00;
    Bf16: u16, i16, 0x7f80, 0x7fc0;
}

macro_rules! integers {
    ($($name:ident: $bits:ty, $flip:expr;)*) => {$(
        #[derive(Clone, Copy)]
        pub(crate) struct $name;
        impl Keyed for $name {
            type Bits = $bits;
            type Key = $bits;
            #[inline(always)]
            fn key(bits: $bits, _nan: $bits) -> $bits {
                bits ^ $flip
            }
            #[inline(always)]
            fn bits(key: $bits) -> $bits {
                key ^ $flip
            }
        }
    )*};
}

integers! {
    U8: u8, 0;
    U16: u16, 0;
    U32: u32, 0;
    U64: u64, 0;
    I8: u8, 1 << 7;
    I16: u16, 1 << 15;
    I32: u32, 1 << 31;
    I64: u64, 1 << 63;
}

/// A truth value. In a caller's buffer, every byte other than 0 is true.
#[derive(Clone, Copy)]
pub(crate) struct Bool;
impl Keyed for Bool {
    type Bits = u8;
    type Key = u8;
    #[inline(always)]
    fn key(bits: u8, _nan: u8) -> u8 {
        (bits != 0).into()
    }
    #[inline(always)]
    fn bits(key: u8) -> u8 {
        key
    }
}

/// Evaluates `$body` with `$type` as the [`Keyed`] of an element type that is known at run time.
macro_rules! with_keyed {
    ($element_type:expr, $type:ident => $body:expr) => {{
        use $crate::tensor::ElementType as T;
        use $crate::tensor::key;
        match $element_type {
            T::F32 => {
                type $type = key::F32;
                $body
            }
            T::F64 => {
                type $type = key::F64;
                $body
            }
            T::F16 => {
                type $type = key::F16;
                $body
            }
            T::Bf16 => {
                type $type = key::Bf16;
                $body
            }
            T::I8 => {
                type $type = key::I8;
                $body
            }
            T::U8 => {
                type $type = key::U8;
                $body
            }
            T::I16 => {
                type $type = key::I16;
                $body
            }
            T::U16 => {
                type $type = key::U16;
                $body
            }
            T::I32 => {
                type $type = key::I32;
                $body
            }
            T::U32 => {
                type $type = key::U32;
                $body
            }
            T::I64 => {
                type $type = key::I64;
                $body
            }
            T::U64 => {
                type $type = key::U64;
                $body
            }
            T::Bool => {
                type $type = key::Bool;
                $body
            }
        }
    }};
}
pub(crate) use with_keyed;

/// The low and high word of the key of an element that is not NaN.
pub(crate) fn key_words(element_type: ElementType, bits: u64) -> [u32; 2] {
    fn words<T: Keyed>(bits: u64) -> [u32; 2] {
        let bytes = bits.to_le_bytes();
        let element = bytemuck::pod_read_unaligned(&bytes[..size_of::<T::Bits>()]);
        let mut key = [0; 8];
        key[..size_of::<T::Key>()]
            .copy_from_slice(bytemuck::bytes_of(&T::key(element, T::Key::LOWEST)));
        bytemuck::cast(key)
    }
    with_keyed!(element_type, T => words::<T>(bits))
}

/// The bits of the lowest finite element; false for `bool`.
pub(crate) const fn lowest_bits(element_type: ElementType) -> u64 {
    match element_type {
        ElementType::F32 => 0xff7f_ffff,
        ElementType::F64 => 0xffef_ffff_ffff_ffff,
        ElementType::F16 => 0xfbff,
        ElementType::Bf16 => 0xff7f,
        ElementType::I8 => 1 << 7,
        ElementType::I16 => 1 << 15,
        ElementType::I32 => 1 << 31,
        ElementType::I64 => 1 << 63,
        ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => 0,
        ElementType::Bool => 0,
    }
}

/// The bits of -inf, or of the lowest element of a type without infinities.
pub(crate) const fn negative_infinity_bits(element_type: ElementType) -> u64 {
    match element_type {
        ElementType::F32 => 0xff80_0000,
        ElementType::F64 => 0xfff0_0000_0000_0000,
        ElementType::F16 => 0xfc00,
        ElementType::Bf16 => 0xff80,
        other => lowest_bits(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bit pattern of the 16-bit floats, sorted by key, must be sorted by value.
    #[test]
    fn sixteen_bit_keys_order_as_the_numbers_do() {
        fn check<K: Keyed<Bits = u16, Key = u16>>(value: impl Fn(u16) -> f64) {
            for nan in [0, u16::MAX] {
                let mut all: Vec<u16> = (0..=u16::MAX).collect();
                all.retain(|&b| !value(b).is_nan());
                all.sort_by_key(|&b| K::key(b, nan));
                for pair in all.windows(2) {
                    let (a, b) = (value(pair[0]), value(pair[1]));
                    assert!(a < b || (a == b && a == 0.0 && a.is_sign_negative()), "{a} {b}");
                }
                for bits in 0..=u16::MAX {
                    let key = K::key(bits, nan);
                    if value(bits).is_nan() {
                        assert_eq!(key, nan);
                        assert!(value(K::bits(key)).is_nan());
                    } else {
                        assert_eq!(K::bits(key), bits);
                        assert!(key != 0 && key != u16::MAX);
                    }
                }
            }
        }
        check::<F16>(|b| half::f16::from_bits(b).to_f64());
        check::<Bf16>(|b| half::bf16::from_bits(b).to_f64());
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
        let keys: Vec<u64> = values.iter().map(|v| F64::key(v.to_bits(), 0)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b));
        values.retain(|v| *v == f64::from(*v as f32) && v.abs() != 5e-324);
        let keys: Vec<u32> = values.iter().map(|v| F32::key((*v as f32).to_bits(), 0)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b));
        for nan in [f32::NAN.to_bits(), 0xffc0_0001, 0x7f80_0001, 0xffff_ffff] {
            assert_eq!(F32::key(nan, u32::MAX), u32::MAX);
            assert_eq!(F32::key(nan, 0), 0);
        }
        assert_eq!(F32::bits(0), 0x7fc0_0000);
        assert_eq!(F32::bits(u32::MAX), 0x7fc0_0000);
        assert_eq!(F64::bits(0), 0x7ff8_0000_0000_0000);
    }
}
