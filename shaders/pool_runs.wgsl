// Maxima of windows along axis 2 alone, where the inner axis is whole blocks (16
// bytes). An invocation computes eight windows that overlap: each lies `shift`
// taps behind the one before. What all of them cover is read once, then what
// each of them lacks towards either end.
const RUN: u32 = 8u;

// What holds a sum while others are made.
struct Held {
    packed: vec4<u32>,
    some: bool,
}

fn hold(sum: Sum) -> Held {
    return Held(acc_pack(sum.acc), sum.some);
}

// Taps from one on, counted from the first window's first tap.
fn add_taps(sum: Sum, at: Place, origin: u32, from_tap: u32, count: u32) -> Sum {
    var added = sum;
    for (var j = from_tap; j < from_tap + count; j++) {
        let at2 = at.first2 + i32(j * params.axes[2].dilation);
        let block = origin + u32(at2) * (params.axes[2].pitch / BLOCK);
        added = add_block(added, block, u32(at2) < params.axes[2].size);
    }
    return added;
}

// Window i of the run: its taps that all share or that lie before, and those behind.
fn store_member(at: Place, i: u32, begin: Held, end: Sum, inside: bool) {
    if at.window + i * params.spacing < params.axes[2].outputs {
        let block = at.target_block + i * params.spacing * params.by_blocks.x;
        let packed = acc_pack(acc_add_keys(end.acc, begin.packed));
        store_block(block, packed, inside && (begin.some || end.some));
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let at = place_of(group * WORKGROUP + local, RUN);
    if !at.wanted {
        return;
    }
    // The other axes have windows of one element, which may lie in the padding.
    let inside = u32(at.first0) < params.axes[0].size && u32(at.first1) < params.axes[1].size;
    let origin = at.origin + u32(at.first0) * (params.axes[0].pitch / BLOCK)
        + u32(at.first1) * (params.axes[1].pitch / BLOCK);
    let taps = params.axes[2].taps;
    let shift = params.shift;

    var sum: Sum;
    sum = add_taps(sum, at, origin, 7u * shift, taps - 7u * shift);
    let begin7 = hold(sum);
    sum = add_taps(sum, at, origin, 6u * shift, shift);
    let begin6 = hold(sum);
    sum = add_taps(sum, at, origin, 5u * shift, shift);
    let begin5 = hold(sum);
    sum = add_taps(sum, at, origin, 4u * shift, shift);
    let begin4 = hold(sum);
    sum = add_taps(sum, at, origin, 3u * shift, shift);
    let begin3 = hold(sum);
    sum = add_taps(sum, at, origin, 2u * shift, shift);
    let begin2 = hold(sum);
    sum = add_taps(sum, at, origin, shift, shift);
    let begin1 = hold(sum);
    sum = add_taps(sum, at, origin, 0u, shift);
    let begin0 = hold(sum);
    var end: Sum;
    store_member(at, 0u, begin0, end, inside);
    end = add_taps(end, at, origin, taps, shift);
    store_member(at, 1u, begin1, end, inside);
    end = add_taps(end, at, origin, taps + shift, shift);
    store_member(at, 2u, begin2, end, inside);
    end = add_taps(end, at, origin, taps + 2u * shift, shift);
    store_member(at, 3u, begin3, end, inside);
    end = add_taps(end, at, origin, taps + 3u * shift, shift);
    store_member(at, 4u, begin4, end, inside);
    end = add_taps(end, at, origin, taps + 4u * shift, shift);
    store_member(at, 5u, begin5, end, inside);
    end = add_taps(end, at, origin, taps + 5u * shift, shift);
    store_member(at, 6u, begin6, end, inside);
    end = add_taps(end, at, origin, taps + 6u * shift, shift);
    store_member(at, 7u, begin7, end, inside);
}
