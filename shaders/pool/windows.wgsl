// Windows over up to three neighbouring axes of [outer, axis 0, axis 1, axis 2, inner]. Results are
// numbered over [outer, windows of each axis, inner]. A line are the results of one place along the
// outer axis and axes 0 and 1. The same in Rust is src/pool/params.rs.
import generated::{Axis, params};

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
