// Sets every element to one value. The CPU kernel is in src/plan/fill.rs.
import package::common::invocation::{Invocation, invocation_number};
import generated::WORKGROUP;

struct Params {
    // Words to write.
    words: u32,
    // Words at even and at odd places: the element, repeated to fill them.
    even: u32,
    odd: u32,
    // The last word, whose padding is 0.
    last: u32,
    // Contiguous words of an invocation: 1 or 8.
    words_per_thread: u32,
    padding0: u32,
    padding1: u32,
    padding2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let first = invocation_number(at) * params.words_per_thread;
    if params.words_per_thread == 8u && first + 8u < params.words {
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
    for (var word = first; word < min(first + params.words_per_thread, params.words); word++) {
        let value = select(params.even, params.odd, word % 2u == 1u);
        result[word] = select(value, params.last, word + 1u == params.words);
    }
}
