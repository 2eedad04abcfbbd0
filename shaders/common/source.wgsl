// The source of a launch: elements by their number. They are contiguous in memory, or in the places
// of a view (`pitched`, see common/view). Then a block or word may be composed of elements from
// several places.
import package::common::block::{BLOCK, ELEMENT_BITS, PER_WORD};
import package::common::element::element_key;
import package::common::key::Key;
import package::common::memory::{memory_block, memory_word};
@if(!pitched) import package::common::memory::{memory_blocks, memory_words};
@if(pitched) import package::common::view::{BLOCKS, ELEMENTS, memory_place};
import generated::view;

@if(!pitched)
fn source_block(block: u32) -> vec4<u32> {
    return memory_block(block);
}

@if(pitched)
fn source_block(block: u32) -> vec4<u32> {
    if view.unit == BLOCKS {
        return memory_block(memory_place(block * BLOCK).at / BLOCK);
    }
    let word = block * 4u;
    return vec4<u32>(
        source_word(word),
        source_word(word + 1u),
        source_word(word + 2u),
        source_word(word + 3u),
    );
}

// At least the number of blocks; the last one may not be full. Places of a view are clamped elsewhere.
@if(!pitched)
fn source_len() -> u32 {
    return memory_blocks();
}

@if(pitched)
fn source_len() -> u32 {
    return view.len;
}

@if(!pitched)
fn source_word(word: u32) -> u32 {
    return memory_word(word);
}

// Elements past the end of the source are unspecified.
@if(pitched && (bits8 || bits16))
fn source_word(word: u32) -> u32 {
    let first = memory_place(word * PER_WORD);
    if view.unit != ELEMENTS {
        return memory_word(first.at / PER_WORD);
    }
    var bits = 0u;
    for (var i = 0u; i < PER_WORD; i++) {
        // Within a row the next element is the next one in memory.
        var at = first.at + i;
        if i >= first.row {
            at = memory_place(word * PER_WORD + i).at;
        }
        let shift = (at % PER_WORD) * ELEMENT_BITS;
        let mask = 0xffffffffu >> (32u - ELEMENT_BITS);
        bits |= ((memory_word(at / PER_WORD) >> shift) & mask) << (i * ELEMENT_BITS);
    }
    return bits;
}

@if(pitched && bits32)
fn source_word(word: u32) -> u32 {
    return memory_word(memory_place(word).at);
}

@if(pitched && bits64)
fn source_word(word: u32) -> u32 {
    return memory_word(memory_place(word / 2u).at * 2u + word % 2u);
}

// At least the number of words of small elements.
@if(!pitched)
fn source_words() -> u32 {
    return memory_words();
}

@if(pitched)
fn source_words() -> u32 {
    return view.len;
}

// Four words of consecutive elements that begin at any four elements: PER_WORD elements a word.
// Elements past the end of the source are unspecified.
@if(!bits64)
fn load_words_at(elements: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(
        unaligned_word(elements.x),
        unaligned_word(elements.y),
        unaligned_word(elements.z),
        unaligned_word(elements.w),
    );
}

// With 64 bits, the elements x and y.
@if(bits64)
fn load_words_at(elements: vec4<u32>) -> vec4<u32> {
    let x = elements.x * 2u;
    let y = elements.y * 2u;
    return vec4<u32>(source_word(x), source_word(x + 1u), source_word(y), source_word(y + 1u));
}

// PER_WORD elements from an element on, which need not begin a word of memory.
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

@if(bits32)
fn unaligned_word(element: u32) -> u32 {
    return source_word(element);
}

// The key of one element.
@if(bits8 || bits16)
fn load_element(element: u32) -> Key {
    let bits = source_word(element / PER_WORD) >> ((element % PER_WORD) * ELEMENT_BITS);
    return element_key(vec4<u32>(bits)).x & (0xffffffffu >> (32u - ELEMENT_BITS));
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
