// An item is a key and a mark.
@group(0) @binding(1) var<storage, read> items: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
const NO_MARK: vec4<u32> = vec4<u32>(0u);

fn lanes_of(number: vec4<u32>, item: vec4<u32>, mark: vec4<u32>) -> vec4<u32> {
    let keys = vec4<u32>(items[item.x], items[item.y], items[item.z], items[item.w]);
    return keys << vec4<u32>(32u - min(ELEMENT_BITS, 32u));
}

fn is_here(mark: vec4<u32>) -> vec4<bool> {
    return vec4<bool>(true);
}

fn store_indices(number: vec4<u32>, mark: vec4<u32>, wanted: vec4<bool>) {
}
