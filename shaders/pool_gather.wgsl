// Windows wherever they lie: each result of a slot looks at its own elements, tap
// by tap. What it makes of them is another file's: gather/maximum.wgsl the
// maximum, index/search.wgsl its position.

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
    var state = nothing();
    for (var j0 = tap_from(0u, slot.first0); j0 < tap_end(0u, slot.first0); j0++) {
        let at0 = slot.first0 + tap(0u, j0);
        let inside0 = inside(0u, at0);
        for (var j1 = tap_from(1u, slot.first1); j1 < tap_end(1u, slot.first1); j1++) {
            let at1 = slot.first1 + tap(1u, j1);
            let inside01 = inside0 & inside(1u, at1);
            if !any(inside01) {
                continue;
            }
            let line = slot.origin + along_axis(0u, at0) + along_axis(1u, at1);
            for (var j2 = tap_from(2u, slot.first2); j2 < tap_end(2u, slot.first2); j2++) {
                let at2 = slot.first2 + tap(2u, j2);
                let there = inside01 & inside(2u, at2);
                state = see(state, line + along_axis(2u, at2), there);
            }
        }
    }
    finish(number, slot, state);
}
