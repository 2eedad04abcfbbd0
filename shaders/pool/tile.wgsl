// Windows that share elements. A workgroup makes a box of windows, a tile: it loads the elements
// that these cover once, into workgroup memory, and looks at the windows there. What it makes of
// them is the kernel's: the maxima (pool/tile_maximum), or where they are (pool/tile_index). Every
// window has an element, and there is no inner axis. The same in Rust is src/pool/tile.rs.
import kernel::{finish, params};
import package::common::block::{Acc, BLOCK, acc_add, acc_keys};
import package::common::divide::quotient;
import package::common::invocation::{Invocation, group_number};
import package::common::key::{KEY_LOWEST, Key};
import package::common::source::source_block;
import package::common::store::PER_STORE;
import package::pool::windows::{has_element, window_start};
import generated::WORKGROUP;

struct Tiles {
    // Windows of a tile along each axis, and the words of results that those of axis 2 fill.
    windows: vec4<u32>,
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
    by_windows1: vec4<u32>,
}

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

// The windows of a word of results: neighbours along axis 2.
struct WordOfWindows {
    // Where the first one begins in the keys, and along each axis.
    key: u32,
    first: vec3<i32>,
    // The source's element 0 of all three axes.
    origin: u32,
    // The number of its result.
    number: u32,
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
    let rest1 = quotient(group, params.tiles.by_tiles2);
    let rest0 = quotient(rest1, params.tiles.by_tiles1);
    let outer = quotient(rest0, params.tiles.by_tiles0);
    var tile: Tile;
    tile.window = params.tiles.windows.xyz * vec3<u32>(
        rest0 - outer * params.tiles.by_tiles0.x,
        rest1 - rest0 * params.tiles.by_tiles1.x,
        group - rest1 * params.tiles.by_tiles2.x,
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
    let last = tile.first + vec3<i32>(params.tiles.cover.xyz) - 1;
    return !(has_element(0u, tile.first.x) && has_element(0u, last.x)
        && has_element(1u, tile.first.y) && has_element(1u, last.y)
        && has_element(2u, tile.first.z) && has_element(2u, last.z));
}

fn load_piece(tile: Tile, number: u32) -> Piece {
    let row = quotient(number, params.tiles.by_blocks);
    let place0 = quotient(row, params.tiles.by_cover1);
    let at0 = tile.first.x + i32(place0);
    let at1 = tile.first.y + i32(row - place0 * params.tiles.cover.y);
    var piece: Piece;
    if place0 >= params.tiles.cover.x || !has_element(0u, at0) || !has_element(1u, at1) {
        return piece;
    }
    let line = tile.origin + u32(at0) * params.windows.axes[0].pitch
        + u32(at1) * params.windows.axes[1].pitch;
    let size = i32(params.windows.axes[2].size);
    piece.begin = max(-tile.first.z, 0);
    piece.end = min(i32(params.tiles.cover.z), size - tile.first.z);
    let block = (line + u32(tile.first.z + piece.begin)) / BLOCK + number
        - row * params.tiles.cover.w;
    piece.column = i32(block * BLOCK) - i32(line) - tile.first.z;
    piece.row = row * params.tiles.cover.z;
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

// Makes a word of results of the tile.
fn make(tile: Tile, number: u32) {
    let row = quotient(number, params.tiles.by_words);
    let row0 = quotient(row, params.tiles.by_windows1);
    let at = vec3<u32>(
        row0,
        row - row0 * params.tiles.windows.y,
        (number - row * params.tiles.windows.w) * PER_STORE,
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
    let strides = vec3<u32>(
        params.windows.axes[0].stride,
        params.windows.axes[1].stride,
        params.windows.axes[2].stride,
    );
    let begin = at * strides;
    var windows: WordOfWindows;
    windows.key = (begin.x * params.tiles.cover.y + begin.y) * params.tiles.cover.z + begin.z;
    windows.first = tile.first + vec3<i32>(begin);
    windows.origin = tile.origin;
    windows.number = ((tile.outer * outputs.x + window.x) * outputs.y + window.y) * outputs.z
        + window.z;
    finish(windows);
}

fn run_tile(at: Invocation) {
    let tile = tile_of(group_number(at));
    // A grid may have more workgroups than there are tiles.
    let plane = params.windows.axes[0].outputs * params.windows.axes[1].outputs
        * params.windows.axes[2].outputs;
    let wanted = tile.outer < params.windows.outputs / plane;

    // Padding is the identity of the maximum. Workgroup memory begins with anything.
    let covered = params.tiles.cover.x * params.tiles.cover.y * params.tiles.cover.z;
    for (var i = at.local; i < select(0u, covered, touches_padding(tile)); i += WORKGROUP) {
        keys[i] = KEY_LOWEST;
    }
    workgroupBarrier();
    // Four loads in flight.
    let lines = params.tiles.cover.x * params.tiles.cover.y;
    let pieces = select(0u, lines * params.tiles.cover.w, wanted);
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
    let rows = params.tiles.windows.x * params.tiles.windows.y;
    let words = select(0u, rows * params.tiles.windows.w, wanted);
    for (var i = at.local; i < words; i += WORKGROUP) {
        make(tile, i);
    }
}
