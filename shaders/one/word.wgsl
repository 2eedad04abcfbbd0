// One element or key of a word.
fn load_one(element: u32) -> Key {
    return load_key(vec4<u32>(source_word(element))).x;
}
