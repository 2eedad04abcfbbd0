// The windows along an axis that have an element: the first one, the one after the last, and the
// distance from one to the next.
@if(wide) import package::common::divide::quotient;
@if(!wide) import package::common::divide::small_quotient;
@if(dilated) import package::common::divide::product_remainder;
import generated::{Axis, params};

struct Span {
    begin: u32,
    end: u32,
    step: u32,
}

// The distance is that of an element from the first tap of the first window.
fn span_at(i: u32, axis: Axis, outputs: u32, distance: u32) -> Span {
    let by = params.spacing[i].by_stride;
    // The first window that reaches so far.
    let reached = max(distance, axis.reach) - axis.reach;
    let begin = quotient_within(reached + by.x - 1u, by);
    let end = min(quotient_within(distance, by) + 1u, outputs);
    return at_taps(i, distance, begin, end);
}

@if(!dilated)
fn at_taps(i: u32, distance: u32, begin: u32, end: u32) -> Span {
    return Span(begin, end, 1u);
}

// See src/gradient/span.rs.
@if(dilated)
fn at_taps(i: u32, distance: u32, begin: u32, end: u32) -> Span {
    let spacing = params.spacing[i];
    let step = spacing.by_step.x;
    let part = quotient_within(distance, spacing.by_common);
    if part * spacing.by_common.x != distance {
        return Span(0u, 0u, step);
    }
    let first = product_remainder(part, spacing.inverse, spacing.ratio, step);
    let steps = quotient_within(max(begin, first) - first + step - 1u, spacing.by_step);
    return Span(first + steps * step, end, step);
}

@if(wide)
fn quotient_within(n: u32, by: vec4<u32>) -> u32 {
    return quotient(n, by);
}

@if(!wide)
fn quotient_within(n: u32, by: vec4<u32>) -> u32 {
    return small_quotient(n, by);
}
