fn element_key(words: vec4<u32>) -> vec4<u32> {
    let low = words.xz;
    let high = words.yw;
    let sign = vec2<u32>(vec2<i32>(high) >> vec2<u32>(31u));
    let magnitude = high & vec2<u32>(0x7fffffffu);
    let infinity = vec2<u32>(0x7ff00000u);
    let nan = (magnitude > infinity) | ((magnitude == infinity) & (low != vec2<u32>(0u)));
    let key_low = select(low ^ sign, vec2<u32>(params.nan_key), nan);
    let key_high = select(
        high ^ (sign | vec2<u32>(0x80000000u)),
        vec2<u32>(params.nan_key),
        nan,
    );
    return vec4<u32>(key_low.x, key_high.x, key_low.y, key_high.y);
}

fn element_words(keys: vec4<u32>) -> vec4<u32> {
    let sign = vec2<u32>(vec2<i32>(~keys.yw) >> vec2<u32>(31u));
    let low = keys.xz ^ sign;
    let high = keys.yw ^ (sign | vec2<u32>(0x80000000u));
    let magnitude = high & vec2<u32>(0x7fffffffu);
    let infinity = vec2<u32>(0x7ff00000u);
    let nan = (magnitude > infinity) | ((magnitude == infinity) & (low != vec2<u32>(0u)));
    let quiet_low = select(low, vec2<u32>(0u), nan);
    let quiet_high = select(high, vec2<u32>(0x7ff80000u), nan);
    return vec4<u32>(quiet_low.x, quiet_high.x, quiet_low.y, quiet_high.y);
}
