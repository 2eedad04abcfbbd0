// Where positions are looked for, -0 ranks as +0.
fn lane_rank(lanes: vec4<u32>) -> vec4<u32> {
    let zero = (lanes.yw == vec2<u32>(0x7fffffffu)) & (lanes.xz == vec2<u32>(0xffffffffu));
    return select(lanes, vec4<u32>(0u, 0x80000000u, 0u, 0x80000000u), zero.xxyy);
}
