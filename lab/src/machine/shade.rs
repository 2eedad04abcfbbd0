//! What the bytes of a value stand for, beside their bits: nothing else than these bits, memory
//! that nobody wrote, or the maximum of a set of elements.
//!
//! A maximum does two things to elements: it moves them, and it takes the larger of two. So bytes
//! of elements and of keys may move to other bytes, and the maximum of two words joins the sets of
//! the keys in them. Anything else makes them `MIXED`: such bytes may be stored, but may not decide
//! anything or be a result.

use std::collections::HashMap;
use std::rc::Rc;

use wgmax::wgpu::naga::{BinaryOperator, ScalarKind};

use super::value::LANES;

/// What each byte of a word stands for, the lowest one first.
pub type Shade = [u32; 4];

/// Of each invocation of a warp.
pub type LaneShade = [Shade; LANES];

/// As `Words`; `None` if all is plain.
pub type Shades = Option<Rc<Vec<LaneShade>>>;

/// Nothing but the byte itself.
pub const PLAIN: u32 = 0;
/// Memory that nobody wrote, or what is made of it.
pub const UNWRITTEN: u32 = 1;
/// What is made of a product beyond 32 bits, or of a shift by 32 or more, which drivers compute as they like.
pub const WRAPPED: u32 = 3;
/// An address that is the smaller of unwritten memory and a bound, or grows with it: a plain word more, times
/// a plain word, or divided by one. Its bits are those of the bound, so it has no larger value. What is loaded
/// there counts as unwritten.
pub const BOUNDED: u32 = 2;
/// Made of elements, but not a maximum. This number and those above stand for reasons.
pub const MIXED: u32 = 4;

/// An element of the input, as it is in memory.
pub const RAW: u32 = 1;
/// The key of the maximum of a set.
pub const KEY: u32 = 2;
/// The element that a key stands for.
pub const ELEMENT: u32 = 3;
/// What depends on which element of a set wins: see `choice`.
pub const CHOICE: u32 = 4;
/// The rank of the element that wins.
pub const RANK: u32 = 5;
/// How two elements that win compare.
pub const COMPARED: u32 = 6;
/// A sum of elements: see `sum`.
pub const SUM: u32 = 7;
/// Whether an element ties with a maximum, and what was found of those that tie: see `tied`.
pub const TIED: u32 = 8;
pub const FOUND: u32 = 9;

pub const PLAIN_WORD: Shade = [PLAIN; 4];

/// A byte, number `part` of `size`, of the maximum of a set.
pub fn of_set(kind: u32, part: usize, set: u32) -> u32 {
    kind << 28 | (part as u32) << 25 | set
}

/// The bytes of such a maximum that are in its word number `word`.
pub fn word_of(kind: u32, word: usize, set: u32) -> Shade {
    std::array::from_fn(|i| of_set(kind, 4 * word + i, set))
}

/// The kind, the number of the word and the set, if these are the bytes of a word, in order.
pub fn as_word(shade: Shade) -> Option<(u32, usize, u32)> {
    let (kind, part, set) = parts(shade[0])?;
    (shade == word_of(kind, part / 4, set)).then_some((kind, part / 4, set))
}

/// The kind, the part and the set; `None` of all else.
pub fn parts(byte: u32) -> Option<(u32, usize, u32)> {
    (byte >> 28 != 0).then_some((byte >> 28, (byte >> 25 & 7) as usize, byte & ((1 << 25) - 1)))
}

pub fn is_mixed(byte: u32) -> bool {
    (MIXED..1 << 28).contains(&byte)
}

/// What is made of all these bytes.
pub fn mix(bytes: impl IntoIterator<Item = u32>) -> u32 {
    bytes.into_iter().fold(PLAIN, |all, byte| match (all, byte) {
        (UNWRITTEN, _) | (_, UNWRITTEN) => UNWRITTEN,
        (all, _) if is_mixed(all) => all,
        (_, byte) if is_mixed(byte) => byte,
        (all, byte) if parts(all).or(parts(byte)).is_some() => MIXED,
        (all, byte) => all.max(byte),
    })
}

/// The same, for what is computed of them: a bound says nothing of that.
pub fn computed(bytes: impl IntoIterator<Item = u32>) -> u32 {
    match mix(bytes) {
        BOUNDED => UNWRITTEN,
        byte => byte,
    }
}

fn mixed(a: Shade, b: Shade) -> Shade {
    [computed(a.into_iter().chain(b)); 4]
}

/// A word of an operation: what it stands for, and its bits.
pub type Operand = (Shade, u32);

pub fn is_zero((shade, word): Operand) -> bool {
    shade == PLAIN_WORD && word == 0
}

pub fn binary(op: BinaryOperator, kind: ScalarKind, a: Operand, b: Operand) -> Shade {
    use BinaryOperator::*;
    let ((shade_a, word_a), (shade_b, word_b)) = (a, b);
    if shade_a == PLAIN_WORD && shade_b == PLAIN_WORD {
        let is_undefined = match op {
            Multiply => wraps(word_a, word_b),
            ShiftLeft | ShiftRight => word_b >= 32,
            _ => false,
        };
        return if is_undefined { [WRAPPED; 4] } else { PLAIN_WORD };
    }
    let has = |word: u32| shade_a == [word; 4] || shade_b == [word; 4];
    if has(BOUNDED) {
        // Larger addresses give larger results.
        let grows = match op {
            _ if !has(PLAIN) => false,
            Add => word_a.checked_add(word_b).is_some(),
            Multiply => word_a.checked_mul(word_b).is_some(),
            Divide => shade_b == PLAIN_WORD && kind == ScalarKind::Uint && word_b > 0,
            ShiftRight => shade_b == PLAIN_WORD && kind == ScalarKind::Uint && word_b < 32,
            _ => false,
        };
        return if grows { [BOUNDED; 4] } else { [UNWRITTEN; 4] };
    }
    let shift = (word_b & 31) as usize;
    match op {
        And | LogicalAnd | InclusiveOr | LogicalOr if kind == ScalarKind::Bool => {
            let decided = u32::from(matches!(op, InclusiveOr | LogicalOr));
            match (a, b) {
                ((PLAIN_WORD, word), (other, _)) | ((other, _), (PLAIN_WORD, word)) => {
                    if word == decided { PLAIN_WORD } else { other }
                }
                _ => mixed(shade_a, shade_b),
            }
        }
        And | InclusiveOr | ExclusiveOr => std::array::from_fn(|i| {
            let byte = |word: u32| word >> (8 * i) & 0xff;
            match (shade_a[i], shade_b[i]) {
                (PLAIN, PLAIN) => PLAIN,
                (other, PLAIN) => masked(op, other, byte(word_b)),
                (PLAIN, other) => masked(op, other, byte(word_a)),
                (a, b) => mix([a, b]),
            }
        }),
        ShiftLeft | ShiftRight if shade_b == PLAIN_WORD && word_b >= 32 => {
            mixed(shade_a, [WRAPPED; 4])
        }
        ShiftLeft if shade_b == PLAIN_WORD && shift.is_multiple_of(8) => {
            std::array::from_fn(|i| i.checked_sub(shift / 8).map_or(PLAIN, |i| shade_a[i]))
        }
        ShiftRight
            if shade_b == PLAIN_WORD && shift.is_multiple_of(8) && kind == ScalarKind::Uint =>
        {
            std::array::from_fn(|i| shade_a.get(i + shift / 8).copied().unwrap_or(PLAIN))
        }
        _ => mixed(shade_a, shade_b),
    }
}

/// Whether a product of two words is beyond 32 bits, whichever of the words are signed. Pitches of
/// views may be negative.
fn wraps(a: u32, b: u32) -> bool {
    let readings = |word: u32| [i64::from(word), i64::from(word as i32)];
    let fits = |product: i128| (i128::from(i32::MIN)..1 << 32).contains(&product);
    !readings(a).iter().any(|&a| readings(b).iter().any(|&b| fits(i128::from(a) * i128::from(b))))
}

/// A byte that is combined with a plain one.
fn masked(op: BinaryOperator, byte: u32, plain: u32) -> u32 {
    match (op, plain) {
        (BinaryOperator::And, 0) | (BinaryOperator::InclusiveOr, 0xff) => PLAIN,
        (BinaryOperator::And, 0xff) => byte,
        (BinaryOperator::InclusiveOr | BinaryOperator::ExclusiveOr, 0) => byte,
        _ => mix([byte]),
    }
}

/// The kind and the set of bytes that are all parts of one element or key, in order.
pub fn whole(bytes: &[u32]) -> Option<(u32, u32)> {
    let (kind, _, set) = parts(bytes[0])?;
    let in_order = bytes.iter().enumerate().all(|(part, &byte)| byte == of_set(kind, part, set));
    in_order.then_some((kind, set))
}

/// The words that are compared, a bit each, of an element of a set and of the set's maximum.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tie {
    pub kind: u32,
    pub set: u32,
    pub element: u32,
    pub words: u32,
}

/// The largest word of the elements of `among` that tie with the maximum of a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Found {
    pub kind: u32,
    pub set: u32,
    pub words: u32,
    pub among: u32,
    /// Whether this is the lowest word of keys or ranks, or else a number.
    pub is_low: bool,
}

/// What was compared and found, each known by a number.
#[derive(Default)]
pub struct Ties {
    pub ties: Vec<Tie>,
    pub found: Vec<Found>,
    pub numbers: HashMap<Found, u32>,
    /// What a word stands for that was found among all elements of a set.
    pub complete: HashMap<Shade, Found>,
    /// The number that an element has, of those that tie with the maximum of a set.
    pub places: HashMap<(u32, u32), u32>,
}
