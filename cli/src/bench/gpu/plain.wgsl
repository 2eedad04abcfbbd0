struct Params {
    // Blocks of the result, or of the source if there is no result.
    blocks: u32,
    // Distance between the first blocks of neighbouring invocations.
    first: u32,
    // Distance from the first block of an invocation to the end of its range.
    length: u32,
    // Distance between two blocks of an invocation.
    step: u32,
    // Source blocks for each block of the result; and how many blocks of the result have one more.
    reads: u32,
    rest: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;

// Reads all blocks. It writes only if their maximum has an unlikely value, so that no compiler
// removes the reads.
@compute @workgroup_size(256)
fn read_all(@builtin(global_invocation_id) id: vec3<u32>) {
    let step = params.step;
    var i = id.x * params.first;
    let end = min(i + params.length, params.blocks);
    var a = vec4<u32>(0u);
    var b = a;
    var c = a;
    var d = a;
    for (; i + 3u * step < end; i += 4u * step) {
        a = max(a, source[i]);
        b = max(b, source[i + step]);
        c = max(c, source[i + 2u * step]);
        d = max(d, source[i + 3u * step]);
    }
    for (; i < end; i += step) {
        a = max(a, source[i]);
    }
    a = max(max(a, b), max(c, d));
    if all(a == vec4<u32>(1u, 2u, 3u, 4u)) {
        result[0] = a;
    }
}

// Each block of the result is the maximum of source blocks. Their distance is the length of the result.
@compute @workgroup_size(256)
fn copy_all(@builtin(global_invocation_id) id: vec3<u32>) {
    let begin = id.x * params.first;
    let end = min(begin + params.length, params.blocks);
    for (var i = begin; i < end; i += params.step) {
        var best = vec4<u32>(0u);
        for (var j = 0u; j < params.reads; j += 1u) {
            best = max(best, source[i + j * params.blocks]);
        }
        if i < params.rest {
            best = max(best, source[i + params.reads * params.blocks]);
        }
        result[i] = best;
    }
}
