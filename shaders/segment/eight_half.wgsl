// The keys of eight elements, which begin a block.
fn eight_keys(element: u32) -> array<Key, 8> {
    let keys = load_key(source_block(element / 8u));
    let low = keys & vec4<u32>(0xffffu);
    let high = keys >> vec4<u32>(16u);
    return array<Key, 8>(low.x, high.x, low.y, high.y, low.z, high.z, low.w, high.w);
}
