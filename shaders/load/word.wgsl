// One element a word.
const BLOCK: u32 = 4u;
const PER_WORD: u32 = 1u;
const ELEMENT_BITS: u32 = 32u;
const CELLS: vec4<u32> = vec4<u32>(0u, 1u, 2u, 3u);

struct Acc {
    w: vec4<u32>,
}

fn acc_add_keys(acc: Acc, keys: vec4<u32>) -> Acc {
    return Acc(max(acc.w, keys));
}

fn acc_fold(acc: Acc) -> Key {
    return max(max(acc.w.x, acc.w.y), max(acc.w.z, acc.w.w));
}

fn acc_keys(acc: Acc) -> array<Key, BLOCK> {
    return array<Key, BLOCK>(acc.w.x, acc.w.y, acc.w.z, acc.w.w);
}

// The keys as they lie in a block.
fn acc_pack(acc: Acc) -> vec4<u32> {
    return acc.w;
}

fn load_cells(elements: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(
        source_word(elements.x),
        source_word(elements.y),
        source_word(elements.z),
        source_word(elements.w),
    );
}
