// Where the maxima of windows are: the first position, in the order of memory, of those that hold
// the largest element.
//
// A launch looks among the elements of the source, or among positions that an earlier launch found
// (`from_positions`). It gives positions for a later launch (`to_positions`), or in the end the
// elements found and their indices. The CPU kernel is in src/pool/cpu/.
@if(!to_positions) import package::common::divide::quotient;
import package::common::invocation::{Invocation, invocation_number};
import package::common::vector::{OUTPUTS, component_mask, load_elements};
import package::common::vector::{vector_above, vector_equal, vector_rank};
@if(!to_positions) import package::common::vector::{empty_vector, store_vector};
import package::pool::gather::{OutputVector, gather};
@if(!to_positions) import package::pool::numbering::store_index;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(3) var<storage, read> positions: array<u32>;
@group(0) @binding(4) var<storage, read_write> indices: array<u32>;

// The position of nothing.
const NONE: u32 = 0xffffffffu;

struct State {
    // The rank of the best element so far, and its position.
    best: vec4<u32>,
    at: vec4<u32>,
}

fn nothing() -> State {
    return State(vec4<u32>(0u), vec4<u32>(NONE));
}

fn visit(state: State, element: vec4<u32>, inside: vec4<bool>) -> State {
    let at = positions_of(select(vec4<u32>(0u), element, inside), inside);
    let known = at != vec4<u32>(NONE);
    let rank = vector_rank(load_elements(select(vec4<u32>(0u), at, known)));
    let first = vector_equal(rank, state.best) & (at < state.at);
    let better = known & (vector_above(rank, state.best) | first);
    return State(
        select(state.best, rank, component_mask(better)),
        select(state.at, at, better),
    );
}

// The candidates are the elements of the source themselves.
@if(!from_positions)
fn positions_of(element: vec4<u32>, inside: vec4<bool>) -> vec4<u32> {
    return select(vec4<u32>(NONE), element, inside);
}

// The candidates are what an earlier launch found.
@if(from_positions)
fn positions_of(element: vec4<u32>, inside: vec4<bool>) -> vec4<u32> {
    let found = vec4<u32>(
        positions[element.x],
        positions[element.y],
        positions[element.z],
        positions[element.w],
    );
    return select(vec4<u32>(NONE), found, inside);
}

@if(to_positions)
fn finish(vector: u32, v: OutputVector, state: State) {
    for (var i = 0u; i < OUTPUTS; i++) {
        if v.wanted[i] {
            result[params.result_base + v.number[i]] = state.at[i];
        }
    }
}

@if(!to_positions)
fn finish(vector: u32, v: OutputVector, state: State) {
    let at = state.at;
    let known = at != vec4<u32>(NONE);
    let found = load_elements(select(vec4<u32>(0u), at, known));
    let keys = select(empty_vector(), found, component_mask(known));
    store_vector(params.result_base / OUTPUTS + vector, keys, v.wanted);
    for (var i = 0u; i < OUTPUTS; i++) {
        if v.wanted[i] {
            var distance = at[i] - params.numbering.plane_base;
            if !known[i] {
                distance = first_of_plane(v.number[i]);
            }
            store_index(params.numbering.index_base + v.number[i], distance);
        }
    }
}

// How far the first element of a result's plane and channel is from the first plane's first one.
fn first_of_plane(number: u32) -> u32 {
    let n = number + params.numbering.first_channel;
    let channel = n - quotient(n, params.numbering.by_channels) * params.numbering.channels;
    let plane = quotient(number, params.numbering.by_plane);
    return plane * params.numbering.plane_pitch + channel;
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    gather(invocation_number(at));
}
