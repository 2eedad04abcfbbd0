// The part of the data that each row of updates belongs to, from the indices of the row. An
// invocation takes a row. With `status` it also counts the rows that belong to no part. The CPU
// kernel is in src/segment/locate.rs.
import package::common::divide::quotient;
import package::common::invocation::{Invocation, invocation_number};
import package::segment::id_words::{high_word, low_word};
import generated::{NO_PART, OUT_OF_RANGE, WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@if(status) @group(0) @binding(4) var<storage, read_write> status: array<atomic<u32>>;

// The place of an index along an axis of this size; NO_PART if it has none.
fn place(id: u32, size: u32) -> u32 {
    let high = high_word(id);
    let negative = (high & params.id_sign) != 0u;
    let low = low_word(id);
    // Below the size only if the sum passes 2^32: then the index is not below -size.
    let at = select(low, low + size, negative);
    let fits = params.id_words == 1u || high == select(0u, 0xffffffffu, negative);
    return select(NO_PART, at, fits && at < size);
}

// The sum of a row's places along the axes of rows, in parts.
fn origin(row: u32) -> u32 {
    var rest = row;
    var sum = 0u;
    for (var i = 0u; i < params.axes; i++) {
        let axis = params.axis[i];
        let outer = quotient(rest, axis);
        sum += (rest - outer * axis.x) * axis.w;
        rest = outer;
    }
    return sum;
}

@if(!status)
fn report() {
}

@if(status)
fn report() {
    atomicOr(&status[0], OUT_OF_RANGE);
    atomicAdd(&status[1], 1u);
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let row = invocation_number(at);
    if row >= params.rows {
        return;
    }
    var part = origin(params.first_row + row);
    var inside = true;
    for (var i = 0u; i < params.indexed; i++) {
        let axis = params.axis[params.axes + i];
        let at = place(params.base + row * params.indexed + i, axis.x);
        inside = inside && at != NO_PART;
        part += select(0u, at, at != NO_PART) * axis.w;
    }
    if !inside {
        report();
    }
    result[params.result_base + row] = select(NO_PART, part, inside);
}
