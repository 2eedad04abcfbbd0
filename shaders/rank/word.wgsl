// Where positions are looked for, -0 ranks as +0.
fn lane_rank(lanes: vec4<u32>) -> vec4<u32> {
    return select(lanes, vec4<u32>(0x80000000u), lanes == vec4<u32>(0x7fffffffu));
}
