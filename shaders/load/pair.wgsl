// One element in two words, the low one first; two elements a block.
const BLOCK: u32 = 2u;
const PER_WORD: u32 = 1u;
const ELEMENT_BITS: u32 = 64u;
const CELLS: vec4<u32> = vec4<u32>(0u, 1u, 1u, 1u);

struct Acc {
    low: vec2<u32>,
    high: vec2<u32>,
}

fn acc_add_keys(acc: Acc, keys: vec4<u32>) -> Acc {
    let low = keys.xz;
    let high = keys.yw;
    let above = (high > acc.high) | ((high == acc.high) & (low > acc.low));
    return Acc(select(acc.low, low, above), select(acc.high, high, above));
}

fn acc_fold(acc: Acc) -> Key {
    return key_max(vec2<u32>(acc.low.x, acc.high.x), vec2<u32>(acc.low.y, acc.high.y));
}

fn acc_keys(acc: Acc) -> array<Key, BLOCK> {
    return array<Key, BLOCK>(vec2<u32>(acc.low.x, acc.high.x), vec2<u32>(acc.low.y, acc.high.y));
}

// The keys as they lie in a block.
fn acc_pack(acc: Acc) -> vec4<u32> {
    return vec4<u32>(acc.low.x, acc.high.x, acc.low.y, acc.high.y);
}

fn load_cells(elements: vec4<u32>) -> vec4<u32> {
    let x = elements.x * 2u;
    let y = elements.y * 2u;
    return vec4<u32>(source_word(x), source_word(x + 1u), source_word(y), source_word(y + 1u));
}
