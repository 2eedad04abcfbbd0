// Two elements a word; elements from `count` on are padding and become 0.
const PER_CELL: u32 = 2u;

fn store_cell(cell: u32, keys: array<Key, PER_CELL>, count: u32) {
    let word = keys[0] | (keys[1] << 16u);
    result[cell] = store_words(vec4<u32>(word)).x & (0xffffffffu >> (32u - 16u * count));
}
