//! The functions of shaders that the machine knows by name, those that divide, and those that number
//! elements. Each is run alone, on critical patterns of bits, and compared with the same function in Rust.

use anyhow::{Result, ensure};
use fastrand::Rng;
use wgmax::ElementType;
use wgmax::internals::divisor;

use crate::keys::{self, Ranking};
use crate::machine::{Program, Summing, summed};

/// The number of patterns that a function is run on.
const CASES: u32 = 1 << 14;

/// The largest number that is divided, or is a divisor.
const MOST: u32 = u32::MAX >> 1;

/// The files that have these functions.
pub const FILES: [&str; 10] = [
    "shaders/common/block.wgsl",
    "shaders/common/divide.wgsl",
    "shaders/common/element.wgsl",
    "shaders/common/key.wgsl",
    "shaders/common/rank.wgsl",
    "shaders/common/vector.wgsl",
    "shaders/gradient/sum.wgsl",
    "shaders/pool/numbering.wgsl",
    "shaders/pool/windows.wgsl",
    "shaders/pool/sliding_window.wgsl",
];

/// Fails if a function of a program for an element type has another result than it should.
pub fn check(program: &Program, t: ElementType) -> Result<()> {
    let key = t.size().div_ceil(4);
    let unused = 32 - 8 * t.size().min(4) as u32;
    for nan_above in [0, u32::MAX] {
        for complement in [0, if t == ElementType::Bool { 0x0101_0101 } else { u32::MAX }] {
            let ranking = Ranking { element_type: t, nan_above, complement };
            let given = |rng: &mut Rng, i| [elements(rng, i), vec![nan_above, complement]].concat();
            compare(program, "element_key_with", given, |w| keys::keys(&ranking, four(w)).into())?;
            let params = [("nan_above", vec![nan_above]), ("complement", vec![complement])];
            let right = |w: &[u32]| keys::elements(&ranking, four(w)).into();
            compare_by(program, "element_words", &params, elements, right, |found| found)?;
            if t.size() == 2 {
                let halves = |w: &[u32]| keys::halves(&ranking, four(w)).to_vec();
                compare(program, "acc_of", given, halves)?;
                // A mask for each word.
                let given = |rng: &mut Rng, i| {
                    let masks = (0..4).map(|_| if rng.bool() { u32::MAX } else { 0 });
                    let masks: Vec<u32> = masks.collect();
                    [given(rng, i), masks].concat()
                };
                let masked = |w: &[u32]| -> Vec<u32> {
                    let masks = w[6..].iter().cycle();
                    halves(w).into_iter().zip(masks).map(|(half, mask)| half & mask).collect()
                };
                compare(program, "acc_masked", given, masked)?;
            }
            let low = |rng: &mut Rng, _| {
                let words = words(rng, key).into_iter().map(|word| word >> unused);
                words.chain([nan_above, complement]).collect()
            };
            let right = |w: &[u32]| narrow(keys::rank(&ranking, number(&w[..key])), key);
            compare(program, "key_rank", low, right)?;
            let vector = |rng: &mut Rng, _| [words(rng, 4), vec![nan_above, complement]].concat();
            compare(program, "vector_rank", vector, |w| {
                let rank = |key: &[u32]| keys::rank(&ranking, number(key) >> unused) << unused;
                w[..4].chunks(key).flat_map(|word| narrow(rank(word), key)).collect()
            })?;
        }
    }
    let plain = |count| move |rng: &mut Rng, _| words(rng, count);
    for (name, count) in [("key", key), ("vector", 4)] {
        // With 64 bits, the last truth values of a vector repeat the second one.
        let truths = |w: &[u32], is: fn(u64, u64) -> bool| {
            let mut pairs = pairs(w, key);
            pairs.resize(if name == "key" { 1 } else { 4 }, pairs[pairs.len() - 1]);
            pairs.iter().map(|&(a, b)| u32::from(is(a, b))).collect()
        };
        let (above, equal) = (format!("{name}_above"), format!("{name}_equal"));
        compare(program, &above, plain(2 * count), |w| truths(w, |a, b| a > b))?;
        compare(program, &equal, plain(2 * count), |w| truths(w, |a, b| a == b))?;
        let max = |w: &[u32]| maxima(w, key);
        compare(program, &format!("{name}_max"), plain(2 * count), max)?;
    }
    if t.size() == 8 {
        // An accumulator has the low words of both keys first.
        let swapped = |w: &[u32]| vec![w[0], w[2], w[1], w[3]];
        compare(program, "acc_max", plain(8), |w| {
            swapped(&maxima(&[swapped(w), swapped(&w[4..])].concat(), key))
        })?;
    }
    if t.is_float() {
        let sum = |what: Summing, a, b| narrow(summed(what, t, a, b), key);
        let numbers = move |rng: &mut Rng, _| floats(rng, if key == 2 { 52 } else { 23 });
        compare(program, "add_rounded", numbers, |w| {
            let (a, b) = w.split_at(key);
            sum(Summing::Add, number(a), number(b))
        })?;
        let half = |_: &mut Rng, i| vec![i];
        // A widened NaN may be any NaN: no result shows which.
        let both = |w: &[u32]| {
            let wide = sum(Summing::Widen, w[0].into(), 0);
            if f32::from_bits(wide[0]).is_nan() { vec![u32::MAX] } else { wide }
        };
        compare_by(program, "widen", &[], half, both, |found| {
            if f32::from_bits(found).is_nan() { u32::MAX } else { found }
        })?;
        let single = |rng: &mut Rng, _| vec![floats(rng, 23)[0]];
        compare(program, "narrow", single, |w| sum(Summing::Narrow, w[0].into(), 0))?;
    }
    let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
    let high = move |a, b| (product(a, b) >> 32) as u32;
    compare(program, "low_product", plain(2), |w| vec![w[0].wrapping_mul(w[1])])?;
    compare(program, "high_product", plain(2), |w| vec![high(w[0], w[1])])?;
    compare(program, "high_products", plain(5), |w| {
        w[..4].iter().map(|&a| high(a, w[4])).collect()
    })?;
    compare(program, "scaled", plain(3), |w| {
        vec![((u128::from(w[0]) * u128::from(number(&w[1..]))) >> 64) as u32]
    })?;
    compare(
        program,
        "extra_of",
        |rng, _| split(rng),
        |w| {
            let [window, size, windows] = [w[0], w[3], w[4]].map(u64::from);
            let elements = ((window + 1) * size).div_ceil(windows) - window * size / windows;
            vec![(elements - size.div_ceil(windows)) as u32]
        },
    )?;
    let quotients = |w: &[u32]| w[..w.len() - 4].iter().map(|n| n / w[w.len() - 4]).collect();
    compare(program, "quotient", |rng, _| division(rng, 1), quotients)?;
    compare(program, "quotients", |rng, _| division(rng, 4), quotients)?;
    let mut rng = Rng::with_seed(1);
    (0..64).try_for_each(|_| numbering(program, &mut rng))
}

/// Indices of elements whose first one has a random index, in a random period.
fn numbering(program: &Program, rng: &mut Rng) -> Result<()> {
    let modulus = match rng.u32(0..3) {
        0 => 0,
        1 => u64::from(word(rng) & MOST).max(1),
        _ => u64::from(rng.u32(1..9)) << 32 | u64::from(word(rng)),
    };
    let far = 1 << 40 | u64::from(if rng.bool() { word(rng) } else { 0 });
    let first = match modulus.checked_sub(1 + u64::from(word(rng) & MOST)) {
        Some(first) if rng.bool() => first,
        _ => far.checked_rem(modulus).unwrap_or(far),
    };
    let halves = |number| narrow(number, 2).into_iter().map(|half| vec![half]);
    let [low, high, modulus_low, modulus_high] =
        halves(first).chain(halves(modulus)).collect::<Vec<_>>().try_into().unwrap_or_default();
    let params = [
        ("offset_low", low),
        ("offset_high", high),
        ("modulus_low", modulus_low),
        ("modulus_high", modulus_high),
        ("by_modulus", divisor(modulus.max(1)).to_vec()),
        ("index_words", vec![2]),
        // It is unused in row-major order.
        ("plane_pitch", vec![7]),
    ];
    // Near the end of a period, and anywhere.
    let distance = |rng: &mut Rng| {
        let end = modulus.wrapping_sub(first).wrapping_add(rng.u64(0..3)).wrapping_sub(1);
        let is_near = end <= MOST.into() && rng.bool();
        if is_near { end as u32 } else { word(rng) & MOST }
    };
    let index = |distance: u32| {
        let index = first.wrapping_add(distance.into());
        narrow(index.checked_rem(modulus).unwrap_or(index), 2)
    };
    let given = |rng: &mut Rng, case| vec![case, distance(rng)];
    compare_by(program, "store_index", &params, given, |w| index(w[1]), |found| found)?;
    if modulus > 0 {
        return Ok(());
    }
    let given = |rng: &mut Rng, _| vec![word(rng) & MOST];
    // An index of one word is the low word.
    compare_by(program, "index_of", &params, given, |w| index(w[0]), |found| found)
}

fn compare(
    program: &Program,
    name: &str,
    given: impl Fn(&mut Rng, u32) -> Vec<u32>,
    right: impl Fn(&[u32]) -> Vec<u32>,
) -> Result<()> {
    compare_by(program, name, &[], given, right, |found| found)
}

/// Runs a function, if the program has it, and compares the words of its results, as `seen` maps
/// them.
fn compare_by(
    program: &Program,
    name: &str,
    params: &[(&str, Vec<u32>)],
    given: impl Fn(&mut Rng, u32) -> Vec<u32>,
    right: impl Fn(&[u32]) -> Vec<u32>,
    seen: impl Fn(u32) -> u32,
) -> Result<()> {
    let cases = || {
        let mut rng = Rng::with_seed(1);
        // All patterns of 16 bits.
        let count = match name {
            "widen" => 1 << 16,
            "store_index" | "index_of" => CASES / 64,
            _ => CASES,
        };
        (0..count).map(|i| given(&mut rng, i)).collect::<Vec<_>>()
    };
    let Some((cases, found)) = program.call(name, params, cases)? else { return Ok(()) };
    for (given, found) in cases.iter().zip(found) {
        let (found, right): (Vec<u32>, _) = (found.into_iter().map(&seen).collect(), right(given));
        ensure!(right.starts_with(&found), "{name} of {given:x?} is {found:x?}, not {right:x?}");
    }
    Ok(())
}

fn four(words: &[u32]) -> [u32; 4] {
    std::array::from_fn(|i| words[i])
}

/// The number that words hold, the low one first.
fn number(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |all, &word| all << 32 | u64::from(word))
}

fn narrow(number: u64, words: usize) -> Vec<u32> {
    (0..words).map(|i| (number >> (32 * i)) as u32).collect()
}

/// The keys of two operands, in pairs.
fn pairs(words: &[u32], key: usize) -> Vec<(u64, u64)> {
    let (a, b) = words.split_at(words.len() / 2);
    a.chunks(key).zip(b.chunks(key)).map(|(a, b)| (number(a), number(b))).collect()
}

fn maxima(words: &[u32], key: usize) -> Vec<u32> {
    pairs(words, key).into_iter().flat_map(|(a, b)| narrow(a.max(b), key)).collect()
}

/// Random bits, a run of equal bits or the number beside one, or a word that elements have.
fn word(rng: &mut Rng) -> u32 {
    // Among them are the ranks of NaNs.
    const SPECIAL: [u32; 18] = [
        0,
        1,
        u32::MAX,
        u32::MAX >> 1,
        1 << 31,
        0x7f80_0000,
        0x7ff0_0000,
        0x7ff8_0000,
        0x7fff,
        0x8000_7fff,
        2,
        u32::MAX - 2,
        0xff00_0002,
        0x00ff_fffd,
        0xf802_0000,
        0x07fd_0000,
        0xff02_0000,
        0x00fd_0000,
    ];
    let run = (u32::MAX << rng.u32(0..32)) ^ (u32::MAX >> rng.u32(0..32));
    match rng.u32(0..4) {
        0 => rng.u32(..),
        1 => SPECIAL[rng.usize(0..SPECIAL.len())],
        _ => run.wrapping_add(rng.u32(0..3)).wrapping_sub(1),
    }
}

/// Four words of elements. The first half of the cases has all patterns of 8 and of 16 bits.
fn elements(rng: &mut Rng, case: u32) -> Vec<u32> {
    match case < CASES / 2 {
        true => (0..4).map(|i| 8 * case + 2 * i).map(|half| (half + 1) << 16 | half).collect(),
        false => words(rng, 4),
    }
}

/// Words, of which the second half has some of the first half's.
fn words(rng: &mut Rng, count: usize) -> Vec<u32> {
    let mut all: Vec<u32> = (0..count).map(|_| word(rng)).collect();
    for i in count / 2..count {
        if rng.bool() {
            all[i] = all[i - count / 2];
        }
    }
    all
}

/// Two numbers with mantissas of `bits` bits, in words. Their exponents are often the lowest or the highest,
/// and nearly too far apart to change the sum, or farther.
fn floats(rng: &mut Rng, bits: u32) -> Vec<u32> {
    let words = if bits > 32 { 2 } else { 1 };
    let max_exponent = if bits > 32 { 2047 } else { 255 };
    let exponent = match rng.u32(0..5) {
        0 => rng.u32(0..4),
        1 => max_exponent - rng.u32(0..4),
        // Those of elements of 16 bits.
        2 => 100 + rng.u32(0..45),
        3 => rng.u32(0..bits + 8),
        _ => rng.u32(0..=max_exponent),
    };
    let apart = match rng.u32(0..5) {
        0 | 1 => rng.u32(0..3),
        2 | 3 => rng.u32(0..bits + 5),
        _ => rng.u32(0..=max_exponent),
    };
    let mut mantissa = 0;
    let all = [exponent, exponent.saturating_sub(apart)].map(|exponent| {
        match rng.u32(0..6) {
            0 => mantissa = 0,
            // Between two numbers of fewer bits.
            1 => mantissa = ((rng.u64(..) | 1) << rng.u32(0..bits)) & ((1 << bits) - 1),
            2 => mantissa ^= rng.u64(0..2),
            // The largest mantissas: a small number makes the sum carry, and is lost.
            3 => mantissa = (1 << bits) - 1 - rng.u64(0..32),
            _ => mantissa = number(&[word(rng), word(rng)]) >> rng.u32(0..64) & ((1 << bits) - 1),
        }
        let sign = u64::from(rng.bool()) << (32 * words - 1);
        sign | u64::from(exponent) << bits | mantissa
    });
    let all = if rng.bool() { all } else { [all[1], all[0]] };
    // A sum begins with +0.
    let all = if rng.u32(0..4) == 0 { [0, all[1]] } else { all };
    all.into_iter().flat_map(|number| narrow(number, words)).collect()
}

/// An adaptive window, the ratio of its axis as parameters have it, and the numbers of elements and windows
/// along the axis.
fn split(rng: &mut Rng) -> Vec<u32> {
    let mut number = || if rng.bool() { rng.u32(1..100) } else { (word(rng) & MOST).max(1) };
    let (size, windows) = (number(), number());
    let ratio = (u128::from(size % windows) << 64).div_ceil(windows.into()) as u64;
    let window = (word(rng) & MOST) % windows;
    [vec![window], narrow(ratio, 2), vec![size, windows]].concat()
}

/// Numbers below 2^31 near multiples of a divisor, and the divisor as parameters have it.
fn division(rng: &mut Rng, count: usize) -> Vec<u32> {
    let by = if rng.bool() { rng.u32(1..100) } else { (word(rng) & MOST).max(1) };
    let near = |rng: &mut Rng| {
        let multiple = u64::from(word(rng) & MOST) / u64::from(by) * u64::from(by);
        (multiple + rng.u64(0..2)).saturating_sub(rng.u64(0..2)).min(MOST.into()) as u32
    };
    let mut all: Vec<u32> = (0..count).map(|_| near(rng)).collect();
    all.extend(divisor(by.into()));
    all
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rayon::prelude::*;
    use wgmax::operator::kernels;
    use wgmax::plan::Shader;

    use super::*;

    const NAMES: [&str; 25] = [
        "element_key_with",
        "element_words",
        "key_rank",
        "vector_rank",
        "key_above",
        "key_equal",
        "key_max",
        "vector_above",
        "vector_equal",
        "vector_max",
        "acc_max",
        "acc_of",
        "acc_masked",
        "add_rounded",
        "widen",
        "narrow",
        "low_product",
        "high_product",
        "high_products",
        "scaled",
        "extra_of",
        "quotient",
        "quotients",
        "store_index",
        "index_of",
    ];

    /// Each function of each kernel and element type, in one text that has it: many need a flag.
    #[test]
    fn functions_are_right() {
        let shaders = kernels().into_iter().flat_map(|kernel| kernel.shaders(256));
        let (mut seen, mut names) = (HashSet::new(), HashSet::new());
        let mut brings_one = |shader: &Shader| {
            let text = shader.source();
            let has = |name: &&str| text.contains(&format!("fn {name}("));
            let own = NAMES.into_iter().filter(has);
            let new = own.filter(|name| seen.insert((shader.kernel.name(), shader.element, *name)));
            let new: Vec<&str> = new.collect();
            names.extend(new.iter().copied());
            !new.is_empty()
        };
        let shaders: Vec<Shader> = shaders.filter(|shader| brings_one(shader)).collect();
        let missing: Vec<_> = NAMES.into_iter().filter(|name| !names.contains(name)).collect();
        assert!(missing.is_empty(), "no text has {missing:?}");
        shaders.into_par_iter().for_each(|shader| {
            let program = Program::new(&shader.source()).unwrap();
            check(&program, shader.element).unwrap_or_else(|e| panic!("{}: {e}", shader.label()));
        });
    }
}
