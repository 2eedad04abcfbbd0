// Maxima of windows wherever they lie. The CPU kernel is in src/pool/cpu/.
import package::common::invocation::{Invocation, invocation_number};
@if(contiguous && (bits8 || bits16)) import package::common::vector::load_contiguous;
@else import package::common::vector::load_elements;
import package::common::vector::{OUTPUTS, component_mask, empty_vector, store_vector, vector_max};
import package::pool::gather::{OutputVector, gather};
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;

struct State {
    best: vec4<u32>,
    // Whether the window has an element at all.
    some: vec4<bool>,
}

fn nothing() -> State {
    return State(vec4<u32>(0u), vec4<bool>(false));
}

fn visit(state: State, element: vec4<u32>, inside: vec4<bool>) -> State {
    let keys = select(vec4<u32>(0u), load_tap(element, inside), component_mask(inside));
    return State(vector_max(state.best, keys), state.some | inside);
}

// The keys of elements; those in the padding come out as anything.
@if(contiguous && (bits8 || bits16))
fn load_tap(element: vec4<u32>, inside: vec4<bool>) -> vec4<u32> {
    return load_contiguous(element.x);
}

@else
fn load_tap(element: vec4<u32>, inside: vec4<bool>) -> vec4<u32> {
    return load_elements(select(vec4<u32>(0u), element, inside));
}

fn finish(vector: u32, v: OutputVector, state: State) {
    let best = select(empty_vector(), state.best, component_mask(state.some));
    store_vector(params.result_base / OUTPUTS + vector, best, v.wanted);
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    gather(invocation_number(at));
}
