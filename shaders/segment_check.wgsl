// What is wrong with ids or offsets: 1 if one is below the one before it, 2 if one
// is negative, 4 if an offset (`last` is 1) is above the number of rows, which is
// `last_row`. They have one or two words each, signed.
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> status: array<atomic<u32>>;

fn is_below(a: u32, b: u32) -> bool {
    let low_a = ids[a * params.id_words];
    let low_b = ids[b * params.id_words];
    if params.id_words == 1u {
        return i32(low_a) < i32(low_b);
    }
    let high_a = i32(ids[a * 2u + 1u]);
    let high_b = i32(ids[b * 2u + 1u]);
    return high_a < high_b || (high_a == high_b && low_a < low_b);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let number = group * WORKGROUP + local;
    let begin = number * params.run;
    let end = min(begin + params.run, params.rows);
    var found = 0u;
    for (var i = begin; i < end; i++) {
        let at = params.ids_base + i;
        let low = ids[at * params.id_words];
        let high = ids[(at + 1u) * params.id_words - 1u];
        if i32(high) < 0 {
            found |= 2u;
        } else if params.last == 1u && (low > params.last_row || (params.id_words == 2u && high != 0u)) {
            found |= 4u;
        }
        // A piece begins with the last id of the piece before it.
        if i > 0u && is_below(at, at - 1u) {
            found |= 1u;
        }
    }
    if found != 0u {
        atomicOr(&status[0], found);
    }
}
