// One element, or one key of a narrower one, a word.
const PER_CELL: u32 = 1u;

fn store_cell(cell: u32, keys: array<Key, PER_CELL>, count: u32) {
    result[cell] = store_words(vec4<u32>(keys[0])).x;
}
