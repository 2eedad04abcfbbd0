// Stores values at their positions. An invocation has an item: a value with its position. No two
// items name one element or, if they may (`unpooled`), the winner stores its value. The CPU kernel
// is in src/gradient/scatter.rs.
import package::common::invocation::{Invocation, invocation_number};
import package::common::source::source_word;
import package::gradient::places::{NOWHERE, element_of};
import generated::{WORKGROUP, params};

// Two elements share a word.
@if(bits16) @group(0) @binding(2) var<storage, read_write> result: array<atomic<u32>>;
@if(!bits16) @group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(3) var<storage, read> indices: array<u32>;
@group(0) @binding(5) var<storage, read> winners: array<u32>;

fn index_word(word: u32) -> u32 {
    return indices[word];
}

@if(unpooled)
fn stores(item: u32, element: u32) -> bool {
    return winners[params.winner_base + element] == params.first + item + 1u;
}

@if(!unpooled)
fn stores(item: u32, element: u32) -> bool {
    return true;
}

// The result is 0 before the launch.
@if(bits16)
fn store(item: u32, element: u32) {
    let value = source_word(item / 2u) >> ((item % 2u) * 16u);
    atomicOr(&result[element / 2u], (value & 0xffffu) << ((element % 2u) * 16u));
}

@if(bits32)
fn store(item: u32, element: u32) {
    result[element] = source_word(item);
}

@if(bits64)
fn store(item: u32, element: u32) {
    result[element * 2u] = source_word(item * 2u);
    result[element * 2u + 1u] = source_word(item * 2u + 1u);
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let item = invocation_number(at);
    if item >= params.items {
        return;
    }
    let element = element_of(item);
    if element != NOWHERE && stores(item, element) {
        store(params.value_base + item, params.result_base + element);
    }
}
