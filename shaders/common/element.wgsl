// Elements to keys and back, four words at a time, packed as in memory.
//
// By their bits, half of all NaNs are below -inf and half above +inf. A number added to the keys moves
// all of them to one end: above if NaN propagates (`params.nan_above` is all ones), below if it is
// ignored (0). No element is tested. Any of their keys becomes the type's canonical quiet NaN. For the
// minimum, the bits `params.complement` reverse the order before that.
import generated::{Ranking, params};

fn kernel_ranking() -> Ranking {
    return Ranking(params.nan_above, params.complement);
}

// In a loop, pass a `ranking` from a variable: drivers read a parameter again each time.
fn element_key(words: vec4<u32>) -> vec4<u32> {
    return element_key_with(words, kernel_ranking());
}

@if(!float32)
fn element_words(keys: vec4<u32>) -> vec4<u32> {
    return words_of_keys(rotated(keys, ~params.nan_above) ^ vec4<u32>(params.complement));
}

// NaNs of one sign: as many as the keys move.
@if(float16) const NANS: u32 = 0x03ffu;
@if(bfloat16) const NANS: u32 = 0x007fu;
@if(float32) const NANS: u32 = 0x007fffffu;

// Keys moved by NANS: down if `down` is all ones, up if it is 0.
@if(float32)
fn rotated(keys: vec4<u32>, down: u32) -> vec4<u32> {
    return keys + vec4<u32>((NANS ^ down) + (down & 1u));
}

@if(float64)
fn rotated(keys: vec4<u32>, down: u32) -> vec4<u32> {
    let by_low = vec2<u32>(~down | 1u);
    let low = keys.xz + by_low;
    let high = keys.yw + vec2<u32>(0x000fffffu ^ down) + vec2<u32>(low < by_low);
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

// What moves the key in the top half of a word.
@if(float16 || bfloat16)
fn top_movement(down: u32) -> u32 {
    return ((NANS << 16u) ^ down) + (down & 1u);
}

// Each half by itself: the sum of the bits below the top ones does not leave a half.
@if(float16 || bfloat16)
fn rotated(keys: vec4<u32>, down: u32) -> vec4<u32> {
    let by = ((NANS * 0x00010001u) ^ down) + (down & 0x00010001u);
    let sum = (keys & vec4<u32>(0x7fff7fffu)) + vec4<u32>(by & 0x7fff7fffu);
    return sum ^ ((keys ^ vec4<u32>(by)) & vec4<u32>(0x80008000u));
}

@if(signed || unsigned || boolean)
fn rotated(keys: vec4<u32>, down: u32) -> vec4<u32> {
    return keys;
}

// Floats: the sign bit of a positive number is set, all bits of a negative one are flipped.
@if(float32)
fn element_key_with(words: vec4<u32>, ranking: Ranking) -> vec4<u32> {
    let positive = vec4<u32>(0x80000000u ^ ranking.complement);
    let negative = vec4<u32>(~ranking.complement);
    let flipped = select(positive, negative, words >= vec4<u32>(0x80000000u));
    return rotated(words ^ flipped, ranking.nan_above);
}

@if(float32)
fn element_words(keys: vec4<u32>) -> vec4<u32> {
    let moved = rotated(keys, ~params.nan_above);
    // What is flipped, with the complement, if the top bit is set, and if it is not.
    let if_set = vec4<u32>(0x80000000u & ~params.complement);
    let if_clear = vec4<u32>(~(0x80000000u & params.complement));
    let bits = moved ^ select(if_set, if_clear, moved < vec4<u32>(0x80000000u));
    let nan = (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
    return select(bits, vec4<u32>(0x7fc00000u), nan);
}

// Two elements of 64 bits, each with its low word first.
@if(float64)
fn element_key_with(words: vec4<u32>, ranking: Ranking) -> vec4<u32> {
    let low = words.xz;
    let high = words.yw;
    let sign = vec2<u32>(vec2<i32>(high) >> vec2<u32>(31u));
    let key_low = low ^ sign;
    let key_high = high ^ (sign | vec2<u32>(0x80000000u));
    let key = vec4<u32>(key_low.x, key_high.x, key_low.y, key_high.y);
    return rotated(key ^ vec4<u32>(ranking.complement), ranking.nan_above);
}

@if(float64)
fn words_of_keys(keys: vec4<u32>) -> vec4<u32> {
    let sign = vec2<u32>(vec2<i32>(~keys.yw) >> vec2<u32>(31u));
    let low = keys.xz ^ sign;
    let high = keys.yw ^ (sign | vec2<u32>(0x80000000u));
    let nan = is_nan(low, high);
    let quiet_low = select(low, vec2<u32>(0u), nan);
    let quiet_high = select(high, vec2<u32>(0x7ff80000u), nan);
    return vec4<u32>(quiet_low.x, quiet_high.x, quiet_low.y, quiet_high.y);
}

@if(float64)
fn is_nan(low: vec2<u32>, high: vec2<u32>) -> vec2<bool> {
    let magnitude = high & vec2<u32>(0x7fffffffu);
    let infinity = vec2<u32>(0x7ff00000u);
    return (magnitude > infinity) | ((magnitude == infinity) & (low != vec2<u32>(0u)));
}

// Two elements of 16 bits a word.
@if(float16 || bfloat16)
fn element_key_with(words: vec4<u32>, ranking: Ranking) -> vec4<u32> {
    return rotated(unmoved_key(words, ranking.complement), ranking.nan_above);
}

// Keys before NaNs move.
@if(float16 || bfloat16)
fn unmoved_key(words: vec4<u32>, complement: u32) -> vec4<u32> {
    let sign = (words >> vec4<u32>(15u)) & vec4<u32>(0x00010001u);
    return words ^ (sign * 0x7fffu) ^ vec4<u32>(0x80008000u ^ complement);
}

@if(float16 || bfloat16)
fn words_of_keys(keys: vec4<u32>) -> vec4<u32> {
    let negative = (~keys >> vec4<u32>(15u)) & vec4<u32>(0x00010001u);
    let bits = keys ^ (negative * 0x7fffu) ^ vec4<u32>(0x80008000u);
    return bits ^ ((bits ^ vec4<u32>(QUIET_NAN)) & nan_mask(bits));
}

// All ones in the halves of a word that are NaN. A half whose magnitude is above infinity
// carries into its top bit when NAN_CARRY is added, and no carry leaves a half.
@if(float16 || bfloat16)
fn nan_mask(words: vec4<u32>) -> vec4<u32> {
    let over = ((words & vec4<u32>(0x7fff7fffu)) + vec4<u32>(NAN_CARRY)) >> vec4<u32>(15u);
    return (over & vec4<u32>(0x00010001u)) * 0xffffu;
}

@if(float16) const NAN_CARRY: u32 = 0x03ff03ffu;
@if(bfloat16) const NAN_CARRY: u32 = 0x007f007fu;
@if(float16) const QUIET_NAN: u32 = 0x7e007e00u;
@if(bfloat16) const QUIET_NAN: u32 = 0x7fc07fc0u;

// Integers: the sign bit is flipped. Unsigned ones are their own keys, for the maximum.
@if(signed || unsigned)
fn element_key_with(words: vec4<u32>, ranking: Ranking) -> vec4<u32> {
    return words ^ (SIGN_BITS ^ vec4<u32>(ranking.complement));
}

// A caller's buffer may hold any byte as a bool: all but 0 are true.
@if(boolean)
fn element_key_with(words: vec4<u32>, ranking: Ranking) -> vec4<u32> {
    let low = (words & vec4<u32>(0x7f7f7f7fu)) + vec4<u32>(0x7f7f7f7fu);
    let bits = ((low | words) >> vec4<u32>(7u)) & vec4<u32>(0x01010101u);
    return bits ^ vec4<u32>(ranking.complement);
}

@if(signed || unsigned || boolean)
fn words_of_keys(keys: vec4<u32>) -> vec4<u32> {
    return keys ^ SIGN_BITS;
}

@if(signed && bits8) const SIGN_BITS: vec4<u32> = vec4<u32>(0x80808080u);
@if(signed && bits16) const SIGN_BITS: vec4<u32> = vec4<u32>(0x80008000u);
@if(signed && bits32) const SIGN_BITS: vec4<u32> = vec4<u32>(0x80000000u);
@if(signed && bits64) const SIGN_BITS: vec4<u32> = vec4<u32>(0u, 0x80000000u, 0u, 0x80000000u);
@if(unsigned || boolean) const SIGN_BITS: vec4<u32> = vec4<u32>(0u);
