// The candidates are what an earlier launch found.
@group(0) @binding(3) var<storage, read> positions: array<u32>;

fn positions_of(element: vec4<u32>, there: vec4<bool>) -> vec4<u32> {
    let found = vec4<u32>(
        positions[element.x],
        positions[element.y],
        positions[element.z],
        positions[element.w],
    );
    return select(vec4<u32>(NONE), found, there);
}
