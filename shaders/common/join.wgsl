// Joins an initial value to each result. The CPU kernel is in src/plan/join.rs.
import package::common::element::{element_key, element_words};
import package::common::invocation::{Invocation, invocation_number};
@if(bits32 || bits64) import package::common::vector::vector_max;
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;

// The larger of each key and the initial value's key. The larger of two words has the larger key in its
// top bits.
@if(bits8)
fn joined(keys: vec4<u32>) -> vec4<u32> {
    let initial = vec4<u32>(params.low);
    let third = max(keys & vec4<u32>(0x00ffffffu), initial & vec4<u32>(0x00ffffffu));
    let second = max(keys & vec4<u32>(0xffffu), initial & vec4<u32>(0xffffu));
    let first = max(keys & vec4<u32>(0xffu), initial & vec4<u32>(0xffu));
    let high = (max(keys, initial) & vec4<u32>(0xff000000u)) | (third & vec4<u32>(0xff0000u));
    return high | (second & vec4<u32>(0xff00u)) | first;
}

@if(bits16)
fn joined(keys: vec4<u32>) -> vec4<u32> {
    let initial = vec4<u32>(params.low);
    let low = max(keys & vec4<u32>(0xffffu), initial & vec4<u32>(0xffffu));
    return (max(keys, initial) & vec4<u32>(0xffff0000u)) | low;
}

@if(bits32 || bits64)
fn joined(keys: vec4<u32>) -> vec4<u32> {
    return vector_max(keys, vec4<u32>(params.low, params.high, params.low, params.high));
}

fn store(word: u32, bits: u32) {
    if word < params.words {
        result[word] = bits;
    }
}

fn load(word: u32) -> u32 {
    if word < params.words {
        return result[word];
    }
    return 0u;
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let first = invocation_number(at) * 4u;
    if first >= params.words {
        return;
    }
    let words = vec4<u32>(load(first), load(first + 1u), load(first + 2u), load(first + 3u));
    let both = element_words(joined(element_key(words)));
    store(first, both.x);
    store(first + 1u, both.y);
    store(first + 2u, both.z);
    store(first + 3u, both.w);
}
