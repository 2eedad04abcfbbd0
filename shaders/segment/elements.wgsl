// The maxima of ascending segments of rows of any length or, with `argmax`, the rows that have them,
// for each element of a row: of equal ones the first. segment/tiles says how workgroups go through
// the rows, and segment/chunks how single invocations do (`single`). The CPU kernel is in
// src/segment/maxima.rs.
//
// Several elements of less than 32 bits share a word, and several invocations cannot write one word.
// So such results are written to scratch as items, a key and a mark, which finish turns into
// elements. The carry list holds their keys, a word each (`from_carry`).
//
// With `argmax` results are the complements of rows, so that 0 stands for no row; finish turns them
// into elements and indices. The carry list holds rows (`from_carry`).
import package::common::element::element_words;
@if(argmax) import package::common::element::kernel_ranking;
import package::common::invocation::Invocation;
import package::common::key::{KEY_LOWEST, Key, key_above, key_max};
@if(argmax) import package::common::rank::key_rank;
import package::common::source::{load_element, source_word};
@if(single) import package::segment::chunks::visit;
import package::segment::ids::row_segment;
@if(!single) import package::segment::tiles::visit;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<storage, read_write> carry: array<u32>;
// The rows that an earlier launch carried.
@group(0) @binding(5) var<storage, read> candidates: array<u32>;

@if(!argmax) alias Held = Key;

@if(argmax)
struct Held {
    // The key by which candidates are compared.
    key: Key,
    row: u32,
}

fn read_row(row: u32, column: u32) -> Held {
    return read_from(params.base + column, row);
}

@if(!argmax && !from_carry)
fn read_from(element: u32, row: u32) -> Key {
    return load_element(element + row * params.inner);
}

@if(!argmax && from_carry)
fn read_from(element: u32, row: u32) -> Key {
    return source_word(element + row * params.inner);
}

fn maximum_of(found: Held) -> Held {
    return found;
}

@if(!argmax)
fn merge(a: Key, b: Key) -> Key {
    return key_max(a, b);
}

@if(!argmax)
fn held_if(held: Key, condition: bool) -> Key {
    return select(KEY_LOWEST, held, condition);
}

@if(!argmax)
fn merge_if(before: Key, after: Key, condition: bool) -> Key {
    return key_max(after, held_if(before, condition));
}

@if(!argmax)
fn store_result(segment: u32, column: u32, key: Key) {
    store_result_at(params.result_base + segment * params.inner + column, key);
}

@if(!argmax)
fn store_carry(entry: u32, column: u32, key: Key) {
    store_carry_at(params.carry_base + entry * params.inner + column, key);
}

@if(bits8 || bits16)
fn store_result_at(at: u32, key: Key) {
    result[2u * at] = key;
    result[2u * at + 1u] = 1u;
}

@if(bits32)
fn store_result_at(at: u32, key: Key) {
    result[at] = element_words(vec4<u32>(key)).x;
}

@if(bits64)
fn store_result_at(at: u32, key: Key) {
    let words = element_words(key.xyxy);
    result[2u * at] = words.x;
    result[2u * at + 1u] = words.y;
}

@if(bits8 || bits16)
fn store_carry_at(at: u32, key: Key) {
    carry[at] = key;
}

@if(bits32)
fn store_carry_at(at: u32, key: Key) {
    carry[at] = element_words(vec4<u32>(key)).x;
}

@if(bits64)
fn store_carry_at(at: u32, key: Key) {
    let words = element_words(key.xyxy);
    carry[2u * at] = words.x;
    carry[2u * at + 1u] = words.y;
}

@if(argmax)
fn read_from(column: u32, row: u32) -> Held {
    let candidate = candidate_row(row, column);
    // One binding has all rows, and they begin with it.
    let key = load_element(candidate * params.inner + column);
    return Held(key_rank(key, kernel_ranking()), candidate);
}

@if(!from_carry)
fn candidate_row(row: u32, column: u32) -> u32 {
    return params.first_row + row;
}

// Rows of the carry list without an id were never written.
@if(from_carry)
fn candidate_row(row: u32, column: u32) -> u32 {
    let candidate = candidates[params.candidates_base + row * params.inner + column];
    return min(candidate, params.last_row);
}

@if(argmax)
fn merge(before: Held, after: Held) -> Held {
    return merge_if(before, after, true);
}

@if(argmax)
fn held_if(held: Held, condition: bool) -> Held {
    return Held(select(KEY_LOWEST, held.key, condition), held.row);
}

// If keys are equal, the earlier row is kept.
@if(argmax)
fn merge_if(before: Held, after: Held, condition: bool) -> Held {
    let takes = !condition | key_above(after.key, before.key);
    return Held(
        select(before.key, after.key, takes),
        select(before.row, after.row, takes),
    );
}

@if(argmax)
fn store_result(segment: u32, column: u32, found: Held) {
    // Items begin at the start of their binding.
    result[segment * params.inner + column] = ~found.row;
}

@if(argmax)
fn store_carry(entry: u32, column: u32, found: Held) {
    carry[params.carry_base + entry * params.inner + column] = found.row;
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    visit(at);
}
