// The gradient of a pooling, as in gradient/pool: an invocation owns contiguous rows of the result.
// It sets them to 0, visits the windows that touch them, in row-major order, and adds the gradient
// of each to the element that its index names, if it owns that element. So indices and gradients
// are read in order, and most of them once.
//
// Every window has an element. The CPU kernel is that of gradient/pool.
import package::common::divide::quotient;
import package::common::invocation::{Invocation, invocation_number};
import package::common::source::source_word;
import package::gradient::elements::{gradient, store_sum};
import package::gradient::sum::{Sum, add_rounded};
import generated::{WORKGROUP, params};

// The rows of an invocation: all those of some places along the outer axis, or some of one.
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(3) var<storage, read> indices: array<u32>;

@if(bits32) const WORDS: u32 = 1u;
@if(bits64) const WORDS: u32 = 2u;

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let number = invocation_number(at);
    let strips = params.strips;
    if number >= strips.count {
        return;
    }
    let group = quotient(number, strips.by_parts);
    let top = (number - group * strips.by_parts.x) * strips.rows;
    let bottom = min(top + strips.rows, strips.size);
    let windows = windows_of(top, bottom);
    let unit = params.windows.by_unit.x;
    let row = params.windows.axes[0].pitch;
    let length = (bottom - top) * row;
    let count = (windows.y - windows.x) * strips.row_windows;
    let end = min((group + 1u) * strips.places, strips.outer);
    for (var place = group * strips.places; place < end; place++) {
        let own = params.windows.result_base + place * unit + top * row;
        clear(own * WORDS, (own + length) * WORDS);
        let all = params.windows.place + place;
        let in_period =
            all - quotient(all, params.windows.by_period) * params.windows.by_period.x;
        let first = params.windows.first_index + in_period * unit + top * row;
        let window =
            (place * params.windows.axes[0].outputs + windows.x) * strips.row_windows;
        let gradients = params.windows.gradient_base + window;
        let positions = params.windows.index_base + window;
        for (var i = 0u; i < count; i++) {
            let found = indices[(positions + i) * params.windows.index_words];
            if found - first < length {
                let element = own + found - first;
                store_sum(element, add_rounded(sum_at(element), gradient(gradients + i)));
            }
        }
    }
}

// The windows of the first axis that touch rows: the first one, and the one after the last.
fn windows_of(top: u32, bottom: u32) -> vec2<u32> {
    let axis = params.windows.axes[0];
    let by_stride = params.windows.spacing[0].by_stride;
    let reach = i32(axis.reach);
    let reached = max(i32(top) - axis.start, reach) - reach;
    let begin = quotient(u32(reached) + axis.stride - 1u, by_stride);
    let last = i32(bottom) - 1 - axis.start;
    if last < 0 {
        return vec2<u32>(begin, begin);
    }
    let end = min(quotient(u32(last), by_stride) + 1u, axis.outputs);
    return vec2<u32>(min(begin, end), end);
}

// Sets words of the result to 0.
fn clear(begin: u32, end: u32) {
    var at = begin;
    for (; at + 8u <= end; at += 8u) {
        result[at] = 0u;
        result[at + 1u] = 0u;
        result[at + 2u] = 0u;
        result[at + 3u] = 0u;
        result[at + 4u] = 0u;
        result[at + 5u] = 0u;
        result[at + 6u] = 0u;
        result[at + 7u] = 0u;
    }
    for (; at < end; at++) {
        result[at] = 0u;
    }
}

fn gradient_word(word: u32) -> u32 {
    return source_word(word);
}

@if(bits32)
fn sum_at(element: u32) -> Sum {
    return result[element];
}

@if(bits64)
fn sum_at(element: u32) -> Sum {
    return vec2<u32>(result[element * 2u], result[element * 2u + 1u]);
}
