//! `shaders/segment/widen_ids.wgsl`: ids of one word from those of 1 or 2 bytes.

use crate::plan::{Call, Kernel, Shader};
use crate::threads;
use crate::wgsl::params;

/// Ids of one word.
pub(super) static WIDEN_IDS: Kernel =
    Kernel::new::<Params>("segment_widen_ids", "segment/widen_ids", run).untyped();

params! {
    pub(super) struct Params {
        /// Ids.
        pub count: u32,
        /// Ids of an invocation.
        pub chunk: u32,
        /// Where they begin, in ids.
        pub base: u32,
        /// Bits of an id: 8 or 16.
        pub bits: u32,
        /// 1: ids are signed.
        pub signed: u32,
        /// Where the result begins, in words.
        pub result_base: u32,
        pub padding: [u32; 2],
    }
}

fn run(_: &Shader, call: Call<'_, '_>) {
    let p: &Params = call.params();
    let size = p.bits as usize / 8;
    let ids = &call.sources[0][p.base as usize * size..][..p.count as usize * size];
    let result: &mut [u32] = bytemuck::cast_slice_mut(call.results[0]);
    let result = &mut result[p.result_base as usize..][..p.count as usize];
    let signed = p.signed == 1;
    threads::each_chunk(result, threads::SOME, |number, result| {
        let ids = &ids[number * threads::SOME * size..];
        match (size, signed) {
            (1, false) => widen(result, ids, |id: [u8; 1]| id[0].into()),
            (1, true) => widen(result, ids, |id: [u8; 1]| i32::from(id[0] as i8) as u32),
            (_, false) => widen(result, ids, |id| u16::from_le_bytes(id).into()),
            (_, true) => widen(result, ids, |id| i32::from(i16::from_le_bytes(id)) as u32),
        }
    });
}

fn widen<const N: usize>(result: &mut [u32], ids: &[u8], wide: impl Fn([u8; N]) -> u32) {
    for (result, id) in result.iter_mut().zip(ids.as_chunks().0) {
        *result = wide(*id);
    }
}
