// Both halves of a word at once: a half whose magnitude is above infinity
// carries into its top bit when 0x3ff is added, and no carry leaves a half.
fn element_key(words: vec4<u32>) -> vec4<u32> {
    let sign = (words >> vec4<u32>(15u)) & vec4<u32>(0x00010001u);
    let key = words ^ ((sign * 0x7fffu) | vec4<u32>(0x80008000u));
    let over = ((words & vec4<u32>(0x7fff7fffu)) + vec4<u32>(0x03ff03ffu)) >> vec4<u32>(15u);
    let nan = (over & vec4<u32>(0x00010001u)) * 0xffffu;
    return (key & ~nan) | (vec4<u32>(params.nan_key) & nan);
}

fn element_bits(key: u32) -> u32 {
    let bits = key ^ select(0xffffu, 0x8000u, key >= 0x8000u);
    return select(bits, 0x7e00u, (bits & 0x7fffu) > 0x7c00u);
}
