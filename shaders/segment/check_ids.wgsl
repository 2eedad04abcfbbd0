// The status of ids or offsets: 1 if one is below the one before it, 2 if one is negative, 4 if
// an offset lies behind the last row. The CPU kernel is in src/segment/check_ids.rs.
import package::common::invocation::{Invocation, invocation_number};
import generated::WORKGROUP;

struct Params {
    // Ids.
    count: u32,
    // Ids of an invocation.
    chunk: u32,
    // Where they begin, in ids.
    base: u32,
    // Words of an id, which is signed: 1 or 2.
    id_words: u32,
    // 1: the ids are offsets, and `rows` is the largest that there may be.
    offsets: u32,
    rows: u32,
    padding0: u32,
    padding1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@if(!in_place) @group(0) @binding(1) var<storage, read> ids: array<u32>;
@if(in_place) @group(0) @binding(1) var<storage, read_write> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> status: array<atomic<u32>>;

fn is_below(a: u32, b: u32) -> bool {
    let low_a = ids[a * params.id_words];
    let low_b = ids[b * params.id_words];
    if params.id_words == 1u {
        return i32(low_a) < i32(low_b);
    }
    let high_a = i32(ids[a * 2u + 1u]);
    let high_b = i32(ids[b * 2u + 1u]);
    return high_a < high_b || (high_a == high_b && low_a < low_b);
}

fn is_too_large(low: u32, high: u32) -> bool {
    return params.offsets == 1u && (low > params.rows || (params.id_words == 2u && high != 0u));
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let begin = invocation_number(at) * params.chunk;
    let end = min(begin + params.chunk, params.count);
    var found = 0u;
    for (var i = begin; i < end; i++) {
        let id = params.base + i;
        let low = ids[id * params.id_words];
        let high = ids[(id + 1u) * params.id_words - 1u];
        if i32(high) < 0 {
            found |= 2u;
        } else if is_too_large(low, high) {
            found |= 4u;
        }
        // A launch begins with the last id of the one before it.
        if i > 0u && is_below(id, id - 1u) {
            found |= 1u;
        }
    }
    if found != 0u {
        atomicOr(&status[0], found);
    }
}
