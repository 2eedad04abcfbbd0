// Ids from offsets: the segment of each row, or NO_SEGMENT. An invocation searches the segment of
// the first row of its chunk, and continues from there. The CPU kernel is in
// src/segment/expand_offsets.rs.
import package::common::invocation::{Invocation, invocation_number};
import package::segment::id_words::low_word;
import package::segment::ids::NO_SEGMENT;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;

// The first row of a segment. The low word is enough: an offset that needs its high word is an error,
// for which results are unspecified.
fn offset_of(segment: u32) -> u32 {
    return low_word(params.base + segment);
}

// The last segment that begins at a row or before it; NO_SEGMENT if there is none. If offsets do
// not ascend, the search still ends.
fn search(row: u32) -> u32 {
    var low = 0u;
    var high = params.segments + 1u;
    while low < high {
        let middle = (low + high) / 2u;
        if offset_of(middle) <= row {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low - 1u;
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let number = invocation_number(at);
    if number >= params.chunks {
        return;
    }
    let begin = number * params.chunk;
    let end = min(begin + params.chunk, params.rows);
    var segment = search(params.first_row + begin);
    for (var i = begin; i < end; i++) {
        let row = params.first_row + i;
        if segment >= params.segments || row >= offset_of(segment + 1u) {
            segment = search(row);
        }
        result[params.result_base + i] = select(NO_SEGMENT, segment, segment < params.segments);
    }
}
