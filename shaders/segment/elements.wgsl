// The maxima of ascending segments of rows of any length. segment/tiles says how workgroups go
// through the rows, and segment/chunks how single invocations do (`single`).
//
// Several elements of less than 32 bits share a word, and several invocations cannot write one
// word. So such results go to scratch as items, a key and a mark, of which finish makes elements;
// and the carry list holds their keys, a word each (`from_carry`). The CPU kernel is in
// src/segment/elements.rs.
@if(bits32 || bits64) import package::common::element::element_words;
import package::common::invocation::Invocation;
import package::common::key::{Key, key_max};
@if(!from_carry) import package::common::source::load_element;
@if(from_carry) import package::common::source::source_word;
@if(single) import package::segment::chunks::visit;
@if(single) import package::segment::ids::row_segment;
@if(!single) import package::segment::tiles::visit;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<storage, read_write> carry: array<u32>;

alias Held = Key;

@if(!from_carry)
fn read_row(row: u32, column: u32) -> Key {
    return load_element(params.base + row * params.inner + column);
}

@if(from_carry)
fn read_row(row: u32, column: u32) -> Key {
    return source_word(params.base + row * params.inner + column);
}

fn maximum_of(found: Key) -> Key {
    return found;
}

fn merge(a: Key, b: Key) -> Key {
    return key_max(a, b);
}

fn store_result(segment: u32, column: u32, key: Key) {
    store_result_at(params.result_base + segment * params.inner + column, key);
}

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

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    visit(at);
}
