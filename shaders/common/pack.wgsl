// Copies the elements of a view to contiguous memory. The CPU kernel is in src/plan/view.rs.
import package::common::invocation::{Invocation, invocation_number};
import package::common::source::source_block;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let first = invocation_number(at) * 4u;
    if first >= params.words {
        return;
    }
    let words = source_block(first / 4u);
    let to = params.result_base + first;
    result[to] = words.x;
    if first + 1u < params.words {
        result[to + 1u] = words.y;
    }
    if first + 2u < params.words {
        result[to + 2u] = words.z;
    }
    if first + 3u < params.words {
        result[to + 3u] = words.w;
    }
}
