// Which row of an ascending segment has the maximum, the first of equal ones, for each element of
// a row. segment/tiles says how workgroups go through the rows, and segment/chunks how single
// invocations do (`single`). Results are the complements of rows, so that 0 stands for no row; finish
// makes elements and indices of them. The carry list holds rows (`from_carry`). The CPU kernel is in src/segment/argmax.rs.
import package::common::invocation::Invocation;
import package::common::key::{Key, key_above, key_rank};
import package::common::source::load_element;
@if(single) import package::segment::chunks::visit;
@if(single) import package::segment::ids::row_segment;
@if(!single) import package::segment::tiles::visit;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<storage, read_write> carry: array<u32>;
// What an earlier launch carried.
@group(0) @binding(5) var<storage, read> candidates: array<u32>;

struct Candidate {
    // The key by which candidates are compared.
    key: Key,
    row: u32,
}

alias Held = Candidate;

fn read_row(row: u32, column: u32) -> Candidate {
    let candidate = candidate_row(row, column);
    let key = load_element(params.base + candidate * params.inner + column);
    return Candidate(key_rank(key), candidate);
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

fn maximum_of(found: Candidate) -> Candidate {
    return found;
}

// Of equal ones the row before stays.
fn merge(before: Candidate, after: Candidate) -> Candidate {
    if key_above(after.key, before.key) {
        return after;
    }
    return before;
}

fn store_result(segment: u32, column: u32, found: Candidate) {
    result[params.result_base + segment * params.inner + column] = ~found.row;
}

fn store_carry(entry: u32, column: u32, found: Candidate) {
    carry[params.carry_base + entry * params.inner + column] = found.row;
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    visit(at);
}
