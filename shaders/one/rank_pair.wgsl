// Where positions are looked for, -0 ranks as +0.
fn rank_one(key: Key) -> Key {
    return select(key, vec2<u32>(0u, 0x80000000u), key.x == 0xffffffffu && key.y == 0x7fffffffu);
}
