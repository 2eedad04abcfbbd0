// The source of a launch: elements, bound as blocks of 16 bytes for kernels that read blocks, or
// as words for those that read words, and where the binding's length is no multiple of 16 bytes
// (`words`). A kernel that reads both (`mixed`) takes words out of blocks. Where source and result
// are ranges of one buffer (`in_place`), both are bound as writable, since a dispatch may not bind
// a buffer in two ways.
import package::common::block::{ELEMENT_BITS, PER_WORD};
import package::common::element::element_key;
import package::common::key::Key;

@if(!in_place) @group(0) @binding(1) var<storage, read> source_blocks: array<vec4<u32>>;
@if(in_place) @group(0) @binding(1) var<storage, read_write> source_blocks: array<vec4<u32>>;
@if(!in_place) @group(0) @binding(1) var<storage, read> source: array<u32>;
@if(in_place) @group(0) @binding(1) var<storage, read_write> source: array<u32>;

@if(!words)
fn source_block(block: u32) -> vec4<u32> {
    return source_blocks[block];
}

// Words past the end repeat the last one.
@if(words)
fn source_block(block: u32) -> vec4<u32> {
    let last = arrayLength(&source) - 1u;
    let word = block * 4u;
    return vec4<u32>(
        source[word],
        source[min(word + 1u, last)],
        source[min(word + 2u, last)],
        source[min(word + 3u, last)],
    );
}

// How many blocks there are; the last one may not be full.
@if(!words)
fn source_len() -> u32 {
    return arrayLength(&source_blocks);
}

@if(words)
fn source_len() -> u32 {
    return (arrayLength(&source) + 3u) / 4u;
}

@if(!mixed || words)
fn source_word(word: u32) -> u32 {
    return source[word];
}

@if(mixed && !words)
fn source_word(word: u32) -> u32 {
    return source_blocks[word / 4u][word % 4u];
}

@if(!mixed || words)
fn source_words() -> u32 {
    return arrayLength(&source);
}

@if(mixed && !words)
fn source_words() -> u32 {
    return arrayLength(&source_blocks) * 4u;
}

// Four words of consecutive elements that begin at any four elements: PER_WORD elements a word.
// Elements past the end of the source come out as anything.
@if(bits8 || bits16)
fn load_words_at(elements: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(
        unaligned_word(elements.x),
        unaligned_word(elements.y),
        unaligned_word(elements.z),
        unaligned_word(elements.w),
    );
}

@if(bits32)
fn load_words_at(elements: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(
        source_word(elements.x),
        source_word(elements.y),
        source_word(elements.z),
        source_word(elements.w),
    );
}

// Of 64 bits, the elements x and y.
@if(bits64)
fn load_words_at(elements: vec4<u32>) -> vec4<u32> {
    let x = elements.x * 2u;
    let y = elements.y * 2u;
    return vec4<u32>(source_word(x), source_word(x + 1u), source_word(y), source_word(y + 1u));
}

// The PER_WORD elements from an element on, which need not begin a word of memory.
@if(bits8 || bits16)
fn unaligned_word(element: u32) -> u32 {
    let word = element / PER_WORD;
    let shift = (element % PER_WORD) * ELEMENT_BITS;
    let low = source_word(word);
    if shift == 0u {
        return low;
    }
    return (low >> shift) | (source_word(min(word + 1u, source_words() - 1u)) << (32u - shift));
}

// The key of one element.
@if(bits8)
fn load_element(element: u32) -> Key {
    return element_key(vec4<u32>(source_word(element / 4u) >> ((element % 4u) * 8u))).x & 0xffu;
}

@if(bits16)
fn load_element(element: u32) -> Key {
    return element_key(vec4<u32>(source_word(element / 2u) >> ((element % 2u) * 16u))).x & 0xffffu;
}

@if(bits32)
fn load_element(element: u32) -> Key {
    return element_key(vec4<u32>(source_word(element))).x;
}

@if(bits64)
fn load_element(element: u32) -> Key {
    let low = source_word(2u * element);
    let high = source_word(2u * element + 1u);
    return element_key(vec4<u32>(low, high, low, high)).xy;
}
