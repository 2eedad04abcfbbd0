// Ids of one word from those of 1 or 2 bytes, of which a word has four or two. The CPU kernel is in
// src/segment/widen_ids.rs.
import package::common::invocation::{Invocation, invocation_number};
import generated::{WORKGROUP, params};

@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

fn wide(id: u32) -> u32 {
    let first_bit = id * params.bits;
    // Moved to the top, so that moving it back extends its sign.
    let top = ids[first_bit / 32u] << (32u - params.bits - first_bit % 32u);
    if params.signed == 1u {
        return u32(i32(top) >> (32u - params.bits));
    }
    return top >> (32u - params.bits);
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let begin = invocation_number(at) * params.chunk;
    let end = min(begin + params.chunk, params.count);
    for (var i = begin; i < end; i++) {
        result[params.result_base + i] = wide(params.base + i);
    }
}
