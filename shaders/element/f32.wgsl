fn element_key(words: vec4<u32>) -> vec4<u32> {
    let sign = vec4<u32>(vec4<i32>(words) >> vec4<u32>(31u));
    let key = words ^ (sign | vec4<u32>(0x80000000u));
    let nan = (words & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
    return select(key, vec4<u32>(params.nan_key), nan);
}

fn element_words(keys: vec4<u32>) -> vec4<u32> {
    let sign = vec4<u32>(vec4<i32>(~keys) >> vec4<u32>(31u));
    let bits = keys ^ (sign | vec4<u32>(0x80000000u));
    let nan = (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
    return select(bits, vec4<u32>(0x7fc00000u), nan);
}
