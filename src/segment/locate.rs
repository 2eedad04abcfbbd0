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
        /// Where the indices begin.
        pub base: u32,
        pub id_form: IdForm,
        /// Where the parts begin, in words.
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

/// The parts of rows with one index each, of `WORDS` words, along an axis of a size and a pitch. Returns how
/// many have none.
#[inline(always)]
fn along_one<const WORDS: usize>(
    ids: &[u32],
    parts: &mut [u32],
    [size, pitch, sign]: [u32; 3],
) -> u32 {
    let mut outside = 0;
    for (part, id) in parts.iter_mut().zip(ids.as_chunks::<WORDS>().0) {
        let high = id[WORDS - 1];
        let negative = high & sign != 0;
        let at = if negative { id[0].wrapping_add(size) } else { id[0] };
        let fits = WORDS == 1 || high == if negative { u32::MAX } else { 0 };
        let found = fits & (at < size);
        *part = if found { at.wrapping_mul(pitch) } else { NO_SEGMENT };
        outside += u32::from(!found);
    }
    outside
}

fn run(_: &Shader, call: Call<'_, '_>) {
    let p: &Params = call.params();
    let (words, indexed) = (p.id_form.id_words as usize, p.indexed as usize);
    let ids = p.id_form.words(call.sources[0]);
    let ids = &ids[p.base as usize * words..];
    let [result, others @ ..] = call.results else { return };
    let result: &mut [u32] = cast_slice_mut(result);
    let result = &mut result[p.result_base as usize..][..p.rows as usize];
    let (axes, all) = p.axis.split_at(p.axes as usize);
    let place = |id: &[u32], size: u32| {
        let high = id[words - 1];
        let negative = high & p.id_form.id_sign != 0;
        let at = if negative { id[0].wrapping_add(size) } else { id[0] };
        let fits = words == 1 || high == if negative { u32::MAX } else { 0 };
        (fits && at < size).then_some(at)
    };
    let lost = AtomicU32::new(0);
    // Mostly one axis has indices, and a row has no other places.
    let only = match (axes, indexed) {
        ([], 1) => Some(all[0]),
        _ => None,
    };
    threads::each_chunk(result, threads::CHUNK_LEN, |number, mut parts| {
        let first = number * threads::CHUNK_LEN;
        let mut outside = 0;
        if let Some([size, .., pitch]) = only {
            let ids = &ids[first * words..][..parts.len() * words];
            let axis = [size, pitch, p.id_form.id_sign];
            outside = match words {
                1 => dispatch(|| along_one::<1>(ids, parts, axis)),
                _ => dispatch(|| along_one::<2>(ids, parts, axis)),
            };
            parts = &mut [];
        }
        for (i, part) in parts.iter_mut().enumerate() {
            let row = first + i;
            let mut rest = p.first_row + row as u32;
            let mut sum = 0;
            for &[size, .., pitch] in axes {
                sum += rest % size * pitch;
                rest /= size;
            }
            let own = &ids[row * indexed * words..][..indexed * words];
            let places = own.chunks(words).zip(all);
            let found = places.map(|(id, &[size, .., pitch])| Some(place(id, size)? * pitch));
            *part = found.sum::<Option<u32>>().map_or(NO_SEGMENT, |found| sum + found);
            outside += u32::from(*part == NO_SEGMENT);
        }
        lost.fetch_add(outside, Ordering::Relaxed);
    });
    if let ([status], lost @ 1..) = (others, lost.into_inner()) {
        let status: &mut [u32] = cast_slice_mut(status);
        status[0] |= ScatterMax::OUT_OF_RANGE;
        status[1] += lost;
    }
}
