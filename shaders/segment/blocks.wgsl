// The maxima of ascending segments of rows of whole blocks (16 bytes): an invocation owns a block of
// each row of its run. segment/groups says how runs become segments. The CPU kernel is in
// src/segment/maxima.rs.
import package::common::block::{Acc, BLOCK, acc_add, acc_max, acc_of_keys, acc_pack};
import package::common::element::element_words;
import package::common::invocation::Invocation;
import package::common::source::source_block;
import package::segment::groups::{
    Tail, end_chunk, join, no_rows, note_first, place_of, scan, store_ended, tail_before,
    tail_of_all
};
import package::segment::ids::{NO_SEGMENT, row_segment};
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> carry: array<vec4<u32>>;

// Keys in the layout of a block.
alias Held = vec4<u32>;

fn merge_if(before: Held, after: Held, condition: bool) -> Held {
    let some = select(vec4<u32>(0u), before, condition);
    return acc_pack(acc_max(acc_of_keys(some), acc_of_keys(after)));
}

// A block of a row; `base` is the element at which the rows begin.
fn block_of(base: u32, row: u32, column: u32) -> u32 {
    return base / BLOCK + row * params.columns + column;
}

fn store_result(segment: u32, column: u32, held: Held) {
    result[block_of(params.result_base, segment, column)] = element_words(held);
}

fn store_carry(entry: u32, column: u32, held: Held) {
    carry[block_of(params.carry_base, entry, column)] = element_words(held);
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let place = place_of(at);
    let begin = min(place.begin + place.run * params.run_rows, place.end);
    let end = min(begin + params.run_rows, place.end);

    // The first segment of the run, set when it ends.
    var head = no_rows();
    var acc = Acc();
    var current = NO_SEGMENT;
    var next_segment = NO_SEGMENT;
    var next_block = vec4<u32>(0u);
    if begin < end {
        next_segment = row_segment(begin);
        next_block = source_block(block_of(params.base, begin, place.column));
    }
    for (var row = begin; row < end; row++) {
        let segment = next_segment;
        let block = next_block;
        // The next row is loaded while this one is processed.
        if row + 1u < end {
            next_segment = row_segment(row + 1u);
            next_block = source_block(block_of(params.base, row + 1u, place.column));
        }
        if segment != NO_SEGMENT {
            if segment != current {
                if head.segment != NO_SEGMENT {
                    store_result(current, place.column, acc_pack(acc));
                } else if current != NO_SEGMENT {
                    head = Tail(current, acc_pack(acc));
                }
                acc = Acc();
                current = segment;
            }
            acc = acc_add(acc, block);
        }
    }

    let tail = Tail(current, acc_pack(acc));
    let first = scan(place, tail);
    var before = no_rows();
    if place.run > 0u {
        before = tail_before(place, first);
    }
    let ended = head.segment != NO_SEGMENT;
    if !ended {
        head = tail;
    }
    if before.segment == NO_SEGMENT {
        note_first(place, head.segment);
    }
    workgroupBarrier();
    if place.begin >= place.end {
        return;
    }
    let joined = join(before, head);
    if before.segment != NO_SEGMENT && before.segment != joined.segment {
        store_ended(place, before);
    }
    if ended {
        store_ended(place, joined);
    }
    if place.run == 0u {
        end_chunk(place, tail_of_all(place, first));
    }
}
