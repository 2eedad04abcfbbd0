// What the kernels share that pool along whole blocks (16 bytes) of the inner
// axis: an invocation owns a block of results, reads blocks and writes blocks.
@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;

// Where an invocation's results are.
struct Place {
    // The block of the source's element 0 of all three axes.
    origin: u32,
    // Where the window begins along each axis.
    first0: i32,
    first1: i32,
    first2: i32,
    // The window's number along axis 2, and the block of its result.
    window: u32,
    target_block: u32,
    // Whether there is such a window at all.
    wanted: bool,
}

// Invocations are numbered over [lines, groups of windows, spacing, blocks of the inner axis].
fn place_of(number: u32, run: u32) -> Place {
    let line = quotient(number, params.by_runs);
    let in_line = number - line * params.by_runs.x;
    let along = quotient(in_line, params.by_blocks);
    let inner = in_line - along * params.by_blocks.x;
    let rest = quotient(line, params.by_axis1);
    let outer = quotient(rest, params.by_axis0);
    var at: Place;
    at.window = along;
    if run > 1u {
        at.window += quotient(along, params.by_spacing) * params.spacing * (run - 1u);
    }
    at.first0 = window(0u, rest - outer * params.by_axis0.x);
    at.first1 = window(1u, line - rest * params.by_axis1.x);
    at.first2 = window(2u, at.window);
    at.origin = (params.base + outer * params.outer_pitch) / BLOCK + inner;
    let windows = params.axes[2].outputs;
    at.target_block = params.result_base / BLOCK + (line * windows + at.window) * params.by_blocks.x + inner;
    at.wanted = line < params.lines && at.window < windows;
    return at;
}

// The maximum of some elements, and whether there are any.
struct Sum {
    acc: Acc,
    some: bool,
}

// A block along an axis, if there is an element.
fn add_block(sum: Sum, block: u32, inside: bool) -> Sum {
    var added = sum;
    if inside {
        added.acc = acc_add(sum.acc, source_block(block));
        added.some = true;
    }
    return added;
}

fn store_block(block: u32, packed: vec4<u32>, some: bool) {
    result[block] = store_words(select(empty_block(), packed, some));
}
