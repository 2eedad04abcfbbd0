// Maxima of windows that share elements, and where they are: the first one in the order of memory.
// The CPU kernel is in src/pool/cpu/.
import package::common::invocation::Invocation;
import package::common::key::{KEY_LOWEST, Key, key_above, key_rank};
import package::common::store::{PER_STORE, store_keys};
import package::pool::numbering::{Numbering, store_index};
import package::pool::tile::{Tiles, WordOfWindows, keys, run_tile};
import package::pool::windows::{Windows, has_element_by, tap_offset_by};
import generated::WORKGROUP;

struct Params {
    // The key of NaN: all ones or 0.
    nan_key: u32,
    // The bits in which keys for the minimum differ from those for the maximum; 0 for the maximum.
    complement: u32,
    // The key of a window without elements, which is not used here.
    empty_low: u32,
    empty_high: u32,
    // Where the first result goes, in elements: a whole word.
    result_base: u32,
    windows: Windows,
    tiles: Tiles,
    numbering: Numbering,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<storage, read_write> indices: array<u32>;

struct Found {
    key: Key,
    // The place of the element in the source.
    at: u32,
}

fn search(windows: WordOfWindows, i: u32) -> Found {
    // Before the loops: drivers do not take it out of them.
    let axis0 = params.windows.axes[0];
    let axis1 = params.windows.axes[1];
    let axis2 = params.windows.axes[2];
    let skipped = i * axis2.stride;
    let pitch1 = params.tiles.cover.z;
    let pitch0 = params.tiles.cover.y * pitch1;
    var found: Found;
    var rank = KEY_LOWEST;
    var some = false;
    for (var j0 = 0u; j0 < axis0.taps; j0++) {
        let tap0 = u32(tap_offset_by(axis0, j0));
        let at0 = windows.first.x + i32(tap0);
        for (var j1 = 0u; j1 < axis1.taps; j1++) {
            let tap1 = u32(tap_offset_by(axis1, j1));
            let at1 = windows.first.y + i32(tap1);
            if !has_element_by(axis0, at0) || !has_element_by(axis1, at1) {
                continue;
            }
            let begin = windows.key + tap0 * pitch0 + tap1 * pitch1;
            let line = windows.origin + u32(at0) * axis0.pitch + u32(at1) * axis1.pitch;
            for (var j2 = 0u; j2 < axis2.taps; j2++) {
                let tap2 = skipped + u32(tap_offset_by(axis2, j2));
                let at2 = windows.first.z + i32(tap2);
                let key = keys[begin + tap2];
                if has_element_by(axis2, at2) && (!some || key_above(key_rank(key), rank)) {
                    found = Found(key, line + u32(at2));
                    rank = key_rank(key);
                    some = true;
                }
            }
        }
    }
    return found;
}

fn finish(windows: WordOfWindows) {
    var found: array<Key, PER_STORE>;
    for (var i = 0u; i < PER_STORE; i++) {
        let best = search(windows, i);
        found[i] = best.key;
        let place = params.numbering.index_base + windows.number + i;
        store_index(place, best.at - params.numbering.plane_base);
    }
    store_keys((params.result_base + windows.number) / PER_STORE, found, 0u, PER_STORE);
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    run_tile(at);
}
