// Unsigned elements of any width, and keys read back from scratch: the bits are the key.
fn element_key(words: vec4<u32>) -> vec4<u32> {
    return words;
}

fn element_bits(key: Key) -> Key {
    return key;
}
