// The maximum of each column of a matrix, or of each of `splits` pieces of it, for several
// matrices. Results are numbered over [matrices, splits, width].
//
// A workgroup owns `tile` neighbouring blocks (16 bytes) of results, and WORKGROUP / tile
// invocations share each: neighbours read neighbouring addresses of a row, and the others the next
// rows. A tree in workgroup memory combines them. The CPU kernel is in src/reduce/columns.rs.
import package::common::block::{Acc, BLOCK, acc_add_with, acc_add_keys, acc_pack};
@if(unaligned) import package::common::block::{ELEMENT_BITS, PER_WORD, WORD_STARTS, acc_keys};
@if(!unaligned) import package::common::element::element_words;
import package::common::element::kernel_ranking;
import package::common::invocation::{Invocation, group_number};
@if(unaligned) import package::common::key::Key;
@if(!unaligned) import package::common::source::{source_block, source_len};
@if(unaligned) import package::common::source::load_words_at;
import package::common::store::PER_STORE;
@if(unaligned) import package::common::store::store_keys;
import generated::{WORKGROUP, params};

@if(!unaligned) @group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;
@if(unaligned) @group(0) @binding(2) var<storage, read_write> result: array<u32>;

var<workgroup> shared_keys: array<vec4<u32>, WORKGROUP>;

// For the block of results at an element: the maximum of each column in every `WORKGROUP / tile`-th
// row of its unit, from row `share` on. Matrices are whole rows; every row and every block of
// results begins with a block of memory.
@if(!unaligned)
fn columns_of(element: u32, share: u32) -> Acc {
    let unit = element / params.width;
    let start = params.base + (unit / params.splits) * params.len + element % params.width;
    let first = (unit % params.splits) * params.chunk;
    // The length of the source changes nothing; see reduce/rows.
    let rows = min(min(params.chunk, params.len / params.width - first), source_len());
    let step = WORKGROUP / params.tile;
    let pitch = params.width / BLOCK;
    let ranking = kernel_ranking();
    var at = start / BLOCK + (first + share) * pitch;
    var acc: Acc;
    var row = share;
    while row + 3u * step < rows {
        let w0 = source_block(at);
        let w1 = source_block(at + step * pitch);
        let w2 = source_block(at + 2u * step * pitch);
        let w3 = source_block(at + 3u * step * pitch);
        acc = acc_add_with(acc, w0, ranking);
        acc = acc_add_with(acc, w1, ranking);
        acc = acc_add_with(acc, w2, ranking);
        acc = acc_add_with(acc, w3, ranking);
        at += 4u * step * pitch;
        row += 4u * step;
    }
    while row < rows {
        acc = acc_add_with(acc, source_block(at), ranking);
        at += step * pitch;
        row += step;
    }
    return acc;
}

// Unaligned: each word of the block (with 64 bits, each element) is loaded by itself. A unit is the
// `width` results of a matrix or of a piece of it. A word may have elements of two units, which are
// loaded from two places. It never has elements of three: a unit has at least two results, and units
// of two begin at an even one.
@if(unaligned)
fn columns_of(element: u32, share: u32) -> Acc {
    // The first block may begin before the first result. Its first word then has the first results,
    // which `store` shifts to their places.
    let number = vec4<u32>(element) + WORD_STARTS;
    let before = number >= vec4<u32>(0x80000000u);
    let first_result = select(min(number, vec4<u32>(params.outputs - 1u)), vec4<u32>(0u), before);
    let unit = first_result / params.width;
    let column = first_result % params.width;
    let here = params.width - column;
    let next = unit + 1u;
    // Nothing follows the last unit.
    let from_here = select(
        ~(vec4<u32>(0xffffffffu) << (here * ELEMENT_BITS)),
        vec4<u32>(0xffffffffu),
        (here >= vec4<u32>(PER_WORD)) | (next * params.width >= vec4<u32>(params.outputs)),
    );
    let across = any(from_here != vec4<u32>(0xffffffffu));

    let base = params.base + (unit / params.splits) * params.len + column;
    let first = (unit % params.splits) * (params.chunk * params.width);
    // Reads begin `here` elements early, so that the next unit's first element follows this unit's
    // last one.
    let next_base = params.base + (next / params.splits) * params.len - here;
    let next_first = (next % params.splits) * (params.chunk * params.width);

    let last = vec4<u32>(params.len - params.width);
    let step = WORKGROUP / params.tile;
    let ranking = kernel_ranking();
    var acc: Acc;
    var row = share * params.width;
    // Rows past the last one of a matrix are clamped to it, which changes no maximum.
    for (var i = share; i < params.chunk; i += step) {
        var words = load_words_at(base + min(first + row, last));
        if across {
            let other = load_words_at(select(
                next_base + min(next_first + row, last),
                vec4<u32>(0u),
                from_here == vec4<u32>(0xffffffffu),
            ));
            words = (words & from_here) | (other & ~from_here);
        }
        acc = acc_add_with(acc, words, ranking);
        row += step * params.width;
    }
    return acc;
}

@if(!unaligned)
fn store(block: u32, acc: Acc) {
    result[params.result_base / BLOCK + block] = element_words(acc_pack(acc));
}

@if(unaligned)
fn store(block: u32, acc: Acc) {
    let lead = params.result_base % PER_STORE;
    let total = params.outputs + lead;
    var keys = acc_keys(acc);
    for (var i = 0u; i < BLOCK; i += PER_STORE) {
        let first = block * BLOCK + i;
        if first < total {
            let begin = select(0u, lead, first == 0u);
            var found: array<Key, PER_STORE>;
            for (var j = begin; j < PER_STORE; j++) {
                found[j] = keys[i + j - begin];
            }
            let word = params.result_base / PER_STORE + first / PER_STORE;
            store_keys(word, found, begin, min(PER_STORE, total - first));
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let block = group_number(at) * params.tile + at.local % params.tile;
    // Results before the first one belong to an earlier launch. If all is aligned there are none.
    let lead = params.result_base % PER_STORE;
    let exists = block < (params.outputs + lead + BLOCK - 1u) / BLOCK;
    var acc: Acc;
    if exists {
        acc = columns_of(block * BLOCK - lead, at.local / params.tile);
    }
    for (var step = WORKGROUP / 2u; step >= params.tile; step /= 2u) {
        if at.local >= step && at.local < 2u * step {
            shared_keys[at.local] = acc_pack(acc);
        }
        workgroupBarrier();
        if at.local < step {
            acc = acc_add_keys(acc, shared_keys[at.local + step]);
        }
    }
    if exists && at.local < params.tile {
        store(block, acc);
    }
}
