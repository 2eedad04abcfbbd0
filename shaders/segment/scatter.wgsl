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
import package::segment::ids::{NO_SEGMENT, narrow_id, segment_from_end, wide_id};
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

// A row of a launch: its number, its segment, and the key of one of its elements.
struct Row {
    number: u32,
    segment: u32,
    key: Key,
}

// The word of an item that this launch finds, or 0, which changes nothing, if an earlier word of the
// row's is below the item's. `column_item` is the column's item of the first segment.
@if(!argmax && !bits64)
fn found_word(row: Row, column_item: u32) -> u32 {
    return row.key;
}

// Keys decide by select alone, so that the machine of wgmax-lab can follow what is found.
@if(argmax || bits64)
fn found_word(row: Row, column_item: u32) -> u32 {
    var takes = true;
    if params.word > 0u {
        takes = has_earlier_words(row.key, item_of(row.segment, column_item));
    }
    return select(0u, item_word(row), takes);
}

@if(argmax && !bits64)
fn has_earlier_words(key: Key, item: u32) -> bool {
    return atomicLoad(&items[item]) == key;
}

// The high one of two words comes first.
@if(bits64)
fn has_earlier_words(key: Key, item: u32) -> bool {
    let high = atomicLoad(&items[item]) == key.y;
    if params.word == 1u {
        return high;
    }
    return high & (atomicLoad(&items[item + 1u]) == key.x);
}

@if(argmax && !bits64)
fn item_word(row: Row) -> u32 {
    return select(~(params.first_row + row.number), row.key, params.word == 0u);
}

@if(bits64)
fn item_word(row: Row) -> u32 {
    let number = ~(params.first_row + row.number);
    return select(select(number, row.key.x, params.word == 1u), row.key.y, params.word == 0u);
}

fn item_of(segment: u32, column_item: u32) -> u32 {
    return column_item + segment * (params.inner * params.item_words);
}

fn update(item: u32, word: u32) {
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
    if begin >= end {
        return;
    }
    let last = begin + quotient(end - 1u - begin, params.by_width) * params.width;
    let element = params.base + column;
    let column_item = (params.result_base + column) * params.item_words;

    var best = 0u;
    var current = NO_SEGMENT;
    for (var row = begin; row < end; row += 4u * params.width) {
        // Four rows in flight. Rows past the end repeat the last one, which changes no maximum.
        let at = min(row + vec4<u32>(0u, 1u, 2u, 3u) * params.width, vec4<u32>(last));
        var rows: array<Row, 4>;
        var id: array<vec2<u32>, 4>;
        for (var i = 0u; i < 4u; i++) {
            rows[i] = Row(at[i], NO_SEGMENT, load_key(element + at[i] * params.inner));
        }
        if params.id_words == 2u {
            for (var i = 0u; i < 4u; i++) {
                id[i] = wide_id(at[i]);
            }
        } else {
            for (var i = 0u; i < 4u; i++) {
                id[i] = vec2<u32>(narrow_id(at[i]), 0u);
            }
        }
        for (var i = 0u; i < 4u; i++) {
            rows[i].segment = segment_from_end(id[i]);
            let next = rows[i];
            if next.segment != current {
                if current != NO_SEGMENT {
                    update(item_of(current, column_item), best);
                }
                best = 0u;
                current = next.segment;
            }
            if current != NO_SEGMENT {
                best = max(best, found_word(next, column_item));
            }
        }
    }
    if current != NO_SEGMENT {
        update(item_of(current, column_item), best);
    }
}
