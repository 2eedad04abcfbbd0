// Ranks: the order by which positions are compared. They are keys, but -0 equals +0, and all NaNs are
// equal: they have the key next to those of other elements.
//
// NANS keys are at each end of the order by bits; `above` is all ones if all are above.
@if(bits8 || bits16) import package::common::block::ELEMENT_BITS;
@if(float16 || bfloat16 || float32) import package::common::element::NANS;
import package::common::key::Key;
import generated::Ranking;

// The bits of +inf.
@if(float16) const INFINITY: u32 = 0x7c00u;
@if(bfloat16) const INFINITY: u32 = 0x7f80u;
@if(float32) const INFINITY: u32 = 0x7f800000u;

// The ranks of NaNs: the least if they are below, the greatest if they are above.
@if(float16 || bfloat16 || float32)
fn least(above: u32) -> u32 {
    return (2u * NANS - 1u) & ~above;
}

@if(float16 || bfloat16 || float32)
fn greatest(above: u32) -> u32 {
    return (2u * INFINITY + 2u) | ~above;
}

// The key of one zero; that of the other one is next. As many elements are below it as infinity has
// bits.
@if(float16 || bfloat16 || float32)
fn lower_zero(above: u32) -> u32 {
    return INFINITY + ((2u * NANS) & ~above);
}

@if(float16 || bfloat16 || float32)
fn key_rank(key: Key, ranking: Ranking) -> Key {
    let above = ranking.nan_above;
    let zero = lower_zero(above);
    return select(clamp(key, least(above), greatest(above)), zero + 1u, key == zero);
}

@if(float64)
fn key_rank(key: Key, ranking: Ranking) -> Key {
    return vector_rank(key.xyxy, ranking).xy;
}

@if(signed || unsigned || boolean)
fn key_rank(key: Key, ranking: Ranking) -> Key {
    return key;
}

// The ranks of the keys of an output vector; below keys of 8 and 16 bits, the bits are 0.
@if(float32)
fn vector_rank(keys: vec4<u32>, ranking: Ranking) -> vec4<u32> {
    let above = ranking.nan_above;
    let zero = vec4<u32>(lower_zero(above));
    let bounded = clamp(keys, vec4<u32>(least(above)), vec4<u32>(greatest(above)));
    return select(bounded, zero + vec4<u32>(1u), keys == zero);
}

@if(float16 || bfloat16)
fn vector_rank(keys: vec4<u32>, ranking: Ranking) -> vec4<u32> {
    let above = ranking.nan_above;
    let clean = keys & vec4<u32>(0xffff0000u);
    let zero = vec4<u32>(lower_zero(above) << 16u);
    let bounded = clamp(clean, vec4<u32>(least(above) << 16u), vec4<u32>(greatest(above) << 16u));
    return select(bounded, zero + vec4<u32>(0x00010000u), clean == zero);
}

@if(float64)
fn vector_rank(keys: vec4<u32>, ranking: Ranking) -> vec4<u32> {
    let above = ranking.nan_above;
    let low = keys.xz;
    let high = keys.yw;
    // The bits of infinity, and of 2 NANS if NaNs are below, make the key of the lower zero.
    let below = vec2<u32>(0xfffffffeu, 0x001fffffu) & vec2<u32>(~above);
    let is_zero = (low == vec2<u32>(below.x)) & (high == vec2<u32>(0x7ff00000u + below.y));
    let is_nan = select(
        (high < below.yy) | ((high == below.yy) & (low < below.xx)),
        (high > vec2<u32>(0xffe00000u)) | ((high == vec2<u32>(0xffe00000u)) & (low > vec2<u32>(1u))),
        above != 0u,
    );
    let nan = select(vec2<u32>(0xfffffffdu, 0x001fffffu), vec2<u32>(2u, 0xffe00000u), above != 0u);
    let rank_low = select(low + vec2<u32>(is_zero), nan.xx, is_nan);
    let rank_high = select(high, nan.yy, is_nan);
    return vec4<u32>(rank_low.x, rank_high.x, rank_low.y, rank_high.y);
}

@if((signed || unsigned || boolean) && (bits8 || bits16))
fn vector_rank(keys: vec4<u32>, ranking: Ranking) -> vec4<u32> {
    return keys & vec4<u32>(~(0xffffffffu >> ELEMENT_BITS));
}

@if((signed || unsigned) && (bits32 || bits64))
fn vector_rank(keys: vec4<u32>, ranking: Ranking) -> vec4<u32> {
    return keys;
}
