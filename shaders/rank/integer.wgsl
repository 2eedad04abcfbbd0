fn lane_rank(lanes: vec4<u32>) -> vec4<u32> {
    return lane_clean(lanes);
}
