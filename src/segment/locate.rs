//! `shaders/segment/locate.wgsl`: the part of the data that each row of updates belongs to.

use std::sync::atomic::{AtomicU32, Ordering};

use bytemuck::cast_slice_mut;

use super::ScatterMax;
use super::params::{IdForm, NO_SEGMENT};
use crate::base::threads;
use crate::plan::{Call, Kernel, Shader};
use crate::vector::dispatch;
use crate::wgsl::params;

/// The part of each row, from its indices. With `status`, also counts the rows that have none.
pub(super) static LOCATE: Kernel = Kernel::new::<Params>("scatter_locate", "segment/locate", run)
    .flags(&["small_ids", "status"])
    .constants(&[
        ("NO_PART", |_| NO_SEGMENT.into()),
        ("OUT_OF_RANGE", |_| ScatterMax::OUT_OF_RANGE.into()),
    ])
    .untyped();

/// Maximum axes of rows and axes with indices, together, that fit a small uniform buffer.
pub(super) const MAX_AXES: usize = 64;

params! {
    pub(super) struct Params {
        /// Rows, and the number of the first of them.
        pub rows: u32,
        pub first_row: u32,
        /// The offset of the first index.
        pub base: u32,
        pub id_form: IdForm,
        /// The offset of the first part, in words.
        pub result_base: u32,
        /// Axes of rows, and axes with indices.
        pub axes: u32,
        pub indexed: u32,
        pub padding: [u32; 3],
        /// The axes of rows from the innermost one on, and then those with indices from the outermost
        /// one on: the divisor of the size, whose last word is replaced by the pitch of parts.
        pub axis: [[u32; 4]; MAX_AXES],
    }
}

/// The place along an axis of `size` that an index of `WORDS` words names, if any. A negative one counts from
/// the end.
#[inline(always)]
fn place<const WORDS: usize>(id: &[u32; WORDS], size: u32, sign: u32) -> Option<u32> {
    let high = id[WORDS - 1];
    let negative = high & sign != 0;
    let at = if negative { id[0].wrapping_add(size) } else { id[0] };
    let fits = WORDS == 1 || high == if negative { u32::MAX } else { 0 };
    (fits & (at < size)).then_some(at)
}

/// Stores the part of each row. Returns how many have none.
#[inline(always)]
fn store_parts(parts: &mut [u32], found: impl Iterator<Item = Option<u32>>) -> u32 {
    let mut outside = 0;
    for (part, found) in parts.iter_mut().zip(found) {
        *part = found.unwrap_or(NO_SEGMENT);
        outside += u32::from(found.is_none());
    }
    outside
}

fn run(_: &Shader, call: Call<'_, '_>) {
    match call.params::<Params>().id_form.id_words {
        1 => locate::<1>(call),
        _ => locate::<2>(call),
    }
}

fn locate<const WORDS: usize>(call: Call<'_, '_>) {
    let p: &Params = call.params();
    let (sign, indexed) = (p.id_form.id_sign, p.indexed as usize);
    let ids = &p.id_form.words(call.sources[0])[p.base as usize * WORDS..];
    let ids = ids.as_chunks::<WORDS>().0;
    let [result, others @ ..] = call.results else { return };
    let result: &mut [u32] = cast_slice_mut(result);
    let result = &mut result[p.result_base as usize..][..p.rows as usize];
    let (axes, all) = p.axis.split_at(p.axes as usize);
    let all = &all[..indexed];
    let lost = AtomicU32::new(0);
    threads::each_chunk(result, threads::CHUNK_LEN, |number, parts| {
        let first = number * threads::CHUNK_LEN;
        let ids = &ids[first * indexed..];
        // Usually one axis has indices, and rows have no places along others.
        let outside = if let ([], &[[size, .., pitch]]) = (axes, all) {
            let part = |id| Some(place(id, size, sign)?.wrapping_mul(pitch));
            dispatch(|| store_parts(parts, ids.iter().map(part)))
        } else {
            let part = |at: usize| {
                let mut rest = p.first_row + (first + at) as u32;
                let mut sum = 0;
                for &[size, .., pitch] in axes {
                    sum = (rest % size).wrapping_mul(pitch).wrapping_add(sum);
                    rest /= size;
                }
                // A row may have no indices at all.
                for (id, &[size, .., pitch]) in ids[at * indexed..].iter().zip(all) {
                    sum += place(id, size, sign)? * pitch;
                }
                Some(sum)
            };
            store_parts(parts, (0..parts.len()).map(part))
        };
        lost.fetch_add(outside, Ordering::Relaxed);
    });
    if let ([status], lost @ 1..) = (others, lost.into_inner()) {
        let status: &mut [u32] = cast_slice_mut(status);
        status[0] |= ScatterMax::OUT_OF_RANGE;
        status[1] += lost;
    }
}
