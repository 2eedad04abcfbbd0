// Four elements a word; elements from `count` on are padding and become 0.
const PER_CELL: u32 = 4u;

fn store_cell(cell: u32, keys: array<Key, PER_CELL>, count: u32) {
    let word = keys[0] | (keys[1] << 8u) | (keys[2] << 16u) | (keys[3] << 24u);
    result[cell] = store_words(vec4<u32>(word)).x & (0xffffffffu >> (32u - 8u * count));
}
