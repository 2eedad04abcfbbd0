// How elements and windows lie for the gradient of a pooling. Elements are [outer, axis 0, axis 1,
// axis 2, inner], and gradients and indices [outer, windows of each axis, inner].

struct Axis {
    // Windows along the axis.
    outputs: u32,
    // From one window to the next.
    stride: u32,
    // From the first tap of a window to the last one.
    reach: u32,
    // Where the first window begins; before the first element where there is padding.
    start: i32,
    // Divisors: the stride, from one tap of a window to the next, and from one element of the axis
    // to the next.
    by_stride: vec4<u32>,
    by_dilation: vec4<u32>,
    by_pitch: vec4<u32>,
}

struct Windows {
    // Elements of the result, and where the first one goes.
    elements: u32,
    result_base: u32,
    // Where the gradients begin, in elements, and the indices.
    gradient_base: u32,
    index_base: u32,
    // Words of an index.
    index_words: u32,
    // The index of the first element, but for what `place` adds.
    first_index: u32,
    // The number of the first place along the outer axis, since indices began anew. They do after
    // as many places as `by_period` has.
    place: u32,
    padding: u32,
    axes: array<Axis, 3>,
    // Divisors: the elements of a place along the outer axis, and the places of a period.
    by_unit: vec4<u32>,
    by_period: vec4<u32>,
}
