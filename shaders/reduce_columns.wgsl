// The maximum of columns, an invocation a block (16 bytes) of them, so that neighbours read
// neighbouring addresses and nobody shares a word of the result.
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

// Every matrix, every row and every result block begins a block of the source.
fn aligned(element: u32) -> Acc {
    let unit = element / params.width;
    let start = params.base + (unit / params.splits) * params.len + element % params.width;
    let first = (unit % params.splits) * params.chunk;
    let rows = min(params.chunk, (params.len + params.width - 1u) / params.width - first);
    // The last row of all may overlap the one before, so its place is clamped.
    let place = start / BLOCK;
    let pitch = params.width / BLOCK;
    let last = (params.len - params.width) / BLOCK;
    var acc: Acc;
    var at = first * pitch;
    var row = 0u;
    while row + 4u <= rows {
        let w0 = source_block(place + at);
        let w1 = source_block(place + at + pitch);
        let w2 = source_block(place + at + 2u * pitch);
        let w3 = source_block(place + min(at + 3u * pitch, last));
        acc = acc_add(acc, w0);
        acc = acc_add(acc, w1);
        acc = acc_add(acc, w2);
        acc = acc_add(acc, w3);
        at += 4u * pitch;
        row += 4u;
    }
    while row < rows {
        acc = acc_add(acc, source_block(place + min(at, last)));
        at += pitch;
        row += 1u;
    }
    return acc;
}

// Any position: the cells (words, or pairs of words) of the block are looked up
// one by one. A packed cell may lie across the end of a matrix or of a piece;
// then its elements come from two places.
fn general(element: u32) -> Acc {
    let cell = min(vec4<u32>(element) + CELLS, vec4<u32>(params.outputs - 1u));
    let unit = cell / params.width;
    let column = cell % params.width;
    let here = params.width - column;
    let next = min(unit + 1u, vec4<u32>(params.outputs / params.width - 1u));
    let from_here = select(
        ~(vec4<u32>(0xffffffffu) << (here * ELEMENT_BITS)),
        vec4<u32>(0xffffffffu),
        here >= vec4<u32>(PER_WORD),
    );
    let across = any(from_here != vec4<u32>(0xffffffffu));

    let base = params.base + (unit / params.splits) * params.len + column;
    let first = (unit % params.splits) * (params.chunk * params.width);
    // Reads begin `here` elements early, so that the next unit's first element
    // comes to lie behind this unit's last one.
    let next_base = params.base + (next / params.splits) * params.len - here;
    let next_first = (next % params.splits) * (params.chunk * params.width);

    let last = vec4<u32>(params.len - params.width);
    var acc: Acc;
    var row = 0u;
    // Rows past the last one of a matrix are clamped to it, which changes no maximum.
    for (var i = 0u; i < params.chunk; i++) {
        var words = load_cells(base + min(first + row, last));
        if across {
            let other = load_cells(select(
                next_base + min(next_first + row, last),
                vec4<u32>(0u),
                from_here == vec4<u32>(0xffffffffu),
            ));
            words = (words & from_here) | (other & ~from_here);
        }
        acc = acc_add(acc, words);
        row += params.width;
    }
    return acc;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let block = group * WORKGROUP + local;
    if block >= (params.outputs + BLOCK - 1u) / BLOCK {
        return;
    }
    let element = block * BLOCK;
    var keys = acc_keys(load_columns(element));
    for (var i = 0u; i < BLOCK; i += PER_CELL) {
        if element + i < params.outputs {
            var found: array<Key, PER_CELL>;
            for (var j = 0u; j < PER_CELL; j++) {
                found[j] = keys[i + j];
            }
            let cell = (element + i) / PER_CELL;
            store_cell(params.result_base + cell, found, min(PER_CELL, params.outputs - element - i));
        }
    }
}
