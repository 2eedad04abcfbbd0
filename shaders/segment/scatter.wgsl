// The maxima of segments of rows in any order. An invocation goes through a chunk of rows, and takes
// the maximum of successive ones with one id. Then it updates the item, which all invocations share.
// The rows of `width` chunks alternate, so that neighbours load neighbouring rows.
//
// Each launch finds one word of the items: the maxima of a word of the keys, among the rows that
// have the maxima of the words before it. The last word is a mark, set with the first word, or
// (`argmax`) the complement of the row, found by a launch of its own. The CPU kernel is in
// src/segment/scatter.rs.
import package::common::divide::quotient;
import package::common::invocation::{Invocation, invocation_number};
import package::common::key::Key;
@if(argmax) import package::common::element::kernel_ranking;
@if(argmax) import package::common::rank::key_rank;
import package::common::source::load_element;
import package::segment::ids::{NO_SEGMENT, row_segment_from_end};
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> items: array<atomic<u32>>;

@if(!argmax)
fn load_key(element: u32) -> Key {
    return load_element(element);
}

@if(argmax)
fn load_key(element: u32) -> Key {
    return key_rank(load_element(element), kernel_ranking());
}

// Whether an item has a key's words, as far as earlier launches found them.
@if(!bits64)
fn has_earlier_words(key: Key, item: u32) -> bool {
    return params.word == 0u || atomicLoad(&items[item]) == key;
}

// The high one of two words comes first.
@if(bits64)
fn has_earlier_words(key: Key, item: u32) -> bool {
    if params.word == 0u {
        return true;
    }
    let high = atomicLoad(&items[item]) == key.y;
    if params.word == 1u {
        return high;
    }
    return high & (atomicLoad(&items[item + 1u]) == key.x);
}

// The word of an item that this launch finds.
@if(!bits64)
fn item_word(key: Key, row: u32) -> u32 {
    return select(~row, key, params.word == 0u);
}

@if(bits64)
fn item_word(key: Key, row: u32) -> u32 {
    return select(select(~row, key.x, params.word == 1u), key.y, params.word == 0u);
}

fn item_of(segment: u32, column: u32) -> u32 {
    return (params.result_base + segment * params.inner + column) * params.item_words;
}

fn update(segment: u32, column: u32, word: u32) {
    let item = item_of(segment, column);
    // The maximum with 0 changes nothing.
    if word != 0u {
        atomicMax(&items[item + params.word], word);
    }
    mark(item);
}

@if(!argmax)
fn mark(item: u32) {
    if params.word == 0u {
        atomicMax(&items[item + params.item_words - 1u], 1u);
    }
}

@if(argmax)
fn mark(item: u32) {
}

// The segment of a row, and the key of one of its elements.
struct Row {
    segment: u32,
    key: Key,
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let number = invocation_number(at);
    let chunk = quotient(number, params.by_columns);
    if chunk >= params.chunks {
        return;
    }
    let column = number - chunk * params.columns;
    let first = quotient(chunk, params.by_width) * params.width;
    let begin = first * params.chunk + chunk - first;
    let end = min((first + params.width) * params.chunk, params.rows);

    var best = 0u;
    var current = NO_SEGMENT;
    for (var row = begin; row < end; row += 4u * params.width) {
        // Four rows in flight.
        var rows: array<Row, 4>;
        for (var i = 0u; i < 4u; i++) {
            let at = min(row + i * params.width, params.rows - 1u);
            let segment = row_segment_from_end(at);
            rows[i] = Row(
                select(NO_SEGMENT, segment, row + i * params.width < end),
                load_key(params.base + at * params.inner + column),
            );
        }
        for (var i = 0u; i < 4u; i++) {
            let next = rows[i].segment;
            let key = rows[i].key;
            if next != current {
                if current != NO_SEGMENT {
                    update(current, column, best);
                }
                best = 0u;
                current = next;
            }
            if next != NO_SEGMENT {
                // Keys decide by select alone, so that the machine of wgmax-lab can follow what is found.
                let at = params.first_row + row + i * params.width;
                let takes = has_earlier_words(key, item_of(next, column));
                best = max(best, select(0u, item_word(key, at), takes));
            }
        }
    }
    if current != NO_SEGMENT {
        update(current, column, best);
    }
}
