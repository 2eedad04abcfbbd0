// Maxima of windows that share elements, or with `indices` their positions, too: among equal
// elements the first in the order of memory. Every window has an element. The CPU kernel is in
// src/pool/cpu/.
//
// The results of a word are neighbours along axis 2 or, with `one_by_one`, any neighbours. Then the
// results of a tile are neighbours, too. A vector that two tiles share belongs to the tile where it
// begins, which gathers the vector's elements from the source.
import package::common::invocation::{Invocation, group_number};
import package::common::key::Key;
@if(doubled) import package::common::key::key_max;
import package::common::store::{PER_STORE, store_keys};
@if(one_by_one && (bits8 || bits16)) import package::common::vector::OUTPUTS;
import package::pool::box::{
    Tile, is_wanted, kept_key, load_tile, result_number, tile_at, tile_number, window_at
};
@if(doubled) import package::pool::box::{covered_keys, keys};
@if(doubled) import generated::KEYS;
@if(one_by_one && (bits8 || bits16)) import package::pool::gather::gather;
import package::pool::numbering::store_index;
import package::pool::tile_search::{Axes, first_maximum, maximum, window_axes};
@if(one_by_one) import package::pool::windows::window_start;
import package::pool::windows::outputs;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<storage, read_write> indices: array<u32>;

// A unit is this many results; one tile stores all of them.
@if(one_by_one && (bits8 || bits16)) const UNIT: u32 = OUTPUTS;
@if(one_by_one && (bits32 || bits64)) const UNIT: u32 = 1u;

// If windows are long, a key becomes the maximum of the 2^n keys from it on along each axis, and a
// window is two of these along each axis, which may overlap.
@if(doubled)
fn double_windows(at: Invocation, tile: Tile) {
    let covered = select(0u, covered_keys(), is_wanted(tile));
    for (var axis = 0u; axis < 3u; axis++) {
        var distance = params.doubling.steps[axis];
        for (var i = 0u; i < params.doubling.passes[axis]; i++) {
            join_keys(at, covered, distance);
            distance *= 2u;
        }
    }
}

@if(!doubled)
fn double_windows(at: Invocation, tile: Tile) {}

// Keys of an invocation, in registers.
@if(doubled) const SHARE: u32 = (KEYS + WORKGROUP - 1u) / WORKGROUP;

// Joins each key with the one at a distance. At the end of a row, this is a key of the next row, and at
// the end of the tile there is none: no window reads these keys.
@if(doubled)
fn join_keys(at: Invocation, covered: u32, distance: u32) {
    let end = max(covered, distance) - distance;
    var joined: array<Key, SHARE>;
    for (var i = 0u; i < SHARE; i++) {
        let number = at.local + i * WORKGROUP;
        if number < end {
            joined[i] = key_max(keys[number], keys[number + distance]);
        }
    }
    workgroupBarrier();
    for (var i = 0u; i < SHARE; i++) {
        let number = at.local + i * WORKGROUP;
        if number < end {
            keys[number] = joined[i];
        }
    }
    workgroupBarrier();
}

// Finds the result of a window that begins at a place of the tile.
@if(!indices)
fn find(tile: Tile, begin: vec3<u32>, axes: Axes, number: u32) -> Key {
    return maximum(begin, axes);
}

@if(indices)
fn find(tile: Tile, begin: vec3<u32>, axes: Axes, number: u32) -> Key {
    let best = first_maximum(tile, begin, axes);
    let place = params.numbering.index_base + number;
    store_index(place, best.at - params.numbering.plane_base);
    return kept_key(best.key);
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let number = tile_number(group_number(at));
    let tile = tile_at(params.tiles.windows.xyz * number.xyz, number.w);
    load_tile(at, tile);
    double_windows(at, tile);
    if is_wanted(tile) {
        store(at, tile);
    }
}

@if(!one_by_one)
fn store(at: Invocation, tile: Tile) {
    let axes = window_axes(vec3<u32>(0u));
    let words = params.tiles.windows.x * params.tiles.windows.y * params.tiles.windows.w;
    for (var i = at.local; i < words; i += WORKGROUP) {
        make(tile, axes, i);
    }
}

// Computes a word of results of the tile.
@if(!one_by_one)
fn make(tile: Tile, axes: Axes, number: u32) {
    let at = window_at(number) * vec3<u32>(1u, 1u, PER_STORE);
    if any(tile.window + at >= outputs()) {
        return;
    }
    let stride = axes.axis2.stride;
    let begin = at * vec3<u32>(axes.axis0.stride, axes.axis1.stride, stride);
    let first = result_number(tile, tile.window + at);
    var found: array<Key, PER_STORE>;
    for (var i = 0u; i < PER_STORE; i++) {
        found[i] = find(tile, begin + vec3<u32>(0u, 0u, i * stride), axes, first + i);
    }
    store_keys((params.result_base + first) / PER_STORE, found, 0u, PER_STORE);
}

@if(one_by_one)
fn store(at: Invocation, tile: Tile) {
    let windows = min(params.tiles.windows.xyz, outputs() - tile.window);
    let count = windows.x * windows.y * windows.z;
    let first = result_number(tile, tile.window);
    // The first unit may begin with results of an earlier launch.
    let lead = params.result_base % UNIT;
    let before = select(UNIT - 1u, 0u, first == 0u);
    let begin = (lead + first + before) / UNIT * UNIT;
    let end = (lead + first + count + UNIT - 1u) / UNIT * UNIT;
    for (var i = begin + at.local * PER_STORE; i < end; i += WORKGROUP * PER_STORE) {
        make_unit(tile, first, count, i);
    }
}

// Computes a word of results, which is the whole unit.
@if(one_by_one && (bits32 || bits64))
fn make_unit(tile: Tile, first: u32, count: u32, place: u32) {
    make(tile, first, place - first);
}

// Computes a word of results by the tile. A unit that is not wholly in the tile is gathered, by the
// invocation of its first word.
@if(one_by_one && (bits8 || bits16))
fn make_unit(tile: Tile, first: u32, count: u32, place: u32) {
    // A unit before the tile wraps around to a large number.
    let before = place / UNIT * UNIT - params.result_base % UNIT - first;
    if before < count && count - before >= UNIT {
        make(tile, first, before + place % UNIT);
    } else if place % UNIT == 0u {
        gather(place / UNIT);
    }
}

// Computes the word of results that begins with the tile's result `number`.
@if(one_by_one)
fn make(tile: Tile, first: u32, number: u32) {
    var found: array<Key, PER_STORE>;
    for (var i = 0u; i < PER_STORE; i++) {
        let window = tile.window + window_at(number + i);
        let start = vec3<i32>(
            window_start(0u, window.x),
            window_start(1u, window.y),
            window_start(2u, window.z),
        );
        let begin = vec3<u32>(start - tile.first);
        found[i] = find(tile, begin, window_axes(window), first + number + i);
    }
    store_keys((params.result_base + first + number) / PER_STORE, found, 0u, PER_STORE);
}
