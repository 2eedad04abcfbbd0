// Where the maxima of windows are: the first position, in the order of memory,
// of those that hold the largest element.
//
// A launch looks among the elements of the source, or among positions that
// earlier launches found (source_*), and gives either positions (finish_*) or,
// in the end, the elements and their indices.
const NONE: u32 = 0xffffffffu;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let number = group * WORKGROUP + local;
    let skew = params.result_base % GROUP;
    if number >= (skew + params.outputs + GROUP - 1u) / GROUP {
        return;
    }
    let slot = slot_of(number);
    var best = vec4<u32>(0u);
    var best_at = vec4<u32>(NONE);
    for (var j0 = 0u; j0 < params.axes[0].taps; j0++) {
        let at0 = slot.first0 + tap(0u, j0);
        let inside0 = inside(0u, at0);
        for (var j1 = 0u; j1 < params.axes[1].taps; j1++) {
            let at1 = slot.first1 + tap(1u, j1);
            let inside01 = inside0 & inside(1u, at1);
            if !any(inside01) {
                continue;
            }
            let line = slot.origin + along_axis(0u, at0) + along_axis(1u, at1);
            for (var j2 = 0u; j2 < params.axes[2].taps; j2++) {
                let at2 = slot.first2 + tap(2u, j2);
                let there = inside01 & inside(2u, at2);
                let at = positions_of(select(vec4<u32>(0u), line + along_axis(2u, at2), there), there);
                let known = at != vec4<u32>(NONE);
                let keys = lane_rank(load_lanes(select(vec4<u32>(0u), at, known)));
                let first = lane_equal(keys, best) & (at < best_at);
                let better = known & (lane_above(keys, best) | first);
                best = select(best, keys, lane_mask(better));
                best_at = select(best_at, at, better);
            }
        }
    }
    finish(number, slot, best_at);
}
