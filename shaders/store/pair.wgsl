// One element in two words, the low one first.
const PER_CELL: u32 = 1u;

fn store_cell(cell: u32, keys: array<Key, PER_CELL>, count: u32) {
    let words = store_words(keys[0].xyxy);
    result[cell * 2u] = words.x;
    result[cell * 2u + 1u] = words.y;
}
