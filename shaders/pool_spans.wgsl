// Maxima of windows along contiguous rows of elements of a word each, ROWS (1 or 3) rows at once, for
// adapters whose invocations share no fetches: an invocation walks along a strip of results by
// fours, reads whole blocks (16 bytes) of what the four windows span, and asks of each element whose it
// is. Rows begin a block; the dilation is a power of two.
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

// What four windows have seen so far, and whether that is anything.
struct Seen {
    best: vec4<u32>,
    some: vec4<bool>,
}

// An element so far from the beginning of each window; before it, that is very far.
fn see(seen: Seen, distance: vec4<u32>, key: u32) -> Seen {
    let reach = vec4<u32>(params.axes[2].reach);
    let between = distance & vec4<u32>(params.axes[2].dilation - 1u);
    // The last tap may be nearer than the dilation makes it.
    let mine = (distance <= reach) & ((between == vec4<u32>(0u)) | (distance == reach));
    return Seen(max(seen.best, select(vec4<u32>(0u), vec4<u32>(key), mine)), seen.some | mine);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let number = group * WORKGROUP + local;
    // `runs` strips of `spacing` fours are a line.
    let line = number / params.runs;
    if line >= params.lines {
        return;
    }
    let windows = params.axes[2].outputs;
    let begin = (number % params.runs) * params.spacing;
    let end = min(begin + params.spacing, (windows + 3u) / 4u);
    let rows = taps_of(1u, line % params.by_axis1.x);
    let row = rows_of(line, rows);
    let line_result = params.result_base + line * windows;
    let blocks = params.axes[2].size / BLOCK;
    let reach = params.axes[2].reach;

    for (var four = begin; four < end; four++) {
        let window = vec4<u32>(four * 4u) + vec4<u32>(0u, 1u, 2u, 3u);
        let first = vec4<i32>(window * params.axes[2].stride) + params.axes[2].start;
        // Rounds down for what lies before the row too.
        let first_block = first.x >> 2u;
        let last_block = (first.w + i32(reach)) >> 2u;
        var seen = Seen();
        for (var block = max(first_block, 0); block <= min(last_block, i32(blocks) - 1); block++) {
            var acc = acc_add(Acc(), source_block(row.x + u32(block)));
            if ROWS > 1u {
                acc = acc_add(acc, source_block(row.y + u32(block)));
                acc = acc_add(acc, source_block(row.z + u32(block)));
            }
            let distance = vec4<u32>(block * 4 - first);
            seen = see(seen, distance, acc.w.x);
            seen = see(seen, distance + 1u, acc.w.y);
            seen = see(seen, distance + 2u, acc.w.z);
            seen = see(seen, distance + 3u, acc.w.w);
        }
        let some = seen.some & vec4<bool>(rows.some);
        let keys = select(vec4<u32>(params.empty_low), seen.best, some);
        let bits = store_words(keys);
        let at = line_result + four * 4u;
        let left = windows - four * 4u;
        result[at] = bits.x;
        if left > 1u {
            result[at + 1u] = bits.y;
        }
        if left > 2u {
            result[at + 2u] = bits.z;
        }
        if left > 3u {
            result[at + 3u] = bits.w;
        }
    }
}
