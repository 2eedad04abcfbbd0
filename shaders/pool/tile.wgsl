// Maxima of windows that share elements. A workgroup makes a box of windows: it loads the elements
// that these cover once, into workgroup memory, and takes the windows from there. Every window has
// an element, and there is no inner axis. The CPU kernel is in src/pool/cpu/.
import package::common::block::{Acc, BLOCK, acc_add, acc_keys};
import package::common::divide::quotient;
import package::common::invocation::{Invocation, group_number};
import package::common::key::{KEY_LOWEST, Key, key_max};
import package::common::source::source_block;
import package::common::store::{PER_STORE, store_keys};
import package::pool::windows::{Windows, has_element, tap_offset, window_start};
import generated::WORKGROUP;

struct Params {
    // The key of NaN: all ones or 0.
    nan_key: u32,
    // The key of a window without elements, which is not used here.
    empty_low: u32,
    empty_high: u32,
    // Where the first result goes, in elements: a whole word.
    result_base: u32,
    windows: Windows,
    // Windows of a tile along each axis, and the words of results that those of axis 2 fill.
    tile: vec4<u32>,
    // Elements that a tile covers along each axis, and the blocks that those of axis 2 may lie in.
    cover: vec4<u32>,
    // Divisors: the tiles of axis 2, 1 and 0; the blocks of a row and the rows of axis 1 that a
    // tile covers; the words of a row of results and the rows of axis 1 that a tile makes.
    by_tiles2: vec4<u32>,
    by_tiles1: vec4<u32>,
    by_tiles0: vec4<u32>,
    by_blocks: vec4<u32>,
    by_cover1: vec4<u32>,
    by_words: vec4<u32>,
    by_tile1: vec4<u32>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

// As many as src/pool/tile.rs counts on.
@if(!bits64) const KEYS: u32 = 4032u;
@if(bits64) const KEYS: u32 = 2016u;

// The keys that the tile covers, row by row.
var<workgroup> keys: array<Key, KEYS>;

// Where a tile is.
struct Tile {
    // The number of its first window along each axis.
    window: vec3<u32>,
    // The place of its first element along each axis, which may lie in the padding.
    first: vec3<i32>,
    // The source's element 0 of all three axes, and the place along the outer axis.
    origin: u32,
    outer: u32,
}

// A block of a row.
struct Piece {
    words: vec4<u32>,
    // Where its first element is in the row that the tile covers, and where the row begins.
    column: i32,
    row: u32,
    // The columns that it has keys of.
    begin: i32,
    end: i32,
}

fn tile_of(group: u32) -> Tile {
    let rest1 = quotient(group, params.by_tiles2);
    let rest0 = quotient(rest1, params.by_tiles1);
    let outer = quotient(rest0, params.by_tiles0);
    var tile: Tile;
    tile.window = params.tile.xyz * vec3<u32>(
        rest0 - outer * params.by_tiles0.x,
        rest1 - rest0 * params.by_tiles1.x,
        group - rest1 * params.by_tiles2.x,
    );
    tile.first = vec3<i32>(
        window_start(0u, tile.window.x),
        window_start(1u, tile.window.y),
        window_start(2u, tile.window.z),
    );
    tile.outer = outer;
    tile.origin = params.windows.base + outer * params.windows.outer_pitch;
    return tile;
}

// Whether not all that a tile covers are elements.
fn touches_padding(tile: Tile) -> bool {
    let last = tile.first + vec3<i32>(params.cover.xyz) - 1;
    return !(has_element(0u, tile.first.x) && has_element(0u, last.x)
        && has_element(1u, tile.first.y) && has_element(1u, last.y)
        && has_element(2u, tile.first.z) && has_element(2u, last.z));
}

fn load_piece(tile: Tile, number: u32) -> Piece {
    let row = quotient(number, params.by_blocks);
    let place0 = quotient(row, params.by_cover1);
    let at0 = tile.first.x + i32(place0);
    let at1 = tile.first.y + i32(row - place0 * params.cover.y);
    var piece: Piece;
    if place0 >= params.cover.x || !has_element(0u, at0) || !has_element(1u, at1) {
        return piece;
    }
    let line = tile.origin + u32(at0) * params.windows.axes[0].pitch
        + u32(at1) * params.windows.axes[1].pitch;
    let size = i32(params.windows.axes[2].size);
    piece.begin = max(-tile.first.z, 0);
    piece.end = min(i32(params.cover.z), size - tile.first.z);
    let block = (line + u32(tile.first.z + piece.begin)) / BLOCK + number
        - row * params.cover.w;
    piece.column = i32(block * BLOCK) - i32(line) - tile.first.z;
    piece.row = row * params.cover.z;
    if piece.column >= piece.end {
        piece.end = piece.begin;
        return piece;
    }
    piece.words = source_block(block);
    return piece;
}

fn keep_piece(piece: Piece) {
    var none: Acc;
    let found = acc_keys(acc_add(none, piece.words));
    for (var i = 0u; i < BLOCK; i++) {
        let column = piece.column + i32(i);
        if column >= piece.begin && column < piece.end {
            keys[piece.row + u32(column)] = found[i];
        }
    }
}

// The maximum of the window that begins at a place in what the tile covers.
fn window_key(begin: u32) -> Key {
    let taps = vec3<u32>(
        params.windows.axes[0].taps,
        params.windows.axes[1].taps,
        params.windows.axes[2].taps,
    );
    let pitch0 = params.cover.y * params.cover.z;
    let pitch1 = params.cover.z;
    var best = KEY_LOWEST;
    for (var j0 = 0u; j0 < taps.x; j0++) {
        let begin0 = begin + u32(tap_offset(0u, j0)) * pitch0;
        for (var j1 = 0u; j1 < taps.y; j1++) {
            let begin1 = begin0 + u32(tap_offset(1u, j1)) * pitch1;
            for (var j2 = 0u; j2 < taps.z; j2++) {
                best = key_max(best, keys[begin1 + u32(tap_offset(2u, j2))]);
            }
        }
    }
    return best;
}

// Makes a word of results of the tile.
fn make(tile: Tile, number: u32) {
    let row = quotient(number, params.by_words);
    let row0 = quotient(row, params.by_tile1);
    let at = vec3<u32>(
        row0,
        row - row0 * params.tile.y,
        (number - row * params.tile.w) * PER_STORE,
    );
    let window = tile.window + at;
    let outputs = vec3<u32>(
        params.windows.axes[0].outputs,
        params.windows.axes[1].outputs,
        params.windows.axes[2].outputs,
    );
    if any(window >= outputs) {
        return;
    }
    let begin1 = at.x * params.windows.axes[0].stride * params.cover.y
        + at.y * params.windows.axes[1].stride;
    let begin = begin1 * params.cover.z + at.z * params.windows.axes[2].stride;
    var found: array<Key, PER_STORE>;
    for (var i = 0u; i < PER_STORE; i++) {
        found[i] = window_key(begin + i * params.windows.axes[2].stride);
    }
    let line = (tile.outer * outputs.x + window.x) * outputs.y + window.y;
    let first = params.result_base + line * outputs.z + window.z;
    store_keys(first / PER_STORE, found, 0u, PER_STORE);
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let tile = tile_of(group_number(at));
    // A grid may have more workgroups than there are tiles.
    let plane = params.windows.axes[0].outputs * params.windows.axes[1].outputs
        * params.windows.axes[2].outputs;
    let wanted = tile.outer < params.windows.outputs / plane;

    // Padding is the identity of the maximum. Workgroup memory begins with anything.
    let covered = params.cover.x * params.cover.y * params.cover.z;
    for (var i = at.local; i < select(0u, covered, touches_padding(tile)); i += WORKGROUP) {
        keys[i] = KEY_LOWEST;
    }
    workgroupBarrier();
    // Four loads in flight.
    let pieces = select(0u, params.cover.x * params.cover.y * params.cover.w, wanted);
    for (var i = at.local; i < pieces; i += 4u * WORKGROUP) {
        let piece0 = load_piece(tile, i);
        let piece1 = load_piece(tile, i + WORKGROUP);
        let piece2 = load_piece(tile, i + 2u * WORKGROUP);
        let piece3 = load_piece(tile, i + 3u * WORKGROUP);
        keep_piece(piece0);
        keep_piece(piece1);
        keep_piece(piece2);
        keep_piece(piece3);
    }
    workgroupBarrier();
    let words = select(0u, params.tile.x * params.tile.y * params.tile.w, wanted);
    for (var i = at.local; i < words; i += WORKGROUP) {
        make(tile, i);
    }
}
