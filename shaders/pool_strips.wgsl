// Maxima of windows of up to ROWS (1 or 3) x 3 taps along the last two axes, where the inner axis is
// whole blocks (16 bytes), for adapters whose invocations share no fetches: each walks along a strip of
// neighbouring results, whose windows lie in the same rows.
@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let number = group * WORKGROUP + local;
    // `runs` strips of `spacing` blocks are a line.
    let line = number / params.runs;
    if line >= params.lines {
        return;
    }
    let blocks = params.by_blocks.x;
    let in_line = params.axes[2].outputs * blocks;
    let begin = (number % params.runs) * params.spacing;
    let end = min(begin + params.spacing, in_line);
    let rows = taps_of(1u, line % params.by_axis1.x);
    let row = rows_of(line, rows);
    let target_block = params.result_base / BLOCK + line * in_line;

    var place = begin / blocks;
    var inner = begin % blocks;
    for (var i = begin; i < end; i++) {
        let columns = taps_of(2u, place);
        let column = vec3<u32>(columns.at) * blocks + inner;
        var acc = see_row(Acc(), row.x, column);
        if ROWS > 1u {
            acc = see_row(see_row(acc, row.y, column), row.z, column);
        }
        let packed = select(empty_block(), acc_pack(acc), rows.some && columns.some);
        result[target_block + i] = store_words(packed);
        inner += 1u;
        if inner == blocks {
            inner = 0u;
            place += 1u;
        }
    }
}

fn see_row(acc: Acc, row: u32, column: vec3<u32>) -> Acc {
    let w0 = source_block(row + column.x);
    let w1 = source_block(row + column.y);
    let w2 = source_block(row + column.z);
    return acc_add(acc_add(acc_add(acc, w0), w1), w2);
}
