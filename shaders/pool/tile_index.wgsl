// Maxima of windows that share elements, and where they are: the first one in the order of memory.
// The CPU kernel is in src/pool/cpu/.
import package::common::invocation::Invocation;
import package::common::key::Key;
import package::common::store::{PER_STORE, store_keys};
import package::pool::numbering::store_index;
import package::pool::tile::keys;
import package::pool::tile_results::{WordOfWindows, run_tile};
import package::pool::tile_search::first_maximum;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<storage, read_write> indices: array<u32>;

fn finish(windows: WordOfWindows) {
    var found: array<Key, PER_STORE>;
    for (var i = 0u; i < PER_STORE; i++) {
        let skipped = vec3<u32>(0u, 0u, i * params.windows.axes[2].stride);
        let best = first_maximum(windows.tile, windows.begin + skipped);
        found[i] = keys[best.key];
        let place = params.numbering.index_base + windows.number + i;
        store_index(place, best.at - params.numbering.plane_base);
    }
    store_keys((params.result_base + windows.number) / PER_STORE, found, 0u, PER_STORE);
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    run_tile(at);
}
