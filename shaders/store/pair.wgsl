// One element in two words, the low one first.
const PER_CELL: u32 = 1u;

fn store_cell(cell: u32, keys: array<Key, PER_CELL>, count: u32) {
    let bits = store_bits(keys[0]);
    result[cell * 2u] = bits.x;
    result[cell * 2u + 1u] = bits.y;
}
