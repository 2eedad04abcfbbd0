// The maximum of each of many short rows, for adapters whose invocations share no fetches: each walks through
// neighbouring rows. Every row is whole blocks (16 bytes) and begins one.

fn row_key(row: u32) -> Key {
    let blocks = params.len / BLOCK;
    var block = params.base / BLOCK + row * blocks;
    // What four blocks reach beyond the row is read again, which changes no maximum.
    let last = block + blocks - 1u;
    var acc = Acc();
    loop {
        let w0 = source_block(block);
        let w1 = source_block(min(block + 1u, last));
        let w2 = source_block(min(block + 2u, last));
        let w3 = source_block(min(block + 3u, last));
        acc = acc_add(acc_add(acc_add(acc_add(acc, w0), w1), w2), w3);
        block += 4u;

        // Asked at the end: such adapters run a loop's body once more after the last invocation has left it.
        continuing {
            break if block > last;
        }
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
    let first = (group * WORKGROUP + local) * params.chunk;
    let end = min(first + params.chunk, params.rows);
    for (var row = first; row < end; row += PER_CELL) {
        var found: array<Key, PER_CELL>;
        for (var i = 0u; i < PER_CELL; i++) {
            found[i] = row_key(min(row + i, end - 1u));
        }
        store_cell(params.result_base + row / PER_CELL, found, min(PER_CELL, end - row));
    }
}
