// The gradient of a pooling: each element gets the sum of the gradients of those windows whose
// maximum it is, by the indices that the pooling returned. The windows come in row-major order.
//
// Elements are [outer, axis 0, axis 1, axis 2, inner], and gradients and indices [outer, windows of
// each axis, inner]. An invocation computes a word of the result, or an element of 64 bits. The CPU
// kernel is in src/gradient/pool.rs.
import package::common::divide::quotient;
import package::common::invocation::{Invocation, invocation_number};
import package::common::source::source_word;
@if(bits16) import package::common::store::store_bits;
import package::gradient::elements::gradient;
@if(shared_out) import package::pool::windows::{window_extra, window_start_by};
@if(!bits16) import package::gradient::elements::store_sum;
import package::gradient::span::{Span, quotient_within};
@if(!shared_out) import package::gradient::span::span_at;
import package::gradient::sum::{NOTHING, Sum, add_rounded};
@if(bits16) import package::gradient::sum::narrow;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(3) var<storage, read> indices: array<u32>;

@if(shared_out)
fn span(i: u32, at: u32) -> Span {
    let axis = params.turned[i];
    let begin = u32(window_start_by(axis, at));
    return Span(begin, begin + axis.reach + window_extra(axis, at) + 1u, 1u);
}

@if(!shared_out)
fn span(i: u32, at: u32) -> Span {
    let axis = params.axes[i];
    let distance = i32(at) - axis.start;
    if distance < 0 {
        return Span(0u, 0u, 1u);
    }
    return span_at(i, axis, axis.outputs, u32(distance));
}

fn sum_of(element: u32) -> Sum {
    let outer = quotient(element, params.by_unit);
    let number = element - outer * params.by_unit.x;
    let place = params.place + outer;
    let in_period = place - quotient(place, params.by_period) * params.by_period.x;
    let wanted = params.first_index + in_period * params.by_unit.x + number;
    let at0 = quotient_within(number, params.by_pitch[0]);
    let rest0 = number - at0 * params.axes[0].pitch;
    let at1 = quotient_within(rest0, params.by_pitch[1]);
    let rest1 = rest0 - at1 * params.axes[1].pitch;
    let at2 = quotient_within(rest1, params.by_pitch[2]);
    let inner = params.axes[2].pitch;
    let rest2 = rest1 - at2 * inner;
    let first = span(0u, at0);
    let second = span(1u, at1);
    let third = span(2u, at2);
    var sum = NOTHING;
    for (var i = first.begin; i < first.end; i += first.step) {
        let plane = (outer * params.axes[0].outputs + i) * params.axes[1].outputs;
        for (var j = second.begin; j < second.end; j += second.step) {
            let line = (plane + j) * params.axes[2].outputs;
            for (var k = third.begin; k < third.end; k += third.step) {
                let window = (line + k) * inner + rest2;
                // The index and the gradient are in flight together.
                let found = indices[(params.index_base + window) * params.index_words] == wanted;
                let addend = gradient(params.gradient_base + window);
                if found {
                    sum = add_rounded(sum, addend);
                }
            }
        }
    }
    return sum;
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
