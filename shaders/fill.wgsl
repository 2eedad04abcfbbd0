// Sets every element to one value. The twin is src/kernel/fill.rs.

struct Params {
    // Words to write.
    words: u32,
    // Words at even and at odd places: the element, repeated to fill them.
    even: u32,
    odd: u32,
    // The last word, whose padding is 0.
    last: u32,
    // Words of an invocation: 1, or 8 for adapters whose invocations share no stores.
    run: u32,
    padding0: u32,
    padding1: u32,
    padding2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let first = (group * WORKGROUP + local) * params.run;
    if params.run == 8u && first + 8u < params.words {
        result[first] = params.even;
        result[first + 1u] = params.odd;
        result[first + 2u] = params.even;
        result[first + 3u] = params.odd;
        result[first + 4u] = params.even;
        result[first + 5u] = params.odd;
        result[first + 6u] = params.even;
        result[first + 7u] = params.odd;
        return;
    }
    for (var word = first; word < min(first + params.run, params.words); word++) {
        let value = select(params.even, params.odd, word % 2u == 1u);
        result[word] = select(value, params.last, word + 1u == params.words);
    }
}
