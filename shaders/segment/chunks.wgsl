// Chunks of rows as in segment/groups, but one invocation goes through each by itself. This is fast
// if a driver emulates a GPU, where a workgroup waits for its invocations slowly.
//
// The kernels declare `Held`, the maximum so far of a part of each row, and `read_row`, `maximum_of`
// one row, `merge`, `store_result` and `store_carry`. The CPU's version is src/segment/chunks.rs.
import package::common::divide::quotient;
import package::common::invocation::{Invocation, invocation_number};
import package::segment::ids::NO_SEGMENT;
import kernel::{Held, maximum_of, merge, read_row, row_segment, store_carry, store_result};
import generated::params;

@group(0) @binding(6) var<storage, read_write> carry_ids: array<u32>;

// Invocations are numbered over [chunks, columns].
fn visit(at: Invocation) {
    let number = invocation_number(at);
    let chunk = quotient(number, params.by_columns);
    if chunk < params.chunks {
        visit_chunk(chunk, number - chunk * params.columns);
    }
}

fn visit_chunk(chunk: u32, column: u32) {
    let begin = chunk * params.chunk;
    let end = min(begin + params.chunk, params.rows);
    let carries = params.last == 0u;

    var state = Held();
    var current = NO_SEGMENT;
    var head = NO_SEGMENT;
    var first = true;
    for (var row = begin; row < end; row++) {
        let next = row_segment(row);
        let found = read_row(row, column);
        // Out-of-range ids, and rows of the carry list without an id, separate no segments.
        if next != NO_SEGMENT {
            if next != current {
                if current != NO_SEGMENT {
                    if carries && first {
                        store_carry(2u * chunk, column, state);
                        head = current;
                    } else {
                        store_result(current, column, state);
                    }
                    first = false;
                }
                state = maximum_of(found);
                current = next;
            } else {
                state = merge(state, found);
            }
        }
    }
    if carries {
        let entry = select(2u * chunk + 1u, 2u * chunk, first);
        if current != NO_SEGMENT {
            store_carry(entry, column, state);
        }
        store_carry_id(2u * chunk, column, select(head, current, first));
        store_carry_id(2u * chunk + 1u, column, select(current, NO_SEGMENT, first));
    } else if current != NO_SEGMENT {
        store_result(current, column, state);
    }
}

// The id of a row of the carry list, which one invocation writes for all columns.
fn store_carry_id(entry: u32, column: u32, id: u32) {
    if column == 0u {
        carry_ids[params.carry_ids_base + entry] = id;
    }
}
