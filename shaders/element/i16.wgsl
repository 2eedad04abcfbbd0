fn element_key(words: vec4<u32>) -> vec4<u32> {
    return words ^ vec4<u32>(0x80008000u);
}

fn element_bits(key: u32) -> u32 {
    return key ^ 0x8000u;
}
