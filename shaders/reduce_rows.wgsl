// The maximum of each contiguous row, or of each of `splits` pieces of it.
//
// A unit is one piece of one row. `lanes` invocations share a unit, and a
// workgroup holds WORKGROUP / lanes units whose results are neighbours, so that
// it owns whole words of the result. The twin is src/kernel/reduce_rows.rs.

var<workgroup> keys: array<Key, WORKGROUP>;

fn unit_key(unit: u32, lane: u32) -> Key {
    let row = unit / params.splits;
    let skipped = (unit % params.splits) * params.chunk;
    let start = params.base + row * params.len + skipped;
    let end = start + min(params.chunk, params.len - skipped);

    // Whole blocks, four loads in flight.
    let first = (start + BLOCK - 1u) / BLOCK;
    let last = end / BLOCK;
    let step = params.lanes;
    var acc: Acc;
    var block = first + lane;
    while block + 3u * step < last {
        let w0 = source_block(block);
        let w1 = source_block(block + step);
        let w2 = source_block(block + 2u * step);
        let w3 = source_block(block + 3u * step);
        acc = acc_add(acc, w0);
        acc = acc_add(acc, w1);
        acc = acc_add(acc, w2);
        acc = acc_add(acc, w3);
        block += 4u * step;
    }
    while block < last {
        acc = acc_add(acc, source_block(block));
        block += step;
    }

    // The blocks at the ends, which neighbours share.
    if lane == 0u && start % BLOCK != 0u {
        let b = start / BLOCK;
        acc = acc_add_some(acc, source_block(b), start % BLOCK, min(BLOCK, end - b * BLOCK));
    }
    if lane == step - 1u && end % BLOCK != 0u && last >= first {
        acc = acc_add_some(acc, source_block(last), 0u, end % BLOCK);
    }
    return acc_fold(acc);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let units = WORKGROUP / params.lanes;
    let total = params.rows * params.splits;
    let unit = group * units + local / params.lanes;
    let lane = local % params.lanes;

    var key = KEY_LOWEST;
    if unit < total {
        key = unit_key(unit, lane);
    }
    keys[local] = key;
    workgroupBarrier();
    for (var step = params.lanes / 2u; step > 0u; step /= 2u) {
        if lane < step {
            keys[local] = key_max(keys[local], keys[local + step]);
        }
        workgroupBarrier();
    }

    let cell = group * (units / PER_CELL) + local;
    let first = cell * PER_CELL;
    if local < units / PER_CELL && first < total {
        var found: array<Key, PER_CELL>;
        for (var i = 0u; i < PER_CELL; i++) {
            found[i] = keys[(local * PER_CELL + i) * params.lanes];
        }
        store_cell(params.result_base + cell, found, min(PER_CELL, total - first));
    }
}
