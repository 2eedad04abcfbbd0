// The maxima of segments of rows whose ids ascend. An invocation walks down a run
// of rows. A segment that begins and ends inside is stored; the first and the last
// one of a run may go on elsewhere, so they go to the carry list: two rows a run,
// with ids of their own, which a later launch walks down in turn. So the time
// does not depend on how long segments are, and nobody waits for anybody.
@group(0) @binding(6) var<storage, read_write> carry_ids: array<u32>;

// The id of a row of the carry list, which one invocation writes for all columns.
fn note(entry: u32, column: u32, id: u32) {
    if column == 0u {
        carry_ids[params.carry_ids_base + entry] = id;
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
    let run = quotient(number, params.by_columns);
    if run >= params.runs {
        return;
    }
    let column = number - run * params.columns;
    let begin = run * params.run;
    let end = min(begin + params.run, params.rows);
    let carries = params.last == 0u;

    var state = nothing();
    var current = NONE;
    var first = true;
    for (var row = begin; row < end; row++) {
        let next = row_id(row);
        // Rows without a place, and what was not carried, part no segment.
        if next != NONE {
            if next != current {
                if current != NONE {
                    if carries && first {
                        store_carry(2u * run, column, state);
                        note(2u * run, column, current);
                    } else {
                        store_result(current, column, state);
                    }
                    first = false;
                }
                state = nothing();
                current = next;
            }
            state = add_row(state, row, column);
        }
    }
    if carries {
        let entry = select(2u * run + 1u, 2u * run, first);
        if current != NONE {
            store_carry(entry, column, state);
        }
        note(entry, column, current);
        if first {
            note(2u * run + 1u, column, NONE);
        }
    } else if current != NONE {
        store_result(current, column, state);
    }
}
