// Two elements a word; elements from `count` on are padding and become 0.
const PER_CELL: u32 = 2u;

fn store_cell(cell: u32, keys: array<Key, PER_CELL>, count: u32) {
    result[cell] = store_bits(keys[0]) | select(0u, store_bits(keys[1]) << 16u, count > 1u);
}
