// Maxima of windows that share elements, or with `indices` their positions, too: among equal
// elements the first in the order of memory. Every window has an element. The CPU kernel is in
// src/pool/cpu/.
import package::common::divide::quotient;
import package::common::invocation::{Invocation, group_number};
import package::common::key::{KEY_LOWEST, Key, key_max};
import package::common::store::{PER_STORE, store_keys};
import package::pool::box::{
    Tile, is_wanted, kept_key, key_at, keys, load_tile, tile_at, tile_number
};
import package::pool::numbering::store_index;
import package::pool::tile_search::first_maximum;
import package::pool::windows::tap_offset_by;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<storage, read_write> indices: array<u32>;

// The windows of a word of results: neighbours along axis 2.
struct WordOfWindows {
    tile: Tile,
    // The place of the first one along each axis of the tile.
    begin: vec3<u32>,
    // The number of its result.
    number: u32,
}

@if(!indices)
fn finish(windows: WordOfWindows) {
    // Before the loops: drivers do not hoist it.
    let axis0 = params.windows.axes[0];
    let axis1 = params.windows.axes[1];
    let axis2 = params.windows.axes[2];
    let pitch1 = params.tiles.cover.z;
    let pitch0 = params.tiles.cover.y * pitch1;
    var found: array<Key, PER_STORE>;
    for (var i = 0u; i < PER_STORE; i++) {
        let begin = key_at(windows.begin) + i * axis2.stride;
        var best = KEY_LOWEST;
        for (var j0 = 0u; j0 < axis0.taps; j0++) {
            let begin0 = begin + u32(tap_offset_by(axis0, j0)) * pitch0;
            for (var j1 = 0u; j1 < axis1.taps; j1++) {
                let begin1 = begin0 + u32(tap_offset_by(axis1, j1)) * pitch1;
                for (var j2 = 0u; j2 < axis2.taps; j2++) {
                    let key = keys[begin1 + u32(tap_offset_by(axis2, j2))];
                    best = key_max(best, key);
                }
            }
        }
        found[i] = best;
    }
    store_keys((params.result_base + windows.number) / PER_STORE, found, 0u, PER_STORE);
}

@if(indices)
fn finish(windows: WordOfWindows) {
    var found: array<Key, PER_STORE>;
    for (var i = 0u; i < PER_STORE; i++) {
        let skipped = vec3<u32>(0u, 0u, i * params.windows.axes[2].stride);
        let best = first_maximum(windows.tile, windows.begin + skipped);
        found[i] = kept_key(best.key);
        let place = params.numbering.index_base + windows.number + i;
        store_index(place, best.at - params.numbering.plane_base);
    }
    store_keys((params.result_base + windows.number) / PER_STORE, found, 0u, PER_STORE);
}

// Computes a word of results of the tile.
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

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let number = tile_number(group_number(at));
    let tile = tile_at(params.tiles.windows.xyz * number.xyz, number.w);
    load_tile(at, tile);
    let rows = params.tiles.windows.x * params.tiles.windows.y;
    let words = select(0u, rows * params.tiles.windows.w, is_wanted(tile));
    for (var i = at.local; i < words; i += WORKGROUP) {
        make(tile, i);
    }
}
