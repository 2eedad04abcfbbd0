// What the kernels share that pool along whole blocks (16 bytes) of the inner axis: an invocation
// owns blocks of results, reads blocks and writes blocks.
import package::common::block::{Acc, BLOCK, acc_add_by};
import package::common::divide::quotient;
import package::common::element::element_words;
import package::common::source::source_block;
import package::pool::windows::window_start;
import generated::{Axis, Ranking, params};

@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;

// An invocation's number over [lines, windows or tiles of axis 2, blocks of the inner axis].
struct Number {
    line: u32,
    along: u32,
    inner: u32,
}

fn number_of(invocation: u32) -> Number {
    let line = quotient(invocation, params.by_line_invocations);
    let in_line = invocation - line * params.by_line_invocations.x;
    let along = quotient(in_line, params.by_blocks);
    return Number(line, along, in_line - along * params.by_blocks.x);
}

// Where a block of results is.
struct Place {
    // The block of the source's element 0 of all three axes.
    origin: u32,
    // Where the window begins along each axis.
    first0: i32,
    first1: i32,
    first2: i32,
    // The window's number along axis 2, and the block of its result.
    window: u32,
    target_block: u32,
    // Whether there is such a window at all.
    wanted: bool,
}

fn place_of(number: Number, window: u32) -> Place {
    let line = number.line;
    let rest = quotient(line, params.windows.by_axis1);
    let outer = quotient(rest, params.windows.by_axis0);
    let windows = params.windows.axes[2].outputs;
    let target_block = (line * windows + window) * params.by_blocks.x + number.inner;
    var at: Place;
    at.origin = (params.windows.base + outer * params.windows.outer_pitch) / BLOCK + number.inner;
    at.first0 = window_start(0u, rest - outer * params.windows.by_axis0.x);
    at.first1 = window_start(1u, line - rest * params.windows.by_axis1.x);
    at.first2 = window_start(2u, window);
    at.window = window;
    at.target_block = params.result_base / BLOCK + target_block;
    at.wanted = line < params.lines && window < windows;
    return at;
}

// From one place along an axis to the next, in blocks.
fn block_pitch(axis: Axis) -> u32 {
    return axis.pitch / BLOCK;
}

// The maximum of some elements, and whether there are any.
struct Sum {
    acc: Acc,
    some: bool,
}

// Adds a block, if it has elements and is no padding.
fn add_block(sum: Sum, block: u32, inside: bool, ranking: Ranking) -> Sum {
    var added = sum;
    if inside {
        added.acc = acc_add_by(sum.acc, source_block(block), ranking);
        added.some = true;
    }
    return added;
}

fn store_block(block: u32, keys: vec4<u32>, some: bool) {
    result[block] = element_words(select(empty_block(), keys, some));
}

// The key of a window without elements, as often as it fits a block.
@if(bits8)
fn empty_block() -> vec4<u32> {
    return vec4<u32>(params.empty_low * 0x01010101u);
}

@if(bits16)
fn empty_block() -> vec4<u32> {
    return vec4<u32>(params.empty_low * 0x00010001u);
}

@if(bits32)
fn empty_block() -> vec4<u32> {
    return vec4<u32>(params.empty_low);
}

@if(bits64)
fn empty_block() -> vec4<u32> {
    return vec2<u32>(params.empty_low, params.empty_high).xyxy;
}
