// What the pooling kernels share: the maximum of windows over up to three
// neighbouring axes of [outer, axis 0, axis 1, axis 2, inner]. The results are
// numbered over [outer, windows of each axis, inner]. The twins are
// src/kernel/pool.rs and src/kernel/pool/.

struct Axis {
    // Elements along the axis.
    size: u32,
    // Windows along the axis.
    outputs: u32,
    // Elements of a window.
    taps: u32,
    // From one window to the next.
    stride: u32,
    // From one tap to the next; the last tap of a window is `reach` from its
    // first one, which may be less than taps and dilation make it.
    dilation: u32,
    reach: u32,
    // Where the first window begins; before the first element where there is padding.
    start: i32,
    // From one element of the axis to the next, in elements of the source.
    pitch: u32,
}

struct Params {
    // Where the source begins, in elements.
    base: u32,
    // From one element of the outer axis to the next.
    outer_pitch: u32,
    // Elements of the inner axis.
    inner: u32,
    // Results.
    outputs: u32,
    // Where the first result goes, in elements.
    result_base: u32,
    // The key of NaN: all ones or 0.
    nan_key: u32,
    // The key of a window without elements, and its high word in 64-bit types.
    empty_low: u32,
    empty_high: u32,
    axes: array<Axis, 3>,
    // An invocation of pool_runs computes several windows of axis 2 that share
    // taps: each `spacing` windows, which are `shift` taps, from the one before.
    // There are `runs` such groups along the axis.
    runs: u32,
    spacing: u32,
    shift: u32,
    // Words of an index.
    index_words: u32,
    // The position of the first plane's first element in the source, and its
    // index. Indices begin anew at `modulus`. Both with their high words.
    plane_base: u32,
    offset_low: u32,
    offset_high: u32,
    modulus_low: u32,
    modulus_high: u32,
    // Where the first index goes, in indices.
    index_base: u32,
    // A window without elements has the position of the first element of its
    // plane: `plane_outputs` results are a plane, which begins `plane_pitch`
    // elements behind the one before, and `channels` are interleaved.
    plane_outputs: u32,
    plane_pitch: u32,
    channels: u32,
    // Column-major order: how many spatial axes there are, else 0; and their sizes.
    columns: u32,
    // Results of a launch of pool_blocks or pool_runs, in lines.
    lines: u32,
    // The channel of the first result.
    first_channel: u32,
    sizes: array<vec4<u32>, 2>,
    // Divisors (see divide.wgsl): the results of a line, which is all results of
    // one place along axes 0 and 1; the windows of axes 1 and 0; the inner axis;
    // for pool_blocks and pool_runs the invocations of a line, the blocks of the inner axis,
    // and spacing; for pool_index the results of a plane, channels and modulus.
    by_line: vec4<u32>,
    by_axis1: vec4<u32>,
    by_axis0: vec4<u32>,
    by_inner: vec4<u32>,
    by_runs: vec4<u32>,
    by_blocks: vec4<u32>,
    by_spacing: vec4<u32>,
    by_plane: vec4<u32>,
    by_channels: vec4<u32>,
    by_modulus: vec4<u32>,
    by_dilation: array<vec4<u32>, 3>,
}

@group(0) @binding(0) var<uniform> params: Params;

// The distance of tap j from the first one.
fn tap(axis: u32, j: u32) -> i32 {
    return i32(min(j * params.axes[axis].dilation, params.axes[axis].reach));
}

// Where a window begins along an axis.
fn window(axis: u32, number: u32) -> i32 {
    return i32(number * params.axes[axis].stride) + params.axes[axis].start;
}
