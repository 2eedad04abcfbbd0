//! Random elements, including special values.

use wgmax::operator::EmptySet;
use wgmax::{ElementType, Extremum, Result, Tensor, TensorDesc};

use super::{Kind, Random};
use crate::oracle::{self, bits_at, empty_bits, float, infinity, value};

/// The kind of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Random bits, and some special values.
    Any,
    /// Only special values: NaNs of both signs with several payloads, infinities, zeros,
    /// subnormals, and the largest and smallest numbers.
    Hard,
    /// Random bits without NaN.
    Numbers,
    /// Only the lowest element: minus infinity for floats.
    Lowest,
    /// Only NaN; special values for types without NaN.
    Nan,
    /// Each element is at least as large as the one before: the maximum of a set is its last
    /// element, and the elements after the set are larger.
    Rising,
    /// Each element is at most as large as the one before.
    Falling,
    /// One to four different values, so that most maxima occur several times.
    Ties,
    /// Small numbers, and few large ones.
    Peaks,
}

impl Style {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Any,
        Self::Hard,
        Self::Numbers,
        Self::Lowest,
        Self::Nan,
        Self::Rising,
        Self::Falling,
        Self::Ties,
        Self::Peaks,
    ];

    /// A random style for an operator. Styles that show a lost or a foreign element are more
    /// frequent than those that show a wrong value.
    pub(super) fn random(kind: Kind, random: &mut Random) -> Self {
        use Style::*;
        random.pick(match kind {
            Kind::ReduceMax => {
                &[Any, Hard, Numbers, Lowest, Nan, Ties, Rising, Rising, Rising, Falling, Peaks]
            }
            Kind::MaxPool => &[
                Any, Any, Hard, Hard, Numbers, Lowest, Nan, Ties, Ties, Rising, Falling, Falling,
                Peaks,
            ],
            Kind::SegmentMax => &[
                Any, Hard, Numbers, Lowest, Lowest, Nan, Ties, Ties, Rising, Falling, Falling,
                Peaks,
            ],
        })
    }
}

/// A tensor of random elements of type `t`.
///
/// # Errors
/// [`Error::ShapeOverflow`](wgmax::Error::ShapeOverflow).
pub fn tensor(
    t: ElementType,
    shape: &[usize],
    style: Style,
    random: &mut Random,
) -> Result<Tensor> {
    let desc = TensorDesc::new(t, shape)?;
    let hard = hard_bits(t);
    let lowest = lowest_bits(t);
    let few = few_bits(t, &hard, random);
    let ramp = Ramp::random(t, desc.len() as u64, random);
    let len = desc.len() as u64;
    let bits = (0..len).map(|i| {
        let bits = match style {
            Style::Rising => ramp.at(i),
            Style::Falling => ramp.at(len - 1 - i),
            Style::Ties => random.pick(&few),
            Style::Peaks if random.once_in(16) => peak(t, random),
            Style::Peaks => number(t, random.below(1 << 62)),
            Style::Hard => random.pick(&hard),
            Style::Lowest => lowest,
            Style::Nan => random.pick(&hard[..hard.len().min(NANS)]),
            Style::Any if random.once_in(64) => random.pick(&hard),
            Style::Any | Style::Numbers => random.next(),
        };
        match t {
            ElementType::Bool => bits & 1,
            _ if style == Style::Numbers && is_nan(t, bits) => 0,
            _ => bits,
        }
    });
    oracle::tensor(t, shape, bits)
}

/// One to four special values; for floats, half of the time, both zeros and a small negative number.
fn few_bits(t: ElementType, hard: &[u64], random: &mut Random) -> Vec<u64> {
    let mut few: Vec<u64> = (0..1 + random.below(4)).map(|_| random.pick(hard)).collect();
    if float(t).is_some() && random.once_in(2) {
        few = vec![0, sign(t), sign(t), sign(t) | 1 | random.below(200)];
    }
    few
}

/// Numbers that ascend.
struct Ramp {
    element_type: ElementType,
    /// The key of the first number, and the distance of neighbours in units of 2^-32.
    first: u64,
    step: u128,
}

impl Ramp {
    /// A random ramp of `len` numbers: over all numbers, over the lower or upper half, or of
    /// neighbours around zero.
    fn random(element_type: ElementType, len: u64, random: &mut Random) -> Self {
        let (lowest, highest) = numbers(element_type);
        let middle = lowest + (highest - lowest) / 2;
        let (first, last) = match random.below(4) {
            // Truth values have no halves.
            _ if highest - lowest < 2 => (lowest, highest),
            0 => (lowest, highest),
            1 => (lowest, middle),
            2 => (middle, highest),
            _ => (middle.saturating_sub(len / 2).max(lowest), middle.saturating_add(len / 2)),
        };
        let last = last.clamp(first, highest);
        let step = (u128::from(last - first) << 32) / u128::from(len.max(2) - 1);
        Self { element_type, first, step }
    }

    fn at(&self, i: u64) -> u64 {
        let key = self.first + ((self.step * u128::from(i) + (1 << 31)) >> 32) as u64;
        element(self.element_type, key)
    }
}

/// A large number.
pub(super) fn peak(t: ElementType, random: &mut Random) -> u64 {
    number(t, 1 << 63 | random.next())
}

/// The bits of a number: of the lowest one for 0, of the highest one for 2^64 - 1.
pub(super) fn number(t: ElementType, position: u64) -> u64 {
    let (lowest, highest) = numbers(t);
    let count = u128::from(highest - lowest) + 1;
    element(t, lowest + ((count * u128::from(position)) >> 64) as u64)
}

/// The lowest and the highest key of a number that is not NaN.
fn numbers(t: ElementType) -> (u64, u64) {
    let all = u64::MAX >> (64 - 8 * t.size());
    let key = |bits: u64| match float(t) {
        Some(_) if bits & sign(t) == 0 => bits | sign(t),
        Some(_) => !bits & all,
        None => element(t, bits),
    };
    (key(lowest_bits(t)), key(empty_bits(t, EmptySet::Identity, Extremum::Minimum)))
}

/// The bits of the element with a key. Keys order as elements do.
fn element(t: ElementType, key: u64) -> u64 {
    let all = u64::MAX >> (64 - 8 * t.size());
    match float(t) {
        Some(_) if key & sign(t) == 0 => !key & all,
        Some(_) => key ^ sign(t),
        None if value(t, sign(t)) < value(t, 0) => key ^ sign(t),
        None => key,
    }
}

/// The highest bit.
fn sign(t: ElementType) -> u64 {
    1 << (8 * t.size() - 1)
}

fn is_nan(t: ElementType, bits: u64) -> bool {
    float(t).is_some_and(|float| bits & (sign(t) - 1) > infinity(float))
}

/// The number of NaNs at the start of a float's special values.
const NANS: usize = 6;

/// The bits of a type's special values, NaNs first.
fn hard_bits(t: ElementType) -> Vec<u64> {
    if let Some(float) = float(t) {
        let (infinity, fraction, sign) = (infinity(float), float.1, sign(t));
        let positive = [
            infinity + 1,
            infinity | 1 << (fraction - 1),
            sign - 1,
            infinity,
            infinity - 1,
            0,
            1,
            (1 << fraction) - 1,
            1 << fraction,
        ];
        return positive.into_iter().flat_map(|bits| [bits, bits | sign]).collect();
    }
    if t == ElementType::Bool {
        return vec![0, 1];
    }
    let all = u64::MAX >> (64 - 8 * t.size());
    vec![0, 1, all, all >> 1, (all >> 1) + 1, all - 1, all & 0xffff_ffff]
}

/// The bits of the lowest element of a type.
fn lowest_bits(t: ElementType) -> u64 {
    empty_bits(t, EmptySet::Identity, Extremum::Maximum)
}

/// `tensor` with each element mirrored in the order of elements, for minima. NaN stays NaN.
pub(super) fn mirrored(tensor: &Tensor) -> Result<Tensor> {
    let t = tensor.element_type();
    let flip = match float(t) {
        Some(_) => sign(t),
        None if t == ElementType::Bool => 1,
        None => u64::MAX,
    };
    oracle::tensor(t, tensor.shape(), (0..tensor.len()).map(|i| bits_at(tensor, i) ^ flip))
}

/// `tensor` with parts of other styles, which may end anywhere.
pub(super) fn with_parts(kind: Kind, tensor: &Tensor, random: &mut Random) -> Result<Tensor> {
    let (t, size) = (tensor.element_type(), tensor.element_type().size());
    let mut bytes = tensor.bytes().to_vec();
    for _ in 0..1 + random.below(4) {
        let other = self::tensor(t, tensor.shape(), Style::random(kind, random), random)?;
        let begin = size * random.below(tensor.len() as u64) as usize;
        let end = begin + size * random.below((bytes.len() - begin) as u64 / size as u64) as usize;
        bytes[begin..end].copy_from_slice(&other.bytes()[begin..end]);
    }
    Tensor::from_bytes(t, tensor.shape(), &bytes)
}

/// `tensor` with large numbers at these places.
pub(super) fn with_peaks(tensor: &Tensor, places: &[usize], random: &mut Random) -> Result<Tensor> {
    let t = tensor.element_type();
    let mut bits: Vec<u64> = (0..tensor.len()).map(|i| bits_at(tensor, i)).collect();
    places.iter().for_each(|&place| bits[place] = peak(t, random));
    oracle::tensor(t, tensor.shape(), bits.into_iter())
}

/// A position in a set of `len` elements: at an end of the set, or of a part of a size that kernels
/// use.
pub(super) fn place(len: usize, random: &mut Random) -> usize {
    let len = len as u64;
    let place = match random.below(8) {
        0 | 1 => 0,
        2 | 3 => len - 1,
        4 => len.saturating_sub(1 + random.below(9)),
        5 | 6 => {
            let part = random.pick(&[2, 4, 8, 16, 32, 64, 128, 256, 512]);
            (part * (1 + random.below(len / part + 1))).saturating_sub(random.below(2))
        }
        _ => random.below(len),
    };
    place.min(len - 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ramps ascend and end with the highest number, in keys and so in values.
    #[test]
    fn ramps_ascend() {
        for t in ElementType::ALL {
            for seed in 0..20 {
                let tensor = |style| tensor(t, &[1000], style, &mut Random(seed)).unwrap();
                let (rising, falling) = (tensor(Style::Rising), tensor(Style::Falling));
                let values: Vec<_> = rising
                    .bytes()
                    .chunks_exact(t.size())
                    .map(|bytes| {
                        let mut bits = [0; 8];
                        bits[..t.size()].copy_from_slice(bytes);
                        assert!(!is_nan(t, u64::from_le_bytes(bits)), "{t}");
                        value(t, u64::from_le_bytes(bits)).unwrap()
                    })
                    .collect();
                assert!(values.is_sorted() && values[0] < values[999], "{t} {seed}");
                let backwards = falling.bytes().rchunks_exact(t.size()).flatten();
                assert!(backwards.eq(rising.bytes()), "{t} {seed}");
            }
            let (lowest, highest) = numbers(t);
            assert_eq!(element(t, lowest), lowest_bits(t), "{t}");
            assert_eq!(number(t, 0), lowest_bits(t), "{t}");
            assert_eq!(number(t, u64::MAX), element(t, highest), "{t}");
        }
    }
}
