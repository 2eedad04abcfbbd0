// Two results of two words each, the low one first; lanes of elements are x and y.
const GROUP: u32 = 2u;
const LANES: vec4<u32> = vec4<u32>(0u, 1u, 1u, 1u);

fn load_lanes(element: vec4<u32>) -> vec4<u32> {
    return load_key(load_cells(element));
}

fn load_run(element: u32) -> vec4<u32> {
    return load_lanes(vec4<u32>(element) + LANES);
}

fn lane_max(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let above = (b.yw > a.yw) | ((b.yw == a.yw) & (b.xz > a.xz));
    return select(a, b, above.xxyy);
}

fn lane_mask(wanted: vec4<bool>) -> vec4<bool> {
    return wanted.xxyy;
}

fn lane_empty() -> vec4<u32> {
    return vec4<u32>(params.empty_low, params.empty_high, params.empty_low, params.empty_high);
}

fn store_lanes(slot: u32, lanes: vec4<u32>, wanted: vec4<bool>) {
    let bits = store_words(lanes);
    if wanted.x {
        result[slot * 4u] = bits.x;
        result[slot * 4u + 1u] = bits.y;
    }
    if wanted.y {
        result[slot * 4u + 2u] = bits.z;
        result[slot * 4u + 3u] = bits.w;
    }
}

// A lane's key alone.
fn lane_clean(lanes: vec4<u32>) -> vec4<u32> {
    return lanes;
}

fn lane_above(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    let above = (a.yw > b.yw) | ((a.yw == b.yw) & (a.xz > b.xz));
    return above.xyyy;
}

fn lane_equal(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    let equal = (a.yw == b.yw) & (a.xz == b.xz);
    return equal.xyyy;
}
