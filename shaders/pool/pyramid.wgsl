// Poolings of poolings: the levels of a pyramid. A workgroup has a tile of each level. It loads the
// elements for its tile of level 1 strip by strip, and then computes each level from the one above
// in its own memory. Every window has an element. The CPU kernel is in src/pool/cpu/pyramid.rs.
import package::common::block::{ELEMENT_BITS, PER_WORD};
import package::common::divide::small_quotient;
import package::common::element::element_words;
import package::common::invocation::{Invocation, group_number};
import package::common::key::{KEY_LOWEST, key_max};
import package::pool::box::{is_wanted, keys, load_tile, tile_at, tile_number};
import generated::{Level, WORKGROUP, params, store_word};

// The result of a level that is not stored.
const NO_RESULT: u32 = 0xffffffffu;

// The keys of the level above: the first one, and the distance from one row to the next.
struct Above {
    first: u32,
    pitch: u32,
}

// Computes the keys of a level from row `begin` of the tile on.
fn make(at: Invocation, tile: vec4<u32>, level: Level, begin: u32, above: Above) {
    let made = level.made_rows * level.by_columns.x;
    for (var i = at.local; i < made; i += WORKGROUP) {
        let row = small_quotient(i, level.by_columns);
        let column = i - row * level.by_columns.x;
        let first = above.first + row * level.stride0 * above.pitch + column * level.stride1;
        var best = KEY_LOWEST;
        for (var j0 = 0u; j0 < level.taps0; j0++) {
            for (var j1 = 0u; j1 < level.taps1; j1++) {
                best = key_max(best, keys[first + j0 * above.pitch + j1]);
            }
        }
        // Keys beyond the level are the identity in the next one.
        let is_inside = tile.y * level.own_rows + begin + row < level.rows
            && tile.z * level.own_columns + column < level.columns;
        let place = level.first + begin * level.by_columns.x + i;
        keys[place] = select(KEY_LOWEST, best, is_inside);
    }
}

// Stores a word of keys, from number `key` on.
@if(!bits64)
fn store(result: u32, word: u32, key: u32) {
    var packed = 0u;
    for (var i = 0u; i < PER_WORD; i++) {
        packed |= keys[key + i] << (i * ELEMENT_BITS);
    }
    store_word(result, word, element_words(vec4<u32>(packed)).x);
}

@if(bits64)
fn store(result: u32, word: u32, key: u32) {
    let words = element_words(keys[key].xyxy);
    store_word(result, 2u * word, words.x);
    store_word(result, 2u * word + 1u, words.y);
}

// Stores the part of a level that the tile owns.
fn store_level(at: Invocation, tile: vec4<u32>, level: Level) {
    let is_stored = level.result != NO_RESULT && is_wanted(tile_at(vec3<u32>(0u), tile.w));
    let words = select(0u, level.own_rows * level.by_words.x, is_stored);
    for (var i = at.local; i < words; i += WORKGROUP) {
        let row = small_quotient(i, level.by_words);
        let column = (i - row * level.by_words.x) * PER_WORD;
        let row_of_all = tile.y * level.own_rows + row;
        let column_of_all = tile.z * level.own_columns + column;
        if row_of_all < level.rows && column_of_all < level.columns {
            let place = level.result_base + tile.w * level.plane_pitch
                + row_of_all * level.row_pitch + column_of_all;
            let key = level.first + row * level.by_columns.x + column;
            store(level.result, place / PER_WORD, key);
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let tile = tile_number(group_number(at));
    let level1 = params.level[0];
    for (var i = 0u; i < params.strips; i++) {
        let begin = i * level1.made_rows;
        let own = tile.yz * vec2<u32>(level1.own_rows, level1.own_columns);
        load_tile(at, tile_at(vec3<u32>(0u, own.x + begin, own.y), tile.w));
        make(at, tile, level1, begin, Above(0u, params.tiles.cover.z));
        workgroupBarrier();
    }
    for (var i = 1u; i < params.levels; i++) {
        let above = params.level[i - 1u];
        store_level(at, tile, above);
        make(at, tile, params.level[i], 0u, Above(above.first, above.by_columns.x));
        workgroupBarrier();
    }
    store_level(at, tile, params.level[params.levels - 1u]);
}
