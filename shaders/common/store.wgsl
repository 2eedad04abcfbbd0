// Results that are stored element by element: a store word holds PER_STORE of them. (An element
// of 64 bits has two words of its own.)
import kernel::result;
import package::common::block::PER_WORD;
import package::common::element::element_words;
import package::common::key::Key;

const PER_STORE: u32 = PER_WORD;

// Stores the elements begin <= i < end of a word. Those before belong to an earlier launch and are
// kept; those after become 0, and a later launch may store them.
@if(bits8)
fn store_keys(word: u32, keys: array<Key, PER_STORE>, begin: u32, end: u32) {
    let packed = keys[0] | (keys[1] << 8u) | (keys[2] << 16u) | (keys[3] << 24u);
    store_bits(word, element_words(vec4<u32>(packed)).x, 8u * begin, 8u * end);
}

@if(bits16)
fn store_keys(word: u32, keys: array<Key, PER_STORE>, begin: u32, end: u32) {
    let packed = keys[0] | (keys[1] << 16u);
    store_bits(word, element_words(vec4<u32>(packed)).x, 16u * begin, 16u * end);
}

@if(bits8 || bits16)
fn store_bits(word: u32, bits: u32, begin: u32, end: u32) {
    let wanted = bits & (0xffffffffu >> (32u - end));
    if begin == 0u {
        result[word] = wanted;
    } else {
        let kept = 0xffffffffu >> (32u - begin);
        result[word] = (result[word] & kept) | (wanted & ~kept);
    }
}

@if(bits32)
fn store_keys(word: u32, keys: array<Key, PER_STORE>, begin: u32, end: u32) {
    result[word] = element_words(vec4<u32>(keys[0])).x;
}

@if(bits64)
fn store_keys(word: u32, keys: array<Key, PER_STORE>, begin: u32, end: u32) {
    let words = element_words(keys[0].xyxy);
    result[word * 2u] = words.x;
    result[word * 2u + 1u] = words.y;
}
