// Runs of eights of rows of one element, for adapters whose invocations share no fetches. Such adapters run
// both sides of a branch, and pay for each store that may be: so each row stores the maximum so far,
// and the last row of a segment has the last word. The twin is that of segment_runs, which comes to the same.

struct Run {
    // The segment of the row before, and its maximum so far.
    current: u32,
    key: Key,
    // The maximum of the first segment.
    head: Key,
}

// A row more. The first and the last segment of a run go to the carry list; ids that ascend
// lie between theirs, and any others are not stored.
fn step(run: Run, id: u32, key: Key, first: u32, last: u32) -> Run {
    let most = key_max(key, select(KEY_LOWEST, run.key, id == run.current));
    if first < id && id < last {
        put_result(params.result_base + id, most);
    }
    return Run(id, most, select(run.head, most, id == first));
}

fn walk_eights(number: u32, first: u32, last: u32) {
    var run = Run(first, KEY_LOWEST, KEY_LOWEST);
    let begin = number * params.run;
    for (var row = begin; row < begin + params.run; row += 8u) {
        let keys = eight_keys(params.base + row);
        let ids = eight_ids(row);
        run = step(run, ids[0], keys[0], first, last);
        run = step(run, ids[1], keys[1], first, last);
        run = step(run, ids[2], keys[2], first, last);
        run = step(run, ids[3], keys[3], first, last);
        run = step(run, ids[4], keys[4], first, last);
        run = step(run, ids[5], keys[5], first, last);
        run = step(run, ids[6], keys[6], first, last);
        run = step(run, ids[7], keys[7], first, last);
    }
    let entry = params.carry_base + 2u * number;
    put_carry(entry, run.head);
    note(2u * number, 0u, first);
    if first == last {
        note(2u * number + 1u, 0u, NONE);
    } else {
        put_carry(entry + 1u, run.key);
        note(2u * number + 1u, 0u, last);
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let run = group * WORKGROUP + local;
    if run >= params.runs {
        return;
    }
    let begin = run * params.run;
    let first = row_id(begin);
    let last = row_id(begin + params.run - 1u);
    if first != NONE && last != NONE {
        walk_eights(run, first, last);
    } else {
        // Some of its rows have no place.
        walk(run, 0u);
    }
}
