// Long windows that lie in the padding for the most part: of their taps only those
// are looked at that can be inside for any lane.
fn tap_from(axis: u32, first: vec4<i32>) -> u32 {
    let latest = max(max(first.x, first.y), max(first.z, first.w));
    // Rounded down, so at most one too many.
    return quotient(u32(max(-latest, 0)), params.by_dilation[axis]);
}

fn tap_end(axis: u32, first: vec4<i32>) -> u32 {
    let earliest = min(min(first.x, first.y), min(first.z, first.w));
    let last = i32(params.axes[axis].size) - 1 - earliest;
    // The last tap may be nearer than the dilation makes it: one more.
    let end = quotient(u32(max(last, 0)), params.by_dilation[axis]) + 2u;
    return min(end, params.axes[axis].taps);
}
