// An output vector: the OUTPUTS neighbouring results of one invocation, which fill whole words. A
// component holds the key of one result in its top bits; below keys of 8 and 16 bits, the bits are
// unspecified. Results of 64 bits have two components each, the low word first.
import kernel::result;
import package::common::block::{BLOCK, ELEMENT_BITS, PER_WORD};
import package::common::element::{element_key, element_words};
import package::common::source::{load_words_at, source_block, source_word, source_words};
import generated::params;

@if(!bits64) const OUTPUTS: u32 = 4u;
@if(bits64) const OUTPUTS: u32 = 2u;

// The results of a vector, counted from its first one; with 64 bits, in x and y.
@if(!bits64) const OFFSETS: vec4<u32> = vec4<u32>(0u, 1u, 2u, 3u);
@if(bits64) const OFFSETS: vec4<u32> = vec4<u32>(0u, 1u, 1u, 1u);

// The keys of any four elements; with 64 bits, of the elements x and y.
@if(bits8 || bits16)
fn load_elements(element: vec4<u32>) -> vec4<u32> {
    let word = vec4<u32>(
        source_word(element.x / PER_WORD),
        source_word(element.y / PER_WORD),
        source_word(element.z / PER_WORD),
        source_word(element.w / PER_WORD),
    );
    let shift = (element % vec4<u32>(PER_WORD)) * ELEMENT_BITS;
    return element_key(word >> shift) << vec4<u32>(32u - ELEMENT_BITS);
}

@if(bits32 || bits64)
fn load_elements(element: vec4<u32>) -> vec4<u32> {
    return element_key(load_words_at(element));
}

// The keys of neighbouring elements. The first one begins a word, or with 32 and 64 bits a block.
@if(bits8)
fn load_aligned(element: u32) -> vec4<u32> {
    return element_key(vec4<u32>(source_word(element / 4u))) << vec4<u32>(24u, 16u, 8u, 0u);
}

@if(bits16)
fn load_aligned(element: u32) -> vec4<u32> {
    let low = source_word(element / 2u);
    let high = source_word(element / 2u + 1u);
    return element_key(vec4<u32>(low, low, high, high)) << vec4<u32>(16u, 0u, 16u, 0u);
}

@if(bits32 || bits64)
fn load_aligned(element: u32) -> vec4<u32> {
    return element_key(source_block(element / BLOCK));
}

// The keys of neighbouring elements. Those before the source are unspecified.
@if(bits8)
fn load_contiguous(element: u32) -> vec4<u32> {
    return element_key(vec4<u32>(word_from(element))) << vec4<u32>(24u, 16u, 8u, 0u);
}

@if(bits16)
fn load_contiguous(element: u32) -> vec4<u32> {
    let low = word_from(element);
    let high = word_from(element + 2u);
    return element_key(vec4<u32>(low, low, high, high)) << vec4<u32>(16u, 0u, 16u, 0u);
}

// The word of PER_WORD elements from an element on, which need not begin a word and may be shortly
// before the source.
@if(bits8 || bits16)
fn word_from(element: u32) -> u32 {
    let last = i32(source_words()) - 1;
    // Rounds down, also before the source.
    let word = i32(element) >> firstTrailingBit(PER_WORD);
    let shift = (element % PER_WORD) * ELEMENT_BITS;
    let low = source_word(u32(clamp(word, 0, last)));
    if shift == 0u {
        return low;
    }
    return (low >> shift) | (source_word(u32(clamp(word + 1, 0, last))) << (32u - shift));
}

@if(!bits64)
fn vector_max(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return max(a, b);
}

@if(bits64)
fn vector_max(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let above = (b.yw > a.yw) | ((b.yw == a.yw) & (b.xz > a.xz));
    return select(a, b, above.xxyy);
}

// Which components belong to the selected results.
@if(!bits64)
fn component_mask(chosen: vec4<bool>) -> vec4<bool> {
    return chosen;
}

@if(bits64)
fn component_mask(chosen: vec4<bool>) -> vec4<bool> {
    return chosen.xxyy;
}

// The key of an empty set, in every result.
@if(!bits64)
fn empty_vector() -> vec4<u32> {
    return vec4<u32>(params.empty_low << (32u - ELEMENT_BITS));
}

@if(bits64)
fn empty_vector() -> vec4<u32> {
    return vec4<u32>(params.empty_low, params.empty_high, params.empty_low, params.empty_high);
}

// Stores the selected results. The others belong to other launches and do not change.
fn store_vector(vector: u32, keys: vec4<u32>, wanted: vec4<bool>) {
    store_words(vector, element_words(vector_words(keys)), wanted);
}

// The words of a vector, from the top bits of its components: one word of 8 bits, two of 16 bits,
// and four of 32 and 64 bits.
@if(bits8)
fn vector_words(components: vec4<u32>) -> vec4<u32> {
    let bytes = (components >> vec4<u32>(24u)) << vec4<u32>(0u, 8u, 16u, 24u);
    return vec4<u32>(bytes.x | bytes.y | bytes.z | bytes.w);
}

@if(bits16)
fn vector_words(components: vec4<u32>) -> vec4<u32> {
    let halves = components >> vec4<u32>(16u);
    return vec4<u32>(halves.xz | (halves.yw << vec2<u32>(16u)), 0u, 0u);
}

@if(bits32 || bits64)
fn vector_words(components: vec4<u32>) -> vec4<u32> {
    return components;
}

// Stores the words that belong to the selected results.
@if(bits8)
fn store_words(vector: u32, words: vec4<u32>, wanted: vec4<bool>) {
    if all(wanted) {
        result[vector] = words.x;
        return;
    }
    let places = vec4<u32>(0xffu, 0xff00u, 0xff0000u, 0xff000000u);
    let mine = select(vec4<u32>(0u), places, wanted);
    let mask = mine.x | mine.y | mine.z | mine.w;
    result[vector] = (words.x & mask) | (result[vector] & ~mask);
}

@if(bits16)
fn store_words(vector: u32, words: vec4<u32>, wanted: vec4<bool>) {
    if all(wanted) {
        result[vector * 2u] = words.x;
        result[vector * 2u + 1u] = words.y;
        return;
    }
    store_halves(vector * 2u, words.x, wanted.xy);
    store_halves(vector * 2u + 1u, words.y, wanted.zw);
}

@if(bits16)
fn store_halves(word: u32, bits: u32, wanted: vec2<bool>) {
    let mine = select(vec2<u32>(0u), vec2<u32>(0xffffu, 0xffff0000u), wanted);
    let mask = mine.x | mine.y;
    if mask != 0u {
        result[word] = (bits & mask) | (result[word] & ~mask);
    }
}

@if(bits32)
fn store_words(vector: u32, words: vec4<u32>, wanted: vec4<bool>) {
    if all(wanted) {
        result[vector * 4u] = words.x;
        result[vector * 4u + 1u] = words.y;
        result[vector * 4u + 2u] = words.z;
        result[vector * 4u + 3u] = words.w;
        return;
    }
    if wanted.x {
        result[vector * 4u] = words.x;
    }
    if wanted.y {
        result[vector * 4u + 1u] = words.y;
    }
    if wanted.z {
        result[vector * 4u + 2u] = words.z;
    }
    if wanted.w {
        result[vector * 4u + 3u] = words.w;
    }
}

@if(bits64)
fn store_words(vector: u32, words: vec4<u32>, wanted: vec4<bool>) {
    if wanted.x {
        result[vector * 4u] = words.x;
        result[vector * 4u + 1u] = words.y;
    }
    if wanted.y {
        result[vector * 4u + 2u] = words.z;
        result[vector * 4u + 3u] = words.w;
    }
}

// Which results of a are above those of b, by rank.
@if(!bits64)
fn vector_above(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    return a > b;
}

@if(bits64)
fn vector_above(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    let above = (a.yw > b.yw) | ((a.yw == b.yw) & (a.xz > b.xz));
    return above.xyyy;
}

@if(!bits64)
fn vector_equal(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    return a == b;
}

@if(bits64)
fn vector_equal(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    let equal = (a.yw == b.yw) & (a.xz == b.xz);
    return equal.xyyy;
}
