// Sets every element to one value. The CPU kernel is in src/plan/fill.rs.
import package::common::invocation::{Invocation, invocation_number};
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let first = invocation_number(at) * params.words_per_thread;
    if params.words_per_thread == 8u && first + 8u <= params.words {
        result[first] = params.even;
        result[first + 1u] = params.odd;
        result[first + 2u] = params.even;
        result[first + 3u] = params.odd;
        result[first + 4u] = params.even;
        result[first + 5u] = params.odd;
        result[first + 6u] = params.even;
        result[first + 7u] = params.odd;
        return;
    }
    for (var i = 0u; i < params.words_per_thread; i++) {
        let word = first + i;
        if word < params.words {
            result[word] = select(params.even, params.odd, word % 2u == 1u);
        }
    }
}
