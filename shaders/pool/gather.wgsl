// Windows at any place: each result of an output vector reads the elements of its own window, tap
// by tap. The CPU kernel is in src/pool/cpu/.
//
// It finds maxima or, with `indices`, their positions: among equal elements the first in the order
// of memory. Candidates are the elements of the source, or positions that an earlier launch found
// (`from_positions`). The results are positions for a later launch (`to_positions`), or the
// elements found and their indices.
import package::common::divide::{quotient, quotients};
@if(indices) import package::common::element::kernel_ranking;
import package::common::invocation::{Invocation, invocation_number};
@if(indices) import package::common::rank::vector_rank;
import package::common::vector::{
    OFFSETS, OUTPUTS, component_mask, empty_vector, load_contiguous, load_elements, store_vector,
    vector_above, vector_equal, vector_max
};
import package::pool::numbering::store_index;
import package::pool::windows::{line_windows, tap_offset, window_axis, window_start};
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(3) var<storage, read> positions: array<u32>;
@group(0) @binding(4) var<storage, read_write> indices: array<u32>;

// The position in a window without elements.
const NONE: u32 = 0xffffffffu;

@if(!indices)
struct State {
    best: vec4<u32>,
    // Whether the window has an element at all.
    some: vec4<bool>,
}

@if(!indices)
fn nothing() -> State {
    return State(vec4<u32>(0u), vec4<bool>(false));
}

@if(!indices)
fn visit(state: State, element: vec4<u32>, inside: vec4<bool>) -> State {
    let keys = select(vec4<u32>(0u), load_tap(element, inside), component_mask(inside));
    return State(vector_max(state.best, keys), state.some | inside);
}

// The keys of elements; those in the padding are unspecified.
@if(contiguous && (bits8 || bits16))
fn load_tap(element: vec4<u32>, inside: vec4<bool>) -> vec4<u32> {
    return load_contiguous(element.x);
}

@if(!contiguous || bits32 || bits64)
fn load_tap(element: vec4<u32>, inside: vec4<bool>) -> vec4<u32> {
    return load_elements(select(vec4<u32>(0u), element, inside));
}

@if(!indices)
fn finish(vector: u32, v: OutputVector, state: State) {
    let best = select(empty_vector(), state.best, component_mask(state.some));
    store_vector(params.result_base / OUTPUTS + vector, best, v.wanted);
}

@if(indices)
struct State {
    // The rank of the best element so far, and its position.
    best: vec4<u32>,
    at: vec4<u32>,
}

@if(indices)
fn nothing() -> State {
    return State(vec4<u32>(0u), vec4<u32>(NONE));
}

@if(indices)
fn visit(state: State, element: vec4<u32>, inside: vec4<bool>) -> State {
    let at = positions_of(select(vec4<u32>(0u), element, inside), inside);
    let known = at != vec4<u32>(NONE);
    let rank = vector_rank(load_elements(select(vec4<u32>(0u), at, known)), kernel_ranking());
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

// The candidates are positions that an earlier launch found.
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

@if(indices && to_positions)
fn finish(vector: u32, v: OutputVector, state: State) {
    for (var i = 0u; i < OUTPUTS; i++) {
        if v.wanted[i] {
            result[params.result_base + v.number[i]] = state.at[i];
        }
    }
}

@if(indices && !to_positions)
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

// An output vector, and the windows of its results.
struct OutputVector {
    // The results' numbers. Components without a result repeat others.
    number: vec4<u32>,
    // Components that have a result.
    wanted: vec4<bool>,
    // The source's element 0 of all three axes.
    origin: vec4<u32>,
    // The first place of the windows along each axis.
    first0: vec4<i32>,
    first1: vec4<i32>,
    first2: vec4<i32>,
    // The distances from their first taps to their last ones, with `shared_out`.
    reach0: vec4<u32>,
    reach1: vec4<u32>,
    reach2: vec4<u32>,
}

fn gather(vector: u32) {
    let lead = params.result_base % OUTPUTS;
    if vector >= (lead + params.windows.outputs + OUTPUTS - 1u) / OUTPUTS {
        return;
    }
    let v = place(numbered(vector));
    // Before the loops: drivers do not hoist these out of them.
    let taps0 = taps_of(0u, v.first0);
    let taps1 = taps_of(1u, v.first1);
    let taps2 = taps_of(2u, v.first2);
    var state = nothing();
    for (var j0 = taps0.x; j0 < taps0.y; j0++) {
        let at0 = v.first0 + tap_offsets(0u, j0, v.reach0);
        let inside0 = inside(0u, at0);
        for (var j1 = taps1.x; j1 < taps1.y; j1++) {
            let at1 = v.first1 + tap_offsets(1u, j1, v.reach1);
            let inside01 = inside0 & inside(1u, at1);
            if !any(inside01) {
                continue;
            }
            let line = v.origin + along_axis(0u, at0) + along_axis(1u, at1);
            for (var j2 = taps2.x; j2 < taps2.y; j2++) {
                let at2 = v.first2 + tap_offsets(2u, j2, v.reach2);
                state = visit(state, line + along_axis(2u, at2), inside01 & inside(2u, at2));
            }
        }
    }
    finish(vector, v, state);
}

// Vectors begin at whole words of the result. The first one may have components before the first
// result, whose numbers wrap around to very large ones.
fn numbered(vector: u32) -> OutputVector {
    let number = vec4<u32>(vector * OUTPUTS - params.result_base % OUTPUTS) + OFFSETS;
    var v: OutputVector;
    v.wanted = number < vec4<u32>(params.windows.outputs);
    v.number = min(number, vec4<u32>(params.windows.outputs - 1u));
    return v;
}

// The results of a vector may be in several lines.
@if(!contiguous)
fn place(numbered: OutputVector) -> OutputVector {
    var v = numbered;
    let line = quotients(v.number, params.windows.by_line);
    let rest = quotients(line, params.windows.by_axis1);
    let outer = quotients(rest, params.windows.by_axis0);
    let in_line = v.number - line * params.windows.by_line.x;
    let window = quotients(in_line, params.gather.by_inner);
    let window0 = rest - outer * params.windows.by_axis0.x;
    let window1 = line - rest * params.windows.by_axis1.x;
    v.first0 = window_starts(0u, window0);
    v.first1 = window_starts(1u, window1);
    v.first2 = window_starts(2u, window);
    v.reach0 = window_reaches(0u, window0);
    v.reach1 = window_reaches(1u, window1);
    v.reach2 = window_reaches(2u, window);
    let inner = in_line - window * params.windows.inner;
    v.origin = params.windows.base + outer * params.windows.outer_pitch + inner;
    return v;
}

@if(shared_out)
fn window_starts(axis: u32, number: vec4<u32>) -> vec4<i32> {
    return vec4<i32>(
        window_start(axis, number.x),
        window_start(axis, number.y),
        window_start(axis, number.z),
        window_start(axis, number.w),
    );
}

@if(shared_out)
fn window_reaches(axis: u32, number: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(
        window_axis(axis, number.x).reach,
        window_axis(axis, number.y).reach,
        window_axis(axis, number.z).reach,
        window_axis(axis, number.w).reach,
    );
}

@if(!shared_out)
fn window_reaches(axis: u32, number: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(params.windows.axes[axis].reach);
}

// The distances of a tap from the first ones of some windows.
@if(!shared_out)
fn tap_offsets(axis: u32, tap: u32, reach: vec4<u32>) -> vec4<i32> {
    return vec4<i32>(tap_offset(axis, tap));
}

@if(shared_out)
fn tap_offsets(axis: u32, tap: u32, reach: vec4<u32>) -> vec4<i32> {
    return vec4<i32>(min(vec4<u32>(tap * params.windows.axes[axis].dilation), reach));
}

@if(!contiguous && !shared_out)
fn window_starts(axis: u32, number: vec4<u32>) -> vec4<i32> {
    return vec4<i32>(number * params.windows.axes[axis].stride) + params.windows.axes[axis].start;
}

// The results of a vector are in one line, and there is no inner axis: so their windows are neighbours.
@if(contiguous)
fn place(numbered: OutputVector) -> OutputVector {
    var v = numbered;
    let line = quotient(v.number.x, params.windows.by_line);
    let own = line_windows(line);
    v.first0 = vec4<i32>(window_start(0u, own.x));
    v.first1 = vec4<i32>(window_start(1u, own.y));
    let window = v.number.x - line * params.windows.by_line.x;
    v.first2 = vec4<i32>(window_start(2u, window)) + vec4<i32>(OFFSETS);
    v.origin = vec4<u32>(params.windows.base + own.z * params.windows.outer_pitch);
    return v;
}

// The first tap to visit of some windows that begin at `first`, and the one after the last.
fn taps_of(axis: u32, first: vec4<i32>) -> vec2<u32> {
    let taps = params.windows.axes[axis].taps;
    if params.gather.sparse == 0u {
        return vec2<u32>(0u, taps);
    }
    let earliest = min(min(first.x, first.y), min(first.z, first.w));
    let latest = max(max(first.x, first.y), max(first.z, first.w));
    // Rounded down, so at most one too many.
    let begin = quotient(u32(max(-latest, 0)), params.gather.by_dilation[axis]);
    // One more, since the last tap may be nearer than the dilation says.
    let last = i32(params.windows.axes[axis].size) - 1 - earliest;
    let end = quotient(u32(max(last, 0)), params.gather.by_dilation[axis]) + 2u;
    return vec2<u32>(begin, min(end, taps));
}

// Whether places along an axis have elements: no padding.
fn inside(axis: u32, at: vec4<i32>) -> vec4<bool> {
    return vec4<u32>(at) < vec4<u32>(params.windows.axes[axis].size);
}

// The distances of places along an axis from its element 0.
fn along_axis(axis: u32, at: vec4<i32>) -> vec4<u32> {
    return vec4<u32>(at) * params.windows.axes[axis].pitch;
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    gather(invocation_number(at));
}
