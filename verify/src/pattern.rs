//! Known faults of drivers and shader compilers, by their effect on results.
use wgmax::ElementType;

use crate::judge::Difference;
use crate::oracle::{self, Value, float, infinity};

/// A known fault.
#[derive(Debug)]
pub struct Pattern {
    /// A short name, as in reports.
    pub name: &'static str,
    /// A sentence about it.
    pub sentence: &'static str,
    /// A public report of such a fault.
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
    sentence: "Keys with the highest bit set lost: an atomic maximum of unsigned integers may \
               have been compiled as one of signed integers.",
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
    /// The known fault that a difference resembles, if any. `again`: the case differed again, and so was
    /// shrunk. `scatters`: the first launch that differs uses atomics.
    pub fn of(small: &Difference, again: bool, scatters: bool) -> Option<&'static Self> {
        let results = small.results();
        // Wrong positions follow from values; alone they show no known fault.
        let (_, comparison) = results.into_iter().find(|&(result, _)| result == 0)?;
        let comparison = comparison?;
        let t = comparison.element_type;
        // The expected bits and the actual ones.
        let all = |test: &dyn Fn(u64, u64) -> bool| {
            comparison.first.iter().all(|m| test(m.b_bits, m.a_bits))
        };
        let is_nan = |bits| value(t, bits).is_nan();
        if all(&|expected, actual| is_nan(expected) != is_nan(actual)) {
            return Some(&NAN_FOLDED);
        }
        if all(&|expected, actual| is_subnormal(t, expected) && value(t, actual) == 0.0) {
            return Some(&FLUSHED);
        }
        // Keys of fewer bits never have the highest bit of a word.
        let atomics = scatters && t.size() >= 4;
        if atomics && all(&|expected, actual| is_high(t, expected) && !is_high(t, actual)) {
            return Some(&UNSIGNED_ATOMIC);
        }
        let large = again && small.case.tensors[0].len() >= MANY;
        let lower = || all(&|expected, actual| value(t, actual) < value(t, expected));
        (large && lower()).then_some(&LOOP_LIMIT)
    }
}

/// The value of an element, exact enough to compare it.
fn value(t: ElementType, bits: u64) -> f64 {
    match oracle::value(t, bits) {
        None => f64::NAN,
        Some(Value::Int(value)) => value as f64,
        Some(Value::Float(value)) => value,
    }
}

fn is_subnormal(t: ElementType, bits: u64) -> bool {
    float(t).is_some_and(|float| bits & infinity(float) == 0 && value(t, bits) != 0.0)
}

/// Whether the highest bit of an element's key is set: for numbers that are not negative, or in the
/// upper half of an unsigned type.
fn is_high(t: ElementType, bits: u64) -> bool {
    let highest = bits >> (8 * t.size() - 1) == 1;
    highest == matches!(t, ElementType::U32 | ElementType::U64)
}
