// Items of scratch become elements; what has no mark becomes what a segment without
// rows gives. Results are numbered over [segments, inner].

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let slot = group * WORKGROUP + local;
    let skew = params.result_base % GROUP;
    if slot >= (skew + params.outputs + GROUP - 1u) / GROUP {
        return;
    }
    let number = vec4<u32>(slot * GROUP - skew) + LANES;
    let inside = number < vec4<u32>(params.outputs);
    let item = (params.items_base + min(number, vec4<u32>(params.outputs - 1u))) * params.item_words;
    let last = item + vec4<u32>(params.item_words - 1u);
    let mark = vec4<u32>(items[last.x], items[last.y], items[last.z], items[last.w]);
    let known = mark != vec4<u32>(0u);
    let wanted = inside & (is_here(mark) | !known);
    let found = lanes_of(min(number, vec4<u32>(params.outputs - 1u)), item, select(NO_MARK, mark, known));
    let keys = select(lane_empty(), found, lane_mask(known));
    store_lanes(params.result_base / GROUP + slot, keys, wanted);
    store_indices(number, mark, wanted);
}
