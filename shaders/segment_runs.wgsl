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

fn walk(run: u32, column: u32) {
    let begin = run * params.run;
    let end = min(begin + params.run, params.rows);
    let carries = params.last == 0u;

    var state = nothing();
    var current = NONE;
    var head = NONE;
    var first = true;
    for (var row = begin; row < end; row++) {
        let next = row_id(row);
        let found = read_row(row, column);
        // Rows without a place, and what was not carried, part no segment.
        if next != NONE {
            if next != current {
                if current != NONE {
                    if carries && first {
                        store_carry(2u * run, column, state);
                        head = current;
                    } else {
                        store_result(current, column, state);
                    }
                    first = false;
                }
                state = nothing();
                current = next;
            }
            state = add_row(state, found);
        }
    }
    if carries {
        let entry = select(2u * run + 1u, 2u * run, first);
        if current != NONE {
            store_carry(entry, column, state);
        }
        note(2u * run, column, select(head, current, first));
        note(2u * run + 1u, column, select(current, NONE, first));
    } else if current != NONE {
        store_result(current, column, state);
    }
}
