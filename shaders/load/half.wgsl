// Two elements a word, each shifted to the top of an accumulator of its own (see byte.wgsl).
const BLOCK: u32 = 8u;
const PER_WORD: u32 = 2u;
const ELEMENT_BITS: u32 = 16u;
const CELLS: vec4<u32> = vec4<u32>(0u, 2u, 4u, 6u);

struct Acc {
    h0: vec4<u32>,
    h1: vec4<u32>,
}

fn acc_add_keys(acc: Acc, keys: vec4<u32>) -> Acc {
    return Acc(max(acc.h0, keys << vec4<u32>(16u)), max(acc.h1, keys));
}

fn acc_fold(acc: Acc) -> Key {
    let m = max(acc.h0, acc.h1);
    return max(max(m.x, m.y), max(m.z, m.w)) >> 16u;
}

fn acc_keys(acc: Acc) -> array<Key, BLOCK> {
    let h0 = acc.h0 >> vec4<u32>(16u);
    let h1 = acc.h1 >> vec4<u32>(16u);
    return array<Key, BLOCK>(h0.x, h1.x, h0.y, h1.y, h0.z, h1.z, h0.w, h1.w);
}

// The keys as they lie in a block.
fn acc_pack(acc: Acc) -> vec4<u32> {
    return (acc.h0 >> vec4<u32>(16u)) | (acc.h1 & vec4<u32>(0xffff0000u));
}

fn load_cells(elements: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(
        packed_word(elements.x),
        packed_word(elements.y),
        packed_word(elements.z),
        packed_word(elements.w),
    );
}
