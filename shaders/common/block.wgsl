// A block is 16 bytes: BLOCK elements. An accumulator holds the maximum of each element of several
// blocks.
//
// The top byte of the maximum of whole words is the maximum of their top bytes. So each byte of a
// word, or each half, is shifted to the top of its own accumulator, and the bits below need no
// mask.
import package::common::element::{element_key, element_key_with, kernel_ranking};
@if(float16 || bfloat16) import package::common::element::{top_movement, unmoved_key};
import package::common::key::{Key, key_max};
import generated::Ranking;

@if(bits8) const ELEMENT_BITS: u32 = 8u;
@if(bits16) const ELEMENT_BITS: u32 = 16u;
@if(bits32) const ELEMENT_BITS: u32 = 32u;
@if(bits64) const ELEMENT_BITS: u32 = 64u;

// Elements of a block.
const BLOCK: u32 = 128u / ELEMENT_BITS;

// Elements of a word; 1 for elements of two words.
const PER_WORD: u32 = max(1u, 32u / ELEMENT_BITS);

// The elements at which the words of a block begin; with 64 bits, its elements.
@if(bits8) const WORD_STARTS: vec4<u32> = vec4<u32>(0u, 4u, 8u, 12u);
@if(bits16) const WORD_STARTS: vec4<u32> = vec4<u32>(0u, 2u, 4u, 6u);
@if(bits32) const WORD_STARTS: vec4<u32> = vec4<u32>(0u, 1u, 2u, 3u);
@if(bits64) const WORD_STARTS: vec4<u32> = vec4<u32>(0u, 1u, 1u, 1u);

@if(bits8)
struct Acc {
    b0: vec4<u32>,
    b1: vec4<u32>,
    b2: vec4<u32>,
    b3: vec4<u32>,
}

@if(bits16)
struct Acc {
    h0: vec4<u32>,
    h1: vec4<u32>,
}

@if(bits32)
struct Acc {
    w: vec4<u32>,
}

@if(bits64)
struct Acc {
    low: vec2<u32>,
    high: vec2<u32>,
}

// The accumulator of packed keys.
@if(bits8)
fn acc_of_keys(keys: vec4<u32>) -> Acc {
    return Acc(keys << vec4<u32>(24u), keys << vec4<u32>(16u), keys << vec4<u32>(8u), keys);
}

@if(bits16)
fn acc_of_keys(keys: vec4<u32>) -> Acc {
    return Acc(keys << vec4<u32>(16u), keys);
}

@if(bits32)
fn acc_of_keys(keys: vec4<u32>) -> Acc {
    return Acc(keys);
}

@if(bits64)
fn acc_of_keys(keys: vec4<u32>) -> Acc {
    return Acc(keys.xz, keys.yw);
}

@if(bits8)
fn acc_max(a: Acc, b: Acc) -> Acc {
    return Acc(max(a.b0, b.b0), max(a.b1, b.b1), max(a.b2, b.b2), max(a.b3, b.b3));
}

@if(bits16)
fn acc_max(a: Acc, b: Acc) -> Acc {
    return Acc(max(a.h0, b.h0), max(a.h1, b.h1));
}

@if(bits32)
fn acc_max(a: Acc, b: Acc) -> Acc {
    return Acc(max(a.w, b.w));
}

@if(bits64)
fn acc_max(a: Acc, b: Acc) -> Acc {
    let above = (b.high > a.high) | ((b.high == a.high) & (b.low > a.low));
    return Acc(select(a.low, b.low, above), select(a.high, b.high, above));
}

// The accumulator of a block of elements.
@if(!float16 && !bfloat16)
fn acc_of(words: vec4<u32>, ranking: Ranking) -> Acc {
    return acc_of_keys(element_key_with(words, ranking));
}

// The same, with 0 where a mask of the words is 0; elsewhere it is all ones.
@if(!float16 && !bfloat16)
fn acc_masked(words: vec4<u32>, ranking: Ranking, mask: vec4<u32>) -> Acc {
    return acc_of_keys(element_key_with(words, ranking) & mask);
}

@if(float16 || bfloat16)
fn acc_of(words: vec4<u32>, ranking: Ranking) -> Acc {
    let keys = unmoved_key(words, ranking.complement);
    return acc_moved(keys, vec4<u32>(top_movement(ranking.nan_above)));
}

@if(float16 || bfloat16)
fn acc_masked(words: vec4<u32>, ranking: Ranking, mask: vec4<u32>) -> Acc {
    let keys = unmoved_key(words, ranking.complement) & mask;
    return acc_moved(keys, vec4<u32>(top_movement(ranking.nan_above)) & mask);
}

// Halves are moved at the top of a word, where one addition moves each.
@if(float16 || bfloat16)
fn acc_moved(keys: vec4<u32>, by: vec4<u32>) -> Acc {
    return Acc((keys << vec4<u32>(16u)) + by, keys + by);
}

fn acc_add_keys(acc: Acc, keys: vec4<u32>) -> Acc {
    return acc_max(acc, acc_of_keys(keys));
}

// Adds a block of elements.
fn acc_add(acc: Acc, words: vec4<u32>) -> Acc {
    return acc_add_with(acc, words, kernel_ranking());
}

// The same in a loop, with the ranking in a variable.
fn acc_add_with(acc: Acc, words: vec4<u32>, ranking: Ranking) -> Acc {
    return acc_max(acc, acc_of(words, ranking));
}

// Adds the elements first <= i < end of a block.
fn acc_add_some(acc: Acc, words: vec4<u32>, first: u32, end: u32) -> Acc {
    return acc_add_keys(acc, element_key(words) & bits_from(first) & ~bits_from(end));
}

// All bits of a block from element `first` on.
fn bits_from(first: u32) -> vec4<u32> {
    let word = vec4<u32>(0u, 32u, 64u, 96u);
    let bit = first * ELEMENT_BITS;
    let shift = max(vec4<u32>(bit), word) - word;
    return select(vec4<u32>(0xffffffffu) << shift, vec4<u32>(0u), shift >= vec4<u32>(32u));
}

// The maximum of all elements.
@if(bits8)
fn acc_fold(acc: Acc) -> Key {
    let m = max(max(acc.b0, acc.b1), max(acc.b2, acc.b3));
    return max(max(m.x, m.y), max(m.z, m.w)) >> 24u;
}

@if(bits16)
fn acc_fold(acc: Acc) -> Key {
    let m = max(acc.h0, acc.h1);
    return max(max(m.x, m.y), max(m.z, m.w)) >> 16u;
}

@if(bits32)
fn acc_fold(acc: Acc) -> Key {
    return max(max(acc.w.x, acc.w.y), max(acc.w.z, acc.w.w));
}

@if(bits64)
fn acc_fold(acc: Acc) -> Key {
    return key_max(vec2<u32>(acc.low.x, acc.high.x), vec2<u32>(acc.low.y, acc.high.y));
}

// The keys one by one.
@if(bits8)
fn acc_keys(acc: Acc) -> array<Key, BLOCK> {
    let b0 = acc.b0 >> vec4<u32>(24u);
    let b1 = acc.b1 >> vec4<u32>(24u);
    let b2 = acc.b2 >> vec4<u32>(24u);
    let b3 = acc.b3 >> vec4<u32>(24u);
    return array<Key, BLOCK>(
        b0.x, b1.x, b2.x, b3.x,
        b0.y, b1.y, b2.y, b3.y,
        b0.z, b1.z, b2.z, b3.z,
        b0.w, b1.w, b2.w, b3.w,
    );
}

@if(bits16)
fn acc_keys(acc: Acc) -> array<Key, BLOCK> {
    let h0 = acc.h0 >> vec4<u32>(16u);
    let h1 = acc.h1 >> vec4<u32>(16u);
    return array<Key, BLOCK>(h0.x, h1.x, h0.y, h1.y, h0.z, h1.z, h0.w, h1.w);
}

@if(bits32)
fn acc_keys(acc: Acc) -> array<Key, BLOCK> {
    return array<Key, BLOCK>(acc.w.x, acc.w.y, acc.w.z, acc.w.w);
}

@if(bits64)
fn acc_keys(acc: Acc) -> array<Key, BLOCK> {
    return array<Key, BLOCK>(vec2<u32>(acc.low.x, acc.high.x), vec2<u32>(acc.low.y, acc.high.y));
}

// The keys in the layout of a block.
@if(bits8)
fn acc_pack(acc: Acc) -> vec4<u32> {
    return (acc.b0 >> vec4<u32>(24u))
        | ((acc.b1 >> vec4<u32>(16u)) & vec4<u32>(0xff00u))
        | ((acc.b2 >> vec4<u32>(8u)) & vec4<u32>(0xff0000u))
        | (acc.b3 & vec4<u32>(0xff000000u));
}

@if(bits16)
fn acc_pack(acc: Acc) -> vec4<u32> {
    return (acc.h0 >> vec4<u32>(16u)) | (acc.h1 & vec4<u32>(0xffff0000u));
}

@if(bits32)
fn acc_pack(acc: Acc) -> vec4<u32> {
    return acc.w;
}

@if(bits64)
fn acc_pack(acc: Acc) -> vec4<u32> {
    return vec4<u32>(acc.low.x, acc.high.x, acc.low.y, acc.high.y);
}
