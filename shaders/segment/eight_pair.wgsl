// The keys of eight elements, which begin a block.
fn eight_keys(element: u32) -> array<Key, 8> {
    let a = load_key(source_block(element / 2u));
    let b = load_key(source_block(element / 2u + 1u));
    let c = load_key(source_block(element / 2u + 2u));
    let d = load_key(source_block(element / 2u + 3u));
    return array<Key, 8>(a.xy, a.zw, b.xy, b.zw, c.xy, c.zw, d.xy, d.zw);
}
