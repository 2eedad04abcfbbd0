// Maxima of windows that share elements. The CPU kernel is in src/pool/cpu/.
import package::common::invocation::Invocation;
import package::common::key::{KEY_LOWEST, Key, key_max};
import package::common::store::{PER_STORE, store_keys};
import package::pool::tile::{key_at, keys};
import package::pool::tile_results::{WordOfWindows, run_tile};
import package::pool::windows::tap_offset_by;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;

fn finish(windows: WordOfWindows) {
    // Before the loops: drivers do not take it out of them.
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

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    run_tile(at);
}
