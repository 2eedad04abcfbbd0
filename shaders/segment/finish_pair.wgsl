// An item is a key, its high word first, and a mark.
@group(0) @binding(1) var<storage, read> items: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
const NO_MARK: vec4<u32> = vec4<u32>(0u);

fn lanes_of(number: vec4<u32>, item: vec4<u32>, mark: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(items[item.x + 1u], items[item.x], items[item.y + 1u], items[item.y]);
}

fn is_here(mark: vec4<u32>) -> vec4<bool> {
    return vec4<bool>(true);
}

fn store_indices(number: vec4<u32>, mark: vec4<u32>, wanted: vec4<bool>) {
}
