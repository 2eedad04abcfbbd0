fn put_result(at: u32, key: Key) {
    result[at] = store_words(vec4<u32>(key)).x;
}

fn put_carry(at: u32, key: Key) {
    carry[at] = store_words(vec4<u32>(key)).x;
}
