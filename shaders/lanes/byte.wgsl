// Four results of a byte each, a word together. A lane's key is in its top byte; what lies below is anything.
const GROUP: u32 = 4u;
const LANES: vec4<u32> = vec4<u32>(0u, 1u, 2u, 3u);

fn load_lanes(element: vec4<u32>) -> vec4<u32> {
    let word = vec4<u32>(
        source_word(element.x / 4u),
        source_word(element.y / 4u),
        source_word(element.z / 4u),
        source_word(element.w / 4u),
    );
    return load_key(word >> ((element % vec4<u32>(4u)) * 8u)) << vec4<u32>(24u);
}

// The elements of a slot that follow one another. Those before the source come out as anything.
fn load_run(element: u32) -> vec4<u32> {
    return load_key(vec4<u32>(run_word(element))) << vec4<u32>(24u, 16u, 8u, 0u);
}

fn lane_max(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return max(a, b);
}

fn lane_mask(wanted: vec4<bool>) -> vec4<bool> {
    return wanted;
}

fn lane_empty() -> vec4<u32> {
    return vec4<u32>(params.empty_low << 24u);
}

// Bytes that are not wanted belong to other launches and stay.
fn store_lanes(cell: u32, lanes: vec4<u32>, wanted: vec4<bool>) {
    let keys = (lanes >> vec4<u32>(24u)) << vec4<u32>(0u, 8u, 16u, 24u);
    let bits = store_words(vec4<u32>(keys.x | keys.y | keys.z | keys.w)).x;
    if all(wanted) {
        result[cell] = bits;
        return;
    }
    let bytes = vec4<u32>(0xffu, 0xff00u, 0xff0000u, 0xff000000u);
    let mine = select(vec4<u32>(0u), bytes, wanted);
    let mask = mine.x | mine.y | mine.z | mine.w;
    result[cell] = (bits & mask) | (result[cell] & ~mask);
}

// A lane's key alone.
fn lane_clean(lanes: vec4<u32>) -> vec4<u32> {
    return lanes & vec4<u32>(0xff000000u);
}

fn lane_above(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    return a > b;
}

fn lane_equal(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    return a == b;
}
