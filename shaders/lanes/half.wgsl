// Four results of two bytes each, two words together. A lane's key is in its top half; what lies below is anything.
const GROUP: u32 = 4u;
const LANES: vec4<u32> = vec4<u32>(0u, 1u, 2u, 3u);

fn load_lanes(element: vec4<u32>) -> vec4<u32> {
    let word = vec4<u32>(
        source_word(element.x / 2u),
        source_word(element.y / 2u),
        source_word(element.z / 2u),
        source_word(element.w / 2u),
    );
    return load_key(word >> ((element % vec4<u32>(2u)) * 16u)) << vec4<u32>(16u);
}

// The elements of a slot that follow one another. Those before the source come out as anything.
fn load_run(element: u32) -> vec4<u32> {
    let low = run_word(element);
    let high = run_word(element + 2u);
    return load_key(vec4<u32>(low, low, high, high)) << vec4<u32>(16u, 0u, 16u, 0u);
}

fn lane_max(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return max(a, b);
}

fn lane_mask(wanted: vec4<bool>) -> vec4<bool> {
    return wanted;
}

fn lane_empty() -> vec4<u32> {
    return vec4<u32>(params.empty_low << 16u);
}

// Halves that are not wanted belong to other launches and stay.
fn store_lanes(slot: u32, lanes: vec4<u32>, wanted: vec4<bool>) {
    let keys = lanes >> vec4<u32>(16u);
    let bits = store_words(vec4<u32>(keys.xz | (keys.yw << vec2<u32>(16u)), 0u, 0u));
    if all(wanted) {
        result[slot * 2u] = bits.x;
        result[slot * 2u + 1u] = bits.y;
        return;
    }
    store_halves(slot * 2u, bits.x, wanted.xy);
    store_halves(slot * 2u + 1u, bits.y, wanted.zw);
}

fn store_halves(cell: u32, bits: u32, wanted: vec2<bool>) {
    let mine = select(vec2<u32>(0u), vec2<u32>(0xffffu, 0xffff0000u), wanted);
    let mask = mine.x | mine.y;
    if mask != 0u {
        result[cell] = (bits & mask) | (result[cell] & ~mask);
    }
}

// A lane's key alone.
fn lane_clean(lanes: vec4<u32>) -> vec4<u32> {
    return lanes & vec4<u32>(0xffff0000u);
}

fn lane_above(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    return a > b;
}

fn lane_equal(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    return a == b;
}
