//! `shaders/segment/check_ids.wgsl`: what is wrong with ids or offsets.

use bytemuck::{Pod, Zeroable};

use super::SegmentMax;
use crate::fault::{self, Fault};
use crate::plan::{Call, Kernel, Shader};

/// The status of ids or offsets.
pub(super) static CHECK_IDS: Kernel =
    Kernel::new("segment_check_ids", "segment/check_ids", run).untyped();

/// As the shader's `Params`, field for field.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct Params {
    pub count: u32,
    pub chunk: u32,
    pub base: u32,
    pub id_words: u32,
    pub offsets: u32,
    pub rows: u32,
    pub padding: [u32; 2],
}

fn run(_: &Shader, mut call: Call<'_, '_>) {
    let p: &Params = call.params();
    let words = p.id_words as usize;
    let (ids, status): (&[u32], &mut [u32]) = call.one();
    let ids = &ids[p.base as usize * words..][..p.count as usize * words];
    let value = |id: &[u32]| match id {
        [low] => i64::from(*low as i32),
        _ => i64::from(id[1] as i32) << 32 | i64::from(id[0]),
    };
    let rows = i64::from(p.rows) - fault::or(Fault::OffsetsEnd, 0, 1);
    let mut previous = None;
    for id in ids.chunks(words).map(value) {
        if p.offsets == 1 && id > rows {
            status[0] |= SegmentMax::TOO_LARGE;
        }
        if id < 0 {
            status[0] |= SegmentMax::NEGATIVE;
        }
        if previous.is_some_and(|previous| id < previous) {
            status[0] |= SegmentMax::UNSORTED;
        }
        previous = Some(id);
    }
}
