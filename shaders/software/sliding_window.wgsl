// Windows whose taps the text knows, for adapters that pay for loops and coalesce no accesses: an
// invocation slides a window along strips of lines, each through memory of its own.
//
// A position is a block (16 bytes) of a contiguous line, or a place in front of blocks of an inner
// axis. A step is the windows that begin in one position: as many as elements, or one beside each
// of BREADTH blocks. What the rows of a window (its taps along axes 0 and 1) have at a position
// is made one block, a column. Columns that the next windows have too are held.
//
// src/software/sliding_window.rs generates the declarations that are specialised for a window.
import package::common::block::{BLOCK, PER_WORD};
import package::common::divide::quotient;
import package::common::element::element_key;
@if(!unaligned_source) import package::common::source::source_block;
@if(unaligned_source) import package::common::source::source_word;
import package::pool::windows::{has_element, tap_offset, window_start};
import generated::{BREADTH, Held, PER_POSITION, SHIFT, STRIDE};
import generated::{add_position, begin_strip, move_on, rows_of, store_windows};
import generated::params;

// Lines of the source: what they have in positions, or words if they are unaligned; and from one
// position to the next, in blocks. (Here and below: drivers do not take it out of loops.)
struct SourceLines {
    length: u32,
    pitch: u32,
}

// Lines of results: what they have in words, if they are unaligned; and from one step to the next,
// in blocks.
struct ResultLines {
    length: u32,
    pitch: u32,
}

// Where the elements of some taps along axes 0 and 1 begin, and whether there are any.
struct Row {
    at: u32,
    inside: bool,
}

fn slide(invocation: u32) {
    let part = quotient(invocation, params.strips.by_inner);
    let inner = (invocation - part * params.strips.by_inner.x) * BREADTH;
    let begin = part * params.strips.per_invocation;
    if begin >= params.strips.count {
        return;
    }
    let end = min(begin + params.strips.per_invocation, params.strips.count);
    let steps = (params.windows.axes[2].outputs + PER_POSITION - 1u) / PER_POSITION;
    let source_lines = SourceLines(
        source_length(),
        params.windows.axes[2].pitch * PER_POSITION / BLOCK,
    );
    let result_lines = ResultLines(result_length(), max(params.windows.inner / BLOCK, 1u));
    for (var i = begin; i < end; i++) {
        let line = quotient(i, params.strips.by_per_line);
        let rest = quotient(line, params.windows.by_axis1);
        let outer = quotient(rest, params.windows.by_axis0);
        let first0 = window_start(0u, rest - outer * params.windows.by_axis0.x);
        let first1 = window_start(1u, line - rest * params.windows.by_axis1.x);
        let origin = source_place(params.windows.base + outer * params.windows.outer_pitch) + inner;
        let rows = rows_of(origin, first0, first1);
        let first = (i - line * params.strips.per_line) * params.strips.steps;
        let last = min(first + params.strips.steps, steps);
        var at = (window_start(2u, first * PER_POSITION) - SHIFT) / i32(PER_POSITION);
        let line_result = first_result(line) + inner;
        var held = Held();
        begin_strip(&held, rows, source_lines, at);
        for (var step = first; step < last; step++) {
            add_position(&held, rows, source_lines, at);
            store_windows(&held, result_lines, line_result, step);
            move_on(&held);
            at += STRIDE;
        }
    }
}

fn row(origin: u32, first0: i32, first1: i32, tap0: u32, tap1: u32) -> Row {
    let at0 = first0 + tap_offset(0u, tap0);
    let at1 = first1 + tap_offset(1u, tap1);
    let inside = has_element(0u, at0) && has_element(1u, at1);
    let at = u32(at0) * source_place(params.windows.axes[0].pitch)
        + u32(at1) * source_place(params.windows.axes[1].pitch);
    return Row(origin + select(0u, at, inside), inside);
}

// Where an element of the source is: the number of its block.
@if(!unaligned_source)
fn source_place(element: u32) -> u32 {
    return element / BLOCK;
}

@if(!unaligned_source)
fn source_length() -> u32 {
    return params.windows.axes[2].size / PER_POSITION;
}

// The keys at a position of a row; 0 where there are none. `beside` is the number of the block
// there.
@if(!unaligned_source)
fn row_keys(row: Row, lines: SourceLines, at: i32, beside: u32) -> vec4<u32> {
    let inside = row.inside && u32(at) < lines.length;
    let block = row.at + select(0u, u32(at) * lines.pitch + beside, inside);
    return element_key(source_block(block)) & vec4<u32>(select(0u, 0xffffffffu, inside));
}

// Words that PER_WORD elements take: 2 for elements of 64 bits, else 1.
const ITEM_WORDS: u32 = 4u * PER_WORD / BLOCK;

// Lines that begin and end with words, but not with blocks: the number of the word.
@if(unaligned_source)
fn source_place(element: u32) -> u32 {
    return element / PER_WORD * ITEM_WORDS;
}

@if(unaligned_source)
fn source_length() -> u32 {
    return source_place(params.windows.axes[2].size);
}

@if(unaligned_source)
fn row_keys(row: Row, lines: SourceLines, at: i32, beside: u32) -> vec4<u32> {
    let word = vec4<i32>(at * 4) + vec4<i32>(0, 1, 2, 3);
    let inside = vec4<bool>(row.inside) & (vec4<u32>(word) < vec4<u32>(lines.length));
    let place = vec4<u32>(row.at) + select(vec4<u32>(0u), vec4<u32>(word), inside);
    let words = vec4<u32>(
        source_word(place.x),
        source_word(place.y),
        source_word(place.z),
        source_word(place.w),
    );
    return select(vec4<u32>(0u), element_key(words), inside);
}

// Where the first result of a line goes: the number of its block.
@if(!unaligned_result)
fn first_result(line: u32) -> u32 {
    return (params.result_base + line * params.windows.by_line.x) / BLOCK;
}

@if(!unaligned_result)
fn result_length() -> u32 {
    return 0u;
}

// Lines of results that begin and end with words, but not with blocks: the number of the word.
@if(unaligned_result)
fn first_result(line: u32) -> u32 {
    return (params.result_base + line * params.windows.by_line.x) / PER_WORD * ITEM_WORDS;
}

@if(unaligned_result)
fn result_length() -> u32 {
    return params.windows.by_line.x / PER_WORD * ITEM_WORDS;
}
