// Four elements a word; elements from `count` on are padding and become 0.
const PER_CELL: u32 = 4u;

fn store_cell(cell: u32, keys: array<Key, PER_CELL>, count: u32) {
    var word = store_bits(keys[0]);
    word |= select(0u, store_bits(keys[1]) << 8u, count > 1u);
    word |= select(0u, store_bits(keys[2]) << 16u, count > 2u);
    word |= select(0u, store_bits(keys[3]) << 24u, count > 3u);
    result[cell] = word;
}
