// Maxima of windows whose taps the text knows, for adapters whose invocations share no fetches and pay for loops: an
// invocation walks along stretches of lines of windows, each through memory of its own. What the rows of a window (its
// taps along axes 0 and 1) have at a position is made one block, a column; columns that the next windows have too are
// held. A position is a block (16 bytes) of a contiguous line, or a place in front of blocks of an inner axis.
//
// Written out by src/kernel/walk.rs: PER, STRIDE, SHIFT, ABREAST, Rows, rows_of, Held, begin_walk, look, put_windows, pass_on.

// What is the same for all lines: drivers do not take it out of loops.
struct Across {
    // Positions of a row, and blocks from one to the next.
    count: u32,
    pitch: u32,
}

struct Targets {
    // What a line of results has, and blocks from one step to the next.
    length: u32,
    pitch: u32,
}

// Where the elements of some taps along axes 0 and 1 begin, and whether there are any.
struct Row {
    at: u32,
    inside: bool,
}

fn row(origin: u32, first0: i32, first1: i32, j0: u32, j1: u32) -> Row {
    let at0 = first0 + tap(0u, j0);
    let at1 = first1 + tap(1u, j1);
    let inside = u32(at0) < params.axes[0].size && u32(at1) < params.axes[1].size;
    let at = u32(at0) * unit(params.axes[0].pitch) + u32(at1) * unit(params.axes[1].pitch);
    return Row(origin + select(0u, at, inside), inside);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let number = group * WORKGROUP + local;
    let part = quotient(number, params.by_blocks);
    let inner = (number - part * params.by_blocks.x) * ABREAST;
    // `runs` stretches of `shift` steps are a line, and `spacing` of them an invocation's.
    let begin = part * params.spacing;
    if begin >= params.lines {
        return;
    }
    let end = min(begin + params.spacing, params.lines);
    let steps = (params.axes[2].outputs + PER - 1u) / PER;
    let across = Across(count_positions(), params.axes[2].pitch * PER / BLOCK);
    let targets = Targets(line_length(), max(params.inner / BLOCK, 1u));
    for (var i = begin; i < end; i++) {
        let line = quotient(i, params.by_runs);
        let rest = quotient(line, params.by_axis1);
        let outer = quotient(rest, params.by_axis0);
        let first0 = window(0u, rest - outer * params.by_axis0.x);
        let first1 = window(1u, line - rest * params.by_axis1.x);
        let rows = rows_of(unit(params.base + outer * params.outer_pitch) + inner, first0, first1);
        let first = (i - line * params.runs) * params.shift;
        let last = min(first + params.shift, steps);
        var at = (window(2u, first * PER) - SHIFT) / i32(PER);
        let line_result = first_result(line) + inner;
        var held = Held();
        begin_walk(&held, rows, across, at);
        for (var j = first; j < last; j++) {
            look(&held, rows, across, at);
            put_windows(&held, targets, line_result, j);
            pass_on(&held);
            at += STRIDE;
        }
    }
}
