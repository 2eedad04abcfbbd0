//! Compares two tensors element by element.

use std::fmt;

use half::{bf16, f16};

use crate::base::error::{Error, Result};
use crate::tensor::element::{bits, integer};
use crate::tensor::key::float_bits;
use crate::tensor::{ElementType, Tensor};

/// The maximum number of mismatches in [`Comparison::first`].
const MAX_SHOWN: usize = 10;

/// Bytes that are compared at once; elements are compared only if these differ. A multiple of every
/// element size.
const CHUNK: usize = 1 << 16;

/// The result of [`compare`] or [`compare_values`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Comparison {
    /// The element type of both tensors.
    pub element_type: ElementType,
    /// The number of elements of each tensor.
    pub total: usize,
    /// The number of elements that differ.
    pub differing: usize,
    /// The first elements that differ, at most ten, in row-major order.
    pub first: Vec<Mismatch>,
    /// The largest [`Mismatch::ulp`] of all elements that differ, including those that `first`
    /// omits.
    pub max_ulp: Option<u64>,
}

/// One element that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Mismatch {
    /// The element's coordinates, one per dimension.
    pub coordinates: Vec<usize>,
    /// The value in the first tensor, as text.
    pub a: String,
    /// The value in the second tensor, as text.
    pub b: String,
    /// The bits in the first tensor, zero-extended.
    pub a_bits: u64,
    /// The bits in the second tensor, zero-extended.
    pub b_bits: u64,
    /// The distance of the two values: for integers the difference, for floats the number of steps
    /// from each value to the next representable one. -0 and +0 are one value. `None` if either is
    /// NaN.
    pub ulp: Option<u64>,
}

/// Compares bit for bit: -0 differs from +0, and a NaN equals only a NaN with the same bits.
///
/// ```
/// use wgmax::{Tensor, compare};
/// let a = Tensor::from_slice([2, 2], &[1.0f32, 2.0, 3.0, 4.0])?;
/// let b = Tensor::from_slice([2, 2], &[1.0f32, 2.0, 3.5, 4.0])?;
/// assert!(compare(&a, &a)?.is_equal());
/// let report = compare(&a, &b)?;
/// assert_eq!(report.differing, 1);
/// assert_eq!(report.first[0].coordinates, [1, 0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
///
/// # Errors
/// [`Error::NotComparable`] if the types or the shapes differ.
pub fn compare(a: &Tensor, b: &Tensor) -> Result<Comparison> {
    compare_by(a, b, same_bits)
}

/// Compares values: any NaN equals any NaN, and -0 equals +0. Use it for results that another
/// program has computed.
///
/// # Errors
/// [`Error::NotComparable`] if the types or the shapes differ.
pub fn compare_values(a: &Tensor, b: &Tensor) -> Result<Comparison> {
    compare_by(a, b, same_value)
}

fn compare_by(a: &Tensor, b: &Tensor, same: Same) -> Result<Comparison> {
    let element_type = a.element_type();
    let mut report =
        Comparison { element_type, total: a.len(), differing: 0, first: Vec::new(), max_ulp: None };
    each_by(a, b, same, |index, a_bits, b_bits| {
        let ulp = distance(element_type, a_bits, b_bits);
        report.differing += 1;
        report.max_ulp = report.max_ulp.max(ulp);
        if report.first.len() < MAX_SHOWN {
            report.first.push(Mismatch {
                coordinates: coordinates(index, a.shape()),
                a: text(element_type, a_bits),
                b: text(element_type, b_bits),
                a_bits,
                b_bits,
                ulp,
            });
        }
    })?;
    Ok(report)
}

/// Calls `found` with the position in memory and the [`Mismatch::ulp`] of each element that differs
/// under [`compare`], or under [`compare_values`]. The command draws pictures from these.
#[doc(hidden)]
pub fn each_difference(
    a: &Tensor,
    b: &Tensor,
    values: bool,
    mut found: impl FnMut(usize, Option<u64>),
) -> Result<()> {
    let element_type = a.element_type();
    each_by(a, b, if values { same_value } else { same_bits }, |index, a_bits, b_bits| {
        found(index, distance(element_type, a_bits, b_bits));
    })
}

/// Whether two elements of a type, given by their bits, are equal.
type Same = fn(ElementType, u64, u64) -> bool;

fn same_bits(_: ElementType, a: u64, b: u64) -> bool {
    a == b
}

fn same_value(element_type: ElementType, a: u64, b: u64) -> bool {
    a == b
        || match (ordinal(element_type, a), ordinal(element_type, b)) {
            (Some(a), Some(b)) => a == b,
            (None, None) => true,
            _ => false,
        }
}

/// Calls `found` with the position and the bits of each pair that is not the same.
fn each_by(
    a: &Tensor,
    b: &Tensor,
    same: Same,
    mut found: impl FnMut(usize, u64, u64),
) -> Result<()> {
    if a.desc() != b.desc() {
        return Err(Error::NotComparable {
            a_type: a.element_type(),
            a_shape: a.shape().to_vec(),
            b_type: b.element_type(),
            b_shape: b.shape().to_vec(),
        });
    }
    let element_type = a.element_type();
    let size = element_type.size();
    let chunks = a.bytes().chunks(CHUNK).zip(b.bytes().chunks(CHUNK));
    for (number, (a_chunk, b_chunk)) in chunks.enumerate() {
        // Equal bits are equal under both comparisons.
        if a_chunk == b_chunk {
            continue;
        }
        let pairs = a_chunk.chunks_exact(size).zip(b_chunk.chunks_exact(size));
        for (offset, (a_bytes, b_bytes)) in pairs.enumerate() {
            let (a_bits, b_bits) = (bits(a_bytes), bits(b_bytes));
            if !same(element_type, a_bits, b_bits) {
                found(number * (CHUNK / size) + offset, a_bits, b_bits);
            }
        }
    }
    Ok(())
}

fn coordinates(index: usize, shape: &[usize]) -> Vec<usize> {
    let mut rest = index;
    let mut coordinates = vec![0; shape.len()];
    for (coordinate, &dimension) in coordinates.iter_mut().zip(shape).rev() {
        *coordinate = rest % dimension;
        rest /= dimension;
    }
    coordinates
}

/// The number of steps from zero to a value, negative below zero; `None` for NaN.
fn ordinal(element_type: ElementType, bits: u64) -> Option<i128> {
    if !element_type.is_float() {
        return Some(integer(element_type, bits));
    }
    let [infinity, _] = float_bits(element_type);
    let sign = 1 << (8 * element_type.size() - 1);
    let magnitude = bits & !sign;
    match magnitude > infinity {
        true => None,
        false if bits & sign != 0 => Some(-i128::from(magnitude)),
        false => Some(magnitude.into()),
    }
}

fn distance(element_type: ElementType, a: u64, b: u64) -> Option<u64> {
    let steps = ordinal(element_type, a)?.abs_diff(ordinal(element_type, b)?);
    u64::try_from(steps).ok()
}

fn text(element_type: ElementType, bits: u64) -> String {
    match element_type {
        ElementType::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        ElementType::F64 => format!("{:?}", f64::from_bits(bits)),
        ElementType::F16 => format!("{:?}", f16::from_bits(bits as u16)),
        ElementType::Bf16 => format!("{:?}", bf16::from_bits(bits as u16)),
        ElementType::Bool => (bits != 0).to_string(),
        _ => integer(element_type, bits).to_string(),
    }
}

/// The first elements of a tensor as text, at most `limit`.
pub fn element_texts(tensor: &Tensor, limit: usize) -> Vec<String> {
    let element_type = tensor.element_type();
    let elements = tensor.bytes().chunks_exact(element_type.size()).take(limit);
    elements.map(|bytes| text(element_type, bits(bytes))).collect()
}

impl Comparison {
    /// Whether no element differs.
    pub fn is_equal(&self) -> bool {
        self.differing == 0
    }

    /// The unit of [`Mismatch::ulp`]: "ulp" for floats, "apart" for integers.
    #[doc(hidden)]
    pub fn distance_name(&self) -> &'static str {
        if self.element_type.is_float() { "ulp" } else { "apart" }
    }
}

impl fmt::Display for Comparison {
    /// One line if all elements are equal, otherwise the count and a table of the first mismatches.
    /// There is no line break at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.total == 1 { "element" } else { "elements" };
        if self.is_equal() {
            return write!(f, "{} {noun}, all equal", self.total);
        }
        let percent = 100.0 * self.differing as f64 / self.total as f64;
        let verb = if self.differing == 1 { "differs" } else { "differ" };
        write!(f, "{} of {} {noun} {verb} ({percent:.3}%)", self.differing, self.total)?;
        if let Some(ulp) = self.max_ulp {
            let unit = if self.element_type.is_float() { " ulp" } else { "" };
            write!(f, ", at most {ulp}{unit} apart")?;
        }
        let digits = 2 * self.element_type.size();
        let heads = ["at", "a", "b", "bits of a", "bits of b", self.distance_name()];
        let rows = self.first.iter().map(|m| {
            [
                format!("{:?}", m.coordinates),
                m.a.clone(),
                m.b.clone(),
                format!("0x{:0digits$x}", m.a_bits),
                format!("0x{:0digits$x}", m.b_bits),
                m.ulp.map_or_else(|| "-".to_string(), |ulp| ulp.to_string()),
            ]
        });
        let rows: Vec<_> = std::iter::once(heads.map(str::to_string)).chain(rows).collect();
        let widths: [usize; 6] = std::array::from_fn(|column| {
            rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
        });
        for row in &rows {
            write!(f, "\n ")?;
            for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
                match column {
                    0 => write!(f, " {cell:<width$}")?,
                    _ => write!(f, "  {cell:>width$}")?,
                }
            }
        }
        match self.differing - self.first.len() {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tensor of ones, and a copy in which the element `at` has the bits `with`.
    fn broken(element_type: ElementType, at: usize, with: u64) -> (Tensor, Tensor) {
        let size = element_type.size();
        let one: u64 = match element_type {
            ElementType::F32 => 1f32.to_bits().into(),
            ElementType::F64 => 1f64.to_bits(),
            ElementType::F16 => f16::ONE.to_bits().into(),
            ElementType::Bf16 => bf16::ONE.to_bits().into(),
            _ => 1,
        };
        let whole = one.to_le_bytes()[..size].repeat(24);
        let mut changed = whole.clone();
        changed[at * size..][..size].copy_from_slice(&with.to_le_bytes()[..size]);
        let tensor = |bytes: &[u8]| Tensor::from_bytes(element_type, [2, 3, 4], bytes).unwrap();
        (tensor(&whole), tensor(&changed))
    }

    #[test]
    fn one_broken_element_is_found_in_every_type() {
        for element_type in ElementType::ALL {
            for (at, coordinates) in [(0, [0, 0, 0]), (17, [1, 1, 1]), (23, [1, 2, 3])] {
                let (a, b) = broken(element_type, at, 0);
                for compare in [compare, compare_values] {
                    assert!(compare(&a, &a).unwrap().is_equal());
                    let report = compare(&a, &b).unwrap();
                    assert!(!report.is_equal());
                    assert_eq!((report.total, report.differing), (24, 1), "{element_type}");
                    assert_eq!(report.first.len(), 1);
                    assert_eq!(report.first[0].coordinates, coordinates);
                    assert_eq!(report.first[0].b_bits, 0);
                    // The number of steps from zero to one is the bits of one.
                    assert_eq!(report.max_ulp, Some(report.first[0].a_bits));
                    assert_eq!(report.first[0].ulp, report.max_ulp);
                }
            }
        }
    }

    #[test]
    fn the_last_bit_is_one_ulp() {
        for element_type in ElementType::ALL.into_iter().filter(|t| t.is_float()) {
            let one = broken(element_type, 0, 0);
            let bits = bits(&one.0.bytes()[..element_type.size()]);
            let (a, b) = broken(element_type, 5, bits + 1);
            assert_eq!(compare(&a, &b).unwrap().max_ulp, Some(1));
        }
    }

    #[test]
    fn zeros_and_nans_differ_in_bits_and_not_in_values() {
        let tensor = |values: &[f32]| Tensor::from_slice([values.len()], values).unwrap();
        let other_nan = f32::from_bits(0xffc0_1234);
        let a = tensor(&[0.0, f32::NAN, 1.0]);
        let b = tensor(&[-0.0, other_nan, 1.0]);
        let report = compare(&a, &b).unwrap();
        assert_eq!(report.differing, 2);
        assert_eq!((report.first[0].ulp, report.first[1].ulp), (Some(0), None));
        assert!(compare_values(&a, &b).unwrap().is_equal());

        let c = tensor(&[0.0, f32::INFINITY, 1.0]);
        let report = compare_values(&a, &c).unwrap();
        assert_eq!((report.differing, report.max_ulp), (1, None));
        assert_eq!((&*report.first[0].a, &*report.first[0].b), ("NaN", "inf"));
    }

    #[test]
    fn the_widest_distances_fit() {
        let pair = |a: Tensor, b: Tensor| compare(&a, &b).unwrap().max_ulp;
        let int = |v: i64| Tensor::from_slice([], &[v]).unwrap();
        assert_eq!(pair(int(i64::MIN), int(i64::MAX)), Some(u64::MAX));
        let float = |v: f64| Tensor::from_slice([], &[v]).unwrap();
        let infinities = pair(float(f64::NEG_INFINITY), float(f64::INFINITY));
        assert_eq!(infinities, Some(2 * f64::INFINITY.to_bits()));
    }

    #[test]
    fn other_types_and_shapes_are_refused() {
        let a = Tensor::from_slice([2], &[1u8, 2]).unwrap();
        let b = Tensor::from_slice([2], &[1i8, 2]).unwrap();
        let c = a.reshape([1, 2]).unwrap();
        for other in [b, c] {
            assert!(matches!(compare(&a, &other), Err(Error::NotComparable { .. })));
            assert!(matches!(compare_values(&a, &other), Err(Error::NotComparable { .. })));
        }
    }

    #[test]
    fn nothing_and_scalars_are_compared_too() {
        let nothing = Tensor::from_slice([0, 3], &[0f32; 0]).unwrap();
        assert_eq!(compare(&nothing, &nothing).unwrap().to_string(), "0 elements, all equal");
        let scalar = |v: u16| Tensor::from_slice([], &[v]).unwrap();
        let report = compare(&scalar(1), &scalar(4)).unwrap();
        assert!(report.first[0].coordinates.is_empty());
        assert_eq!(report.max_ulp, Some(3));
    }

    #[test]
    fn far_elements_are_found_and_counted() {
        let count = 3 * CHUNK / 2 + 5;
        let a = Tensor::from_slice([count], &vec![0u16; count]).unwrap();
        let mut values = vec![0u16; count];
        for value in &mut values[count - 12..] {
            *value = 9;
        }
        let b = Tensor::from_slice([count], &values).unwrap();
        let report = compare(&a, &b).unwrap();
        assert_eq!((report.differing, report.first.len()), (12, MAX_SHOWN));
        assert_eq!(report.first[0].coordinates, [count - 12]);
        assert!(report.to_string().ends_with("\n  and 2 more"));
    }

    #[test]
    fn prints_aligned_rows() {
        let (a, b) = broken(ElementType::F32, 17, 1.5f32.to_bits().into());
        assert_eq!(compare(&a, &a).unwrap().to_string(), "24 elements, all equal");
        assert_eq!(
            compare(&a, &b).unwrap().to_string(),
            "1 of 24 elements differs (4.167%), at most 4194304 ulp apart\
             \n  at           a    b   bits of a   bits of b      ulp\
             \n  [1, 1, 1]  1.0  1.5  0x3f800000  0x3fc00000  4194304"
        );
        let (a, b) = broken(ElementType::I8, 17, 0xff);
        assert_eq!(
            compare(&a, &b).unwrap().to_string(),
            "1 of 24 elements differs (4.167%), at most 2 apart\
             \n  at         a   b  bits of a  bits of b  apart\
             \n  [1, 1, 1]  1  -1       0x01       0xff      2"
        );
    }
}
