// The maxima of ascending segments of rows of whole column tiles: an invocation owns four
// neighbouring blocks (16 bytes) of each row, a cache line. segment/chunks has the loop over the
// rows. The CPU kernel is that of segment/blocks.
import package::common::block::{Acc, BLOCK, acc_add, acc_pack};
import package::common::element::element_words;
import package::common::invocation::Invocation;
import package::common::source::source_block;
import package::segment::chunks::visit;
import package::segment::ids::row_segment;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> carry: array<vec4<u32>>;

// The maxima so far.
struct Held {
    a: Acc,
    b: Acc,
    c: Acc,
    d: Acc,
}

struct Blocks {
    a: vec4<u32>,
    b: vec4<u32>,
    c: vec4<u32>,
    d: vec4<u32>,
}

// The first block of a tile, if the rows begin at an element.
fn first_block(base: u32, row: u32, column: u32) -> u32 {
    return base / BLOCK + 4u * (row * params.columns + column);
}

fn read_row(row: u32, column: u32) -> Blocks {
    let block = first_block(params.base, row, column);
    return Blocks(
        source_block(block),
        source_block(block + 1u),
        source_block(block + 2u),
        source_block(block + 3u),
    );
}

fn maximum_of(found: Blocks) -> Held {
    return merge(Held(), found);
}

fn merge(held: Held, found: Blocks) -> Held {
    return Held(
        acc_add(held.a, found.a),
        acc_add(held.b, found.b),
        acc_add(held.c, found.c),
        acc_add(held.d, found.d),
    );
}

fn elements_of(acc: Acc) -> vec4<u32> {
    return element_words(acc_pack(acc));
}

fn store_result(segment: u32, column: u32, held: Held) {
    let block = first_block(params.result_base, segment, column);
    result[block] = elements_of(held.a);
    result[block + 1u] = elements_of(held.b);
    result[block + 2u] = elements_of(held.c);
    result[block + 3u] = elements_of(held.d);
}

fn store_carry(entry: u32, column: u32, held: Held) {
    let block = first_block(params.carry_base, entry, column);
    carry[block] = elements_of(held.a);
    carry[block + 1u] = elements_of(held.b);
    carry[block + 2u] = elements_of(held.c);
    carry[block + 3u] = elements_of(held.d);
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    visit(at);
}
