// What the pooling kernels share that look at up to three taps along an axis at once, without a loop: it
// would cost software adapters more than the taps. Taps that a window has not are replaced by one that it has.

// Places of taps along an axis, and whether there is an element at any.
struct Taps {
    at: vec3<i32>,
    some: bool,
}

fn taps_of(axis: u32, number: u32) -> Taps {
    let first = window(axis, number);
    let reach = vec3<u32>(params.axes[axis].reach);
    let at = first + vec3<i32>(min(vec3<u32>(0u, 1u, 2u) * params.axes[axis].dilation, reach));
    let inside = vec3<u32>(at) < vec3<u32>(params.axes[axis].size);
    let one = select(select(at.z, at.y, inside.y), at.x, inside.x);
    return Taps(select(vec3<i32>(one), at, inside), any(inside));
}

// The row of the source that a line of results begins at, for each tap along axis 1, in blocks.
fn rows_of(line: u32, rows: Taps) -> vec3<u32> {
    let outer = line / params.by_axis1.x;
    let origin = (params.base + outer * params.outer_pitch) / BLOCK;
    return vec3<u32>(origin) + vec3<u32>(rows.at) * (params.axes[1].pitch / BLOCK);
}
