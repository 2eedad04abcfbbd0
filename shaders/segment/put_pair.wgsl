fn put_result(at: u32, key: Key) {
    let words = store_words(key.xyxy);
    result[2u * at] = words.x;
    result[2u * at + 1u] = words.y;
}

fn put_carry(at: u32, key: Key) {
    let words = store_words(key.xyxy);
    carry[2u * at] = words.x;
    carry[2u * at + 1u] = words.y;
}
