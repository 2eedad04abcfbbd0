// Items of scratch become elements or, with `argmax`, elements and their rows' numbers. Results
// are numbered over [segments, inner]; an invocation owns an output vector. The CPU kernel is in
// src/segment/finish.rs.
@if(argmax) import package::common::divide::quotients;
@if(!argmax && !bits64) import package::common::block::ELEMENT_BITS;
import package::common::invocation::{Invocation, invocation_number};
import package::common::vector::{OFFSETS, OUTPUTS, component_mask, empty_vector, store_vector};
@if(argmax) import package::common::vector::load_elements;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;

@if(!argmax) @group(0) @binding(1) var<storage, read> items: array<u32>;
@if(argmax) @group(0) @binding(3) var<storage, read> items: array<u32>;
@if(argmax) @group(0) @binding(4) var<storage, read_write> indices: array<u32>;

// Which results this launch stores, by the marks of their items.
@if(!argmax)
fn is_here(mark: vec4<u32>) -> vec4<bool> {
    return vec4<bool>(true);
}

// A launch has some of the rows at hand, and other launches have the others.
@if(argmax)
fn is_here(mark: vec4<u32>) -> vec4<bool> {
    return (mark == vec4<u32>(0u)) | is_row_here(mark);
}

@if(argmax)
fn is_row_here(mark: vec4<u32>) -> vec4<bool> {
    return ~mark - params.first_row < vec4<u32>(params.rows);
}

// The keys of results that have a mark; of others, anything.
@if(!argmax && !bits64)
fn item_keys(number: vec4<u32>, item: vec4<u32>, mark: vec4<u32>) -> vec4<u32> {
    let keys = vec4<u32>(items[item.x], items[item.y], items[item.z], items[item.w]);
    return keys << vec4<u32>(32u - ELEMENT_BITS);
}

@if(!argmax && bits64)
fn item_keys(number: vec4<u32>, item: vec4<u32>, mark: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(items[item.x + 1u], items[item.x], items[item.y + 1u], items[item.y]);
}

@if(argmax)
fn item_keys(number: vec4<u32>, item: vec4<u32>, mark: vec4<u32>) -> vec4<u32> {
    let column = number - quotients(number, params.by_inner) * params.inner;
    let row = select(vec4<u32>(0u), ~mark - params.first_row, is_row_here(mark));
    return load_elements(params.base + row * params.inner + column);
}

@if(!argmax)
fn store_indices(number: vec4<u32>, mark: vec4<u32>, wanted: vec4<bool>) {
}

@if(argmax)
fn store_indices(number: vec4<u32>, mark: vec4<u32>, wanted: vec4<bool>) {
    for (var i = 0u; i < OUTPUTS; i++) {
        if wanted[i] {
            // -1 where there is no row.
            let known = mark[i] != 0u;
            let at = (params.index_base + number[i]) * params.index_words;
            indices[at] = select(0xffffffffu, ~mark[i], known);
            if params.index_words == 2u {
                indices[at + 1u] = select(0xffffffffu, 0u, known);
            }
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let vector = invocation_number(at);
    // Results before the first one belong to an earlier launch.
    let lead = params.result_base % OUTPUTS;
    if vector >= (lead + params.outputs + OUTPUTS - 1u) / OUTPUTS {
        return;
    }
    let number = vec4<u32>(vector * OUTPUTS - lead) + OFFSETS;
    let inside = number < vec4<u32>(params.outputs);
    let clamped = min(number, vec4<u32>(params.outputs - 1u));
    let item = clamped * params.item_words;
    let last = item + vec4<u32>(params.item_words - 1u);
    let mark = vec4<u32>(items[last.x], items[last.y], items[last.z], items[last.w]);
    let known = component_mask(mark != vec4<u32>(0u));
    let keys = select(empty_vector(), item_keys(clamped, item, mark), known);
    let wanted = inside & is_here(mark);
    store_vector(params.result_base / OUTPUTS + vector, keys, wanted);
    store_indices(number, mark, wanted);
}
