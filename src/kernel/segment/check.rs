//! The twins of `shaders/segment_expand.wgsl` and `shaders/segment_check.wgsl`.

use super::{NONE, Params};

/// Ids from offsets.
pub(super) fn expand(p: &Params, offsets: &[u32], result: &mut [u32]) {
    let offset = |segment: u32| {
        let words = p.id_words as usize;
        let at = (p.ids_base as usize + segment as usize) * words;
        let (low, high) = (offsets[at], offsets[at + words - 1]);
        match (high as i32) < 0 {
            true => 0,
            false if words == 2 && high != 0 => i32::MAX as u32,
            false => low,
        }
    };
    let segment_of = |row: u32| {
        let (mut low, mut high) = (0, p.segments + 1);
        while low < high {
            let middle = (low + high) / 2;
            if offset(middle) <= row { low = middle + 1 } else { high = middle }
        }
        low.wrapping_sub(1)
    };
    for number in 0..p.runs as usize {
        let rows = p.rows_of(number);
        let mut segment = segment_of(p.first_row + rows.start as u32);
        for i in rows {
            let row = p.first_row + i as u32;
            if segment >= p.segments || row >= offset(segment + 1) {
                segment = segment_of(row);
            }
            result[p.result_base as usize + i] = if segment < p.segments { segment } else { NONE };
        }
    }
}

/// What is wrong with ids or offsets.
pub(super) fn check(p: &Params, ids: &[u32], status: &mut [u32]) {
    let words = p.id_words as usize;
    let ids = &ids[p.ids_base as usize * words..][..p.rows as usize * words];
    let value = |id: &[u32]| match id {
        [low] => i64::from(*low as i32),
        _ => i64::from(id[1] as i32) << 32 | i64::from(id[0]),
    };
    let mut previous = None;
    for id in ids.chunks(words).map(value) {
        let beyond = p.last == 1 && id > i64::from(p.last_row);
        let below = previous.is_some_and(|previous| id < previous);
        status[0] |= u32::from(beyond) << 2 | u32::from(id < 0) << 1 | u32::from(below);
        previous = Some(id);
    }
}
