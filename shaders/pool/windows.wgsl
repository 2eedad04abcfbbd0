// Windows over up to three neighbouring axes of [outer, axis 0, axis 1, axis 2, inner]. Results are
// numbered over [outer, windows of each axis, inner]. A line are the results of one place along the
// outer axis and axes 0 and 1. The same in Rust is src/pool/params.rs.
import kernel::params;

struct Axis {
    // Elements along the axis.
    size: u32,
    // Windows along the axis.
    outputs: u32,
    // Elements of a window.
    taps: u32,
    // From one window to the next.
    stride: u32,
    // From one tap to the next. The last tap of a window is `reach` from its first one, which may
    // be less than taps and dilation make it.
    dilation: u32,
    reach: u32,
    // Where the first window begins; before the first element where there is padding.
    start: i32,
    // From one element of the axis to the next, in elements of the source.
    pitch: u32,
}

struct Windows {
    // Where the source begins, in elements.
    base: u32,
    // From one element of the outer axis to the next.
    outer_pitch: u32,
    // Elements of the inner axis.
    inner: u32,
    // Results.
    outputs: u32,
    axes: array<Axis, 3>,
    // Divisors (see common/divide): the results of a line, the windows of axis 1 and of axis 0.
    by_line: vec4<u32>,
    by_axis1: vec4<u32>,
    by_axis0: vec4<u32>,
}

// The distance of a tap from the first one of its window. In a loop better with the axis from a
// variable: drivers read a parameter again each time.
fn tap_offset(axis: u32, tap: u32) -> i32 {
    return tap_offset_by(params.windows.axes[axis], tap);
}

fn tap_offset_by(axis: Axis, tap: u32) -> i32 {
    return i32(min(tap * axis.dilation, axis.reach));
}

// Where a window begins along an axis.
fn window_start(axis: u32, number: u32) -> i32 {
    return i32(number * params.windows.axes[axis].stride) + params.windows.axes[axis].start;
}

// Whether a place along an axis has an element: no padding.
fn has_element(axis: u32, place: i32) -> bool {
    return has_element_by(params.windows.axes[axis], place);
}

fn has_element_by(axis: Axis, place: i32) -> bool {
    return u32(place) < axis.size;
}
