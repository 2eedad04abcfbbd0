// The gradient of a pooling from its data, in one launch. A workgroup owns a box of elements. It
// loads the elements of all windows that touch the box, and finds the maxima of these windows; then
// each element gets the sum of the gradients of the windows whose maximum it is, in row-major
// order. Several workgroups process the windows at the borders.
//
// An invocation computes a word of the result, or an element of 64 bits. There is no inner axis.
// The CPU kernel is in src/gradient/tile.rs.
import package::common::divide::small_quotient;
import package::common::invocation::{Invocation, group_number};
import package::common::store::PER_STORE;
import package::gradient::elements::gradient;
@if(!bits16) import package::gradient::elements::store_sum;
import package::gradient::span::span_at;
import package::gradient::sum::{NOTHING, Sum, add_rounded};
@if(bits16) import package::gradient::sum::narrow;
import package::pool::box::{
    Tile, is_wanted, key_at, keys, load_tile, result_number, tile_at, tile_number, window_at
};
import package::pool::tile_search::{first_maximum, window_axes};
import package::pool::windows::outputs;
import generated::{MAXIMA, WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(3) var<storage, read> gradients: array<u32>;

// For each window of the tile, the number of the key that is its maximum. A window without elements has
// the number of no element's key.
var<workgroup> maxima: array<u32, MAXIMA>;

// Windows of an invocation.
const SHARE: u32 = (MAXIMA + WORKGROUP - 1u) / WORKGROUP;

// Finds the maximum of a window of the tile, and returns the window's gradient.
fn find(tile: Tile, number: u32) -> Sum {
    let window = window_at(number);
    maxima[number] = 0xffffffffu;
    if any(tile.window + window >= outputs()) {
        return NOTHING;
    }
    let strides = vec3<u32>(
        params.windows.axes[0].stride,
        params.windows.axes[1].stride,
        params.windows.axes[2].stride,
    );
    let axes = window_axes(vec3<u32>(0u));
    maxima[number] = first_maximum(tile, window * strides, axes).key;
    return gradient(params.gradient_base + result_number(tile, tile.window + window));
}

fn sum_of(tile: Tile, element: vec3<u32>) -> Sum {
    let distance = vec3<i32>(element) - tile.first;
    var sum = NOTHING;
    // If strides are wide, some elements are before the first window of a tile.
    if any(distance < vec3<i32>(0)) {
        return sum;
    }
    let at = vec3<u32>(distance);
    let key = key_at(at);
    let first = span_at(0u, params.windows.axes[0], params.tiles.windows.x, at.x);
    let second = span_at(1u, params.windows.axes[1], params.tiles.windows.y, at.y);
    let third = span_at(2u, params.windows.axes[2], params.tiles.windows.z, at.z);
    for (var i = first.begin; i < first.end; i += first.step) {
        for (var j = second.begin; j < second.end; j += second.step) {
            let row = (i * params.tiles.windows.y + j) * params.tiles.windows.z;
            for (var k = third.begin; k < third.end; k += third.step) {
                if maxima[row + k] == key {
                    sum = add_rounded(sum, keys[row + k]);
                }
            }
        }
    }
    return sum;
}

fn gradient_word(word: u32) -> u32 {
    return gradients[word];
}

// Computes a word of the tile's elements, which begin with a word.
fn make(tile: Tile, begin: vec3<u32>, number: u32) {
    let row = small_quotient(number, params.by_words);
    let row0 = small_quotient(row, params.by_elements1);
    let element = begin + vec3<u32>(
        row0,
        row - row0 * params.elements.y,
        (number - row * params.elements.w) * PER_STORE,
    );
    let sizes = vec3<u32>(
        params.windows.axes[0].size,
        params.windows.axes[1].size,
        params.windows.axes[2].size,
    );
    if any(element >= sizes) {
        return;
    }
    let place = ((tile.outer * sizes.x + element.x) * sizes.y + element.y) * sizes.z + element.z;
    store(tile, element, params.result_base + place);
}

@if(bits16)
fn store(tile: Tile, element: vec3<u32>, place: u32) {
    let low = narrow(sum_of(tile, element));
    let high = narrow(sum_of(tile, element + vec3<u32>(0u, 0u, 1u)));
    result[place / 2u] = low | (high << 16u);
}

@if(!bits16)
fn store(tile: Tile, element: vec3<u32>, place: u32) {
    store_sum(place, sum_of(tile, element));
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let number = tile_number(group_number(at));
    let tile = tile_at(params.step.xyz * number.xyz + params.first.xyz, number.w);
    load_tile(at, tile);
    let windows = params.tiles.windows.x * params.tiles.windows.y * params.tiles.windows.z;
    let searched = select(0u, windows, is_wanted(tile));
    var found: array<Sum, SHARE>;
    for (var i = 0u; i < SHARE; i++) {
        let window = at.local + i * WORKGROUP;
        if window < searched {
            found[i] = find(tile, window);
        }
    }
    // All windows are searched: their gradients replace the keys.
    workgroupBarrier();
    for (var i = 0u; i < SHARE; i++) {
        let window = at.local + i * WORKGROUP;
        if window < searched {
            keys[window] = found[i];
        }
    }
    workgroupBarrier();
    let begin = params.elements.xyz * number.xyz;
    let words = params.elements.x * params.elements.y * params.elements.w;
    for (var i = at.local; i < select(0u, words, is_wanted(tile)); i += WORKGROUP) {
        make(tile, begin, i);
    }
}
