// The gradient of a pooling: each element gets the sum of the gradients of those windows whose
// maximum it is, by the indices that the pooling returned. The windows come in row-major order.
//
// Elements are [outer, axis 0, axis 1, axis 2, inner], and gradients and indices [outer, windows of
// each axis, inner]. An invocation computes a word of the result, or an element of 64 bits. The CPU
// kernel is in src/gradient/pool.rs.
import package::common::divide::quotient;
@if(small) import package::common::divide::small_quotient;
import package::common::invocation::{Invocation, invocation_number};
import package::common::source::source_word;
@if(bits16) import package::common::store::store_bits;
import package::gradient::elements::gradient;
@if(shared_out) import package::pool::windows::{window_extra, window_start_by};
@if(!bits16) import package::gradient::elements::store_sum;
import package::gradient::sum::{NOTHING, Sum, add_rounded};
@if(bits16) import package::gradient::sum::narrow;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(3) var<storage, read> indices: array<u32>;

struct Span {
    // The windows that cover an element: the first one, and the one after the last.
    begin: u32,
    end: u32,
    // The rest of the element's number, for the next axes.
    rest: u32,
}

@if(shared_out)
fn span(i: u32, number: u32) -> Span {
    let axis = params.turned[i];
    let at = quotient(number, params.by_pitch[i]);
    let begin = u32(window_start_by(axis, at));
    let end = begin + axis.reach + window_extra(axis, at) + 1u;
    return Span(begin, end, number - at * params.by_pitch[i].x);
}

@if(!shared_out)
fn span(i: u32, number: u32) -> Span {
    let axis = params.axes[i];
    let at = quotient_within(number, params.by_pitch[i]);
    let rest = number - at * axis.pitch;
    let distance = i32(at) - axis.start;
    if distance < 0 {
        return Span(0u, 0u, rest);
    }
    let last = u32(distance);
    // Begins with the first window that reaches so far.
    let reached = max(last, axis.reach) - axis.reach;
    let begin = quotient_within(reached + axis.stride - 1u, params.by_stride[i]);
    let end = min(quotient_within(last, params.by_stride[i]) + 1u, axis.outputs);
    return Span(begin, end, rest);
}

// For numbers and places within a plane.
@if(small)
fn quotient_within(n: u32, by: vec4<u32>) -> u32 {
    return small_quotient(n, by);
}

@if(!small)
fn quotient_within(n: u32, by: vec4<u32>) -> u32 {
    return quotient(n, by);
}

fn sum_of(element: u32) -> Sum {
    let outer = quotient(element, params.by_unit);
    let number = element - outer * params.by_unit.x;
    let place = params.place + outer;
    let in_period = place - quotient(place, params.by_period) * params.by_period.x;
    let wanted = params.first_index + in_period * params.by_unit.x + number;
    let first = span(0u, number);
    let second = span(1u, first.rest);
    let third = span(2u, second.rest);
    let inner = params.axes[2].pitch;
    var sum = NOTHING;
    for (var i = first.begin; i < first.end; i++) {
        let plane = (outer * params.axes[0].outputs + i) * params.axes[1].outputs;
        for (var j = second.begin; j < second.end; j++) {
            let line = (plane + j) * params.axes[2].outputs;
            for (var k = third.begin; k < third.end; k++) {
                let window = (line + k) * inner + third.rest;
                // The index and the gradient are in flight together.
                let found = indices[(params.index_base + window) * params.index_words] == wanted;
                let addend = gradient(params.gradient_base + window);
                // A window without elements has the index of its plane's first element.
                if found && (number >= inner || is_tap(i, j, k)) {
                    sum = add_rounded(sum, addend);
                }
            }
        }
    }
    return sum;
}

// Whether the first element along all axes is a tap of a window that reaches it.
@if(!shared_out)
fn is_tap(i: u32, j: u32, k: u32) -> bool {
    return is_tap_along(0u, i) && is_tap_along(1u, j) && is_tap_along(2u, k);
}

// Each window has an element.
@if(shared_out)
fn is_tap(i: u32, j: u32, k: u32) -> bool {
    return true;
}

@if(!shared_out)
fn is_tap_along(axis: u32, window: u32) -> bool {
    let by = params.by_dilation[axis];
    let distance = u32(-params.axes[axis].start) - window * params.axes[axis].stride;
    return quotient(distance, by) * by.x == distance;
}

fn gradient_word(word: u32) -> u32 {
    return source_word(word);
}

@if(bits16)
fn store(word: u32) {
    let lead = params.result_base % 2u;
    let first = word * 2u;
    if first >= params.elements + lead {
        return;
    }
    let begin = select(0u, lead, word == 0u);
    let end = min(params.elements + lead - first, 2u);
    var bits = 0u;
    for (var i = begin; i < end; i++) {
        bits |= narrow(sum_of(first + i - lead)) << (i * 16u);
    }
    store_bits(params.result_base / 2u + word, bits, begin * 16u, end * 16u);
}

@if(!bits16)
fn store(element: u32) {
    if element < params.elements {
        store_sum(params.result_base + element, sum_of(element));
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    store(invocation_number(at));
}
