// The status of ids or offsets. Its first word has their errors: 1 if one is below the one before
// it, 2 if one is negative, 4 if an offset is after the last row. The second word counts the rows
// that belong to no segment. The CPU kernel is in src/segment/check_ids.rs.
import package::common::invocation::{Invocation, invocation_number};
import package::segment::id_words::{high_word, low_word};
import generated::{ANY_ORDER, OFFSETS, WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> status: array<atomic<u32>>;

// A high word whose unsigned order is that of ids.
fn ordered(high: u32) -> u32 {
    return high ^ params.id_sign;
}

fn is_below(a: u32, b: u32) -> bool {
    let high_a = ordered(high_word(a));
    let high_b = ordered(high_word(b));
    return high_a < high_b || (high_a == high_b && low_word(a) < low_word(b));
}

fn is_negative(id: u32) -> bool {
    return (high_word(id) & params.id_sign) != 0u;
}

// Whether an id that is not negative needs more than its low word.
fn is_wide(id: u32) -> bool {
    return params.id_words == 2u && high_word(id) != 0u;
}

// How many rows are before an offset.
fn rows_before(id: u32) -> u32 {
    let rows = select(min(low_word(id), params.rows), params.rows, is_wide(id));
    return select(rows, 0u, is_negative(id));
}

// Negative ids of one word are larger than all numbers of segments.
fn has_segment(id: u32) -> bool {
    return low_word(id) < params.segments && !is_wide(id);
}

fn findings(id: u32, i: u32) -> u32 {
    var found = 0u;
    if is_negative(id) {
        found |= 2u;
    } else if params.form == OFFSETS && (low_word(id) > params.rows || is_wide(id)) {
        found |= 4u;
    }
    // A launch begins with the last id of the one before it.
    if i > 0u && is_below(id, id - 1u) {
        found |= 1u;
    }
    return found;
}

// Rows without a segment that this id shows: its own, or those before the first offset and after
// the last one.
fn rows_dropped(id: u32, i: u32) -> u32 {
    if params.form != OFFSETS {
        return select(0u, 1u, i >= params.counted && !has_segment(id));
    }
    var rows = 0u;
    if i == 0u && params.counted == 0u {
        rows += rows_before(id);
    }
    if i + 1u == params.count && params.last == 1u {
        rows += params.rows - rows_before(id);
    }
    return rows;
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let number = invocation_number(at);
    let count = select(0u, params.count, number < params.step);
    var found = 0u;
    var dropped = 0u;
    for (var i = number; i < count; i += params.step) {
        let id = params.base + i;
        if params.form != ANY_ORDER {
            found |= findings(id, i);
        }
        dropped += rows_dropped(id, i);
    }
    if found != 0u {
        atomicOr(&status[0], found);
    }
    if dropped != 0u {
        atomicAdd(&status[1], dropped);
    }
}
