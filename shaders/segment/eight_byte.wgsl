// The keys of eight elements, which begin a word.
fn eight_keys(element: u32) -> array<Key, 8> {
    let low = source_word(element / 4u);
    let high = source_word(element / 4u + 1u);
    let keys = load_key(vec4<u32>(low, high, 0u, 0u)).xy;
    let a = (keys.xxxx >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
    let b = (keys.yyyy >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
    return array<Key, 8>(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w);
}
