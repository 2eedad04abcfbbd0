// One element of two words.
fn load_one(element: u32) -> Key {
    let low = source_word(2u * element);
    let high = source_word(2u * element + 1u);
    return load_key(vec4<u32>(low, high, low, high)).xy;
}
