// All taps are looked at.
fn tap_from(axis: u32, first: vec4<i32>) -> u32 {
    return 0u;
}

fn tap_end(axis: u32, first: vec4<i32>) -> u32 {
    return params.axes[axis].taps;
}
