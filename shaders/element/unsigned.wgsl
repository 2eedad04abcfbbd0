// Unsigned elements of any width, and keys read back from scratch: the bits are the key.
fn element_key(words: vec4<u32>) -> vec4<u32> {
    return words;
}

// The other way.
fn element_words(keys: vec4<u32>) -> vec4<u32> {
    return keys;
}
