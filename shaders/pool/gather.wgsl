// Windows wherever they lie: each result of an output vector looks at the elements of its own
// window, tap by tap. What it makes of them is the kernel's: the maximum (pool/maximum), or where
// that is (pool/index).
import kernel::{finish, nothing, visit};
@if(contiguous) import package::common::divide::quotient;
@if(!contiguous) import package::common::divide::{quotient, quotients};
import package::common::vector::{OFFSETS, OUTPUTS};
@if(contiguous) import package::pool::windows::window_start;
import package::pool::windows::tap_offset;
import generated::params;

// An output vector, and where the windows of its results are.
struct OutputVector {
    // The results' numbers. Components that are not wanted repeat others.
    number: vec4<u32>,
    // Components that have a result.
    wanted: vec4<bool>,
    // The source's element 0 of all three axes.
    origin: vec4<u32>,
    // Where the windows begin along each axis.
    first0: vec4<i32>,
    first1: vec4<i32>,
    first2: vec4<i32>,
}

fn gather(vector: u32) {
    let skew = params.result_base % OUTPUTS;
    if vector >= (skew + params.windows.outputs + OUTPUTS - 1u) / OUTPUTS {
        return;
    }
    let v = place(numbered(vector));
    // Before the loops: drivers do not take it out of them.
    let taps0 = taps_of(0u, v.first0);
    let taps1 = taps_of(1u, v.first1);
    let taps2 = taps_of(2u, v.first2);
    var state = nothing();
    for (var j0 = taps0.x; j0 < taps0.y; j0++) {
        let at0 = v.first0 + tap_offset(0u, j0);
        let inside0 = inside(0u, at0);
        for (var j1 = taps1.x; j1 < taps1.y; j1++) {
            let at1 = v.first1 + tap_offset(1u, j1);
            let inside01 = inside0 & inside(1u, at1);
            if !any(inside01) {
                continue;
            }
            let line = v.origin + along_axis(0u, at0) + along_axis(1u, at1);
            for (var j2 = taps2.x; j2 < taps2.y; j2++) {
                let at2 = v.first2 + tap_offset(2u, j2);
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

// The results of a vector may lie in several lines.
@if(!contiguous)
fn place(numbered: OutputVector) -> OutputVector {
    var v = numbered;
    let line = quotients(v.number, params.windows.by_line);
    let rest = quotients(line, params.windows.by_axis1);
    let outer = quotients(rest, params.windows.by_axis0);
    let in_line = v.number - line * params.windows.by_line.x;
    let window = quotients(in_line, params.gather.by_inner);
    v.first0 = window_starts(0u, rest - outer * params.windows.by_axis0.x);
    v.first1 = window_starts(1u, line - rest * params.windows.by_axis1.x);
    v.first2 = window_starts(2u, window);
    let inner = in_line - window * params.windows.inner;
    v.origin = params.windows.base + outer * params.windows.outer_pitch + inner;
    return v;
}

@if(!contiguous)
fn window_starts(axis: u32, number: vec4<u32>) -> vec4<i32> {
    return vec4<i32>(number * params.windows.axes[axis].stride) + params.windows.axes[axis].start;
}

// They lie in one line, and there is no inner axis: the windows of neighbours are neighbours.
@if(contiguous)
fn place(numbered: OutputVector) -> OutputVector {
    var v = numbered;
    let line = quotient(v.number.x, params.windows.by_line);
    let rest = quotient(line, params.windows.by_axis1);
    let outer = quotient(rest, params.windows.by_axis0);
    v.first0 = vec4<i32>(window_start(0u, rest - outer * params.windows.by_axis0.x));
    v.first1 = vec4<i32>(window_start(1u, line - rest * params.windows.by_axis1.x));
    let window = v.number.x - line * params.windows.by_line.x;
    v.first2 = vec4<i32>(window_start(2u, window)) + vec4<i32>(OFFSETS);
    v.origin = vec4<u32>(params.windows.base + outer * params.windows.outer_pitch);
    return v;
}

// The first tap to visit of some windows that begin at `first`, and the one behind the last.
fn taps_of(axis: u32, first: vec4<i32>) -> vec2<u32> {
    let taps = params.windows.axes[axis].taps;
    if params.gather.sparse == 0u {
        return vec2<u32>(0u, taps);
    }
    let earliest = min(min(first.x, first.y), min(first.z, first.w));
    let latest = max(max(first.x, first.y), max(first.z, first.w));
    // Rounded down, so at most one too many.
    let begin = quotient(u32(max(-latest, 0)), params.gather.by_dilation[axis]);
    // The last tap may be nearer than the dilation makes it: one more.
    let last = i32(params.windows.axes[axis].size) - 1 - earliest;
    let end = quotient(u32(max(last, 0)), params.gather.by_dilation[axis]) + 2u;
    return vec2<u32>(begin, min(end, taps));
}

// Whether places along an axis have elements: no padding.
fn inside(axis: u32, at: vec4<i32>) -> vec4<bool> {
    return vec4<u32>(at) < vec4<u32>(params.windows.axes[axis].size);
}

// How far places along an axis are from its element 0.
fn along_axis(axis: u32, at: vec4<i32>) -> vec4<u32> {
    return vec4<u32>(at) * params.windows.axes[axis].pitch;
}
