//! `shaders/segment/check_ids.wgsl`: the errors of ids or offsets, and how many rows belong to no
//! segment.

use super::params::IdForm;
use super::{SegmentMax, Segments};
use crate::plan::{Call, Kernel, Shader};
use crate::wgsl::params;

/// The status of ids or offsets.
pub(super) static CHECK_IDS: Kernel =
    Kernel::new::<Params>("segment_check_ids", "segment/check_ids", run)
        .constants(&[("ANY_ORDER", |_| ANY_ORDER.into()), ("OFFSETS", |_| OFFSETS.into())])
        .flags(&["small_ids"])
        .untyped();

params! {
    pub(super) struct Params {
        /// Ids.
        pub count: u32,
        /// Invocations. Each takes every `step`-th id, so that neighbours load neighbouring ids.
        pub step: u32,
        /// The offset of the first id, in ids.
        pub base: u32,
        pub id_form: IdForm,
        /// The form of the ids, numbered as `Segments`: 0 for ascending order, or `ANY_ORDER` or
        /// `OFFSETS`.
        pub form: u32,
        pub rows: u32,
        pub segments: u32,
        /// Ids at the beginning that the launch before has counted: 0 or 1.
        pub counted: u32,
        /// 1: no launch follows.
        pub last: u32,
        pub padding: u32,
    }
}

const ANY_ORDER: u32 = Segments::Unsorted as u32;
const OFFSETS: u32 = Segments::Offsets as u32;

fn run(_: &Shader, call: Call<'_, '_>) {
    let p: &Params = call.params();
    let words = p.id_form.id_words as usize;
    let ids = p.id_form.words(call.sources[0]);
    let status: &mut [u32] = bytemuck::cast_slice_mut(call.results[0]);
    let ids = &ids[p.base as usize * words..][..p.count as usize * words];
    let value = |id: &[u32]| {
        let high = id[words - 1];
        let high = if p.id_form.id_sign == 0 { i128::from(high) } else { i128::from(high as i32) };
        if words == 1 { high } else { high << 32 | i128::from(id[0]) }
    };
    let (rows, segments) = (i128::from(p.rows), i128::from(p.segments));
    let before = |offset: i128| offset.clamp(0, rows) as u32;
    let mut previous = None;
    for (i, id) in ids.chunks(words).map(value).enumerate() {
        let counted = i < p.counted as usize;
        if p.form == OFFSETS {
            if id > rows {
                status[0] |= SegmentMax::TOO_LARGE;
            }
            if i == 0 && p.counted == 0 {
                status[1] += before(id);
            }
            if i + 1 == p.count as usize && p.last == 1 {
                status[1] += p.rows - before(id);
            }
        } else if !counted && !(0..segments).contains(&id) {
            status[1] += 1;
        }
        if p.form != ANY_ORDER {
            if id < 0 {
                status[0] |= SegmentMax::NEGATIVE;
            }
            if previous.is_some_and(|previous| id < previous) {
                status[0] |= SegmentMax::UNSORTED;
            }
        }
        previous = Some(id);
    }
}
