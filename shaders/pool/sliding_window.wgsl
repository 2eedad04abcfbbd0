// Windows with taps in the text: an invocation slides a window along strips of lines, each through
// memory of its own.
//
// A slice of a line is a block (16 bytes) of contiguous elements, or the blocks of an inner axis at one
// place. A step has the windows that begin in one slice: as many as elements, or one for each of
// BREADTH blocks; for each of HEIGHT neighbouring lines, a band. The blocks that the rows of a window
// (its taps along axes 0 and 1) have in a slice are combined to one accumulator, a column. Columns that
// the next windows have too are held.
//
// It finds maxima or, with `indices`, their positions, too, for elements of 32 bits: among equal
// elements the first in the order of memory. The CPU kernel is that of pool/.
//
// src/pool/sliding/text.rs generates the declarations that are specialised for a window.
import package::common::block::{Acc, BLOCK, PER_WORD, acc_masked, acc_pack};
import package::common::divide::quotient;
@if(indices) import package::common::element::element_key;
import package::common::element::{element_words, kernel_ranking};
import package::common::invocation::{Invocation, invocation_number};
import package::common::key::{key_above, key_equal};
@if(indices) import package::common::rank::vector_rank;
import package::common::source::{source_block, source_word};
import package::common::vector::{vector_above, vector_equal};
import package::pool::gather::NONE;
import package::pool::windows::{has_element, tap_offset, window_start};
import generated::{BREADTH, HEIGHT, Held, PER_SLICE, SHIFT, STRIDE, WORKGROUP};
import generated::{add_slice, begin_strip, move_on, params, rows_of, store_windows};

@if(!unaligned_result) @group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;
@if(unaligned_result) @group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<storage, read_write> indices: array<Index>;

// Indices of two words or of one.
@if(wide) alias Index = vec2<u32>;
@if(!wide) alias Index = u32;

// Lines of the source: their slices, or words if they are unaligned, and the distance from one
// slice to the next, in blocks. Lines of results: their words or blocks, and the distance from one
// step to the next, in blocks. Loops get both in variables, since drivers do not hoist parameters.
struct Lines {
    length: u32,
    pitch: u32,
}

// The first element of some taps along axes 0 and 1, and whether there are any.
struct Row {
    at: u32,
    inside: bool,
}

fn slide(invocation: u32) {
    // Along elements there is no inner axis.
    var part = invocation;
    var inner = 0u;
    if PER_SLICE == 1u {
        part = quotient(invocation, params.strips.by_inner);
        inner = (invocation - part * params.strips.by_inner.x) * BREADTH;
    }
    let begin = part * params.strips.per_invocation;
    if begin >= params.strips.count {
        return;
    }
    let end = min(begin + params.strips.per_invocation, params.strips.count);
    let steps = (params.windows.axes[2].outputs + PER_SLICE - 1u) / PER_SLICE;
    let source_lines = Lines(source_length(), params.windows.axes[2].pitch * PER_SLICE / BLOCK);
    let line_results = params.windows.by_line.x;
    let result_lines = Lines(result_place(line_results), max(params.windows.inner / BLOCK, 1u));
    for (var i = begin; i < end; i++) {
        let band = quotient(i, params.strips.by_per_line);
        let plane = quotient(band, params.strips.by_bands);
        let window1 = (band - plane * params.strips.by_bands.x) * HEIGHT;
        let outer = quotient(plane, params.windows.by_axis0);
        let window0 = plane - outer * params.windows.by_axis0.x;
        let origin = source_place(params.windows.base + outer * params.windows.outer_pitch) + inner;
        let rows = rows_of(origin, window_start(0u, window0), window_start(1u, window1));
        let line = plane * params.windows.axes[1].outputs + window1;
        let lines = min(HEIGHT, params.windows.axes[1].outputs - window1);
        let first = (i - band * params.strips.by_per_line.x) * params.strips.steps;
        let last = min(first + params.strips.steps, steps);
        var at = (window_start(2u, first * PER_SLICE) - SHIFT) / i32(PER_SLICE);
        let line_result = result_place(params.result_base + line * line_results) + inner;
        var held = Held();
        begin_strip(&held, rows, source_lines, at);
        for (var step = first; step < last; step++) {
            add_slice(&held, rows, source_lines, at);
            store_windows(&held, result_lines, line_result, step, lines);
            move_on(&held);
            at += STRIDE;
        }
    }
}

// A tap along axis 0, and a distance from the first tap along axis 1.
fn row(origin: u32, first0: i32, first1: i32, tap0: u32, distance1: i32) -> Row {
    let at0 = first0 + tap_offset(0u, tap0);
    let at1 = first1 + distance1;
    let inside = has_element(0u, at0) && has_element(1u, at1);
    let at = u32(at0) * source_place(params.windows.axes[0].pitch)
        + u32(at1) * source_place(params.windows.axes[1].pitch);
    return Row(origin + select(0u, at, inside), inside);
}

// Words that PER_WORD elements take: 2 for elements of 64 bits, else 1.
const ITEM_WORDS: u32 = 4u * PER_WORD / BLOCK;

// Words by which the source and the result are read and written: a block, or one word if lines
// begin and end with words, but not with blocks.
@if(!unaligned_source) const SOURCE_UNIT: u32 = 4u;
@if(unaligned_source) const SOURCE_UNIT: u32 = 1u;
@if(!unaligned_result) const RESULT_UNIT: u32 = 4u;
@if(unaligned_result) const RESULT_UNIT: u32 = 1u;

// The place of an element: the number of its block or word.
fn source_place(element: u32) -> u32 {
    return element / PER_WORD * ITEM_WORDS / SOURCE_UNIT;
}

fn result_place(element: u32) -> u32 {
    return element / PER_WORD * ITEM_WORDS / RESULT_UNIT;
}

@if(!unaligned_source)
fn source_length() -> u32 {
    return params.windows.axes[2].size / PER_SLICE;
}

@if(unaligned_source)
fn source_length() -> u32 {
    return source_place(params.windows.axes[2].size);
}

// The accumulator of a slice of a row; 0 if it has none. `beside` is the number of the block there.
@if(!unaligned_source)
fn row_acc(row: Row, lines: Lines, at: i32, beside: u32) -> Acc {
    let inside = row.inside && u32(at) < lines.length;
    let block = row.at + select(0u, u32(at) * lines.pitch + beside, inside);
    let mask = vec4<u32>(select(0u, 0xffffffffu, inside));
    return acc_masked(source_block(block), kernel_ranking(), mask);
}

@if(unaligned_source)
fn row_acc(row: Row, lines: Lines, at: i32, beside: u32) -> Acc {
    let word = vec4<i32>(at * 4) + vec4<i32>(0, 1, 2, 3);
    let inside = vec4<bool>(row.inside) & (vec4<u32>(word) < vec4<u32>(lines.length));
    let place = vec4<u32>(row.at) + select(vec4<u32>(0u), vec4<u32>(word), inside);
    let words = vec4<u32>(
        source_word(place.x),
        source_word(place.y),
        source_word(place.z),
        source_word(place.w),
    );
    let mask = select(vec4<u32>(0u), vec4<u32>(0xffffffffu), inside);
    return acc_masked(words, kernel_ranking(), mask);
}

// Stores the packed keys of a step of a line.
@if(!unaligned_result)
fn store_keys(line: u32, lines: Lines, step: u32, keys: vec4<u32>) {
    result[line + step * lines.pitch] = element_words(keys);
}

// The last step of a line may have fewer than four words.
@if(unaligned_result)
fn store_keys(line: u32, lines: Lines, step: u32, keys: vec4<u32>) {
    let at = line + step * 4u;
    let left = words_left(lines, step);
    let words = element_words(keys);
    result[at] = words.x;
    if left > 1u {
        result[at + 1u] = words.y;
    }
    if left > 2u {
        result[at + 2u] = words.z;
    }
    if left > 3u {
        result[at + 3u] = words.w;
    }
}

// The words of a line from a step on; 4 if lines are whole blocks.
@if(!unaligned_result)
fn words_left(lines: Lines, step: u32) -> u32 {
    return 4u;
}

@if(unaligned_result)
fn words_left(lines: Lines, step: u32) -> u32 {
    return lines.length - step * 4u;
}

@if(!indices)
fn store_step(line: u32, lines: Lines, step: u32, keys: vec4<u32>) {
    store_keys(line, lines, step, keys);
}

// Elements, which are words, and indices. Ranks do not say which zero was found.
@if(indices)
fn store_step(line: u32, lines: Lines, step: u32, found: Candidates) {
    let some = found.at != vec4<u32>(NONE);
    let chosen = select(vec4<u32>(0u), found.at, some);
    let words = vec4<u32>(word_at(chosen.x), word_at(chosen.y), word_at(chosen.z), word_at(chosen.w));
    store_keys(line, lines, step, select(vec4<u32>(0u), element_key(words), some));
    let at = line * RESULT_UNIT + step * lines.pitch * 4u;
    let left = words_left(lines, step);
    let first = params.numbering.index_base + at - params.result_base;
    indices[first] = index_of(found.at.x);
    if left > 1u {
        indices[first + 1u] = index_of(found.at.y);
    }
    if left > 2u {
        indices[first + 2u] = index_of(found.at.z);
    }
    if left > 3u {
        indices[first + 3u] = index_of(found.at.w);
    }
}

fn word_at(element: u32) -> u32 {
    return source_block(element / BLOCK)[element % BLOCK];
}

@if(wide)
fn index_of(at: u32) -> Index {
    let offset_low = params.numbering.offset_low;
    let low = offset_low + (at - params.numbering.plane_base);
    return vec2<u32>(low, params.numbering.offset_high + select(0u, 1u, low < offset_low));
}

@if(!wide)
fn index_of(at: u32) -> Index {
    return params.numbering.offset_low + (at - params.numbering.plane_base);
}

// Four ranks, and the positions in the source that they are at.
struct Candidates {
    ranks: vec4<u32>,
    at: vec4<u32>,
}

struct Candidate {
    rank: u32,
    at: u32,
}

// The ranks in a slice of a row.
fn candidates(row: Row, lines: Lines, at: i32, beside: u32) -> Candidates {
    let inside = row.inside && u32(at) < lines.length;
    let first = (row.at + u32(at) * lines.pitch + beside) * BLOCK;
    let positions = vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u);
    let ranks = vector_rank(acc_pack(row_acc(row, lines, at, beside)), kernel_ranking());
    return Candidates(ranks, select(vec4<u32>(NONE), positions, inside));
}

fn candidate(four: Candidates, i: u32) -> Candidate {
    return Candidate(four.ranks[i], four.at[i]);
}

fn together(a: Candidate, b: Candidate, c: Candidate, d: Candidate) -> Candidates {
    return Candidates(vec4<u32>(a.rank, b.rank, c.rank, d.rank), vec4<u32>(a.at, b.at, c.at, d.at));
}

fn better_each(a: Candidates, b: Candidates) -> Candidates {
    let above = vector_above(b.ranks, a.ranks)
        | (vector_equal(b.ranks, a.ranks) & (b.at < a.at));
    return Candidates(select(a.ranks, b.ranks, above), select(a.at, b.at, above));
}

fn better(a: Candidate, b: Candidate) -> Candidate {
    let above = key_above(b.rank, a.rank) | (key_equal(b.rank, a.rank) & (b.at < a.at));
    return Candidate(select(a.rank, b.rank, above), select(a.at, b.at, above));
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    slide(invocation_number(at));
}
