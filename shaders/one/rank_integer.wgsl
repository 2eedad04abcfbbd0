fn rank_one(key: Key) -> Key {
    return key;
}
