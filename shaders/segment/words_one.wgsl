// A key of one word.
fn has_words(key: Key, item: u32) -> bool {
    return params.word == 0u || atomicLoad(&items[item]) == key;
}

fn word_of(key: Key, row: u32) -> u32 {
    return select(~row, key, params.word == 0u);
}
