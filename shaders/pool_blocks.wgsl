// Maxima of windows where the inner axis is whole blocks (16 bytes): an
// invocation owns a block of the inner axis and reads blocks. It computes RUN
// windows of the last axis that overlap; what all of them cover is read once.
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

// The maxima of a place along the last axis over the taps of the other two.
fn add_place(acc: Acc, origin: u32, first0: i32, first1: i32, at2: i32) -> Acc {
    var sum = acc;
    if u32(at2) >= params.axes[2].size {
        return sum;
    }
    let column = origin + u32(at2) * (params.axes[2].pitch / BLOCK);
    for (var j0 = 0u; j0 < params.axes[0].taps; j0++) {
        let at0 = first0 + tap(0u, j0);
        if u32(at0) >= params.axes[0].size {
            continue;
        }
        let plane = column + u32(at0) * (params.axes[0].pitch / BLOCK);
        for (var j1 = 0u; j1 < params.axes[1].taps; j1++) {
            let at1 = first1 + tap(1u, j1);
            if u32(at1) < params.axes[1].size {
                sum = acc_add(sum, source_block(plane + u32(at1) * (params.axes[1].pitch / BLOCK)));
            }
        }
    }
    return sum;
}

// Whether a window has no element along an axis.
fn is_empty(axis: u32, first: i32) -> bool {
    var j = 0u;
    if first < 0 {
        j = (u32(-first) + params.axes[axis].dilation - 1u) / params.axes[axis].dilation;
    }
    return j >= params.axes[axis].taps || u32(first + tap(axis, j)) >= params.axes[axis].size;
}

fn store_block(block: u32, acc: Acc, empty: bool) {
    var keys = acc_keys(acc);
    for (var i = 0u; i < BLOCK; i += PER_CELL) {
        var found: array<Key, PER_CELL>;
        for (var j = 0u; j < PER_CELL; j++) {
            found[j] = keys[i + j];
            if empty {
                found[j] = empty_key();
            }
        }
        store_cell(block * (BLOCK / PER_CELL) + i / PER_CELL, found, PER_CELL);
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let number = group * WORKGROUP + local;
    let blocks = params.inner / BLOCK;
    let windows = params.axes[2].outputs;
    // As many results as the last axis has windows make a line.
    let lines = params.outputs / (windows * params.inner);
    if number >= lines * params.runs * blocks {
        return;
    }
    let line = number / (params.runs * blocks);
    let run = number / blocks % params.runs;
    let inner = number % blocks;
    let rest = line / params.axes[1].outputs;
    let first1 = window(1u, line % params.axes[1].outputs);
    let first0 = window(0u, rest % params.axes[0].outputs);
    let outer = rest / params.axes[0].outputs;
    let origin = (params.base + outer * params.outer_pitch) / BLOCK + inner;
    let empty01 = is_empty(0u, first0) || is_empty(1u, first1);

    let member = run / params.spacing * (params.spacing * RUN) + run % params.spacing;
    if member >= windows {
        return;
    }
    let first2 = window(2u, member);
    let target_block = params.result_base / BLOCK + (line * windows + member) * blocks + inner;
    let taps = params.axes[2].taps;
    let shared_from = (RUN - 1u) * params.shift;

    // What all windows of the run cover.
    var acc: Acc;
    for (var j = shared_from; j < taps; j++) {
        acc = add_place(acc, origin, first0, first1, first2 + tap(2u, j));
    }
    // Towards the first window, which begins first.
    var begins: array<vec4<u32>, RUN>;
    var sum = acc;
    for (var i = 1u; i < RUN; i++) {
        begins[RUN - i] = acc_pack(sum);
        for (var j = 0u; j < params.shift; j++) {
            let at = (RUN - 1u - i) * params.shift + j;
            sum = add_place(sum, origin, first0, first1, first2 + i32(at * params.axes[2].dilation));
        }
    }
    store_block(target_block, sum, empty01 || is_empty(2u, first2));
    // Towards the last window, which ends last.
    var ends: Acc;
    for (var i = 1u; i < RUN; i++) {
        for (var j = 0u; j < params.shift; j++) {
            let at = taps + (i - 1u) * params.shift + j;
            ends = add_place(ends, origin, first0, first1, first2 + i32(at * params.axes[2].dilation));
        }
        let w = member + i * params.spacing;
        if w < windows {
            let block = target_block + i * params.spacing * blocks;
            store_block(block, acc_add_keys(ends, begins[i]), empty01 || is_empty(2u, window(2u, w)));
        }
    }
}
