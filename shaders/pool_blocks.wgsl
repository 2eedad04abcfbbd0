// Maxima of windows where the inner axis is whole blocks (16 bytes).
@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let at = place_of(group * WORKGROUP + local, 1u);
    if !at.wanted {
        return;
    }
    var sum: Sum;
    for (var j0 = 0u; j0 < params.axes[0].taps; j0++) {
        let at0 = at.first0 + tap(0u, j0);
        let inside0 = u32(at0) < params.axes[0].size;
        let block0 = at.origin + u32(at0) * (params.axes[0].pitch / BLOCK);
        for (var j1 = 0u; j1 < params.axes[1].taps; j1++) {
            let at1 = at.first1 + tap(1u, j1);
            let inside01 = inside0 && u32(at1) < params.axes[1].size;
            let block01 = block0 + u32(at1) * (params.axes[1].pitch / BLOCK);
            for (var j2 = 0u; j2 < params.axes[2].taps; j2++) {
                let at2 = at.first2 + tap(2u, j2);
                let block = block01 + u32(at2) * (params.axes[2].pitch / BLOCK);
                sum = add_block(sum, block, inside01 && u32(at2) < params.axes[2].size);
            }
        }
    }
    store_block(at.target_block, acc_pack(sum.acc), sum.some);
}
