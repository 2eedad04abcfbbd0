//! Combines the partial results of pieces on the host, by the keys that the kernels use too.

use crate::base::error::Result;
use crate::tensor::key::{Extremum, Key, KeyOrder, Nan, float_bits, infinite_bits};
use crate::tensor::{ElementType, Tensor, TensorDesc, Words, zeroed};

/// A result in host memory, assembled from those of the pieces.
pub(super) struct Assembled {
    pub desc: TensorDesc,
    words: Words,
}

impl Assembled {
    /// All zeros.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the host cannot allocate the result.
    pub(super) fn zeroed(desc: &TensorDesc) -> Result<Self> {
        let words = zeroed(desc.byte_len().div_ceil(8))?;
        Ok(Self { desc: desc.clone(), words })
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.desc.byte_len()]
    }

    /// The bits of the elements.
    pub(super) fn bits_mut<K: Key>(&mut self) -> &mut [K] {
        bytemuck::cast_slice_mut(self.bytes_mut())
    }

    pub(super) fn finish(self) -> Result<Tensor> {
        Tensor::from_words(self.desc, self.words)
    }
}

/// Indices assembled from those of the pieces. They have 64 bits until `finish` narrows them.
pub(super) struct Positions {
    desc: TensorDesc,
    /// The index of each result; `NONE` if no piece has one yet.
    pub at: Words,
}

impl Positions {
    /// No position; -1 as a signed number.
    pub(super) const NONE: u64 = u64::MAX;

    /// # Errors
    /// As [`Assembled::zeroed`].
    pub(super) fn none(desc: &TensorDesc) -> Result<Self> {
        let mut at = zeroed(desc.len())?;
        at.fill(Self::NONE);
        Ok(Self { desc: desc.clone(), at })
    }

    pub(super) fn finish(self) -> Result<Tensor> {
        if self.desc.element_type() == ElementType::I64 {
            return Tensor::from_words(self.desc, self.at);
        }
        Tensor::filled(self.desc, |bytes| {
            let narrow = bytemuck::cast_slice_mut::<u8, i32>(bytes);
            narrow.iter_mut().zip(&*self.at).for_each(|(narrow, &wide)| *narrow = wide as i32);
        })
    }
}

/// The elements of a piece's result.
pub(super) fn bits<K: Key>(tensor: &Tensor) -> &[K] {
    bytemuck::cast_slice(tensor.bytes())
}

/// Writes the maximum of each pair of elements to `into`.
///
/// This is the maximum of the whole set: if NaNs are ignored, a part's maximum is NaN only if the
/// part holds nothing else.
pub(super) fn merge_max<O: KeyOrder>(order: O, into: &mut [O::Key], from: &[O::Key]) {
    for (into, &from) in into.iter_mut().zip(from) {
        *into = order.bits(order.key(*into).max(order.key(from)));
    }
}

/// Whether `later` replaces `earlier` as the maximum with an index. It must be larger; +0 and -0
/// are equal.
pub(super) fn exceeds<O: KeyOrder>(order: O, later: O::Key, earlier: O::Key) -> bool {
    order.rank(order.key(later)) > order.rank(order.key(earlier))
}

/// The bits of the neutral element of [`merge_max`].
pub(super) fn identity(element_type: ElementType, nan: Nan, extremum: Extremum) -> u64 {
    match nan {
        // All other elements, the infinities included, are above an ignored NaN.
        Nan::Ignore if element_type.is_float() => float_bits(element_type)[1],
        _ => infinite_bits(element_type, extremum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::key::{Floats, Ranking};

    fn order(nan: Nan, extremum: Extremum) -> Floats<u32> {
        Floats::<u32>::of(ElementType::F32, Ranking::new(ElementType::F32, nan, extremum))
    }

    #[test]
    fn merged_parts_give_the_maximum_of_the_whole() {
        let (nan, inf) = (f32::NAN, f32::NEG_INFINITY);
        let quiet = 0x7fc0_0000;
        let merged = |a: f32, b: f32, mode| {
            let mut into = [a.to_bits()];
            merge_max(order(mode, Extremum::Maximum), &mut into, &[b.to_bits()]);
            into[0]
        };
        for (a, b, propagated, ignored) in [
            (1.0, 2.0, 2f32.to_bits(), 2f32.to_bits()),
            (-0.0, 0.0, 0, 0),
            (nan, 1.0, quiet, 1f32.to_bits()),
            (nan, inf, quiet, inf.to_bits()),
            (nan, f32::from_bits(0xffc0_0001), quiet, quiet),
        ] {
            for (a, b) in [(a, b), (b, a)] {
                assert_eq!(merged(a, b, Nan::Propagate), propagated);
                assert_eq!(merged(a, b, Nan::Ignore), ignored);
            }
        }
    }

    #[test]
    fn the_identity_changes_nothing() {
        for mode in [Nan::Propagate, Nan::Ignore] {
            for extremum in [Extremum::Maximum, Extremum::Minimum] {
                for bits in [0u32, 1 << 31, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 1] {
                    let mut into = [identity(ElementType::F32, mode, extremum) as u32];
                    merge_max(order(mode, extremum), &mut into, &[bits]);
                    assert_eq!(into, [bits], "{mode:?} {extremum:?}");
                }
            }
        }
    }

    #[test]
    fn equal_elements_do_not_exceed() {
        let exceeds = |a: f32, b: f32, mode| {
            let order = order(mode, Extremum::Maximum);
            super::exceeds(order, a.to_bits(), b.to_bits())
        };
        assert!(!exceeds(0.0, -0.0, Nan::Propagate) && !exceeds(-0.0, 0.0, Nan::Propagate));
        assert!(!exceeds(f32::NAN, -f32::NAN, Nan::Propagate));
        assert!(exceeds(f32::NAN, f32::INFINITY, Nan::Propagate));
        assert!(exceeds(f32::NEG_INFINITY, f32::NAN, Nan::Ignore));
        assert!(!exceeds(f32::NAN, f32::NEG_INFINITY, Nan::Ignore));
    }
}
