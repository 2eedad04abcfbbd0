// Windows over up to three neighbouring axes of [outer, axis 0, axis 1, axis 2, inner]. Results are
// numbered over [outer, windows of each axis, inner]. A line is the results of one place along the
// outer axis and axes 0 and 1. The same in Rust is src/pool/params.rs.
//
// With `shared_out` there are axes that windows split evenly: these begin after multiples of a stride and
// a fraction, rounded down, and end where the next one begins, rounded up (src/pool/drift.rs).
import package::common::divide::quotient;
@if(shared_out) import package::common::divide::scaled;
import generated::{Axis, params};

// The number of windows along each axis.
fn outputs() -> vec3<u32> {
    return vec3<u32>(
        params.windows.axes[0].outputs,
        params.windows.axes[1].outputs,
        params.windows.axes[2].outputs,
    );
}

// The windows along axes 0 and 1 that a line belongs to, and last its place along the outer axis.
fn line_windows(line: u32) -> vec3<u32> {
    let plane = quotient(line, params.windows.by_axis1);
    let outer = quotient(plane, params.windows.by_axis0);
    return vec3<u32>(
        plane - outer * params.windows.by_axis0.x,
        line - plane * params.windows.by_axis1.x,
        outer,
    );
}

// The distance of a tap from the first one of its window. In a loop, call `tap_offset_by` with an axis
// in a variable: drivers read a parameter again each time.
fn tap_offset(axis: u32, tap: u32) -> i32 {
    return tap_offset_by(params.windows.axes[axis], tap);
}

fn tap_offset_by(axis: Axis, tap: u32) -> i32 {
    return i32(min(tap * axis.dilation, axis.reach));
}

// The place of the first tap of a window along an axis.
@if(shared_out)
fn window_start(axis: u32, number: u32) -> i32 {
    return window_start_by(params.windows.axes[axis], number);
}

@if(shared_out)
fn window_start_by(axis: Axis, number: u32) -> i32 {
    let shift = scaled(axis.first_window + number, axis.ratio_low, axis.ratio_high);
    return i32(number * axis.stride + shift) + axis.start;
}

@if(!shared_out)
fn window_start(axis: u32, number: u32) -> i32 {
    return i32(number * params.windows.axes[axis].stride) + params.windows.axes[axis].start;
}

// An axis with the reach of a window.
@if(!shared_out)
fn window_axis(axis: u32, number: u32) -> Axis {
    return params.windows.axes[axis];
}

@if(shared_out)
fn window_axis(axis: u32, number: u32) -> Axis {
    var own = params.windows.axes[axis];
    own.reach += window_extra(own, number);
    return own;
}

// 1 if a window has one element more than the shortest windows, else 0.
@if(shared_out)
fn window_extra(axis: Axis, number: u32) -> u32 {
    return extra_of(axis.first_window + number, axis.ratio_low, axis.ratio_high);
}

@if(shared_out)
fn extra_of(window: u32, low: u32, high: u32) -> u32 {
    let last = scaled(window + 1u, low - 1u, high - select(0u, 1u, low == 0u));
    // A ratio is 0, or at least 2^33.
    return select(last - scaled(window, low, high), 0u, high == 0u);
}

// Whether a place along an axis has an element: no padding.
fn has_element(axis: u32, place: i32) -> bool {
    return has_element_by(params.windows.axes[axis], place);
}

fn has_element_by(axis: Axis, place: i32) -> bool {
    return u32(place) < axis.size;
}
