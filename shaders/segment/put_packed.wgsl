// Several elements share a word, so what they are goes to scratch: a key and a mark.
fn put_result(at: u32, key: Key) {
    result[2u * at] = key;
    result[2u * at + 1u] = 1u;
}

fn put_carry(at: u32, key: Key) {
    carry[at] = key;
}
