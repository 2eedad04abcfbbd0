// A key of two words, of which the high one comes first.
fn has_words(key: Key, item: u32) -> bool {
    let high = params.word == 0u || atomicLoad(&items[item]) == key.y;
    return high && (params.word < 2u || atomicLoad(&items[item + 1u]) == key.x);
}

fn word_of(key: Key, row: u32) -> u32 {
    return select(select(~row, key.x, params.word == 1u), key.y, params.word == 0u);
}
