// A caller's buffer may hold any byte; all but 0 are true.
fn element_key(words: vec4<u32>) -> vec4<u32> {
    let low = (words & vec4<u32>(0x7f7f7f7fu)) + vec4<u32>(0x7f7f7f7fu);
    return ((low | words) >> vec4<u32>(7u)) & vec4<u32>(0x01010101u);
}

fn element_words(keys: vec4<u32>) -> vec4<u32> {
    return keys;
}
