//! Random views of a case's tensors.

use wgmax::internals::filled;
use wgmax::{ElementType, Extremum, Result, Tensor, TensorDesc, View};

use super::Random;
use super::elements::mirrored;
use crate::oracle::coordinates;

/// A random view for a tensor: rows with gaps, axes in another order in memory, backwards, with
/// steps, from an offset on. No two elements have the same address.
pub(super) fn view(desc: &TensorDesc, random: &mut Random) -> Result<View> {
    let rank = desc.rank();
    let item = desc.element_type().size();
    if random.once_in(4) {
        let row = random.pick(&[16, 64, 256]);
        return View::with_aligned_rows(desc.clone(), row);
    }
    // The axes, the innermost in memory first.
    let mut order: Vec<usize> = (0..rank).rev().collect();
    if random.once_in(3) {
        (1..rank).for_each(|i| order.swap(i, random.below(i as u64 + 1) as usize));
    }
    // Gaps that keep whole words or blocks, and any other gaps.
    let unit = random.pick(&[1, 1, (4 / item).max(1), (16 / item).max(1)]) as u64;
    let mut offset = random.below(5) * unit;
    let mut pitches = vec![0; rank];
    let mut span = 1;
    for (i, &axis) in order.iter().enumerate() {
        let size = desc.shape()[axis].max(1) as u64;
        let gap = match i {
            0 if random.once_in(4) => 1 + random.below(4),
            0 => 0,
            _ if random.once_in(2) => random.below(4) * unit,
            _ => 0,
        };
        let pitch = if i == 0 { 1 + gap } else { (span + gap).next_multiple_of(unit) };
        let backwards = random.once_in(8);
        if backwards {
            offset += (size - 1) * pitch;
        }
        pitches[axis] = if backwards { -(pitch as isize) } else { pitch as isize };
        span = pitch * size;
    }
    View::new(desc.clone(), offset as usize, pitches)
}

/// Memory in which the elements of a tensor have the layout of a view, among other elements that
/// would win.
pub(super) fn memory(tensor: &Tensor, view: &View, extremum: Extremum) -> Result<Tensor> {
    let len = view.byte_len() / tensor.element_type().size();
    let desc = TensorDesc::new(tensor.element_type(), [len])?;
    // Large numbers that are not NaN, whose bytes are equal or come in pairs.
    let other = match desc.element_type() {
        ElementType::Bool => [1, 1],
        ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => [0xff, 0xff],
        ElementType::F16 => [0xff, 0x7b],
        _ => [0x7f, 0x7f],
    };
    let others = filled(desc.clone(), |bytes| {
        bytes.iter_mut().zip(other.into_iter().cycle()).for_each(|(byte, other)| *byte = other);
    })?;
    let others = if extremum == Extremum::Minimum { mirrored(&others)? } else { others };
    filled(desc, |bytes| {
        bytes.copy_from_slice(others.bytes());
        let (size, pitches) = (tensor.element_type().size(), view.pitches());
        for (number, element) in tensor.bytes().chunks_exact(size).enumerate() {
            let at = coordinates(number, tensor.shape()).into_iter().zip(&pitches);
            let offset =
                at.fold(view.offset() as isize, |offset, (at, pitch)| offset + at as isize * pitch);
            bytes[offset as usize * size..][..size].copy_from_slice(element);
        }
    })
}
