// Four elements a word. The top byte of the maximum of whole words is the
// maximum of their top bytes, so each byte of a word is shifted to the top of an
// accumulator of its own, and what lies below it never needs to be masked.
const BLOCK: u32 = 16u;
const PER_WORD: u32 = 4u;
const ELEMENT_BITS: u32 = 8u;
const CELLS: vec4<u32> = vec4<u32>(0u, 4u, 8u, 12u);

struct Acc {
    b0: vec4<u32>,
    b1: vec4<u32>,
    b2: vec4<u32>,
    b3: vec4<u32>,
}

fn acc_add_keys(acc: Acc, keys: vec4<u32>) -> Acc {
    return Acc(
        max(acc.b0, keys << vec4<u32>(24u)),
        max(acc.b1, keys << vec4<u32>(16u)),
        max(acc.b2, keys << vec4<u32>(8u)),
        max(acc.b3, keys),
    );
}

fn acc_fold(acc: Acc) -> Key {
    let m = max(max(acc.b0, acc.b1), max(acc.b2, acc.b3));
    return max(max(m.x, m.y), max(m.z, m.w)) >> 24u;
}

fn acc_keys(acc: Acc) -> array<Key, BLOCK> {
    let b0 = acc.b0 >> vec4<u32>(24u);
    let b1 = acc.b1 >> vec4<u32>(24u);
    let b2 = acc.b2 >> vec4<u32>(24u);
    let b3 = acc.b3 >> vec4<u32>(24u);
    return array<Key, BLOCK>(
        b0.x, b1.x, b2.x, b3.x,
        b0.y, b1.y, b2.y, b3.y,
        b0.z, b1.z, b2.z, b3.z,
        b0.w, b1.w, b2.w, b3.w,
    );
}

// The keys as they lie in a block.
fn acc_pack(acc: Acc) -> vec4<u32> {
    return (acc.b0 >> vec4<u32>(24u))
        | ((acc.b1 >> vec4<u32>(16u)) & vec4<u32>(0xff00u))
        | ((acc.b2 >> vec4<u32>(8u)) & vec4<u32>(0xff0000u))
        | (acc.b3 & vec4<u32>(0xff000000u));
}

fn load_cells(elements: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(
        packed_word(elements.x),
        packed_word(elements.y),
        packed_word(elements.z),
        packed_word(elements.w),
    );
}
