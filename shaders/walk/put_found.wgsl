// The maxima, and as their indices the distances from the first plane's first element.
@group(0) @binding(4) var<storage, read_write> indices: array<Index>;

fn put(line: u32, targets: Targets, number: u32, found: Found) {
    put_keys(line, targets, number, found.keys);
    let first = params.index_base + result_number(line, targets, number);
    let left = results_left(targets, number);
    let low = params.offset_low + (found.at - params.plane_base);
    let carry = select(vec4<u32>(0u), vec4<u32>(1u), low < vec4<u32>(params.offset_low));
    let high = params.offset_high + carry;
    indices[first] = index_of(low.x, high.x);
    if left > 1u {
        indices[first + 1u] = index_of(low.y, high.y);
    }
    if left > 2u {
        indices[first + 2u] = index_of(low.z, high.z);
    }
    if left > 3u {
        indices[first + 3u] = index_of(low.w, high.w);
    }
}
