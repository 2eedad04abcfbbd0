// One element, its key in a word.
fn load_one(element: u32) -> Key {
    return load_key(vec4<u32>(source_word(element / 4u) >> ((element % 4u) * 8u))).x & 0xffu;
}
