// The last item of each element: its number, from 1. The CPU kernel is in src/gradient/scatter.rs.
import package::common::invocation::{Invocation, invocation_number};
import package::gradient::places::{NOWHERE, element_of};
import generated::{WORKGROUP, params};

@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read_write> winners: array<atomic<u32>>;

fn index_word(word: u32) -> u32 {
    return indices[word];
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let item = invocation_number(at);
    if item >= params.items {
        return;
    }
    let element = element_of(item);
    if element != NOWHERE {
        atomicMax(&winners[params.winner_base + element], params.first + item + 1u);
    }
}
