// The windows of a tile, a word of results after the other. What is made of them is the kernel's:
// the maxima (pool/tile_maximum), or where they are (pool/tile_index). Every window has an element.
import kernel::finish;
import package::common::divide::quotient;
import package::common::invocation::{Invocation, group_number};
import package::common::store::PER_STORE;
import package::pool::tile::{Tile, is_wanted, load_tile, tile_at, tile_number};
import generated::{WORKGROUP, params};

// The windows of a word of results: neighbours along axis 2.
struct WordOfWindows {
    tile: Tile,
    // Where the first one begins, along each axis of the tile.
    begin: vec3<u32>,
    // The number of its result.
    number: u32,
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
    var windows: WordOfWindows;
    windows.tile = tile;
    windows.begin = at * strides;
    windows.number = ((tile.outer * outputs.x + window.x) * outputs.y + window.y) * outputs.z
        + window.z;
    finish(windows);
}

fn run_tile(at: Invocation) {
    let number = tile_number(group_number(at));
    let tile = tile_at(params.tiles.windows.xyz * number.xyz, number.w);
    load_tile(at, tile);
    let rows = params.tiles.windows.x * params.tiles.windows.y;
    let words = select(0u, rows * params.tiles.windows.w, is_wanted(tile));
    for (var i = at.local; i < words; i += WORKGROUP) {
        make(tile, i);
    }
}
