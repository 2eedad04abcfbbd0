//! Known mistakes of drivers and shader compilers, by what they do to results.

use wgmax::{Comparison, ElementType};

use super::judge::Difference;

/// A known mistake.
#[derive(Debug)]
pub struct Pattern {
    /// A short name, as in reports.
    pub name: &'static str,
    /// A sentence on it.
    pub sentence: &'static str,
    /// A public report of such a mistake.
    pub report: &'static str,
}

/// The smallest case of a loop that ends early has at least this many elements.
const MANY: usize = 1000;

static NAN_FOLDED: Pattern = Pattern {
    name: "NaN folded",
    sentence: "Only NaN is wrong: a compiler may have assumed that there is none.",
    report: "https://github.com/GPUOpen-Drivers/llpc/pull/704",
};
static FLUSHED: Pattern = Pattern {
    name: "subnormals flushed",
    sentence: "Only subnormal numbers are wrong, and are 0: bits were treated as floats.",
    report: "https://github.com/gpuweb/gpuweb/issues/4149",
};
static UNSIGNED_ATOMIC: Pattern = Pattern {
    name: "signed atomic maximum",
    sentence: "Where the highest bit of a key is set it lost: an atomic maximum of unsigned \
               integers may have been compiled as one of signed integers.",
    report: "https://github.com/CHIP-SPV/chipStar/pull/1290",
};
static LOOP_LIMIT: Pattern = Pattern {
    name: "loop left early",
    sentence: "Only large cases are wrong, and maxima are too low: a loop may have ended after a \
               fixed number of iterations.",
    report: "https://github.com/bminor/mesa-mesa/blob/02903e150ef94f2042a423184a3362142c321\
             165/src/gallium/auxiliary/gallivm/lp_bld_limits.h",
};

impl Pattern {
    /// The mistake that a difference looks like, if it looks like one. `again` is whether the case
    /// was made as small as it gets, and `scatters` whether the first launch that differs uses
    /// atomics.
    pub fn of(small: &Difference, again: bool, scatters: bool) -> Option<&'static Self> {
        let results = small.results();
        // Positions that are wrong follow from values; alone they are of no pattern.
        let (_, comparison) = results.into_iter().find(|&(result, _)| result == 0)?;
        let comparison = comparison?;
        let all = |test: fn(ElementType, u64, u64) -> bool| {
            let t = comparison.element_type;
            comparison.first.iter().all(|m| test(t, m.b_bits, m.a_bits))
        };
        if all(|t, expected, actual| is_nan(t, expected) != is_nan(t, actual)) {
            return Some(&NAN_FOLDED);
        }
        if all(|t, expected, actual| is_subnormal(t, expected) && magnitude(t, actual) == Some(0)) {
            return Some(&FLUSHED);
        }
        if scatters
            && all(|t, expected, actual| has_high_key(t, expected) && !has_high_key(t, actual))
        {
            return Some(&UNSIGNED_ATOMIC);
        }
        let large = again && small.case.tensors[0].len() >= MANY;
        (large && all_lower(&comparison)).then_some(&LOOP_LIMIT)
    }
}

/// Whether all values are lower than they should be.
fn all_lower(comparison: &Comparison) -> bool {
    let t = comparison.element_type;
    comparison.first.iter().all(|m| order(t, m.a_bits) < order(t, m.b_bits))
}

/// The bits of a type, and of a float's fraction.
fn layout(t: ElementType) -> (u32, Option<u32>) {
    let fraction = match t {
        ElementType::F64 => Some(52),
        ElementType::F32 => Some(23),
        ElementType::F16 => Some(10),
        ElementType::Bf16 => Some(7),
        _ => None,
    };
    (8 * t.size() as u32, fraction)
}

/// A float's bits without the sign.
fn magnitude(t: ElementType, bits: u64) -> Option<u64> {
    let (width, fraction) = layout(t);
    fraction.map(|_| bits & !(1 << (width - 1)))
}

fn is_nan(t: ElementType, bits: u64) -> bool {
    let (width, fraction) = layout(t);
    let infinity = fraction.map(|fraction| ((1u64 << (width - 1)) - 1) >> fraction << fraction);
    infinity.is_some_and(|infinity| magnitude(t, bits).is_some_and(|bits| bits > infinity))
}

fn is_subnormal(t: ElementType, bits: u64) -> bool {
    let (_, fraction) = layout(t);
    fraction.is_some_and(|f| magnitude(t, bits).is_some_and(|bits| bits > 0 && bits >> f == 0))
}

/// Whether the highest bit of an element's key is set: of a number that is not negative, or in
/// the upper half of an unsigned type.
fn has_high_key(t: ElementType, bits: u64) -> bool {
    order(t, bits) >> (layout(t).0 - 1) == 1
}

/// An integer that orders as the elements do.
fn order(t: ElementType, bits: u64) -> u64 {
    let (width, fraction) = layout(t);
    let sign = 1u64 << (width - 1);
    let all = u64::MAX >> (64 - width);
    match t {
        ElementType::U8
        | ElementType::U16
        | ElementType::U32
        | ElementType::U64
        | ElementType::Bool => bits,
        _ if fraction.is_some() && bits & sign > 0 => !bits & all,
        _ => bits ^ sign,
    }
}
