//! `shaders/segment/expand_offsets.wgsl`: ids from offsets.

use super::params::{IdForm, NO_SEGMENT};
use crate::plan::{Call, Kernel, Shader};
use crate::wgsl::params;

/// The segment of each row, from offsets.
pub(super) static EXPAND_OFFSETS: Kernel =
    Kernel::new::<Params>("segment_expand_offsets", "segment/expand_offsets", run)
        .flags(&["small_ids"])
        .untyped();

params! {
    pub(super) struct Params {
        /// Rows, and the number of the first of them.
        pub rows: u32,
        pub first_row: u32,
        /// Rows of a chunk, which one invocation expands, and chunks.
        pub chunk: u32,
        pub chunks: u32,
        /// Segments. There is one more offset, the end of the last segment.
        pub segments: u32,
        /// The number of the first offset in its binding.
        pub base: u32,
        pub id_form: IdForm,
        /// The offset of the first id, in words.
        pub result_base: u32,
        pub padding: [u32; 2],
    }
}

fn run(_: &Shader, call: Call<'_, '_>) {
    let p: &Params = call.params();
    let offsets = p.id_form.words(call.sources[0]);
    let words = p.id_form.id_words as usize;
    // The first row of a segment, from the low word as in the shader.
    let begin = |segment: u32| offsets[(p.base as usize + segment as usize) * words];
    // The last segment that begins at a row or before it.
    let search = |row: u32| {
        let (mut low, mut high) = (0, p.segments + 1);
        while low < high {
            let middle = (low + high) / 2;
            if begin(middle) <= row { low = middle + 1 } else { high = middle }
        }
        low.wrapping_sub(1)
    };
    let result: &mut [u32] = bytemuck::cast_slice_mut(call.results[0]);
    let result = &mut result[p.result_base as usize..][..p.rows as usize];
    let mut row = p.first_row;
    for ids in result.chunks_mut(p.chunk as usize) {
        // As in the shader: a search for each chunk, which matters if offsets do not ascend.
        let mut segment = search(row);
        for id in ids {
            if segment >= p.segments || row >= begin(segment + 1) {
                segment = search(row);
            }
            *id = if segment < p.segments { segment } else { NO_SEGMENT };
            row += 1;
        }
    }
}
