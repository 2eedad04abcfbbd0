// Where positions are looked for, -0 ranks as +0.
fn rank_one(key: Key) -> Key {
    return select(key, 0x80000000u, key == 0x7fffffffu);
}
