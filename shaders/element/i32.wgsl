fn element_key(words: vec4<u32>) -> vec4<u32> {
    return words ^ vec4<u32>(0x80000000u);
}

fn element_words(keys: vec4<u32>) -> vec4<u32> {
    return keys ^ vec4<u32>(0x80000000u);
}
