fn acc_add(acc: Acc, words: vec4<u32>) -> Acc {
    return acc_add_keys(acc, load_key(words));
}

// As acc_add, but only the elements first <= i < end of the block take part.
fn acc_add_some(acc: Acc, words: vec4<u32>, first: u32, end: u32) -> Acc {
    return acc_add_keys(acc, load_key(words) & bits_from(first) & ~bits_from(end));
}

// All bits of a block from element `first` on.
fn bits_from(first: u32) -> vec4<u32> {
    let word = vec4<u32>(0u, 32u, 64u, 96u);
    let bit = first * ELEMENT_BITS;
    let shift = max(vec4<u32>(bit), word) - word;
    return select(vec4<u32>(0xffffffffu) << shift, vec4<u32>(0u), shift >= vec4<u32>(32u));
}
