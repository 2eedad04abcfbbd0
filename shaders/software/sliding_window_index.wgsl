// Where the maxima of windows are, sliding along lines: of equal ones the first in the order of
// memory. Elements have 32 bits. The CPU kernel is that of pool/.
import package::common::block::BLOCK;
import package::common::element::element_words;
import package::common::invocation::{Invocation, invocation_number};
import package::common::key::key_rank;
import package::pool::index::NONE;
import package::software::sliding_window::{ResultLines, Row, SourceLines};
import package::software::sliding_window::{row_keys, slide};
import generated::{WORKGROUP, params};

@if(!unaligned_result) @group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;
@if(unaligned_result) @group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<storage, read_write> indices: array<Index>;

// Indices of two words or of one.
@if(wide) alias Index = vec2<u32>;
@if(!wide) alias Index = u32;

// Four keys, and the positions in the source that they are at.
struct Candidates {
    keys: vec4<u32>,
    at: vec4<u32>,
}

struct Candidate {
    key: u32,
    at: u32,
}

// The keys at a position of a row, as `row_keys` gives them.
fn candidates(row: Row, lines: SourceLines, at: i32, beside: u32) -> Candidates {
    let inside = row.inside && u32(at) < lines.length;
    let first = (row.at + u32(at) * lines.pitch + beside) * BLOCK;
    let positions = vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u);
    let keys = row_keys(row, lines, at, beside);
    return Candidates(keys, select(vec4<u32>(NONE), positions, inside));
}

fn candidate(four: Candidates, i: u32) -> Candidate {
    return Candidate(four.keys[i], four.at[i]);
}

fn together(a: Candidate, b: Candidate, c: Candidate, d: Candidate) -> Candidates {
    return Candidates(vec4<u32>(a.key, b.key, c.key, d.key), vec4<u32>(a.at, b.at, c.at, d.at));
}

fn better_each(a: Candidates, b: Candidates) -> Candidates {
    let ra = ranks(a.keys);
    let rb = ranks(b.keys);
    let above = (rb > ra) | ((rb == ra) & (b.at < a.at));
    return Candidates(select(a.keys, b.keys, above), select(a.at, b.at, above));
}

fn better(a: Candidate, b: Candidate) -> Candidate {
    let ra = key_rank(a.key);
    let rb = key_rank(b.key);
    let above = rb > ra || (rb == ra && b.at < a.at);
    return Candidate(select(a.key, b.key, above), select(a.at, b.at, above));
}

fn ranks(keys: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(key_rank(keys.x), key_rank(keys.y), key_rank(keys.z), key_rank(keys.w));
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    slide(invocation_number(at));
}

// Stores a step of a line, elements and indices.
@if(!unaligned_result)
fn store_step(line: u32, lines: ResultLines, step: u32, found: Candidates) {
    let block = line + step * lines.pitch;
    result[block] = element_words(found.keys);
    let first = params.numbering.index_base + block * BLOCK - params.result_base;
    let index = indices_of(found.at);
    indices[first] = index.x;
    indices[first + 1u] = index.y;
    indices[first + 2u] = index.z;
    indices[first + 3u] = index.w;
}

// The last step of a line may have fewer than four.
@if(unaligned_result)
fn store_step(line: u32, lines: ResultLines, step: u32, found: Candidates) {
    let at = line + step * 4u;
    let left = lines.length - step * 4u;
    let words = element_words(found.keys);
    let first = params.numbering.index_base + at - params.result_base;
    let index = indices_of(found.at);
    result[at] = words.x;
    indices[first] = index.x;
    if left > 1u {
        result[at + 1u] = words.y;
        indices[first + 1u] = index.y;
    }
    if left > 2u {
        result[at + 2u] = words.z;
        indices[first + 2u] = index.z;
    }
    if left > 3u {
        result[at + 3u] = words.w;
        indices[first + 3u] = index.w;
    }
}

struct FourIndices {
    x: Index,
    y: Index,
    z: Index,
    w: Index,
}

@if(wide)
fn indices_of(at: vec4<u32>) -> FourIndices {
    let offset_low = params.numbering.offset_low;
    let low = offset_low + (at - params.numbering.plane_base);
    let carry = select(vec4<u32>(0u), vec4<u32>(1u), low < vec4<u32>(offset_low));
    let high = params.numbering.offset_high + carry;
    return FourIndices(
        vec2<u32>(low.x, high.x),
        vec2<u32>(low.y, high.y),
        vec2<u32>(low.z, high.z),
        vec2<u32>(low.w, high.w),
    );
}

@if(!wide)
fn indices_of(at: vec4<u32>) -> FourIndices {
    let low = params.numbering.offset_low + (at - params.numbering.plane_base);
    return FourIndices(low.x, low.y, low.z, low.w);
}
