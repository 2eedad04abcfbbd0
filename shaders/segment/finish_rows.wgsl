// The last word of an item is the complement of a row, where the element is looked up.
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(3) var<storage, read> items: array<u32>;
@group(0) @binding(4) var<storage, read_write> indices: array<u32>;
// The complement of row 0, which there is.
const NO_MARK: vec4<u32> = vec4<u32>(0xffffffffu);

// Whether the row is among those that the launch has at hand. Other launches have the others.
fn is_here(mark: vec4<u32>) -> vec4<bool> {
    return ~mark - params.first_row < vec4<u32>(params.rows);
}

fn lanes_of(number: vec4<u32>, item: vec4<u32>, mark: vec4<u32>) -> vec4<u32> {
    let column = number - quotients(number, params.by_inner) * params.inner;
    let row = select(vec4<u32>(0u), ~mark - params.first_row, is_here(mark));
    return load_lanes(params.base + row * params.inner + column);
}

fn store_indices(number: vec4<u32>, mark: vec4<u32>, wanted: vec4<bool>) {
    for (var i = 0u; i < GROUP; i++) {
        if wanted[i] {
            // -1 where there is no row.
            let known = mark[i] != 0u;
            let at = (params.index_base + number[i]) * params.index_words;
            indices[at] = select(0xffffffffu, ~mark[i], known);
            if params.index_words == 2u {
                indices[at + 1u] = select(0xffffffffu, 0u, known);
            }
        }
    }
}
