// Where positions are looked for, -0 ranks as +0.
fn lane_rank(lanes: vec4<u32>) -> vec4<u32> {
    let keys = lane_clean(lanes);
    return select(keys, vec4<u32>(0x80000000u), keys == vec4<u32>(0x7fff0000u));
}
