// Four results of a word each.
const GROUP: u32 = 4u;
const LANES: vec4<u32> = vec4<u32>(0u, 1u, 2u, 3u);

fn load_lanes(element: vec4<u32>) -> vec4<u32> {
    return load_key(load_cells(element));
}

fn load_run(element: u32) -> vec4<u32> {
    return load_lanes(vec4<u32>(element) + LANES);
}

fn lane_max(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return max(a, b);
}

fn lane_mask(wanted: vec4<bool>) -> vec4<bool> {
    return wanted;
}

fn lane_empty() -> vec4<u32> {
    return vec4<u32>(params.empty_low);
}

fn store_lanes(slot: u32, lanes: vec4<u32>, wanted: vec4<bool>) {
    let bits = store_words(lanes);
    if wanted.x {
        result[slot * 4u] = bits.x;
    }
    if wanted.y {
        result[slot * 4u + 1u] = bits.y;
    }
    if wanted.z {
        result[slot * 4u + 2u] = bits.z;
    }
    if wanted.w {
        result[slot * 4u + 3u] = bits.w;
    }
}

// A lane's key alone.
fn lane_clean(lanes: vec4<u32>) -> vec4<u32> {
    return lanes;
}

fn lane_above(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    return a > b;
}

fn lane_equal(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    return a == b;
}
