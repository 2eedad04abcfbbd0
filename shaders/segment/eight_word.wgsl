// The keys of eight elements, which begin a block.
fn eight_keys(element: u32) -> array<Key, 8> {
    let a = load_key(source_block(element / 4u));
    let b = load_key(source_block(element / 4u + 1u));
    return array<Key, 8>(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w);
}
