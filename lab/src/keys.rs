//! The functions of `shaders/common/element.wgsl` in Rust, and their proof: the keys of all patterns
//! of bits order as the elements do.
//!
//! The proof shows that the shaders' functions, as the machine runs them, have the same results as
//! those here, and that those here satisfy the definition, which knows no keys.

use wgmax::operator::Operator;
use wgmax::{ElementType, Extremum, Nan};
use wgmax_verify::oracle;

/// How the elements of a plan become keys, by the operator's attributes.
#[derive(Clone, Copy, Debug)]
pub struct Ranking {
    pub element_type: ElementType,
    /// All ones if NaNs are above all other elements, 0 if they are below; and the bits that reverse the
    /// order, for the minimum.
    pub nan_above: u32,
    pub complement: u32,
}

impl Ranking {
    /// The key of an operator's initial value, if it has one.
    pub fn initial(&self, operator: &Operator) -> Option<u64> {
        let initial = match operator {
            Operator::ReduceMax(op) => op.initial,
            Operator::MaxPool(op) => op.initial,
            Operator::SegmentMax(op) => op.initial,
            _ => None,
        };
        initial.map(|initial| key(self, oracle::scalar_bits(self.element_type, initial)))
    }

    /// How an operator orders elements, if it finds maxima.
    pub fn of(operator: &Operator, t: ElementType) -> Option<Self> {
        let (nan, extremum) = match operator {
            Operator::ReduceMax(op) => (op.nan, op.extremum),
            Operator::MaxPool(op) => (op.nan, op.extremum),
            Operator::SegmentMax(op) => (op.nan, op.extremum),
            Operator::ScatterMax(op) => (op.nan, op.extremum),
            _ => return None,
        };
        let complement = match (extremum, t) {
            (Extremum::Maximum, _) => 0,
            (Extremum::Minimum, ElementType::Bool) => 0x0101_0101,
            (Extremum::Minimum, _) => u32::MAX,
        };
        let nan_above = if nan == Nan::Propagate { u32::MAX } else { 0 };
        Some(Self { element_type: t, nan_above, complement })
    }
}

/// The constants of a float type: infinity without a sign, and the canonical quiet NaN.
fn float(t: ElementType) -> Option<(u64, u64)> {
    Some(match t {
        ElementType::F16 => (0x7c00, 0x7e00),
        ElementType::Bf16 => (0x7f80, 0x7fc0),
        ElementType::F32 => (0x7f80_0000, 0x7fc0_0000),
        ElementType::F64 => (0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000),
        _ => return None,
    })
}

fn is_signed(t: ElementType) -> bool {
    use ElementType::*;
    matches!(t, I8 | I16 | I32 | I64)
}

/// The bits of an element.
fn mask(t: ElementType) -> u64 {
    u64::MAX >> (64 - 8 * t.size())
}

/// A word of the parameters, as wide as an element.
fn wide(t: ElementType, word: u32) -> u64 {
    (u64::from(word) << 32 | u64::from(word)) & mask(t)
}

/// The key of an element.
pub fn key(ranking: &Ranking, bits: u64) -> u64 {
    let t = ranking.element_type;
    let key = unmoved(ranking, bits);
    let Some((infinity, _)) = float(t) else { return key };
    moved(ranking, key, (mask(t) >> 1) - infinity, ranking.nan_above != 0)
}

/// The key before NaNs move.
fn unmoved(ranking: &Ranking, bits: u64) -> u64 {
    let t = ranking.element_type;
    let sign = mask(t) ^ mask(t) >> 1;
    let key = match t {
        _ if float(t).is_some() && bits & sign != 0 => bits ^ mask(t),
        _ if float(t).is_some() || is_signed(t) => bits ^ sign,
        ElementType::Bool => u64::from(bits != 0),
        _ => bits,
    };
    key ^ wide(t, ranking.complement)
}

/// The element of a key.
pub fn element(ranking: &Ranking, key: u64) -> u64 {
    let t = ranking.element_type;
    let sign = mask(t) ^ mask(t) >> 1;
    let nans = float(t).map_or(0, |(infinity, _)| (sign - 1) - infinity);
    let key = moved(ranking, key, nans, ranking.nan_above == 0) ^ wide(t, ranking.complement);
    if let Some((infinity, quiet)) = float(t) {
        let bits = if key & sign == 0 { key ^ mask(t) } else { key ^ sign };
        return if bits & !sign > infinity { quiet } else { bits };
    }
    if is_signed(t) { key ^ sign } else { key }
}

/// A key moved down or up, in the circle of all keys.
fn moved(ranking: &Ranking, key: u64, by: u64, down: bool) -> u64 {
    let moved = if down { key.wrapping_sub(by) } else { key.wrapping_add(by) };
    moved & mask(ranking.element_type)
}

/// The key by which positions are compared: -0 equals +0, and all NaNs are equal, next to the other
/// elements.
pub fn rank(ranking: &Ranking, key: u64) -> u64 {
    let t = ranking.element_type;
    let Some((infinity, _)) = float(t) else { return key };
    let sign = mask(t) ^ mask(t) >> 1;
    let [below, above] = [sign | infinity, infinity].map(|bits| self::key(ranking, bits));
    let [least, greatest] = [below.min(above), below.max(above)];
    let zeros = [0, sign].map(|zero| self::key(ranking, zero));
    match key {
        _ if key < least => least - 1,
        _ if key > greatest => greatest + 1,
        _ if zeros.contains(&key) => zeros[0].max(zeros[1]),
        _ => key,
    }
}

fn each(ranking: &Ranking, words: [u32; 4], f: impl Fn(&Ranking, u64) -> u64) -> [u32; 4] {
    let size = ranking.element_type.size();
    let mut bytes = [0; 16];
    for (word, bytes) in words.iter().zip(bytes.chunks_mut(4)) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    for element in bytes.chunks_mut(size) {
        let mut bits = [0; 8];
        bits[..size].copy_from_slice(element);
        element.copy_from_slice(&f(ranking, u64::from_le_bytes(bits)).to_le_bytes()[..size]);
    }
    std::array::from_fn(|i| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[4 * i + byte])))
}

/// The keys of four words of elements.
pub fn keys(ranking: &Ranking, words: [u32; 4]) -> [u32; 4] {
    each(ranking, words, key)
}

/// The keys of four words of elements of 16 bits, each at the top of a word: the first ones of all words,
/// then the second ones. Below these are the first ones again, before NaNs move.
pub fn halves(ranking: &Ranking, words: [u32; 4]) -> [u32; 8] {
    let keys = keys(ranking, words);
    std::array::from_fn(|i| match i.checked_sub(4) {
        None => keys[i] << 16,
        Some(i) => keys[i] & 0xffff_0000 | unmoved(ranking, u64::from(words[i] & 0xffff)) as u32,
    })
}

/// The elements of four words of keys.
pub fn elements(ranking: &Ranking, words: [u32; 4]) -> [u32; 4] {
    each(ranking, words, element)
}

/// Patterns of an element type: all of them, up to `count`, or otherwise patterns with runs of equal
/// bits.
pub fn patterns(t: ElementType, count: u64) -> impl Iterator<Item = u64> {
    let mut random = fastrand::Rng::with_seed(1);
    let is_all = t.size() <= 2;
    (0..if is_all { mask(t) + 1 } else { count }).map(move |i| {
        let (a, b) = (random.u32(0..64), random.u32(0..64));
        match i % 2 {
            _ if is_all => i,
            0 => random.u64(..) & mask(t),
            _ => ((u64::MAX << a) ^ (u64::MAX >> b) ^ random.u64(0..2)) & mask(t),
        }
    })
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    /// The element at a place of the ascending order of all that are not NaN, and how many there
    /// are, by the definition: -0 is below +0.
    fn ascending(t: ElementType, i: u64) -> u64 {
        let sign = mask(t) ^ mask(t) >> 1;
        match float(t) {
            Some((infinity, _)) if i <= infinity => sign | (infinity - i),
            Some((infinity, _)) => i - infinity - 1,
            None if is_signed(t) => i ^ sign,
            None => i,
        }
    }

    fn check(ranking: &Ranking, i: u64) {
        let t = ranking.element_type;
        let (a, b) = (ascending(t, i), ascending(t, i + 1));
        let (low, high) = (key(ranking, a), key(ranking, b));
        let (low, high) = if ranking.complement == 0 { (low, high) } else { (high, low) };
        assert!(low < high, "{ranking:?} {a:x} {b:x}");
        assert_eq!(element(ranking, key(ranking, a)), a, "{ranking:?}");
        assert_eq!(element(ranking, key(ranking, b)), b, "{ranking:?}");
        let zeros = [a, b].iter().all(|bits| bits << 1 & mask(t) == 0) && float(t).is_some();
        let (low, high) = (rank(ranking, low), rank(ranking, high));
        assert!(if zeros { low == high } else { low < high }, "{ranking:?} {a:x} {b:x}");
    }

    fn check_nan(ranking: &Ranking, bits: u64) {
        let t = ranking.element_type;
        let Some((infinity, quiet)) = float(t) else { return };
        if bits & mask(t) >> 1 > infinity {
            let nan = key(ranking, bits);
            assert_eq!(element(ranking, nan), quiet, "{ranking:?} {bits:x}");
            // It is above all, or below all, and ranks as every other one.
            let ends = [ascending(t, 0), ascending(t, last(t))].map(|end| key(ranking, end));
            let [least, greatest] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
            let rank = rank(ranking, nan);
            match ranking.nan_above {
                0 => assert!(nan < least && rank == least - 1, "{ranking:?} {bits:x}"),
                _ => assert!(nan > greatest && rank == greatest + 1, "{ranking:?} {bits:x}"),
            }
        }
    }

    fn last(t: ElementType) -> u64 {
        float(t).map_or(mask(t), |(infinity, _)| 2 * infinity + 1)
    }

    /// Neighbours in the order of the elements are neighbours in the order of their keys, and keys
    /// become the elements again: all of 8 and 16 bits, and some of each kind of 32 and 64.
    #[test]
    fn keys_order_as_elements() {
        for t in ElementType::ALL.into_iter().filter(|t| *t != ElementType::Bool) {
            for (nan_above, complement) in
                [(0, 0), (0, u32::MAX), (u32::MAX, 0), (u32::MAX, u32::MAX)]
            {
                let ranking = Ranking { element_type: t, nan_above, complement };
                let last = last(t);
                if t.size() <= 2 {
                    (0..last).for_each(|i| check(&ranking, i));
                } else {
                    patterns(t, 1 << 18).for_each(|bits| check(&ranking, bits % last));
                    let half = 1 << 15;
                    (0..2 * half).for_each(|i| check(&ranking, last / 2 - half + i));
                    (0..half).for_each(|i| check(&ranking, last - 1 - i));
                }
                patterns(t, 1 << 18).for_each(|bits| check_nan(&ranking, bits));
            }
        }
    }

    /// Takes a minute or more.
    #[test]
    #[ignore = "goes through all patterns of 32 bits"]
    fn all_keys_of_f32_order_as_elements() {
        let t = ElementType::F32;
        for (nan_above, complement) in [(u32::MAX, 0), (0, u32::MAX)] {
            let ranking = Ranking { element_type: t, nan_above, complement };
            (0..last(t)).into_par_iter().for_each(|i| check(&ranking, i));
            (0..=mask(t)).into_par_iter().for_each(|bits| check_nan(&ranking, bits));
        }
    }

    #[test]
    fn all_bytes_but_zero_are_true() {
        for complement in [0, 0x0101_0101] {
            let ranking = Ranking { element_type: ElementType::Bool, nan_above: 0, complement };
            for bits in 0..=255 {
                assert_eq!(element(&ranking, key(&ranking, bits)), u64::from(bits != 0));
            }
            assert_eq!(key(&ranking, 0) < key(&ranking, 1), complement == 0);
        }
    }
}
