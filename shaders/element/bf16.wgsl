// Both halves of a word at once: a half whose magnitude is above infinity
// carries into its top bit when 0x7f is added, and no carry leaves a half.
fn element_key(words: vec4<u32>) -> vec4<u32> {
    let sign = (words >> vec4<u32>(15u)) & vec4<u32>(0x00010001u);
    let key = words ^ ((sign * 0x7fffu) | vec4<u32>(0x80008000u));
    let over = ((words & vec4<u32>(0x7fff7fffu)) + vec4<u32>(0x007f007fu)) >> vec4<u32>(15u);
    let nan = (over & vec4<u32>(0x00010001u)) * 0xffffu;
    return (key & ~nan) | (vec4<u32>(params.nan_key) & nan);
}

fn element_words(keys: vec4<u32>) -> vec4<u32> {
    let negative = (~keys >> vec4<u32>(15u)) & vec4<u32>(0x00010001u);
    let bits = keys ^ ((negative * 0x7fffu) | vec4<u32>(0x80008000u));
    let over = ((bits & vec4<u32>(0x7fff7fffu)) + vec4<u32>(0x007f007fu)) >> vec4<u32>(15u);
    let nan = (over & vec4<u32>(0x00010001u)) * 0xffffu;
    return (bits & ~nan) | (vec4<u32>(0x7fc07fc0u) & nan);
}
