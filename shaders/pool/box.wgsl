// A tile is a box of windows that share elements: a workgroup loads the elements that they cover once,
// into workgroup memory. The kernels pool/tile, pool/pyramid and gradient/tile use tiles. There is no
// inner axis. The same in Rust is src/pool/tile.rs.
import package::common::block::{BLOCK, acc_keys, acc_of};
import package::common::element::kernel_ranking;
import package::common::divide::{quotient, small_quotient};
import package::common::invocation::Invocation;
import package::common::key::{KEY_LOWEST, Key};
import package::common::source::source_block;
import package::pool::windows::{has_element, outputs, window_start};
import generated::{KEYS, WORKGROUP, params};

// The keys that the tile covers, row by row.
var<workgroup> keys: array<Key, KEYS>;

// The place of a tile.
struct Tile {
    // The number of its first window along each axis.
    window: vec3<u32>,
    // The place of its first element along each axis, which may be in the padding.
    first: vec3<i32>,
    // The source's element 0 of all three axes, and the place along the outer axis.
    origin: u32,
    outer: u32,
}

// A block of a row.
struct Piece {
    words: vec4<u32>,
    // Its first element in the row that the tile covers, and the start of the row.
    column: i32,
    row: u32,
    // The columns that it has keys of.
    begin: i32,
    end: i32,
}

// The place of a tile along each axis, and last the place along the outer axis.
fn tile_number(group: u32) -> vec4<u32> {
    let rest1 = quotient(group, params.tiles.by_tiles2);
    let rest0 = quotient(rest1, params.tiles.by_tiles1);
    let outer = quotient(rest0, params.tiles.by_tiles0);
    return vec4<u32>(
        rest0 - outer * params.tiles.by_tiles0.x,
        rest1 - rest0 * params.tiles.by_tiles1.x,
        group - rest1 * params.tiles.by_tiles2.x,
        outer,
    );
}

// The tile that begins with a window.
fn tile_at(window: vec3<u32>, outer: u32) -> Tile {
    var tile: Tile;
    tile.window = window;
    tile.first = vec3<i32>(
        window_start(0u, window.x),
        window_start(1u, window.y),
        window_start(2u, window.z),
    );
    tile.outer = outer;
    tile.origin = params.windows.base + outer * params.windows.outer_pitch;
    return tile;
}

// A grid may have more workgroups than there are tiles.
fn is_wanted(tile: Tile) -> bool {
    let windows = outputs();
    return tile.outer < params.windows.outputs / (windows.x * windows.y * windows.z);
}

// Whether the tile covers padding.
fn touches_padding(tile: Tile) -> bool {
    let last = tile.first + vec3<i32>(params.tiles.cover.xyz) - 1;
    return any(tile.first < vec3<i32>(0))
        || !(has_element(0u, last.x) && has_element(1u, last.y) && has_element(2u, last.z));
}

fn load_piece(tile: Tile, number: u32) -> Piece {
    let row = small_quotient(number, params.tiles.by_blocks);
    let place0 = small_quotient(row, params.tiles.by_cover1);
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

// Stores the keys of a block: without conditions, unless the row begins or ends within it.
fn keep_piece(piece: Piece) {
    if piece.begin >= piece.end {
        return;
    }
    let found = acc_keys(acc_of(piece.words, kernel_ranking()));
    if piece.column >= piece.begin && piece.column + i32(BLOCK) <= piece.end {
        let at = piece.row + u32(piece.column);
        for (var i = 0u; i < BLOCK; i++) {
            keys[at + i] = found[i];
        }
        return;
    }
    for (var i = 0u; i < BLOCK; i++) {
        let column = piece.column + i32(i);
        if column >= piece.begin && column < piece.end {
            keys[piece.row + u32(column)] = found[i];
        }
    }
}

// A key by its number.
fn kept_key(number: u32) -> Key {
    return keys[number];
}

// The number of the key at a place of the tile.
fn key_at(place: vec3<u32>) -> u32 {
    return (place.x * params.tiles.cover.y + place.y) * params.tiles.cover.z + place.z;
}

// A window of the tile by its number. If a word of results has neighbours along axis 2, words are
// numbered instead of windows.
fn window_at(number: u32) -> vec3<u32> {
    let row = small_quotient(number, params.tiles.by_words);
    let row0 = small_quotient(row, params.tiles.by_windows1);
    return vec3<u32>(
        row0,
        row - row0 * params.tiles.windows.y,
        number - row * params.tiles.windows.w,
    );
}

// The number of the result of a window.
fn result_number(tile: Tile, window: vec3<u32>) -> u32 {
    let all = outputs();
    return ((tile.outer * all.x + window.x) * all.y + window.y) * all.z + window.z;
}

// The number of keys that the tile covers.
fn covered_keys() -> u32 {
    return params.tiles.cover.x * params.tiles.cover.y * params.tiles.cover.z;
}

// Loads the elements that the tile covers.
fn load_tile(at: Invocation, tile: Tile) {
    // Padding is the identity of the maximum. Workgroup memory is not initialised.
    let filled = select(0u, covered_keys(), touches_padding(tile));
    for (var i = at.local; i < filled; i += WORKGROUP) {
        keys[i] = KEY_LOWEST;
    }
    workgroupBarrier();
    // Four loads in flight.
    let lines = params.tiles.cover.x * params.tiles.cover.y;
    let pieces = select(0u, lines * params.tiles.cover.w, is_wanted(tile));
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
}
